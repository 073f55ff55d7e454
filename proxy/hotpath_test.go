package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// hotPath are what the gate does most. The table in cmd/fairdoor/docs/cost.md has the figures of
// each. The function that is prepared does it once.
var hotPath = []struct {
	name    string
	prepare func(testing.TB) (once func())
}{
	{"accepted request, without a gate", throughTheOrigin},
	{"accepted request", accepted},
	{"accepted request, a handler in the process", acceptedByAHandler},
	{"the same, each of 10,000 visitors in turn", acceptedInTurn},
	{"queued page", func(t testing.TB) func() { return queued(t, "") }},
	{"queued JSON", func(t testing.TB) func() { return queued(t, "application/json") }},
	{"check-in", checkIn},
	{"ticket opened", ticketOpened},
	{"ticket sealed", ticketSealed},
}

func BenchmarkHotPath(b *testing.B) {
	for _, path := range hotPath {
		b.Run(path.name, func(b *testing.B) {
			once := path.prepare(b)
			b.ReportAllocs()
			for b.Loop() {
				once()
			}
		})
	}
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

// throughTheOrigin is the same proxy as that of accepted, without a gate.
func throughTheOrigin(t testing.TB) func() {
	o, err := origin.New(origin.Config{URL: answering(t)})
	require.NoError(t, err)
	t.Cleanup(o.Close)
	return servedBy(t, o, "a=b")
}

// accepted sends a visitor who is in on to an origin.
func accepted(t testing.TB) func() {
	site := answering(t)
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) { c.Rooms[0].Origin = site })
	return servedBy(t, f, ticketOfOneWhoIsIn(f))
}

// acceptedByAHandler has the site in the gate's own process.
func acceptedByAHandler(t testing.TB) func() {
	f := gatetest.Start(t, around(aPage))
	return servedBy(t, f, ticketOfOneWhoIsIn(f))
}

// acceptedInTurn has as many visitors ask in turn as do on a large site.
func acceptedInTurn(t testing.TB) func() {
	f := gatetest.Start(t, around(aPage), gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers, s.NewUsersPerMinute = 20_000, 20_000 }))
	cookies := make([]string, 10_000)
	for round := range 3 {
		for i := range cookies {
			w := &gatetest.Discard{Fields: http.Header{}}
			f.ServeHTTP(w, browserRequest(cookies[i]))
			if issued := w.Fields["Set-Cookie"]; issued != nil {
				cookies[i], _, _ = strings.Cut(issued[0], ";")
			}
		}
		if round == 0 {
			f.Pass(2 * time.Second)
		}
	}
	i := 0
	return servedTo(t, f, func() string {
		i++
		return cookies[i%len(cookies)]
	})
}

// servedBy sends a browser's request with a cookie to a handler.
func servedBy(t testing.TB, h http.Handler, cookies string) func() {
	return servedTo(t, h, func() string { return cookies })
}

// servedTo is servedBy with another cookie each time.
func servedTo(t testing.TB, h http.Handler, cookies func() string) func() {
	w := &gatetest.Discard{Fields: http.Header{}}
	return func() {
		h.ServeHTTP(w, browserRequest(cookies()))
		if w.Bytes != 1024 {
			t.Fatalf("answered with %d bytes", w.Bytes)
		}
		w.Reset()
	}
}

func ticketOfOneWhoIsIn(f *gatetest.Fixture) string {
	v := f.Visitor()
	v.Get("/")
	v.Get("/") // which shows that the ticket comes back
	return "fairdoor_shop=" + v.Cookies["fairdoor_shop"]
}

