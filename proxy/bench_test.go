package proxy_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/proxy"
	"github.com/anteroom-gate/anteroom/proxy/origin"
	"github.com/anteroom-gate/anteroom/queue"
)

// discard is a ResponseWriter that counts what is written and keeps its header.
type discard struct {
	header http.Header
	status int
	bytes  int
}

func (d *discard) Header() http.Header { return d.header }

func (d *discard) WriteHeader(status int) { d.status = status }

func (d *discard) Write(p []byte) (int, error) {
	d.bytes += len(p)
	return len(p), nil
}

func (d *discard) reset() {
	clear(d.header)
	d.status, d.bytes = 0, 0
}

// browserRequest has the headers that a browser sends.
func browserRequest(cookies string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/tickets?event=42", nil)
	maps.Copy(r.Header, http.Header{
		"User-Agent":      {"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"},
		"Accept":          {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"},
		"Accept-Language": {"en-GB,en;q=0.9,de;q=0.8"}, "Accept-Encoding": {"gzip, deflate, br, zstd"},
		"Sec-Fetch-Dest": {"document"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Site": {"none"},
		"Cookie": {"_ga=GA1.1.1234567890.1234567890; session=0123456789abcdef; " + cookies},
	})
	return r
}

// benchmarkQueued answers people who wait, each of whom is due: their tickets
// are opened, checked in and issued anew.
func benchmarkQueued(b *testing.B, accept string) {
	f := start(b, settings(func(s *queue.Settings) { s.RefreshInterval, s.QueueTicketTTL = time.Second, 24*time.Hour }))
	f.full()
	const people = 1000
	requests := make([]*http.Request, people)
	w := &discard{header: http.Header{}}
	for i := range requests {
		v := f.visitor()
		v.get("/")
		requests[i] = browserRequest("anteroom_shop=" + v.cookies["anteroom_shop"])
		if accept != "" {
			requests[i].Header.Set("Accept", accept)
		}
	}
	i, size := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		if i%people == 0 {
			f.clock.add(3 * time.Second)
			f.Gate.ServeHTTP(w, requests[0])
			w.reset()
		}
		f.Gate.ServeHTTP(w, requests[i%people])
		size = w.bytes
		w.reset()
		i++
	}
	require.NotZero(b, size)
	require.Empty(b, f.site.requests())
}

func BenchmarkQueuedPage(b *testing.B) { benchmarkQueued(b, "") }

func BenchmarkQueuedJSON(b *testing.B) { benchmarkQueued(b, "application/json") }

// BenchmarkPlainPage writes the same bytes without a queue, to compare with.
func BenchmarkPlainPage(b *testing.B) {
	f := start(b)
	f.full()
	like := f.visitor().get("/")
	page, r, w := []byte(like.body), browserRequest("a=b"), &discard{header: http.Header{}}
	plain := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range like.header {
			w.Header()[name] = values
		}
		_, _ = w.Write(page)
	})
	b.ReportAllocs()
	for b.Loop() {
		plain.ServeHTTP(w, r)
		w.reset()
	}
}

// answering is an origin within the process, at the cost of a function call.
func answering(b *testing.B) *httptest.Server {
	b.Helper()
	page := make([]byte, 1024)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) }))
	b.Cleanup(s.Close)
	return s
}

func BenchmarkAccepted(b *testing.B) {
	s := answering(b)
	f := start(b, func(c *proxy.Config, _ *proxy.Options) {
		address := *c.Rooms[0].Origin
		address.Host = s.Listener.Addr().String()
		c.Rooms[0].Origin = &address
	})
	v := f.visitor()
	v.get("/")
	ticket := "anteroom_shop=" + v.cookies["anteroom_shop"]
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		f.Gate.ServeHTTP(w, browserRequest(ticket))
		w.reset()
	}
}

// BenchmarkBareOrigin is the same proxy without a gate, to compare with.
func BenchmarkBareOrigin(b *testing.B) {
	s := answering(b)
	site := &site{Server: s}
	o, err := origin.New(origin.Config{URL: site.url(b)})
	require.NoError(b, err)
	b.Cleanup(o.Close)
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		o.ServeHTTP(w, browserRequest("a=b"))
		w.reset()
	}
}
