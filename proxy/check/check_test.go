package check_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

const checkPath = "/.fairdoor/check"

// about has a check ask about a request, as Caddy and Traefik do.
func about(method, target string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("X-Forwarded-Method", method)
		r.Header.Set("X-Forwarded-Host", "shop.test")
		r.Header.Set("X-Forwarded-Uri", target)
	}
}

// checked asks about a GET of the visitor's for a page.
func checked(v *gatetest.Visitor, query string, changes ...func(*http.Request)) gatetest.Answer {
	v.Fixture.T.Helper()
	return v.Get(checkPath+query, append([]func(*http.Request){about(http.MethodGet, "/lamps?colour=red")}, changes...)...)
}

func TestACheckAnswersAsTheGateWouldHaveAnswered(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Room(func(r *proxy.RoomConfig) { r.Settings.ConfirmWithin = 0 }))
	in, waits := f.Visitor(), f.Visitor()
	entered := checked(in, "")
	assert.Equal(t, http.StatusOK, entered.Status)
	assert.Empty(t, entered.Body)
	assert.Equal(t, "private, no-store", entered.Header.Get("Cache-Control"), "a ticket belongs into no cache")
	assert.Equal(t, "*", entered.Header.Get("Vary"))
	require.Contains(t, in.Cookies, "fairdoor_shop")
	f.Pass(2 * time.Second)

	page := checked(waits, "")
	assert.Equal(t, http.StatusTooManyRequests, page.Status, "a check that is not let through is never answered with 2xx")
	assert.Contains(t, page.Body, "You are in the waiting room")
	assert.NotEmpty(t, page.Header.Get("Retry-After"))
	require.Contains(t, waits.Cookies, "fairdoor_shop", "who waits has a place")
	assert.Contains(t, checked(waits, "", gatetest.AsJSON).Header.Get("Refresh"), "; url=/lamps?colour=red", "the address is that of the page")
	assert.Equal(t, 1, f.Status("shop").InRoom)

	assert.Equal(t, "private", checked(in, "").Header.Get("Cache-Control"), "while people wait, the site's own answer is for its visitor")
	f.Pass(5 * time.Minute)
	again := checked(in, "")
	assert.Equal(t, http.StatusOK, again.Status)
	assert.Contains(t, again.SetCookies(), "fairdoor_shop", "a session that is renewed has a new ticket")
	f.Pass(5 * time.Minute)
	assert.Equal(t, http.StatusOK, checked(in, "").Status, "checks renew the session")
	assert.Empty(t, f.Site.Requests(), "no check goes to the origin")
}

