package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
)

var asImage = with("Sec-Fetch-Dest", "image")

// preflighting makes a request a CORS preflight, but for its method.
func preflighting(r *http.Request) {
	r.Header.Set("Origin", "https://app.test")
	r.Header.Set("Access-Control-Request-Method", "PUT")
}

// ofMethod counts the requests with a method.
func ofMethod(seen []*http.Request, method string) (n int) {
	for _, r := range seen {
		if r.Method == method {
			n++
		}
	}
	return n
}

func TestOnlyWhatIsReadIsAPartOfAPage(t *testing.T) {
	for name, ask := range map[string]func(v *visitor){
		"a form":          func(v *visitor) { v.send(http.MethodPost, "/", strings.NewReader("a=1"), asImage) },
		"an empty form":   func(v *visitor) { v.send(http.MethodPost, "/", nil, asImage) },
		"a deletion":      func(v *visitor) { v.send(http.MethodDelete, "/", nil, asImage) },
		"another method":  func(v *visitor) { v.send("PURGE", "/", nil, asImage) },
		"a GET with body": func(v *visitor) { v.send(http.MethodGet, "/", strings.NewReader("a=1"), asImage) },
		"one in chunks": func(v *visitor) {
			v.send(http.MethodGet, "/", io.MultiReader(strings.NewReader("a=1")), asImage)
		},
		"a stream of events": func(v *visitor) { v.get("/", asImage, with("Accept", "text/event-stream")) },
		"an upgrade": func(v *visitor) {
			v.get("/", asImage, with("Connection", "Upgrade"), with("Upgrade", "websocket"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t)
			for range 40 {
				ask(f.visitor())
			}
			assert.LessOrEqual(t, len(f.site.requests()), 1, "there is one slot")
			f.pass(time.Second)
			assert.Equal(t, 1, f.status("shop").Active, "and it is taken")
		})
	}
}

func TestWebsocketsAreNoPartsOfPages(t *testing.T) {
	f := start(t, room(byConnection(15*time.Second)))
	f.site.will(talking)
	open := 0
	for range 20 {
		header := http.Header{"Sec-Fetch-Dest": {"image"}}
		conn, resp, err := websocket.Dial(t.Context(), f.public.URL+"/stream", &websocket.DialOptions{HTTPHeader: header})
		if err == nil {
			open++
			t.Cleanup(func() { _ = conn.CloseNow() })
		} else {
			assert.NotEqual(t, http.StatusSwitchingProtocols, resp.StatusCode)
		}
	}
	assert.Equal(t, 1, open, "there is one seat")
}

func TestAnAnswerThatGoesOnIsForThoseWhoAreIn(t *testing.T) {
	f := start(t, room(byConnection(15*time.Second)))
	ended := make(chan struct{}, 2)
	f.site.will(func(w http.ResponseWriter, r *http.Request) {
		defer func() { ended <- struct{}{} }()
		drip("text/event-stream", "")(w, r)
	})
	for name, a := range map[string]answer{
		"a part of a page": f.visitor().get("/stream", asImage),
		"a preflight":      f.visitor().send(http.MethodOptions, "/stream", nil, preflighting),
	} {
		assert.Equal(t, http.StatusServiceUnavailable, a.status, name)
		assert.Equal(t, "no-store", a.header.Get("Cache-Control"), name)
		assert.NotContains(t, a.body, "data", name)
		select {
		case <-ended:
		case <-time.After(patience):
			assert.Fail(t, "the origin's stream goes on", name)
		}
	}
}

func TestWhatIsNotCountedIsBoundedByNetwork(t *testing.T) {
	for name, ask := range map[string]func(v *visitor, from string) answer{
		"parts of pages": func(v *visitor, from string) answer {
			return v.get("/logo.png", asImage, with("X-Forwarded-For", from))
		},
		"preflights": func(v *visitor, from string) answer {
			return v.send(http.MethodOptions, "/", nil, preflighting, with("X-Forwarded-For", from))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, trustingLoopback)
			v := f.visitor()
			from := func(format string) (reached int) {
				for i := range 250 {
					a := ask(v, fmt.Sprintf(format, i))
					if !a.in() {
						assert.Equal(t, http.StatusServiceUnavailable, a.status)
						assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
						assert.Equal(t, "20", a.header.Get("Retry-After"))
					}
				}
				return len(f.site.requests())
			}
			assert.Equal(t, 200, from("192.0.2.%d"), "of a /24")
			f.clock.add(time.Second)
			assert.Equal(t, 20, from("192.0.2.%d"), "of a /24 in a second")
			f.clock.add(time.Hour)
			assert.Equal(t, 200, from("192.0.2.%d"), "of a /24 after an hour")
			assert.Equal(t, 200, from("2001:db8:0:ff%02x::1"), "of a /56")
			// One in 30 times one of them shares its entry with a network that has had its share.
			assert.InDelta(t, 250, from("10.1.%d.1"), 2, "of networks of their own")
			f.clock.add(time.Hour) // after which entries that are shared with those are free
			subscribers := 0
			for range 4 { // as many of a /56 as one may, and as much of others of its /48
				subscribers++
				assert.Equal(t, 200, from(fmt.Sprintf("2001:db8:1:%x%%02x::1", subscribers)))
			}
			assert.Zero(t, from("2001:db8:1:f0%02x::1"), "of a /48")
			f.pass(time.Second)
			assert.Zero(t, f.status("shop").Active)
		})
	}
}

