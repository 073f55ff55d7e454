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
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// byScript makes a request one of a script, which shows nobody a page.
var byScript = with("Accept", "*/*")

// unsafe are methods that change things, and some that nobody knows.
var unsafe = []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "FOO", "get", "PROPFIND"}

func TestUnsafeRequestsOfWhoIsQueuedAreRefusedAndCostNoPlace(t *testing.T) {
	f := start(t)
	f.full()
	waiting := f.visitor()
	before := waiting.get("/", asJSON)
	f.pass(2 * time.Second)
	for _, method := range unsafe {
		for who, v := range map[string]*visitor{"someone new": f.visitor(), "someone who waits": waiting} {
			a := v.send(method, "/order", strings.NewReader("a=1"), byScript)
			wait := 20.
			if v == waiting {
				wait = before.told("refreshIntervalSeconds").(float64) - 2
			}
			assert.Equal(t, http.StatusTooManyRequests, a.status, "%s of %s", method, who)
			assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
			assert.Equal(t, strconv.FormatFloat(wait, 'f', -1, 64), a.header.Get("Retry-After"))
			assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
			assert.NotContains(t, a.header, "Refresh")
			assert.Empty(t, a.header["Set-Cookie"])
		}
	}
	f.pass(2 * time.Second)
	assert.Empty(t, f.site.requests())
	assert.Equal(t, 1, f.status("shop").Queued, "it took no place")
	assert.Equal(t, before.told("lastUpdated"), waiting.get("/", asJSON).told("lastUpdated"), "and is no check-in")
}

func TestUnsafeRequestsPassWhileThereIsRoom(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 3 }))
	v := f.visitor()
	a := v.send(http.MethodPost, "/order", strings.NewReader("a=1"))
	assert.True(t, a.in(), "someone new takes a slot")
	assert.NotEmpty(t, a.setCookies())
	for _, method := range unsafe {
		assert.True(t, v.send(method, "/order", strings.NewReader("a=1")).in(), method)
	}
	assert.Len(t, f.site.requests(), 1+len(unsafe))
	assert.Equal(t, 1, f.status("shop").Active)
}

// endless is a body that never ends, and counts what was read of it.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read.Add(int64(len(p)))
	return len(p), nil
}

func TestBodyOfWhoIsQueuedIsNotRead(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.full()
	const gigabyte = 1 << 30
	for name, length := range map[string]int64{"of a known length": gigabyte, "in chunks": -1} {
		body := &endless{}
		a := f.visitor().send(http.MethodPost, "/upload", io.LimitReader(body, gigabyte), func(r *http.Request) { r.ContentLength = length })
		assert.Equal(t, http.StatusTooManyRequests, a.status, name)
		assert.Less(t, body.read.Load(), int64(64<<20), "%s: what the sockets took in", name)
	}
	body := &endless{}
	r, w := httptest.NewRequest(http.MethodPost, "/upload", body), httptest.NewRecorder()
	f.Gate.ServeHTTP(w, r)
	assert.Equal(t, http.StatusTooManyRequests, w.Code)
	assert.Zero(t, body.read.Load(), "the gate itself reads nothing")
}

// dial opens a connection to the gate, on which everything has to happen in time.
func (f *fixture) dial() net.Conn {
	f.t.Helper()
	conn, err := net.Dial("tcp", f.public.Listener.Addr().String())
	require.NoError(f.t, err)
	f.t.Cleanup(func() { conn.Close() })
	require.NoError(f.t, conn.SetDeadline(time.Now().Add(patience)))
	return conn
}

// raw sends text as it is and returns the answer.
func (f *fixture) raw(method, text string) *http.Response {
	f.t.Helper()
	conn := f.dial()
	_, err := io.WriteString(conn, text)
	require.NoError(f.t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	require.NoError(f.t, err)
	return resp
}

func TestWhoIsQueuedIsAnsweredBeforeAnyOfTheBodyIsThere(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.full()
	for _, framing := range []string{"Content-Length: 1000", "Content-Length: 1000000000", "Transfer-Encoding: chunked"} {
		for method, status := range map[string]int{"POST": http.StatusTooManyRequests, "GET": http.StatusOK} {
			resp := f.raw(method, method+" / HTTP/1.1\r\nHost: shop.test\r\n"+framing+"\r\n\r\n")
			assert.Equal(t, status, resp.StatusCode, framing)
			assert.True(t, resp.Close, framing)
		}
	}
}

func TestPreflightsPassUncounted(t *testing.T) {
	f := start(t)
	f.full()
	origin, method := with("Origin", "https://app.test"), with("Access-Control-Request-Method", "PUT")
	for range 3 {
		a := f.visitor().send(http.MethodOptions, "/", nil, origin, method)
		assert.True(t, a.in())
		assert.Empty(t, a.setCookies())
	}
	assert.Len(t, f.site.requests(), 3)
	assert.Equal(t, http.StatusTooManyRequests, f.visitor().send(http.MethodOptions, "/", nil, origin).status, "not a preflight")
	assert.Equal(t, http.StatusTooManyRequests, f.visitor().send(http.MethodOptions, "/", nil, method).status, "not a preflight")
	assert.Equal(t, http.StatusTooManyRequests, f.visitor().send(http.MethodPost, "/", nil, origin, method, byScript).status, "not a preflight")
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Active)
	assert.Zero(t, f.status("shop").Queued)
}

