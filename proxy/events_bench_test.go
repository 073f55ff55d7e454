package proxy_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// hearers count what event streams send.
type hearers struct{ flushed atomic.Int64 }

// hearer is the one who hears a stream: within the process if it has no writer.
type hearer struct {
	http.ResponseWriter
	all    *hearers
	header http.Header
}

func (h *hearer) Header() http.Header {
	if h.ResponseWriter != nil {
		return h.ResponseWriter.Header()
	}
	return h.header
}

func (h *hearer) WriteHeader(status int) {
	if h.ResponseWriter != nil {
		h.ResponseWriter.WriteHeader(status)
	}
}

func (h *hearer) Write(p []byte) (int, error) {
	if h.ResponseWriter != nil {
		return h.ResponseWriter.Write(p)
	}
	return len(p), nil
}

func (h *hearer) FlushError() (err error) {
	if h.ResponseWriter != nil {
		err = http.NewResponseController(h.ResponseWriter).Flush()
	}
	h.all.flushed.Add(1)
	return err
}

// waitFor waits until so many have been sent.
func (h *hearers) waitFor(b *testing.B, sent int64) {
	require.Eventually(b, func() bool { return h.flushed.Load() >= sent }, time.Minute, time.Millisecond)
}

// benchmarkNumbers has the numbers of a room with so many streams change, and
// tells the processor time that telling them all takes: the time on one core.
func benchmarkNumbers(b *testing.B, streams int, open func(f *gatetest.Fixture, all *hearers, ticket string)) {
	f := gatetest.Start(b, gatetest.Settings(func(s *queue.Settings) {
		s.RefreshInterval, s.QueueTicketTTL, s.SessionDuration = time.Hour, 24*time.Hour, 24*time.Hour
	}))
	f.Full()
	all := &hearers{}
	arrive := func() string {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		ticket, _, _ := strings.Cut(w.Header().Get("Set-Cookie"), ";")
		return ticket
	}
	for range streams {
		open(f, all, arrive())
	}
	sent := int64(streams) // a stream that begins later would have the next numbers with its first
	all.waitFor(b, sent)
	update := func() time.Duration {
		arrive()
		f.Clock.Add(2 * time.Second)
		before := processorTime(b)
		f.Status("shop")
		sent += int64(streams)
		all.waitFor(b, sent)
		return processorTime(b) - before
	}
	update()
	total := time.Duration(0)
	b.ResetTimer()
	for range b.N {
		total += update()
	}
	b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "cpu-ms/update")
	b.ReportMetric(float64(total.Nanoseconds())/float64(b.N)/float64(streams), "cpu-ns/stream")
}

func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func eventsRequest(ticket string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/.fairdoor/events", nil)
	r.Header.Set("Cookie", ticket)
	return r
}

func BenchmarkNumbersToStreams(b *testing.B) {
	benchmarkNumbers(b, 20_000, func(f *gatetest.Fixture, all *hearers, ticket string) {
		go f.ServeHTTP(&hearer{all: all, header: http.Header{}}, eventsRequest(ticket).WithContext(b.Context()))
	})
}

// BenchmarkNumbersToSockets has both ends of the connections in the process,
// which may have so many files open: make it 45,000 for as many streams as above.
func BenchmarkNumbersToSockets(b *testing.B) {
	var limit syscall.Rlimit
	require.NoError(b, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	all := &hearers{}
	var s *httptest.Server
	benchmarkNumbers(b, int(min(20_000, limit.Cur/2-500)), func(f *gatetest.Fixture, told *hearers, ticket string) {
		if s == nil {
			all = told
			s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				f.ServeHTTP(&hearer{ResponseWriter: w, all: all}, r)
			}))
			b.Cleanup(s.Close)
		}
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		require.NoError(b, err)
		b.Cleanup(func() { c.Close() })
		_, err = fmt.Fprintf(c, "GET /.fairdoor/events HTTP/1.1\r\nHost: x\r\nCookie: %s\r\n\r\n", ticket)
		require.NoError(b, err)
	})
}
