package proxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// byScript makes a request one of a script, which shows nobody a page.
var byScript = gatetest.With("Accept", "*/*")

// unsafe are methods that change things, and some that nobody knows.
var unsafe = []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "FOO", "get", "PROPFIND"}

func TestUnsafeRequestsOfWhoIsQueuedAreRefusedAndCostNoPlace(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	waiting := f.Visitor()
	before := waiting.Get("/", gatetest.AsJSON)
	f.Pass(2 * time.Second)
	for _, method := range unsafe {
		for who, v := range map[string]*gatetest.Visitor{"someone new": f.Visitor(), "someone who waits": waiting} {
			a := v.Send(method, "/order", strings.NewReader("a=1"), byScript)
			wait := 20.
			if v == waiting {
				wait = before.Told("refreshIntervalSeconds").(float64) - 2
			}
			assert.Equal(t, http.StatusTooManyRequests, a.Status, "%s of %s", method, who)
			assert.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
			assert.Equal(t, strconv.FormatFloat(wait, 'f', -1, 64), a.Header.Get("Retry-After"))
			assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
			assert.NotContains(t, a.Header, "Refresh")
			assert.Empty(t, a.Header["Set-Cookie"])
		}
	}
	f.Pass(2 * time.Second)
	assert.Empty(t, f.Site.Requests())
	assert.Equal(t, 1, f.Status("shop").Queued, "it took no place")
	assert.Equal(t, before.Told("lastUpdated"), waiting.Get("/", gatetest.AsJSON).Told("lastUpdated"), "and is no check-in")
}

func TestUnsafeRequestsPassWhileThereIsRoom(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 3 }))
	v := f.Visitor()
	a := v.Send(http.MethodPost, "/order", strings.NewReader("a=1"))
	assert.True(t, a.In(), "someone new takes a slot")
	assert.NotEmpty(t, a.SetCookies())
	for _, method := range unsafe {
		assert.True(t, v.Send(method, "/order", strings.NewReader("a=1")).In(), method)
	}
	assert.Len(t, f.Site.Requests(), 1+len(unsafe))
	assert.Equal(t, 1, f.Status("shop").Active)
}

// endless is a body that never ends, and counts what was read of it.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read.Add(int64(len(p)))
	return len(p), nil
}

func TestBodyOfWhoIsQueuedIsNotRead(t *testing.T) {
	t.Parallel()
	f := gatetest.Start(t)
	f.Full()
	const gigabyte = 1 << 30
	for name, length := range map[string]int64{"of a known length": gigabyte, "in chunks": -1} {
		body := &endless{}
		a := f.Visitor().Send(http.MethodPost, "/upload", io.LimitReader(body, gigabyte), func(r *http.Request) { r.ContentLength = length })
		assert.Equal(t, http.StatusTooManyRequests, a.Status, name)
		assert.Less(t, body.read.Load(), int64(64<<20), "%s: what the sockets took in", name)
	}
	body := &endless{}
	r, w := httptest.NewRequest(http.MethodPost, "/upload", body), httptest.NewRecorder()
	f.Gate.ServeHTTP(w, r)
	assert.Equal(t, http.StatusTooManyRequests, w.Code)
	assert.Zero(t, body.read.Load(), "the gate itself reads nothing")
}

// dial opens a connection to the gate, on which everything has to happen in time.
func dial(f *gatetest.Fixture) net.Conn {
	f.T.Helper()
	conn, err := net.Dial("tcp", f.Public.Listener.Addr().String())
	require.NoError(f.T, err)
	f.T.Cleanup(func() { conn.Close() })
	require.NoError(f.T, conn.SetDeadline(time.Now().Add(gatetest.Patience)))
	return conn
}

