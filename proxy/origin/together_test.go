package origin_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// together starts the server that faces the outside with an Origin for the handler behind.
func together(t *testing.T, back http.HandlerFunc, change ...func(*origin.Config)) (string, *origin.Origin, *listen.Server) {
	t.Helper()
	o := newOrigin(t, site(t, back).URL, change...)
	address, s := listentest.Serve(t, listen.Config{Handler: o, ProgressTimeout: 200 * time.Millisecond})
	return "http://" + address, o, s
}

func TestAVisitorWhoStopsSendingIsAnsweredWithTimeoutAndIsNoFailure(t *testing.T) {
	t.Parallel()
	watch := newWatch()
	address, o, _ := together(t, func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		assert.Error(t, err)
	}, watch.on)
	for range 4 {
		resp := raw(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhello")
		assert.Equal(t, http.StatusRequestTimeout, resp.StatusCode)
	}
	assert.Empty(t, watch.failures())
	assert.False(t, o.Failing())
}

func TestTrailersAndContinuePassTheServerToo(t *testing.T) {
	t.Parallel()
	trailers := make(chan http.Header, 1)
	address, _, _ := together(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refuse" {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		_, err := io.Copy(w, r.Body)
		assert.NoError(t, err)
		trailers <- r.Trailer
	})
	resp := raw(t, address, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: in\r\n\r\n")
	assert.Equal(t, "ok", text(t, resp))
	assert.Equal(t, http.Header{"X-Sum": {"in"}}, soon(t, trailers))

	conn := dial(t, address)
	_, err := io.WriteString(conn, "POST /refuse HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	require.NoError(t, err)
	assert.Equal(t, http.StatusRequestEntityTooLarge, answer(t, bufio.NewReader(conn)).StatusCode, "the body is not asked for")
}

func TestWebsocketsEndWithTheServer(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	address, _, s := together(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		c, err := websocket.Accept(w, r, nil)
		if !assert.NoError(t, err) {
			return
		}
		defer c.CloseNow()
		_, _, err = c.Read(context.Background())
		assert.Error(t, err)
	})
	c := websocketTo(t.Context(), t, address, "/")
	defer c.CloseNow()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.Shutdown(ctx))
	soon(t, ended)
	_, _, err := c.Read(t.Context())
	assert.Error(t, err)
}