func TestConnectAndTraceAreRefused(t *testing.T) {
	f := start(t)
	ticket := f.full()[0].cookies["fairdoor_shop"]
	for _, request := range []string{
		"CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443", "CONNECT / HTTP/1.1\r\nHost: shop.test", "TRACE / HTTP/1.1\r\nHost: shop.test",
	} {
		method, _, _ := strings.Cut(request, " ")
		resp := f.raw(method, request+"\r\nCookie: fairdoor_shop="+ticket+"\r\n\r\n")
		assert.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode, request)
		assert.Contains(t, resp.Header.Get("Allow"), "GET", request)
	}
	assert.Empty(t, f.site.requests())
}

func TestPartsOfPagesTakeNoPlaceAndNoSlot(t *testing.T) {
	f := start(t)
	image := with("Sec-Fetch-Dest", "image")
	a := f.visitor().get("/logo.png", image)
	assert.True(t, a.in(), "they pass while the room is not queueing")
	assert.Empty(t, a.setCookies())
	f.pass(time.Second)
	assert.Zero(t, f.status("shop").Active)

	in := f.full()[0]
	for _, dest := range []string{"image", "script", "style", "font", "audio", "video", "track", "manifest", "worker", "serviceworker", "sharedworker", "report"} {
		a := f.visitor().get("/logo.png", with("Sec-Fetch-Dest", dest))
		assert.Equal(t, http.StatusServiceUnavailable, a.status, dest)
		assert.Equal(t, "no-store", a.header.Get("Cache-Control"), dest)
		assert.Empty(t, a.header["Set-Cookie"], dest)
	}
	assert.True(t, in.get("/logo.png", image).in(), "whoever is in gets them")
	f.pass(time.Second)
	assert.Zero(t, f.status("shop").Queued)

	for _, dest := range []string{"document", "iframe", "frame", "empty", ""} {
		assert.NotEmpty(t, f.visitor().get("/", with("Sec-Fetch-Dest", dest)).setCookies(), "%q is a visitor", dest)
	}
	waiting := f.visitor()
	before := waiting.get("/", asJSON)
	f.pass(30 * time.Second)
	assert.Equal(t, http.StatusServiceUnavailable, waiting.get("/logo.png", image).status)
	assert.NotEqual(t, before.told("lastUpdated"), waiting.get("/", asJSON).told("lastUpdated"), "the check-in is still to be had")
}

func TestRejectAnswersWithoutARefresh(t *testing.T) {
	f := start(t, room(func(r *proxy.RoomConfig) { r.StatusCode = 503 }))
	in := f.full()[0]
	waiting := f.visitor()
	waiting.get("/")
	require.Equal(t, http.StatusOK, f.patch(`{"queueing_method": "reject"}`).status)

	for who, v := range map[string]*visitor{"someone new": f.visitor(), "someone who waited": waiting} {
		a := v.get("/", asJSON)
		assert.Equal(t, 503, a.status, who)
		assert.EqualValues(t, 0, a.told("refreshIntervalSeconds"), who)
		assert.Equal(t, true, a.told("isRejectQueue"), who)
		assert.Equal(t, true, a.told("inWaitingRoom"), who)
		assert.Equal(t, false, a.told("waitTimeKnown"), who)
		for _, name := range []string{"Refresh", "Retry-After"} {
			assert.NotContains(t, a.header, name, who)
		}
		assert.Empty(t, v.cookies, "%s: places end", who)
		page := v.get("/")
		assert.Equal(t, 503, page.status)
		assert.NotContains(t, page.body, `http-equiv="refresh"`)
	}
	page := f.visitor().send(http.MethodPost, "/", strings.NewReader("a=1"))
	assert.Equal(t, http.StatusServiceUnavailable, page.status)
	assert.Contains(t, page.body, "This was not sent")
	assert.Contains(t, page.body, "Please come back later.")
	a := f.visitor().send(http.MethodPost, "/", strings.NewReader("a=1"), byScript)
	assert.Equal(t, http.StatusServiceUnavailable, a.status)
	assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
	assert.True(t, in.get("/").in(), "whoever is in stays in")
	f.pass(time.Second)
	assert.Zero(t, f.status("shop").Queued)
}