// answering is an origin within the process that allocates nothing: what is measured is the gate's.
func answering(t testing.TB) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var connections sync.WaitGroup
	connections.Go(func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			connections.Go(func() { answerAll(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		connections.Wait() // until those who ask have closed them
	})
	return &url.URL{Scheme: "http", Host: l.Addr().String()}
}

// answerAll answers the requests on a connection, none of which has a body.
func answerAll(c net.Conn) {
	defer c.Close()
	answer := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(oneKiB), oneKiB)
	request := make([]byte, 8<<10)
	for n := 0; ; {
		read, err := c.Read(request[n:])
		if err != nil {
			return
		}
		if n += read; !bytes.HasSuffix(request[:n], []byte("\r\n\r\n")) {
			continue
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
		n = 0
	}
}

func aPage(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(oneKiB) }

var oneKiB = bytes.Repeat([]byte("page"), 256)

// queued answers people who wait, each of whom is due: their tickets are opened, checked in and
// issued anew.
func queued(t testing.TB, accept string) func() {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) {
		s.RefreshInterval, s.RefreshIntervalMax, s.QueueTicketTTL = time.Second, time.Second, 24*time.Hour
	}))
	f.Full()
	const people = 1000
	requests := make([]*http.Request, people)
	w := &gatetest.Discard{Fields: http.Header{}}
	for i := range requests {
		v := f.Visitor()
		v.Get("/")
		requests[i] = browserRequest("fairdoor_shop=" + v.Cookies["fairdoor_shop"])
		f.Gate.ServeHTTP(w, requests[i]) // it has room for the request's id then, as the requests of a server have
		w.Reset()
		if accept != "" {
			requests[i].Header.Set("Accept", accept)
		}
	}
	i := 0
	return func() {
		if i%people == 0 {
			f.Clock.Add(3 * time.Second)
			f.Gate.ServeHTTP(w, requests[0])
			w.Reset()
		}
		f.Gate.ServeHTTP(w, requests[i%people])
		if w.Bytes == 0 || w.Fields["Set-Cookie"] == nil {
			t.Fatalf("nobody has checked in: answered with %d bytes", w.Bytes)
		}
		w.Reset()
		i++
	}
}

// BenchmarkPlainPage writes the same bytes as a queued page without a queue, to compare with.
func BenchmarkPlainPage(b *testing.B) {
	f := gatetest.Start(b)
	f.Full()
	like := f.Visitor().Get("/")
	page, r, w := []byte(like.Body), browserRequest("a=b"), &gatetest.Discard{Fields: http.Header{}}
	plain := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range like.Header {
			w.Header()[name] = values
		}
		_, _ = w.Write(page)
	})
	b.ReportAllocs()
	for b.Loop() {
		plain.ServeHTTP(w, r)
		w.Reset()
	}
}

// checkIn has the queue decide about somebody who is due, is counted anew and goes on waiting.
func checkIn(t testing.TB) func() {
	s := queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 1, SessionDuration: 24 * time.Hour, RefreshIntervalMax: gatetest.Interval}
	now := time.Date(2021, 5, 27, 15, 54, 10, 0, time.UTC)
	shop, err := room.New(t.Context(), now, room.Config{Name: "shop", Settings: s, Store: memstore.New()})
	require.NoError(t, err)
	in := shop.Visit(t.Context(), now, room.Request{}).Ticket
	waiting := make([]queue.Ticket, 1000)
	for i := range waiting {
		waiting[i] = shop.Visit(t.Context(), now, room.Request{}).Ticket
	}
	i := 0
	return func() {
		at := &waiting[i%len(waiting)]
		if i%len(waiting) == 0 {
			now = now.Add(24 * time.Second)
			shop.Touch(now, in)
			require.NoError(t, shop.Sync(context.Background(), now))
		}
		d := shop.Visit(context.Background(), now, room.Request{Ticket: *at})
		if d.Outcome != room.Queued || !d.Issue {
			t.Fatalf("nobody has checked in: %+v", d)
		}
		*at = d.Ticket
		i++
	}
}

// sealing is a jar, and what a ticket holds.
func sealing(t testing.TB) (*cookie.Jar, []byte) {
	codec, err := cookie.New(cookie.Config{Name: cookie.Name("shop"), Keys: []cookie.Key{gatetest.NewKey(t)}})
	require.NoError(t, err)
	jar, err := cookie.NewJar(codec, cookie.Attributes{})
	require.NoError(t, err)
	return jar, bytes.Repeat([]byte("t"), 36)
}

func ticketSealed(t testing.TB) func() {
	jar, payload := sealing(t)
	return func() {
		if _, err := jar.Seal(payload, true); err != nil {
			t.Fatal(err)
		}
	}
}

func ticketOpened(t testing.TB) func() {
	jar, payload := sealing(t)
	sealed, err := jar.Seal(payload, true)
	require.NoError(t, err)
	value, _, _ := strings.Cut(sealed, ";")
	header := http.Header{"Cookie": {value}}
	return func() {
		if found, err := jar.Read(header); err != nil || found.Payload == nil {
			t.Fatalf("not opened: %v", err)
		}
	}
}
