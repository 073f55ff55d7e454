package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// named returns a change that gives the gate rooms named after their routes,
// each with an origin that answers with its name.
func named(t *testing.T, routes map[string][]route.Route, fallback bool) func(*proxy.Config, *proxy.Options) {
	t.Helper()
	origin := func(name string) *url.URL {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(name)) }))
		t.Cleanup(s.Close)
		u, err := url.Parse(s.URL)
		require.NoError(t, err)
		return u
	}
	return func(c *proxy.Config, _ *proxy.Options) {
		like := c.Rooms[0]
		c.Rooms = nil
		for name, list := range routes {
			r := like
			r.Name, r.Routes, r.Origin = name, list, origin(name)
			c.Rooms = append(c.Rooms, r)
		}
		if fallback {
			c.Origin = origin("fallback")
		}
	}
}

func TestRequestsGoToTheOriginOfTheMostSpecificRoom(t *testing.T) {
	f := gatetest.Start(t, named(t, map[string][]route.Route{
		"shop":    {{Host: "shop.test", Path: "/"}, {Host: "www.shop.test", Path: "/shop"}},
		"tickets": {{Host: "shop.test", Path: "/tickets"}},
		"vip":     {{Host: "shop.test", Path: "/tickets/vip"}},
	}, false))
	for _, c := range []struct{ host, target, room string }{
		{"shop.test", "/", "shop"},
		{"SHOP.test.:8080", "/cart", "shop"},
		{"shop.test", "/ticketsandmore", "shop"},
		{"shop.test", "/tickets", "tickets"},
		{"shop.test", "/tickets/1?x=/vip", "tickets"},
		{"shop.test", "/TICKETS", "tickets"},
		{"shop.test", "/tickets/vip/", "vip"},
		{"www.shop.test", "/shop/1", "shop"},
	} {
		v := f.Visitor()
		v.Host = c.host
		for _, r := range f.Config.Rooms {
			f.API(http.MethodPatch, "/api/v1/rooms/"+r.Name, `{"total_active_users": 100}`, nil)
		}
		a := v.Get(c.target)
		assert.Equal(t, c.room, a.Body, "%s%s", c.host, c.target)
		assert.Contains(t, a.SetCookies(), "fairdoor_"+c.room, "%s%s", c.host, c.target)
	}
}

func TestTargetsThatTwoRoomsCouldMeanAreRefused(t *testing.T) {
	f := gatetest.Start(t, named(t, map[string][]route.Route{"shop": {{Path: "/"}}, "tickets": {{Path: "/tickets"}}}, true))
	for _, target := range []string{
		"/tickets/../cart", "/cart/..%2ftickets", "/%2ftickets", "/x;/../tickets", `/cart%5c..%5ctickets`, "/%2574ickets", "//tickets",
	} {
		a := f.Visitor().Get(target)
		assert.Equal(t, http.StatusBadRequest, a.Status, target)
		assert.Equal(t, "no-store", a.Header.Get("Cache-Control"), target)
		assert.Contains(t, a.Body, "<html", target)
		assert.Empty(t, a.SetCookies(), target)
	}
	assert.Equal(t, "shop", f.Visitor().Get("/cart/../cart").Body, "however it is read it is one room's")
}

func TestAnyReadingThatIsGuardedIsGuarded(t *testing.T) {
	f := gatetest.Start(t, named(t, map[string][]route.Route{"tickets": {{Path: "/tickets"}}}, true))
	assert.Equal(t, "tickets", f.Visitor().Get("/tickets").Body)
	f.Status("tickets")
	for _, target := range []string{
		"//tickets", "/./tickets", "/foo/../tickets", "/foo/..%2ftickets", "/foo/%2e%2e/tickets", "/%2ftickets", "/TICKETS",
		"/x;/../tickets", "/%5Ctickets", "/tickets;a=b", "/tickets%23/healthz", "/ticket%73", "/%2574ickets",
		"/tickets%20", "/tickets.", "/tickets%09", "/tickets%20/1", "/foo/..%20/tickets",
	} {
		a := f.Visitor().Get(target, gatetest.AsJSON)
		assert.NotNil(t, a.Room, target)
	}
	for _, target := range []string{"/", "/ticket", "/tickets2", "/a/tickets", "/?/tickets"} {
		assert.Equal(t, "fallback", f.Visitor().Get(target).Body, target)
	}
}

func TestRequestsThatNoRoomGuards(t *testing.T) {
	routes := map[string][]route.Route{"shop": {{Host: "shop.test", Path: "/shop"}}}
	for name, c := range map[string]struct {
		fallback     bool
		host, target string
		want         int
	}{
		"a path beside the room goes to the fallback":        {true, "shop.test", "/", http.StatusOK},
		"another host goes to the fallback":                  {true, "evil.test", "/shop", http.StatusOK},
		"without one a path beside the room is not found":    {false, "shop.test", "/", http.StatusNotFound},
		"without one another host is not ours to answer for": {false, "evil.test", "/shop", http.StatusMisdirectedRequest},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, named(t, routes, c.fallback))
			v := f.Visitor()
			v.Host = c.host
			v.Cookies["fairdoor_shop"] = "x"
			a := v.Get(c.target)
			assert.Equal(t, c.want, a.Status)
			assert.Empty(t, a.SetCookies())
			if c.want != http.StatusOK {
				assert.Equal(t, "application/problem+json", v.Get(c.target, gatetest.AsJSON).Header.Get("Content-Type"))
				assert.Contains(t, v.Get(c.target, gatetest.With("Accept-Language", "de")).Body, `lang="de-DE"`)
			}
		})
	}
}

func TestHostOfAnAbsoluteTargetIsTheOneThatCounts(t *testing.T) {
	f := gatetest.Start(t, named(t, map[string][]route.Route{"shop": {{Host: "shop.test", Path: "/"}}}, false))
	resp := raw(f, "GET", "GET http://evil.test/ HTTP/1.1\r\nHost: shop.test\r\n\r\n")
	assert.Equal(t, http.StatusMisdirectedRequest, resp.StatusCode)
	resp = raw(f, "GET", "GET http://shop.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n")
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	resp = raw(f, "GET", "GET / HTTP/1.0\r\n\r\n")
	assert.Equal(t, http.StatusMisdirectedRequest, resp.StatusCode, "no host")
}