func TestACheckIsAboutTheMethodHostAndPathThatTheProxyNames(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback, func(c *proxy.Config, _ *proxy.Options) {
		shop := &c.Rooms[0]
		shop.Routes = []route.Route{{Host: "shop.test", Path: "/tickets"}, {Host: "shop.test", Path: "/sale"}}
		shop.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{PathPrefix: "/tickets/static/"}}}
		c.Origin = shop.Origin
	})
	require.Equal(t, http.StatusOK, f.Visitor().Get(checkPath, about(http.MethodGet, "/tickets")).Status)
	f.Pass(2 * time.Second)
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"a room that is full":               {about(http.MethodGet, "/tickets/1"), http.StatusTooManyRequests},
		"a form":                            {about(http.MethodPost, "/tickets/1"), http.StatusTooManyRequests},
		"what a rule exempts":               {about(http.MethodGet, "/tickets/static/x.css"), http.StatusOK},
		"what no room guards":               {about(http.MethodGet, "/news"), http.StatusOK},
		"a path in another spelling":        {about(http.MethodGet, "/x/..//TICKETS/%2e/1"), http.StatusTooManyRequests},
		"a path that leaves an exempt one":  {about(http.MethodGet, "/tickets/static/../1"), http.StatusTooManyRequests},
		"a path that leaves the gate's own": {about(http.MethodGet, "/.fairdoor/../tickets/1"), http.StatusTooManyRequests},
		"a host in another spelling":        {func(r *http.Request) { about("GET", "/tickets")(r); r.Header.Set("X-Forwarded-Host", "SHOP.test.:80") }, http.StatusTooManyRequests},
		"another host":                      {func(r *http.Request) { about("GET", "/tickets")(r); r.Header.Set("X-Forwarded-Host", "other.test") }, http.StatusOK},
		"two hosts": {func(r *http.Request) {
			about("GET", "/tickets")(r)
			r.Header.Set("X-Forwarded-Host", "other.test, shop.test")
		}, http.StatusBadRequest},
		"a method that the gate refuses":          {about(http.MethodConnect, "/news"), http.StatusMethodNotAllowed},
		"a target that is no path":                {about(http.MethodGet, "http://shop.test/news"), http.StatusBadRequest},
		"no target":                               {func(r *http.Request) { r.Header.Set("X-Forwarded-Method", "GET") }, http.StatusBadRequest},
		"two targets":                             {func(r *http.Request) { r.Header["X-Forwarded-Uri"] = []string{"/news", "/tickets"} }, http.StatusBadRequest},
		"two methods":                             {func(r *http.Request) { about("GET", "/news")(r); r.Header.Add("X-Forwarded-Method", "GET") }, http.StatusBadRequest},
		"a target of the visitor's own, by nginx": {func(r *http.Request) { about("GET", "/tickets")(r); r.Header.Set("X-Original-Uri", "/news") }, http.StatusTooManyRequests},
		"a preflight": {func(r *http.Request) {
			about(http.MethodOptions, "/tickets/1")(r)
			r.Header.Set("Origin", "https://app.test")
			r.Header.Set("Access-Control-Request-Method", "PUT")
		}, http.StatusOK},
		"a form of another site": {func(r *http.Request) {
			about(http.MethodPost, "/news")(r)
			r.Header.Set("Origin", "https://pay.test")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, http.StatusOK},
		"a websocket": {func(r *http.Request) {
			about(http.MethodGet, "/tickets/1")(r)
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
		}, http.StatusTooManyRequests},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, f.Visitor().Get(checkPath, c.change).Status)
		})
	}
	assert.Empty(t, f.Site.Requests())
}

func TestACheckOfWhoIsInHasTheSitesAnswerKeptOutOfSharedCaches(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers, s.ConfirmWithin = 2, 0 }))
	in := f.Visitor()
	require.Equal(t, http.StatusOK, checked(in, "").Status)
	f.Pass(time.Second)
	assert.Empty(t, checked(in, "").Header["Cache-Control"], "nobody waits")
	require.Equal(t, http.StatusOK, checked(f.Visitor(), "").Status)
	f.Pass(2 * time.Second)
	for _, query := range []string{"", "/nginx"} {
		a := checked(in, query)
		require.Equal(t, http.StatusOK, a.Status)
		require.NotContains(t, a.SetCookies(), "fairdoor_shop")
		assert.Equal(t, "private", a.Header.Get("Cache-Control"), "the room is full")
	}
}

func TestACheckGivesTheTicketAndNoAdmissionToken(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.AdmittingAtEdges, gatetest.Settings(func(s *queue.Settings) { s.ConfirmWithin = 0 }))
	v := f.Visitor()
	require.Equal(t, http.StatusOK, checked(v, "").Status)
	f.Pass(5 * time.Minute)
	a := checked(v, "")
	require.Equal(t, http.StatusOK, a.Status)
	assert.Contains(t, a.SetCookies(), "fairdoor_shop")
	assert.Len(t, a.Header["Set-Cookie"], 1, "some proxies pass one on only")
	assert.Contains(t, v.Get("/").SetCookies(), gatetest.AdmissionCookie, "at the gate itself there is one")
}

