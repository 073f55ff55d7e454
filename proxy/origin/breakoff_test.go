package origin_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

func TestAnOriginThatDiesWithinItsAnswerBreaksTheVisitorsConnection(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t)
	watch := newWatch()
	srv, o := gate(t, rec.url(), watch.on)
	for _, c := range []struct{ name, answer string }{
		{"before the length is reached", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"},
		{"within its chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec.reply(c.answer, true)
			conn := dial(t, srv.URL)
			_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			require.NoError(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err == nil {
				defer resp.Body.Close()
				_, err = io.ReadAll(resp.Body)
			}
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
			assert.False(t, o.Failing())
			assert.Len(t, watch.lines(), 1, "which is told, once a second")
		})
	}
}

func TestAPanicOverAnAnswerEndsTheConnectionToTheOrigin(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	back := site(t, func(w http.ResponseWriter, r *http.Request) {
		assert.NoError(t, http.NewResponseController(w).Flush())
		<-r.Context().Done()
		close(ended)
	})
	srv, o := gate(t, back.URL, func(c *origin.Config) {
		c.OnResponse = func(*http.Response) { panic(http.ErrAbortHandler) }
	})
	_, err := http.Get(srv.URL) //nolint:bodyclose,noctx // there is no answer
	require.Error(t, err)
	soon(t, ended)
	require.Eventually(t, func() bool {
		busy, watched := o.Watching()
		return busy == 0 && !watched
	}, patience, time.Millisecond, "nothing is left of the request")
}

func TestAVisitorWhoLeavesEndsTheOriginsWorkAndIsNoFailure(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan error, 1)
	back := site(t, func(_ http.ResponseWriter, r *http.Request) {
		started <- struct{}{}
		<-r.Context().Done()
		ended <- r.Context().Err()
	})
	watch := newWatch()
	srv, o := gate(t, back.URL, watch.on)
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			soon(t, started)
			cancel()
		}()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
		require.NoError(t, err)
		_, err = http.DefaultClient.Do(req)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, soon(t, ended), context.Canceled)
	}
	srv.Close() // waits for the handlers
	assert.Empty(t, watch.failures())
	assert.Empty(t, watch.lines())
	assert.False(t, o.Failing())
}

func TestAVisitorWhoLeavesWithinAnAnswerIsNoFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, length string }{{"of known length", "1000000000"}, {"of unknown length", ""}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			back := site(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.length != "" {
					w.Header().Set("Content-Length", c.length)
				}
				_, err := io.CopyN(w, random(1), 1e9)
				ended <- err
			})
			watch := newWatch()
			srv, _ := gate(t, back.URL, watch.on)
			resp, err := http.Get(srv.URL)
			require.NoError(t, err)
			_, err = io.CopyN(io.Discard, resp.Body, 1000)
			require.NoError(t, err)
			resp.Body.Close()
			assert.Error(t, soon(t, ended))
			srv.Close()
			assert.Empty(t, watch.failures())
			assert.Empty(t, watch.lines())
		})
	}
}

func TestAVisitorWhoBreaksOffAnUploadIsNoFailure(t *testing.T) {
	t.Parallel()
	read := make(chan error, 1)
	back := site(t, func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		read <- err
	})
	watch := newWatch()
	srv, o := gate(t, back.URL, watch.on)
	for _, framing := range []string{"Content-Length: 100000\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"Transfer-Encoding: chunked\r\n\r\nrubbish\r\n\r\n"} {
		conn := dial(t, srv.URL)
		_, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\n"+framing)
		require.NoError(t, err)
		if !strings.Contains(framing, "rubbish") {
			conn.Close()
		} else {
			assert.Equal(t, http.StatusBadRequest, answer(t, bufio.NewReader(conn)).StatusCode)
		}
		assert.Error(t, soon(t, read))
	}
	srv.Close()
	assert.Empty(t, watch.failures())
	assert.Empty(t, watch.lines())
	assert.False(t, o.Failing())
}

func TestAShortBodyThatAVisitorBreaksOffDoesNotReachTheOrigin(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t)
	watch := newWatch()
	srv, o := gate(t, rec.url(), watch.on)
	conn := dial(t, srv.URL)
	_, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhello")
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	assert.Equal(t, http.StatusBadRequest, answer(t, bufio.NewReader(conn)).StatusCode)
	assert.Empty(t, watch.failures())
	assert.False(t, o.Failing())
	srv.Close()
	o.Close()
	rec.end()
	sent, _ := rec.take()
	assert.Empty(t, sent)
}

func TestABodyThatRunsIntoADeadlineIsAnsweredWithTimeout(t *testing.T) {
	t.Parallel()
	back := site(t, func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		assert.Error(t, err)
	})
	statuses := make(chan int, 1)
	o := newOrigin(t, back.URL, func(c *origin.Config) {
		c.ErrorHandler = func(_ http.ResponseWriter, _ *http.Request, status int) { statuses <- status }
	})
	srv := site(t, func(w http.ResponseWriter, r *http.Request) {
		assert.NoError(t, http.NewResponseController(w).SetReadDeadline(time.Now().Add(50*time.Millisecond)))
		o.ServeHTTP(w, r)
	})
	conn := dial(t, srv.URL)
	_, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhello")
	require.NoError(t, err)
	assert.Equal(t, http.StatusRequestTimeout, soon(t, statuses))
	assert.False(t, o.Failing())
}

func TestPanicsOfNetHTTPPassOn(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t)
	rec.reply("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello", true)
	o := newOrigin(t, rec.url())
	panicked := make(chan any, 1)
	srv := site(t, func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			panicked <- recover()
			panic(http.ErrAbortHandler)
		}()
		o.ServeHTTP(w, r)
	})
	go func() {
		resp, err := http.Get(srv.URL)
		if err == nil {
			resp.Body.Close()
		}
	}()
	err, _ := soon(t, panicked).(error)
	assert.ErrorIs(t, err, http.ErrAbortHandler)
}