func TestUncountedAnswersThatTakeLongAreBoundedByNetwork(t *testing.T) {
	f := start(t)
	begun, ended := make(chan struct{}, 100), make(chan struct{}, 100)
	f.site.will(func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	for range 50 {
		go func() {
			defer func() { ended <- struct{}{} }()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.public.URL+"/video", nil)
			if !assert.NoError(t, err) {
				return
			}
			req.Header.Set("Sec-Fetch-Dest", "video")
			resp, err := f.public.Client().Do(req)
			if err == nil {
				resp.Body.Close()
			}
		}()
	}
	for range 50 {
		<-begun
	}
	assert.Equal(t, http.StatusServiceUnavailable, f.visitor().get("/logo.png", asImage).status)
	cancel()
	for range 50 {
		<-ended
	}
	f.site.will(nil)
	require.Eventually(t, func() bool { return f.visitor().get("/logo.png", asImage).in() }, patience, time.Millisecond)
}

func TestWhatIsMoreThanAPreflightIsAVisitors(t *testing.T) {
	f := start(t, room(func(r *proxy.RoomConfig) { r.CookieSuffix = "shop" }))
	f.full()
	for name, c := range map[string]struct {
		body   io.Reader
		change func(*http.Request)
	}{
		"with a body":                     {strings.NewReader("a=1"), nil},
		"with a body in chunks":           {io.MultiReader(strings.NewReader("a=1")), nil},
		"with a cookie":                   {nil, with("Cookie", "session=1")},
		"with credentials":                {nil, with("Authorization", "Basic YTpi")},
		"with an upgrade":                 {nil, func(r *http.Request) { r.Header.Set("Connection", "Upgrade"); r.Header.Set("Upgrade", "websocket") }},
		"with a method in its place":      {nil, with("X-HTTP-Method-Override", "POST")},
		"with one by a shorter name":      {nil, with("X-HTTP-Method", "POST")},
		"with one by another name":        {nil, with("X-Method-Override", "POST")},
		"with one, spelled for a gateway": {nil, func(r *http.Request) { r.Header["X_http_method_override"] = []string{"POST"} }},
		"with two methods to ask for":     {nil, func(r *http.Request) { r.Header.Add("Access-Control-Request-Method", "GET") }},
		"with two origins":                {nil, func(r *http.Request) { r.Header.Add("Origin", "https://b.test") }},
	} {
		a := f.visitor().send(http.MethodOptions, "/", c.body, preflighting, func(r *http.Request) {
			if c.change != nil {
				c.change(r)
			}
		})
		assert.Equal(t, http.StatusTooManyRequests, a.status, name)
	}
	assert.Empty(t, f.site.requests())
}

func TestPreflightsOfARoomThatNobodyMayEnterAreTheGatesToAnswer(t *testing.T) {
	for name, state := range map[string]func(*fixture){
		"reject":    func(f *fixture) { f.patch(`{"queueing_method": "reject"}`) },
		"queue_all": func(f *fixture) { f.patch(`{"queue_all": true}`) },
		"queue_all of a passthrough room": func(f *fixture) {
			f.patch(`{"queueing_method": "passthrough", "queue_all": true}`)
		},
		"while the origin fails": func(f *fixture) {
			f.site.quiet().will(breakOff)
			failing, i := `fairdoor_origin_failing{origin="`+f.site.URL+`"} 1`, 0
			require.Eventually(f.t, func() bool {
				i++
				f.visitor().get(fmt.Sprintf("/page/%d", i))
				return strings.Contains(f.api(http.MethodGet, "/metrics", "", nil).body, failing)
			}, patience, time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 1000 }))
			state(f)
			f.site.requests()
			for _, path := range []string{"/", "/api/orders"} {
				a := f.visitor().send(http.MethodOptions, path, nil, preflighting)
				assert.Equal(t, http.StatusServiceUnavailable, a.status)
				assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
				assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
				assert.NotContains(t, a.header, "Access-Control-Allow-Origin", "it is not for the gate to allow anything")
				assert.Equal(t, http.StatusServiceUnavailable, f.visitor().get("/logo.png", asImage).status)
			}
			seen := f.site.requests()
			assert.Zero(t, ofMethod(seen, http.MethodOptions))
			assert.Zero(t, ofMethod(seen, http.MethodGet))
		})
	}
}

func TestPageThatGetsItsCookieNotBackTakesNoPlace(t *testing.T) {
	f := start(t)
	in := f.full()
	asPage := func(r *http.Request) {
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Fairdoor-Visibility", "visible")
		r.Header.Set("Fairdoor-Returning", "1")
	}
	v := f.visitor()
	require.False(t, v.get("/").in())
	f.pass(time.Second)
	before := f.status("shop").Queued
	for range 3 {
		a := f.visitor().get("/", asPage)
		assert.Equal(t, http.StatusOK, a.status)
		assert.Equal(t, map[string]any{"inWaitingRoom": false, "cookieMissing": true}, a.room)
		assert.Equal(t, "20", a.header.Get("Retry-After"))
		assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
		assert.Empty(t, a.setCookies())
	}
	assert.Equal(t, true, v.get("/", asPage).told("inWaitingRoom"), "who has the cookie waits")
	broken := with("Cookie", "fairdoor_shop=broken")
	assert.Equal(t, true, f.visitor().get("/", asPage, broken).told("inWaitingRoom"), "this one keeps cookies: it is somebody new")
	f.pass(time.Second)
	assert.LessOrEqual(t, f.status("shop").Queued, before+1)

	t.Log("once nobody waits, the page is to be loaded again; asking takes no slot")
	require.NotEmpty(t, in)
	f.patch(`{"total_active_users": 5}`)
	f.pass(2 * interval)
	f.pass(2 * interval)
	a := f.visitor().get("/", asPage)
	assert.Equal(t, map[string]any{"inWaitingRoom": false}, a.room)
	assert.Empty(t, f.site.requests())
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Active)
}