func TestACheckAboutAHEADIsAnsweredInFull(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*proxy.RoomConfig)
		path   string
		status int
	}{
		"rejected":              {func(r *proxy.RoomConfig) { r.Settings.Method = queue.Reject }, "/shop", http.StatusTooManyRequests},
		"of somebody who waits": {func(r *proxy.RoomConfig) { r.Settings.QueueAll = true }, "/shop", http.StatusTooManyRequests},
		"not found":             {func(*proxy.RoomConfig) {}, "/elsewhere", http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Room(c.change), gatetest.Room(func(r *proxy.RoomConfig) { r.Routes[0].Path = "/shop" }))
			v := f.Visitor()
			a := v.Get(checkPath, about(http.MethodHead, c.path))
			assert.Equal(t, c.status, a.Status)
			assert.Empty(t, a.Body)
			assert.Equal(t, "0", a.Header.Get("Content-Length"), "else the proxy waits for a body")
			assert.NotEmpty(t, v.Get(checkPath, about(http.MethodGet, c.path)).Body)
			assert.NotEqual(t, "0", v.Send(http.MethodHead, checkPath+"/envoy"+c.path, nil).Header.Get("Content-Length"), "by a HEAD a length is told")
		})
	}
}

// Some proxies leave the visitor's query at the address of the check.
func TestTheVisitorsQueryIsNoPartOfACheck(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback)
	in := f.Visitor()
	for _, query := range []string{"?colour=red", "?for=nginx", "?", "?for=envoy&a=%2F%zz;b"} {
		assert.Equal(t, http.StatusOK, checked(in, query).Status, query)
	}
	f.Pass(2 * time.Second)
	for _, query := range []string{"?colour=red", "?for=nginx", "?/tickets"} {
		waits := f.Visitor()
		page := checked(waits, query)
		assert.Equal(t, http.StatusTooManyRequests, page.Status, "the visitor does not choose the protocol")
		assert.Contains(t, page.Body, "You are in the waiting room")
		assert.Equal(t, http.StatusUnauthorized, checked(waits, "/nginx"+query).Status, query)
	}
}

func TestChecksOfStrangersAreRefused(t *testing.T) {
	core, logged := observer.New(zap.WarnLevel)
	f := gatetest.Start(t, func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	a := checked(f.Visitor(), "")
	assert.Equal(t, http.StatusForbidden, a.Status)
	assert.Empty(t, a.Header["Set-Cookie"])
	assert.Equal(t, http.StatusForbidden, f.Visitor().Get(checkPath+"/lamps").Status)
	assert.Zero(t, f.Status("shop").InRoom)
	lines := logged.FilterMessageSnippet("trusted_proxies").All()
	require.Len(t, lines, 1, "the log says once what to configure")
	assert.Contains(t, lines[0].ContextMap()["from"], "127.0.0.1")
}

func TestAStrangersCheckDoesNotUseUpTheWarningsOfTheSitesOwnProxy(t *testing.T) {
	core, logged := observer.New(zap.WarnLevel)
	f := gatetest.Start(t, gatetest.TrustingLoopback, func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	check := func(from, path string) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr = from
		f.Gate.ServeHTTP(&gatetest.Discard{Fields: http.Header{}}, r)
	}
	for range 2 {
		check("198.51.100.1:1234", checkPath+"/lamps?token=secret")
		check("10.0.0.7:1234", checkPath+"/lamps?token=secret")
		check("127.0.0.1:1234", checkPath)
	}
	lines := logged.All()
	require.Len(t, lines, 3)
	for i, want := range []map[string]any{
		{"from": "198.51.100.1:1234", "path": "/.fairdoor/check/lamps"}, {"from": "10.0.0.7:1234", "path": "/.fairdoor/check/lamps"},
		{"from": "127.0.0.1:1234", "path": "/.fairdoor/check"},
	} {
		told := lines[i].ContextMap()
		assert.Len(t, told["requestId"], 32)
		delete(told, "requestId")
		assert.Equal(t, want, told, "what the visitor asked for may hold secrets")
	}
	assert.Contains(t, lines[2].Message, "does not say which request it is about")
}

func TestEnvoysChecksHaveTheTargetInTheirPath(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Room(func(r *proxy.RoomConfig) { r.StatusCode = http.StatusServiceUnavailable }))
	in, waits := f.Visitor(), f.Visitor()
	require.Equal(t, http.StatusOK, in.Get(checkPath+"/envoy/lamps?for=nginx").Status)
	f.Pass(2 * time.Second)
	a := waits.Get(checkPath+"/envoy/lamps?colour=red", gatetest.AsJSON, gatetest.With("X-Forwarded-Uri", "/.well-known/x"))
	assert.Equal(t, http.StatusTooManyRequests, a.Status, "Envoy takes 5xx for a failure of the gate")
	assert.Contains(t, a.Header.Get("Refresh"), "; url=/lamps?colour=red")
	assert.Equal(t, http.StatusTooManyRequests, waits.Send(http.MethodPost, checkPath+"/envoy/lamps", nil).Status)
	assert.Equal(t, http.StatusServiceUnavailable, checked(waits, "").Status, "others are told what the room tells visitors")
	assert.Equal(t, http.StatusBadRequest, f.Visitor().Get(checkPath+"/envoy%2flamps").Status)
	assert.Equal(t, http.StatusBadRequest, f.Visitor().Get(checkPath+"/lamps").Status)
	assert.Equal(t, http.StatusNotFound, f.Visitor().Get(checkPath+"s").Status)
}

