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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

var asImage = gatetest.With("Sec-Fetch-Dest", "image")

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
	for name, ask := range map[string]func(v *gatetest.Visitor){
		"a form":          func(v *gatetest.Visitor) { v.Send(http.MethodPost, "/", strings.NewReader("a=1"), asImage) },
		"an empty form":   func(v *gatetest.Visitor) { v.Send(http.MethodPost, "/", nil, asImage) },
		"a deletion":      func(v *gatetest.Visitor) { v.Send(http.MethodDelete, "/", nil, asImage) },
		"another method":  func(v *gatetest.Visitor) { v.Send("PURGE", "/", nil, asImage) },
		"a GET with body": func(v *gatetest.Visitor) { v.Send(http.MethodGet, "/", strings.NewReader("a=1"), asImage) },
		"one in chunks": func(v *gatetest.Visitor) {
			v.Send(http.MethodGet, "/", io.MultiReader(strings.NewReader("a=1")), asImage)
		},
		"a stream of events": func(v *gatetest.Visitor) { v.Get("/", asImage, gatetest.With("Accept", "text/event-stream")) },
		"an upgrade": func(v *gatetest.Visitor) {
			v.Get("/", asImage, gatetest.With("Connection", "Upgrade"), gatetest.With("Upgrade", "websocket"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t)
			for range 40 {
				ask(f.Visitor())
			}
			assert.LessOrEqual(t, len(f.Site.Requests()), 1, "there is one slot")
			f.Pass(time.Second)
			assert.Equal(t, 1, f.Status("shop").Active, "and it is taken")
		})
	}
}

func TestWebsocketsAreNoPartsOfPages(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(gatetest.ByConnection(15*time.Second)))
	f.Site.Will(gatetest.Talking)
	open := 0
	for range 20 {
		header := http.Header{"Sec-Fetch-Dest": {"image"}}
		conn, resp, err := websocket.Dial(t.Context(), f.Public.URL+"/stream", &websocket.DialOptions{HTTPHeader: header})
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
	f := gatetest.Start(t, gatetest.Room(gatetest.ByConnection(15*time.Second)))
	ended := make(chan struct{}, 2)
	f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
		defer func() { ended <- struct{}{} }()
		drip("text/event-stream", "")(w, r)
	})
	for name, a := range map[string]gatetest.Answer{
		"a part of a page": f.Visitor().Get("/stream", asImage),
		"a preflight":      f.Visitor().Send(http.MethodOptions, "/stream", nil, preflighting),
	} {
		assert.Equal(t, http.StatusServiceUnavailable, a.Status, name)
		assert.Equal(t, "no-store", a.Header.Get("Cache-Control"), name)
		assert.NotContains(t, a.Body, "data", name)
		select {
		case <-ended:
		case <-time.After(gatetest.Patience):
			assert.Fail(t, "the origin's stream goes on", name)
		}
	}
}

func TestWhatIsNotCountedIsBoundedByNetwork(t *testing.T) {
	for name, ask := range map[string]func(v *gatetest.Visitor, from string) gatetest.Answer{
		"parts of pages": func(v *gatetest.Visitor, from string) gatetest.Answer {
			return v.Get("/logo.png", asImage, gatetest.With("X-Forwarded-For", from))
		},
		"preflights": func(v *gatetest.Visitor, from string) gatetest.Answer {
			return v.Send(http.MethodOptions, "/", nil, preflighting, gatetest.With("X-Forwarded-For", from))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.TrustingLoopback)
			v := f.Visitor()
			from := func(format string) (reached int) {
				for i := range 250 {
					a := ask(v, fmt.Sprintf(format, i))
					if !a.In() {
						assert.Equal(t, http.StatusServiceUnavailable, a.Status)
						assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
						assert.Equal(t, "20", a.Header.Get("Retry-After"))
					}
				}
				return len(f.Site.Requests())
			}
			assert.Equal(t, 200, from("192.0.2.%d"), "of a /24")
			f.Clock.Add(time.Second)
			assert.Equal(t, 20, from("192.0.2.%d"), "of a /24 in a second")
			f.Clock.Add(time.Hour)
			assert.Equal(t, 200, from("192.0.2.%d"), "of a /24 after an hour")
			assert.Equal(t, 200, from("2001:db8:0:ff%02x::1"), "of a /56")
			// One in 30 times one of them shares its entry with a network that has had its share.
			assert.InDelta(t, 250, from("10.1.%d.1"), 2, "of networks of their own")
			f.Clock.Add(time.Hour) // after which entries that are shared with those are free
			subscribers := 0
			for range 4 { // as many of a /56 as one may, and as much of others of its /48
				subscribers++
				assert.Equal(t, 200, from(fmt.Sprintf("2001:db8:1:%x%%02x::1", subscribers)))
			}
			assert.Zero(t, from("2001:db8:1:f0%02x::1"), "of a /48")
			f.Pass(time.Second)
			assert.Zero(t, f.Status("shop").Active)
		})
	}
}

func TestUncountedAnswersThatTakeLongAreBoundedByNetwork(t *testing.T) {
	f := gatetest.Start(t)
	begun, ended := make(chan struct{}, 100), make(chan struct{}, 100)
	f.Site.Will(func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	for range 50 {
		go func() {
			defer func() { ended <- struct{}{} }()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.Public.URL+"/video", nil)
			if !assert.NoError(t, err) {
				return
			}
			req.Header.Set("Sec-Fetch-Dest", "video")
			resp, err := f.Public.Client().Do(req)
			if err == nil {
				resp.Body.Close()
			}
		}()
	}
	for range 50 {
		<-begun
	}
	assert.Equal(t, http.StatusServiceUnavailable, f.Visitor().Get("/logo.png", asImage).Status)
	cancel()
	for range 50 {
		<-ended
	}
	f.Site.Will(nil)
	require.Eventually(t, func() bool { return f.Visitor().Get("/logo.png", asImage).In() }, gatetest.Patience, time.Millisecond)
}

