package listen_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
)

// pause waits for d by reading from a connection on which nothing comes.
func pause(t *testing.T, c net.Conn, d time.Duration) {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(d)))
	_, err := c.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(patience)))
}

func TestAHeaderThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	cfg := handler(ok)
	cfg.ReadHeaderTimeout = short
	for _, secure := range []bool{false, true} {
		if secure {
			cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
		}
		address, _ := listentest.Serve(t, cfg)
		conn := dial(t, address)
		start := time.Now()
		if !secure {
			_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n")
			require.NoError(t, err)
		}
		_, err := io.Copy(io.Discard, conn)
		require.NoError(t, err, "the connection is closed")
		assert.GreaterOrEqual(t, time.Since(start), short/2)
	}
}

// plainly sends text on a new connection without TLS.
func plainly(t *testing.T, address, text string) net.Conn {
	t.Helper()
	conn := dial(t, address)
	_, err := io.WriteString(conn, text)
	require.NoError(t, err)
	return conn
}

func TestAVisitorWhoStopsReadingIsCutOff(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("secure ", secure), func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			cfg := handler(func(w http.ResponseWriter, _ *http.Request) {
				_, err := io.Copy(w, endless{})
				ended <- err
			})
			cfg.ProgressTimeout = short
			if secure {
				cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
			}
			address, _ := listentest.Serve(t, cfg)
			conn := dial(t, address)
			if secure {
				conn = tls.Client(conn, anyone("shop.test", "http/1.1"))
			}
			_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			require.NoError(t, err)
			assert.ErrorIs(t, soon(t, ended), os.ErrDeadlineExceeded)
		})
	}
}

// endless is a body without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestAVisitorWhoReadsSlowlyButSteadilyGetsItAll(t *testing.T) {
	t.Parallel()
	const size = 24 << 20 // far more than the buffers in between hold
	ended := make(chan error, 1)
	cfg := handler(func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, size)) // at once: it has to be cut into chunks
		ended <- err
	})
	cfg.ProgressTimeout = short
	address, _ := listentest.Serve(t, cfg)
	conn := plainly(t, address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	quiet := plainly(t, address, "") // nothing comes here
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	start := time.Now()
	var got int64
	for got < size {
		n, err := io.CopyN(io.Discard, resp.Body, min(size-got, 1<<20))
		require.NoError(t, err)
		got += n
		pause(t, quiet, short/5)
	}
	assert.NoError(t, soon(t, ended))
	assert.Greater(t, time.Since(start), 3*short, "it took longer than any one deadline")
}

func TestABodyThatStopsComingIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	cfg := handler(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		ended <- err
	})
	cfg.ProgressTimeout = short
	address, _ := listentest.Serve(t, cfg)
	for _, framing := range []string{"Content-Length: 100\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"} {
		start := time.Now()
		plainly(t, address, "POST / HTTP/1.1\r\nHost: x\r\n"+framing)
		assert.ErrorIs(t, soon(t, ended), os.ErrDeadlineExceeded)
		assert.GreaterOrEqual(t, time.Since(start), short)
	}
}

func TestABodyThatComesSlowlyButSteadilyIsRead(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 1)
	cfg := handler(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		bodies <- string(body)
	})
	cfg.ProgressTimeout = short
	address, _ := listentest.Serve(t, cfg)
	conn := plainly(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\n")
	for range 8 {
		pause(t, conn, short/2)
		_, err := io.WriteString(conn, "a")
		require.NoError(t, err)
	}
	assert.Equal(t, "aaaaaaaa", soon(t, bodies))
	assert.Equal(t, http.StatusOK, status(t, conn))
}

func TestABodyThatNobodyReadsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	cfg := handler(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	cfg.ProgressTimeout = short
	address, _ := listentest.Serve(t, cfg)
	conn := plainly(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhello")
	assert.Equal(t, http.StatusTooManyRequests, status(t, conn))
	_, err := io.Copy(io.Discard, conn)
	assert.NoError(t, err, "the connection is closed")
}

func TestARefusalOfALargeBodyArrives(t *testing.T) {
	t.Parallel()
	address, _ := listentest.Serve(t, handler(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	for range 10 {
		conn := plainly(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4194304\r\n\r\n")
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, _ = conn.Write(make([]byte, 4<<20)) // the server need not take it all
		}()
		assert.Equal(t, http.StatusTooManyRequests, status(t, conn))
		conn.Close()
		soon(t, sent)
	}
}

func TestAnAnswerMayTakeItsTimeAfterTheBody(t *testing.T) {
	t.Parallel()
	body := make(chan struct{})
	over := make(chan error, 1)
	finish := make(chan struct{})
	cfg := handler(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		assert.NoError(t, err)
		close(body)
		<-finish
		over <- r.Context().Err()
		w.WriteHeader(http.StatusTeapot)
	})
	cfg.ProgressTimeout = short
	address, _ := listentest.Serve(t, cfg)
	conn := plainly(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
	soon(t, body)
	pause(t, conn, 2*short) // the body's deadline would have passed
	close(finish)
	require.NoError(t, soon(t, over), "the visitor is not taken for gone")
	assert.Equal(t, http.StatusTeapot, status(t, conn))
}

func TestAConnectionIsKeptAfterABody(t *testing.T) {
	t.Parallel()
	cfg := handler(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		assert.NoError(t, err)
	})
	cfg.ProgressTimeout = short
	address, _ := listentest.Serve(t, cfg)
	conn := dial(t, address)
	for range 3 {
		_, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, status(t, conn))
		pause(t, conn, 2*short) // longer than the body may take
	}
}

func TestAnEventStreamMayBeSilent(t *testing.T) {
	t.Parallel()
	next := make(chan string)
	cfg := handler(func(w http.ResponseWriter, _ *http.Request) {
		for line := range next {
			_, err := io.WriteString(w, line+"\n")
			assert.NoError(t, err)
			assert.NoError(t, http.NewResponseController(w).Flush())
		}
	})
	cfg.ProgressTimeout = short
	cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
	address, _ := listentest.Serve(t, cfg)
	quiet := plainly(t, address, "")
	go func() { next <- "first" }()
	resp, err := overHTTP2(t).Get("https://" + address)
	require.NoError(t, err)
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	require.True(t, lines.Scan())
	assert.Equal(t, "first", lines.Text())
	pause(t, quiet, 2*short)
	next <- "second"
	require.True(t, lines.Scan())
	assert.Equal(t, "second", lines.Text())
	close(next)
	assert.False(t, lines.Scan())
	assert.NoError(t, lines.Err())
}

// stream is a connection of HTTP/2 with one request on it, whose windows are left to the test.
type stream struct {
	net.Conn
	*http2.Framer
}

func openStream(t *testing.T, address, method string, end bool) stream {
	t.Helper()
	conn := tls.Client(dial(t, address), anyone("shop.test", "h2"))
	_, err := io.WriteString(conn, http2.ClientPreface)
	require.NoError(t, err)
	framer := http2.NewFramer(conn, conn)
	require.NoError(t, framer.WriteSettings())
	var block strings.Builder
	enc := hpack.NewEncoder(&block)
	for _, f := range [][2]string{{":method", method}, {":path", "/"}, {":scheme", "https"}, {":authority", "shop.test"}} {
		require.NoError(t, enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}))
	}
	require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: []byte(block.String()), EndStream: end, EndHeaders: true}))
	return stream{conn, framer}
}

// reset reads until the stream is reset.
func (s stream) reset() error {
	for {
		frame, err := s.ReadFrame()
		if err != nil {
			return fmt.Errorf("reading frames: %w", err)
		}
		if f, ok := frame.(*http2.RSTStreamFrame); ok {
			return errors.New(f.ErrCode.String())
		}
	}
}

func TestAConnectionOfHTTP2ThatNobodyReadsIsClosed(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	cfg := handler(func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.Copy(w, endless{})
		ended <- err
	})
	cfg.ProgressTimeout = short
	cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
	dir, err := os.MkdirTemp("", "") // t.TempDir's name is too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s")) // over TCP, the system would end the connection
	require.NoError(t, err)
	listentest.ServeOn(t, l, cfg)
	address := l.Addr().String()
	quiet := plainly(t, address, "") // nothing comes here
	const wide = 1 << 30
	st := openStream(t, address, "GET", true)
	require.NoError(t, st.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: wide}))
	require.NoError(t, st.WriteWindowUpdate(0, wide))
	require.Error(t, soon(t, ended))
	pause(t, quiet, 2*short)
	require.NoError(t, st.SetReadDeadline(time.Now().Add(patience)))
	_, err = io.Copy(io.Discard, st.Conn)
	assert.NotErrorIs(t, err, os.ErrDeadlineExceeded, "nothing more comes, and the connection is open")
}

func TestAStreamWhoseWindowStaysShutIsReset(t *testing.T) {
	t.Parallel()
	const window = 65535 // the visitor's, as long as nothing else is said
	for _, c := range []struct {
		name   string
		writes []int
	}{
		{"while the handler writes", []int{1 << 20}},
		{"after the handler has returned", []int{window, 100}}, // the rest is small enough to be buffered
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := handler(func(w http.ResponseWriter, _ *http.Request) {
				for _, n := range c.writes {
					_, _ = w.Write(make([]byte, n))
				}
			})
			cfg.ProgressTimeout = short
			cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
			address, s := listentest.Serve(t, cfg)
			start := time.Now()
			st := openStream(t, address, "GET", true)
			assert.EqualError(t, st.reset(), "INTERNAL_ERROR")
			assert.GreaterOrEqual(t, time.Since(start), short)
			st.Close()
			assert.NoError(t, s.Shutdown(t.Context()), "no handler is stuck")
		})
	}
}

func TestAStreamWhoseBodyStopsComingIsCutOff(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	cfg := handler(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		ended <- err
	})
	cfg.ProgressTimeout = short
	cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
	address, _ := listentest.Serve(t, cfg)
	st := openStream(t, address, "POST", false)
	for range 8 { // slowly but steadily
		require.NoError(t, st.WriteData(1, false, []byte("a")))
		pause(t, plainly(t, address, ""), short/4)
	}
	start := time.Now()
	assert.ErrorIs(t, soon(t, ended), os.ErrDeadlineExceeded)
	assert.GreaterOrEqual(t, time.Since(start), short/4)
}