func TestNginxsChecksLetNobodyInAndGiveNoPlaces(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback)
	v := f.Visitor()
	for range 3 {
		a := checked(v, "/nginx")
		assert.Equal(t, http.StatusUnauthorized, a.Status, "the visitor has to come to the gate itself")
		assert.Empty(t, a.Header["Set-Cookie"])
	}
	require.True(t, v.Get("/lamps").In())
	assert.Equal(t, http.StatusOK, checked(v, "/nginx").Status)
	f.Pass(5 * time.Minute)
	assert.Contains(t, checked(v, "/nginx").SetCookies(), "fairdoor_shop", "the session is renewed")
	waits := f.Visitor()
	require.False(t, waits.Get("/lamps").In())
	f.Pass(gatetest.Interval)
	assert.Equal(t, http.StatusUnauthorized, checked(waits, "/nginx").Status)
	s := f.Status("shop")
	assert.Equal(t, 1, s.InRoom)
	assert.LessOrEqual(t, s.Queued, 1)
	require.Equal(t, http.StatusOK, f.Patch(`{"hold_active": "now"}`).Status)
	f.Pass(time.Second)
	assert.Equal(t, http.StatusUnauthorized, checked(v, "/nginx").Status, "who is held is shown it by the gate")
	require.Equal(t, http.StatusOK, f.Patch(`{"suspended": true}`).Status)
	assert.Equal(t, http.StatusOK, checked(f.Visitor(), "/nginx").Status)
	assert.Equal(t, http.StatusBadRequest, checked(v, "/apache").Status)
}