func TestWhatIsMoreThanAPreflightIsAVisitors(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.CookieSuffix = "shop" }))
	f.Full()
	for name, c := range map[string]struct {
		body   io.Reader
		change func(*http.Request)
	}{
		"with a body":                     {strings.NewReader("a=1"), nil},
		"with a body in chunks":           {io.MultiReader(strings.NewReader("a=1")), nil},
		"with a cookie":                   {nil, gatetest.With("Cookie", "session=1")},
		"with credentials":                {nil, gatetest.With("Authorization", "Basic YTpi")},
		"with an upgrade":                 {nil, func(r *http.Request) { r.Header.Set("Connection", "Upgrade"); r.Header.Set("Upgrade", "websocket") }},
		"with a method in its place":      {nil, gatetest.With("X-HTTP-Method-Override", "POST")},
		"with one by a shorter name":      {nil, gatetest.With("X-HTTP-Method", "POST")},
		"with one by another name":        {nil, gatetest.With("X-Method-Override", "POST")},
		"with one, spelled for a gateway": {nil, func(r *http.Request) { r.Header["X_http_method_override"] = []string{"POST"} }},
		"with two methods to ask for":     {nil, func(r *http.Request) { r.Header.Add("Access-Control-Request-Method", "GET") }},
		"with two origins":                {nil, func(r *http.Request) { r.Header.Add("Origin", "https://b.test") }},
	} {
		a := f.Visitor().Send(http.MethodOptions, "/", c.body, preflighting, func(r *http.Request) {
			if c.change != nil {
				c.change(r)
			}
		})
		assert.Equal(t, http.StatusTooManyRequests, a.Status, name)
	}
	assert.Empty(t, f.Site.Requests())
}

func TestPreflightsOfARoomThatNobodyMayEnterAreTheGatesToAnswer(t *testing.T) {
	for name, state := range map[string]func(*gatetest.Fixture){
		"reject":    func(f *gatetest.Fixture) { f.Patch(`{"queueing_method": "reject"}`) },
		"queue_all": func(f *gatetest.Fixture) { f.Patch(`{"queue_all": true}`) },
		"queue_all of a passthrough room": func(f *gatetest.Fixture) {
			f.Patch(`{"queueing_method": "passthrough", "queue_all": true}`)
		},
		"while the origin fails": func(f *gatetest.Fixture) {
			quiet(f.Site).Will(breakOff)
			failing, i := `fairdoor_origin_failing{origin="`+f.Site.URL+`"} 1`, 0
			require.Eventually(f.T, func() bool {
				i++
				f.Visitor().Get(fmt.Sprintf("/page/%d", i))
				return strings.Contains(f.API(http.MethodGet, "/metrics", "", nil).Body, failing)
			}, gatetest.Patience, time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 1000 }))
			state(f)
			f.Site.Requests()
			for _, path := range []string{"/", "/api/orders"} {
				a := f.Visitor().Send(http.MethodOptions, path, nil, preflighting)
				assert.Equal(t, http.StatusServiceUnavailable, a.Status)
				assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
				assert.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
				assert.NotContains(t, a.Header, "Access-Control-Allow-Origin", "it is not for the gate to allow anything")
				assert.Equal(t, http.StatusServiceUnavailable, f.Visitor().Get("/logo.png", asImage).Status)
			}
			seen := f.Site.Requests()
			assert.Zero(t, ofMethod(seen, http.MethodOptions))
			assert.Zero(t, ofMethod(seen, http.MethodGet))
		})
	}
}

func TestPageThatGetsItsCookieNotBackTakesNoPlace(t *testing.T) {
	f := gatetest.Start(t)
	in := f.Full()
	asPage := func(r *http.Request) {
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Fairdoor-Visibility", "visible")
		r.Header.Set("Fairdoor-Returning", "1")
	}
	v := f.Visitor()
	require.False(t, v.Get("/").In())
	f.Pass(time.Second)
	before := f.Status("shop").Queued
	for range 3 {
		a := f.Visitor().Get("/", asPage)
		assert.Equal(t, http.StatusOK, a.Status)
		assert.Equal(t, map[string]any{"inWaitingRoom": false, "cookieMissing": true}, a.Room)
		assert.Equal(t, "20", a.Header.Get("Retry-After"))
		assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
		assert.Empty(t, a.SetCookies())
	}
	assert.Equal(t, true, v.Get("/", asPage).Told("inWaitingRoom"), "who has the cookie waits")
	broken := gatetest.With("Cookie", "fairdoor_shop=broken")
	assert.Equal(t, true, f.Visitor().Get("/", asPage, broken).Told("inWaitingRoom"), "this one keeps cookies: it is somebody new")
	f.Pass(time.Second)
	assert.LessOrEqual(t, f.Status("shop").Queued, before+1)

	t.Log("once nobody waits, the page is to be loaded again; asking takes no slot")
	require.NotEmpty(t, in)
	f.Patch(`{"total_active_users": 5}`)
	f.Pass(2 * gatetest.Interval)
	f.Pass(2 * gatetest.Interval)
	a := f.Visitor().Get("/", asPage)
	assert.Equal(t, map[string]any{"inWaitingRoom": false}, a.Room)
	assert.Empty(t, f.Site.Requests())
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Active)
}