// raw sends text as it is and returns the answer.
func raw(f *gatetest.Fixture, method, text string) *http.Response {
	f.T.Helper()
	conn := dial(f)
	_, err := io.WriteString(conn, text)
	require.NoError(f.T, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	require.NoError(f.T, err)
	return resp
}

func TestWhoIsQueuedIsAnsweredBeforeAnyOfTheBodyIsThere(t *testing.T) {
	t.Parallel()
	f := gatetest.Start(t)
	f.Full()
	for _, framing := range []string{"Content-Length: 1000", "Content-Length: 1000000000", "Transfer-Encoding: chunked"} {
		for method, status := range map[string]int{"POST": http.StatusTooManyRequests, "GET": http.StatusOK} {
			resp := raw(f, method, method+" / HTTP/1.1\r\nHost: shop.test\r\n"+framing+"\r\n\r\n")
			assert.Equal(t, status, resp.StatusCode, framing)
			assert.True(t, resp.Close, framing)
		}
	}
}

func TestPreflightsPassUncounted(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	origin, method := gatetest.With("Origin", "https://app.test"), gatetest.With("Access-Control-Request-Method", "PUT")
	for range 3 {
		a := f.Visitor().Send(http.MethodOptions, "/", nil, origin, method)
		assert.True(t, a.In())
		assert.Empty(t, a.SetCookies())
	}
	assert.Len(t, f.Site.Requests(), 3)
	assert.Equal(t, http.StatusTooManyRequests, f.Visitor().Send(http.MethodOptions, "/", nil, origin).Status, "not a preflight")
	assert.Equal(t, http.StatusTooManyRequests, f.Visitor().Send(http.MethodOptions, "/", nil, method).Status, "not a preflight")
	assert.Equal(t, http.StatusTooManyRequests, f.Visitor().Send(http.MethodPost, "/", nil, origin, method, byScript).Status, "not a preflight")
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Active)
	assert.Zero(t, f.Status("shop").Queued)
}

func TestConnectAndTraceAreRefused(t *testing.T) {
	f := gatetest.Start(t)
	ticket := f.Full()[0].Cookies["fairdoor_shop"]
	for _, request := range []string{
		"CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443", "CONNECT / HTTP/1.1\r\nHost: shop.test", "TRACE / HTTP/1.1\r\nHost: shop.test",
	} {
		method, _, _ := strings.Cut(request, " ")
		resp := raw(f, method, request+"\r\nCookie: fairdoor_shop="+ticket+"\r\n\r\n")
		assert.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode, request)
		assert.Contains(t, resp.Header.Get("Allow"), "GET", request)
	}
	assert.Empty(t, f.Site.Requests())
}

func TestPartsOfPagesTakeNoPlaceAndNoSlot(t *testing.T) {
	f := gatetest.Start(t)
	image := gatetest.With("Sec-Fetch-Dest", "image")
	a := f.Visitor().Get("/logo.png", image)
	assert.True(t, a.In(), "they pass while the room is not queueing")
	assert.Empty(t, a.SetCookies())
	f.Pass(time.Second)
	assert.Zero(t, f.Status("shop").Active)

	in := f.Full()[0]
	for _, dest := range []string{"image", "script", "style", "font", "audio", "video", "track", "manifest", "worker", "serviceworker", "sharedworker", "report"} {
		a := f.Visitor().Get("/logo.png", gatetest.With("Sec-Fetch-Dest", dest))
		assert.Equal(t, http.StatusServiceUnavailable, a.Status, dest)
		assert.Equal(t, "no-store", a.Header.Get("Cache-Control"), dest)
		assert.Empty(t, a.Header["Set-Cookie"], dest)
	}
	assert.True(t, in.Get("/logo.png", image).In(), "whoever is in gets them")
	f.Pass(time.Second)
	assert.Zero(t, f.Status("shop").Queued)

	for _, dest := range []string{"document", "iframe", "frame", "empty", ""} {
		assert.NotEmpty(t, f.Visitor().Get("/", gatetest.With("Sec-Fetch-Dest", dest)).SetCookies(), "%q is a visitor", dest)
	}
	waiting := f.Visitor()
	before := waiting.Get("/", gatetest.AsJSON)
	f.Pass(30 * time.Second)
	assert.Equal(t, http.StatusServiceUnavailable, waiting.Get("/logo.png", image).Status)
	assert.NotEqual(t, before.Told("lastUpdated"), waiting.Get("/", gatetest.AsJSON).Told("lastUpdated"), "the check-in is still to be had")
}