func TestQueueAllLetsNobodyNewInAndSaysSo(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Passthrough, queue.Reject} {
		f := start(t, settings(func(s *queue.Settings) { s.QueueAll, s.Method = true, method }))
		v := f.visitor()
		a := v.get("/", asJSON)
		assert.Equal(t, true, a.told("queueAll"), method)
		assert.Equal(t, false, a.told("waitTimeKnown"), method)
		assert.NotZero(t, a.told("refreshIntervalSeconds"), method)
		assert.NotEmpty(t, v.cookies)
		f.pass(25 * time.Second)
		assert.False(t, v.get("/").in(), method)
		assert.Equal(t, "queueing", f.status("shop").Status)
	}
}

func TestRulesExemptFromTheRoomUncounted(t *testing.T) {
	f := start(t, trustingLoopback, room(func(r *proxy.RoomConfig) {
		bypass := func(c route.Conditions) {
			r.Rules = append(r.Rules, route.Rule{Action: route.BypassWaitingRoom, Match: c})
		}
		bypass(route.Conditions{Path: "/healthz"})
		bypass(route.Conditions{PathPrefix: "/static", Method: "GET"})
		bypass(route.Conditions{CIDR: []string{"192.0.2.0/24"}})
		bypass(route.Conditions{Header: "X-Pass: letmein"})
		bypass(route.Conditions{Cookie: "staff=yes"})
	}))
	f.full()
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
		{"GET", "/", with("X-Forwarded-For", "192.0.2.7"), true},
		{"GET", "/", with("X-Forwarded-For", "192.0.2.7, 198.51.100.1"), false},
		{"GET", "/", with("X-Pass", "letmein"), true},
		{"GET", "/", with("X-Pass", "letmei"), false},
		{"GET", "/", with("Cookie", "a=b; staff=yes"), true},
		{"GET", "/", with("Cookie", "staff=yes2"), false},
	} {
		var changes []func(*http.Request)
		if c.change != nil {
			changes = append(changes, c.change)
		}
		a := f.visitor().send(c.method, c.target, nil, changes...)
		assert.Equal(t, c.exempt, a.in(), "%s %s", c.method, c.target)
		if c.exempt {
			assert.Empty(t, a.setCookies(), "%s %s", c.method, c.target)
		}
	}
	assert.Equal(t, 1, f.status("shop").Active)
}

func TestTargetsOfOtherSchemesAreRefusedBeforeTheyTakeAPlace(t *testing.T) {
	f := start(t)
	r := httptest.NewRequest(http.MethodGet, "ftp://shop.test/", nil)
	w := httptest.NewRecorder()
	f.Gate.ServeHTTP(w, r)
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Empty(t, w.Header()["Set-Cookie"])
}

// asked returns the status of the answer to the n-th stream, or why the stream was reset.
func (s *resets) asked(t *testing.T, n int) string {
	id := uint32(2*n + 1)
	require.NoError(t, s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: s.header, EndStream: true, EndHeaders: true}))
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
		f := start(t)
		s := openResets(t, f, field)
		s.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		assert.Equal(t, "400", s.asked(t, 0), field)
		assert.Empty(t, f.site.requests(), "%s does not reach the origin", field)
		f.pass(time.Second)
		assert.Zero(t, f.status("shop").Active, "%s takes no slot", field)
		f.full()
		f.site.requests()
		queued := f.status("shop").Queued
		assert.Equal(t, "400", s.asked(t, 1), field)
		f.pass(time.Second)
		assert.Equal(t, queued, f.status("shop").Queued, "%s takes no place", field)
		assert.Empty(t, f.site.requests())
	}
	f := start(t)
	s := openResets(t, f, [2]string{"te", "trailers"})
	s.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	assert.Equal(t, "200", s.asked(t, 0))
	assert.Len(t, f.site.requests(), 1, "which takes trailers, as every other request may")
}
