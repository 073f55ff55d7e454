package origin_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

const patience = 10 * time.Second // what a test waits for at most

// gate starts a server with an Origin for the address in front, and returns both.
func gate(t testing.TB, address string, change ...func(*origin.Config)) (*httptest.Server, *origin.Origin) {
	t.Helper()
	o := newOrigin(t, address, change...)
	srv := httptest.NewUnstartedServer(o)
	srv.Config.DisableGeneralOptionsHandler = true
	srv.Start()
	t.Cleanup(srv.Close)
	return srv, o
}

func newOrigin(t testing.TB, address string, change ...func(*origin.Config)) *origin.Origin {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	cfg := origin.Config{URL: u}
	for _, c := range change {
		c(&cfg)
	}
	o, err := origin.New(cfg)
	require.NoError(t, err)
	t.Cleanup(o.Close)
	return o
}

// site starts an origin that is a net/http handler.
func site(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// recorder is an origin that keeps every byte it is sent, and answers each request it can make out.
type recorder struct {
	net.Listener
	conns sync.WaitGroup

	mu     sync.Mutex
	answer string
	hangUp bool // after an answer
	bytes  bytes.Buffer
	seen   int
}

func newRecorder(t testing.TB) *recorder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &recorder{Listener: l, answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}
	r.conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.conns.Go(func() { r.serve(c) })
		}
	})
	t.Cleanup(func() { l.Close() })
	return r
}

// end waits until everything that was sent has been recorded. Whoever sends has to have closed its
// connections.
func (r *recorder) end() {
	r.Close()
	r.conns.Wait()
}

func (r *recorder) url() string { return "http://" + r.Addr().String() }

func (r *recorder) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(io.TeeReader(c, r))
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		r.mu.Lock()
		r.seen++
		answer, hangUp := r.answer, r.hangUp
		r.mu.Unlock()
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		if _, err := io.WriteString(c, answer); err != nil || hangUp {
			return
		}
	}
}

// reply sets the answer to all requests to come, and whether the connection ends with it.
func (r *recorder) reply(answer string, hangUp bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer, r.hangUp = answer, hangUp
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes.Write(p)
}

// take returns what has been recorded since the last take, as text, and the number of requests in
// it.
func (r *recorder) take() (text string, requests int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, requests = r.bytes.String(), r.seen
	r.bytes.Reset()
	r.seen = 0
	return text, requests
}

// raw sends text to the address as it is and returns the first answer.
func raw(t testing.TB, address, text string) *http.Response {
	t.Helper()
	c := dial(t, address)
	_, err := io.WriteString(c, text)
	require.NoError(t, err)
	return answer(t, bufio.NewReader(c))
}

func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	c, err := net.Dial("tcp", u.Host)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	return c
}

// answer reads one answer, body included.
func answer(t testing.TB, in *bufio.Reader) *http.Response {
	t.Helper()
	resp, err := http.ReadResponse(in, nil)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp
}

// text is the body of an answer.
func text(t testing.TB, resp *http.Response) string {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(body)
}

// soon waits for a value of a channel.
func soon[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		assert.Fail(t, "nothing came")
		var zero T
		return zero
	}
}

// drain reads what comes until the connection ends.
func drain(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// watch sees what an Origin reports.
type watch struct {
	logs *observer.ObservedLogs
	log  *zap.Logger

	mu      sync.Mutex
	failed  []origin.Failure
	changes chan bool
}

func newWatch() *watch {
	core, logs := observer.New(zap.DebugLevel)
	return &watch{logs: logs, log: zap.New(core), changes: make(chan bool, 100)}
}

// on sets the watch up in a configuration.
func (w *watch) on(c *origin.Config) {
	c.Log = w.log
	c.OnChange = func(failing bool) { w.changes <- failing }
	c.Metrics.Failed = func(kind origin.Failure) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed = append(w.failed, kind)
	}
}

func (w *watch) failures() []origin.Failure {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.failed)
}

// lines are the log's messages.
func (w *watch) lines() []string {
	var lines []string
	for _, e := range w.logs.All() {
		lines = append(lines, e.Message)
	}
	return lines
}