func TestASessionThatHasToBeActiveIsForbiddenToOthers(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.ConfirmWithin = 0 }))
	in := f.Full()[0]
	waits, stranger := f.Waits(), f.Visitor()
	for name, c := range map[string]struct {
		who      *gatetest.Visitor
		query    string
		status   int
		standing string
	}{
		"who is in":            {in, "?require=active", http.StatusOK, "active"},
		"who waits":            {waits, "?require=active", http.StatusForbidden, "waiting"},
		"a stranger":           {stranger, "?require=active&room=shop", http.StatusForbidden, "none"},
		"without the wish":     {waits, "", http.StatusOK, "waiting"},
		"who is in, by a path": {in, "?require=active&path=/lamps", http.StatusOK, "active"},
	} {
		t.Run(name, func(t *testing.T) {
			list, a := c.who.Sessions(c.query)
			assert.Equal(t, c.status, a.Status)
			require.Len(t, list, 1)
			assert.Equal(t, c.standing, list[0].Status)
		})
	}
	assert.Equal(t, http.StatusBadRequest, in.Get("/.fairdoor/session?require=waiting").Status)

	require.Equal(t, http.StatusOK, f.Patch(`{"hold_active": "now"}`).Status)
	f.Pass(time.Second)
	list, held := in.Sessions("?require=active")
	assert.Equal(t, http.StatusForbidden, held.Status, "who is held is told to wait")
	assert.Equal(t, "active", list[0].Status)
	require.Equal(t, http.StatusOK, f.Patch(`{"hold_active": "off"}`).Status)
	f.Pass(time.Second)
	_, free := in.Sessions("?require=active")
	assert.Equal(t, http.StatusOK, free.Status)
	f.Pass(time.Hour)
	_, over := in.Sessions("?require=active")
	assert.Equal(t, http.StatusForbidden, over.Status, "the session has ended")
}

// A backend that goes by the session serves those whom the gate lets in.
func TestASessionThatHasToBeActiveIsSoForThoseWhomTheDoorLetsIn(t *testing.T) {
	only := func(only bool) func(*proxy.Config, *proxy.Options) {
		return gatetest.Room(func(r *proxy.RoomConfig) {
			r.Options = r.Options.With(passes.RoomOptions{On: true})
			if only {
				r.Admission = config.WithPass
			}
		})
	}
	f := gatetest.Start(t, gatetest.TakingPasses(t), only(false), gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers, s.ConfirmWithin = 1, 0 }))
	in, waits, stranger := f.Full()[0], f.Waits(), f.Visitor()
	require.Equal(t, http.StatusOK, in.Get("/.fairdoor/session?require=active").Status)

	only(true)(&f.Config, nil)
	require.NoError(t, f.Configure(t.Context(), f.Config))
	for _, v := range []*gatetest.Visitor{waits, stranger} {
		require.False(t, v.Get("/").In())
		list, a := v.Sessions("?require=active")
		assert.Equal(t, http.StatusForbidden, a.Status)
		assert.Equal(t, "none", list[0].Status, "without a pass there is no place")
	}
	require.Equal(t, http.StatusOK, f.Patch(`{"suspended": true}`).Status)
	f.Pass(time.Second)
	for name, v := range map[string]*gatetest.Visitor{"who was in": in, "who waited": waits, "a newcomer": stranger} {
		require.True(t, v.Get("/").In(), name)
		assert.Equal(t, http.StatusOK, v.Get("/.fairdoor/session?require=active").Status, name)
	}
}

func TestASessionThatHasToBeActiveIsSoInEveryRoomThatIsAskedAbout(t *testing.T) {
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) {
		c.Rooms[0].Routes[0].Path = "/a"
		c.Rooms[0].Settings.TotalActiveUsers = 2
	}, func(c *proxy.Config, _ *proxy.Options) {
		b := c.Rooms[0]
		b.Name, b.Routes = "bar", []route.Route{{Path: "/b"}}
		b.Settings.TotalActiveUsers = 1
		c.Rooms = append(c.Rooms, b)
	})
	require.True(t, f.Visitor().Get("/b").In())
	f.Pass(2 * time.Second)
	v := f.Visitor()
	require.Equal(t, http.StatusForbidden, v.Get("/.fairdoor/session?require=active").Status, "without a ticket")
	require.True(t, v.Get("/a").In())
	require.Equal(t, http.StatusOK, v.Get("/.fairdoor/session?require=active").Status)
	require.False(t, v.Get("/b").In())
	a := v.Get("/.fairdoor/session?require=active")
	assert.Equal(t, http.StatusForbidden, a.Status, "they wait for another room")
	assert.True(t, json.Valid([]byte(a.Body)))
	assert.Equal(t, http.StatusOK, v.Get("/.fairdoor/session?require=active&room=shop").Status)
}