func TestRejectAnswersWithoutARefresh(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.StatusCode = 503 }))
	in := f.Full()[0]
	waiting := f.Visitor()
	waiting.Get("/")
	require.Equal(t, http.StatusOK, f.Patch(`{"queueing_method": "reject"}`).Status)

	for who, v := range map[string]*gatetest.Visitor{"someone new": f.Visitor(), "someone who waited": waiting} {
		a := v.Get("/", gatetest.AsJSON)
		assert.Equal(t, 503, a.Status, who)
		assert.EqualValues(t, 0, a.Told("refreshIntervalSeconds"), who)
		assert.Equal(t, true, a.Told("isRejectQueue"), who)
		assert.Equal(t, true, a.Told("inWaitingRoom"), who)
		assert.Equal(t, false, a.Told("waitTimeKnown"), who)
		for _, name := range []string{"Refresh", "Retry-After"} {
			assert.NotContains(t, a.Header, name, who)
		}
		assert.Empty(t, v.Cookies, "%s: places end", who)
		page := v.Get("/")
		assert.Equal(t, 503, page.Status)
		assert.NotContains(t, page.Body, `http-equiv="refresh"`)
	}
	page := f.Visitor().Send(http.MethodPost, "/", strings.NewReader("a=1"))
	assert.Equal(t, http.StatusServiceUnavailable, page.Status)
	assert.Contains(t, page.Body, "This was not sent")
	assert.Contains(t, page.Body, "Please come back later.")
	a := f.Visitor().Send(http.MethodPost, "/", strings.NewReader("a=1"), byScript)
	assert.Equal(t, http.StatusServiceUnavailable, a.Status)
	assert.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
	assert.True(t, in.Get("/").In(), "whoever is in stays in")
	f.Pass(time.Second)
	assert.Zero(t, f.Status("shop").Queued)
}

func TestQueueAllLetsNobodyNewInAndSaysSo(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Passthrough, queue.Reject} {
		f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.QueueAll, s.Method = true, method }))
		v := f.Visitor()
		a := v.Get("/", gatetest.AsJSON)
		assert.Equal(t, true, a.Told("queueAll"), method)
		assert.Equal(t, false, a.Told("waitTimeKnown"), method)
		assert.NotZero(t, a.Told("refreshIntervalSeconds"), method)
		assert.NotEmpty(t, v.Cookies)
		f.Pass(25 * time.Second)
		assert.False(t, v.Get("/").In(), method)
		assert.Equal(t, "queueing", f.Status("shop").Status)
	}
}

