package listen_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/flood"
	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
)

// shedding is a server under pressure, which sheds every request but those for /in, of somebody who
// is in, and for /other. Those for /soon are of people who ask too soon.
func shedding(t *testing.T, secure bool) (address string, s *listen.Server) {
	cfg := handler(func(w http.ResponseWriter, r *http.Request) {
		c, kind := flood.Of(r.Context()), flood.Again
		switch r.URL.Path {
		case "/in":
			c.Keep()
			return
		case "/other":
			return
		case "/soon":
			kind = flood.Early
		}
		for end := time.Now().Add(patience / 2); time.Now().Before(end); runtime.Gosched() {
			if c.Sheds(kind) {
				c.Shed(r)
			}
		}
		w.WriteHeader(http.StatusTeapot)
	})
	cfg.Late = func() time.Duration { return time.Second }
	if secure {
		cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
	}
	return listentest.Serve(t, cfg)
}

func TestAShedConnectionIsClosedLaterAndWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(map[bool]string{false: "plain", true: "secure"}[secure], func(t *testing.T) {
			t.Parallel()
			address, _ := shedding(t, secure)
			conn := dial(t, address)
			if secure {
				conn = tls.Client(conn, anyone("shop.test", "http/1.1"))
			}
			require.NoError(t, conn.SetDeadline(time.Now().Add(2*patience)))
			start := time.Now()
			_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			require.NoError(t, err)
			_, err = http.ReadResponse(bufio.NewReader(conn), nil)
			require.Error(t, err)
			assert.Less(t, time.Since(start), 2*patience, "it is closed")
			assert.Greater(t, time.Since(start), 3*time.Second)
		})
	}
}

func TestAShedStreamOfHTTP2IsResetLaterAndItsConnectionGoesOn(t *testing.T) {
	t.Parallel()
	address, _ := shedding(t, true)
	client := overHTTP2(t)
	client.Timeout = 2 * patience
	reset := make(chan time.Duration, 1)
	go func() {
		start := time.Now()
		resp, err := client.Get("https://" + address)
		if err == nil {
			resp.Body.Close()
		}
		assert.ErrorContains(t, err, "stream error")
		reset <- time.Since(start)
	}()
	conns := map[string]bool{}
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(of httptrace.GotConnInfo) { conns[of.Conn.LocalAddr().String()] = true }})
	for len(reset) == 0 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/other", nil)
		require.NoError(t, err)
		resp, err := client.Do(r)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode)
		runtime.Gosched()
	}
	took := <-reset
	assert.Less(t, took, 2*patience, "it is reset")
	assert.Greater(t, took, 3*time.Second)
	assert.Len(t, conns, 1)
}

// floodBy sends 40 requests at once on one connection of HTTP/2, and returns how the first of them
// ended.
func floodBy(t *testing.T, client *http.Client, url string) error {
	t.Helper()
	ended := make(chan error, 40)
	ctx, cancel := context.WithCancel(t.Context())
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer cancel()
	for range cap(ended) {
		tasks.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			assert.NoError(t, err)
			resp, err := client.Do(r)
			if err == nil {
				resp.Body.Close()
			}
			ended <- err
		})
	}
	return <-ended
}

func TestAConnectionOfHTTP2WithManyShedStreamsIsShed(t *testing.T) {
	t.Parallel()
	address, _ := shedding(t, true)
	err := floodBy(t, overHTTP2(t), "https://"+address)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "stream error")
}

func TestOnAConnectionOfSomebodyWhoIsInStreamsAreShedOneByOne(t *testing.T) {
	t.Parallel()
	address, _ := shedding(t, true)
	client := overHTTP2(t)
	resp, err := client.Get("https://" + address + "/in")
	require.NoError(t, err)
	resp.Body.Close()
	assert.ErrorContains(t, floodBy(t, client, "https://"+address+"/soon"), "stream error")
}

func TestAConnectionThatIsKeptIsNotShed(t *testing.T) {
	t.Parallel()
	address, _ := shedding(t, false)
	conn := dial(t, address)
	_, err := io.WriteString(conn, "GET /in HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, status(t, conn))
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	assert.Equal(t, http.StatusTeapot, status(t, conn))
}