func TestRulesExemptFromTheRoomUncounted(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Room(func(r *proxy.RoomConfig) {
		bypass := func(c route.Conditions) {
			r.Rules = append(r.Rules, route.Rule{Action: route.BypassWaitingRoom, Match: c})
		}
		bypass(route.Conditions{Path: "/healthz"})
		bypass(route.Conditions{PathPrefix: "/static", Method: "GET"})
		bypass(route.Conditions{CIDR: []string{"192.0.2.0/24"}})
		bypass(route.Conditions{Header: "X-Pass: letmein"})
		bypass(route.Conditions{Cookie: "staff=yes"})
	}))
	f.Full()
	for _, c := range []struct {
		method, target string
		change         func(*http.Request)
		exempt         bool
	}{
		{"GET", "/healthz", nil, true},
		{"GET", "/healthz?x=1", nil, true},
		{"GET", "/healthz/x", nil, false},
		{"GET", "/%68ealthz", nil, false},
		{"GET", "/tickets?x=/healthz", nil, false},
		{"GET", "/static/app.js", nil, true},
		{"POST", "/static/app.js", nil, false},
		{"GET", "/static/../tickets", nil, false},
		{"GET", "/static%2f..%2ftickets", nil, false},
		{"GET", "/statically", nil, false},
		{"GET", "/", gatetest.With("X-Forwarded-For", "192.0.2.7"), true},
		{"GET", "/", gatetest.With("X-Forwarded-For", "192.0.2.7, 198.51.100.1"), false},
		{"GET", "/", gatetest.With("X-Pass", "letmein"), true},
		{"GET", "/", gatetest.With("X-Pass", "letmei"), false},
		{"GET", "/", gatetest.With("Cookie", "a=b; staff=yes"), true},
		{"GET", "/", gatetest.With("Cookie", "staff=yes2"), false},
	} {
		var changes []func(*http.Request)
		if c.change != nil {
			changes = append(changes, c.change)
		}
		a := f.Visitor().Send(c.method, c.target, nil, changes...)
		assert.Equal(t, c.exempt, a.In(), "%s %s", c.method, c.target)
		if c.exempt {
			assert.Empty(t, a.SetCookies(), "%s %s", c.method, c.target)
		}
	}
	assert.Equal(t, 1, f.Status("shop").Active)
}

func TestTargetsOfOtherSchemesAreRefusedBeforeTheyTakeAPlace(t *testing.T) {
	f := gatetest.Start(t)
	r := httptest.NewRequest(http.MethodGet, "ftp://shop.test/", nil)
	w := httptest.NewRecorder()
	f.Gate.ServeHTTP(w, r)
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Empty(t, w.Header()["Set-Cookie"])
}

// statusOf returns the status of the answer to the n-th stream, or why the stream was reset.
func statusOf(s *gatetest.Resets, t *testing.T, n int) string {
	id := uint32(2*n + 1)
	require.NoError(t, s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: s.Header, EndStream: true, EndHeaders: true}))
	for {
		frame, err := s.ReadFrame()
		require.NoError(t, err)
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			return f.PseudoValue("status")
		case *http2.RSTStreamFrame:
			return f.ErrCode.String()
		}
	}
}

// RFC 9113, section 8.2.2: such a request is malformed.
func TestARequestOfHTTP2WithAFieldOfAConnectionIsRefused(t *testing.T) {
	for _, field := range [][2]string{
		{"connection", "close"}, {"connection", "keep-alive"}, {"connection", "x-forwarded-for"}, {"keep-alive", "timeout=5"}, {"proxy-connection", "keep-alive"},
		{"transfer-encoding", "chunked"}, {"upgrade", "websocket"}, {"upgrade", "h2c"}, {"te", "gzip"}, {"te", "trailers, deflate;q=0.5"},
	} {
		f := gatetest.Start(t)
		s := gatetest.OpenResets(t, f, field)
		s.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		assert.Equal(t, "400", statusOf(s, t, 0), field)
		assert.Empty(t, f.Site.Requests(), "%s does not reach the origin", field)
		f.Pass(time.Second)
		assert.Zero(t, f.Status("shop").Active, "%s takes no slot", field)
		f.Full()
		f.Site.Requests()
		queued := f.Status("shop").Queued
		assert.Equal(t, "400", statusOf(s, t, 1), field)
		f.Pass(time.Second)
		assert.Equal(t, queued, f.Status("shop").Queued, "%s takes no place", field)
		assert.Empty(t, f.Site.Requests())
	}
	f := gatetest.Start(t)
	s := gatetest.OpenResets(t, f, [2]string{"te", "trailers"})
	s.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	assert.Equal(t, "200", statusOf(s, t, 0))
	assert.Len(t, f.Site.Requests(), 1, "which takes trailers, as every other request may")
}
