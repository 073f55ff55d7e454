package proxy_test

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
func (v *visitor) checked(query string, changes ...func(*http.Request)) answer {
	v.f.t.Helper()
	return v.get(checkPath+query, append([]func(*http.Request){about(http.MethodGet, "/lamps?colour=red")}, changes...)...)
}

func TestACheckAnswersAsTheGateWouldHaveAnswered(t *testing.T) {
	f := start(t, trustingLoopback, room(func(r *proxy.RoomConfig) { r.Settings.ConfirmWithin = 0 }))
	in, waits := f.visitor(), f.visitor()
	entered := in.checked("")
	assert.Equal(t, http.StatusOK, entered.status)
	assert.Empty(t, entered.body)
	assert.Equal(t, "private, no-store", entered.header.Get("Cache-Control"), "a ticket belongs into no cache")
	assert.Equal(t, "*", entered.header.Get("Vary"))
	require.Contains(t, in.cookies, "fairdoor_shop")
	f.pass(2 * time.Second)

	page := waits.checked("")
	assert.Equal(t, http.StatusTooManyRequests, page.status, "a check that is not let through is never answered with 2xx")
	assert.Contains(t, page.body, "You are in the waiting room")
	assert.NotEmpty(t, page.header.Get("Retry-After"))
	require.Contains(t, waits.cookies, "fairdoor_shop", "who waits has a place")
	assert.Contains(t, waits.checked("", asJSON).header.Get("Refresh"), "; url=/lamps?colour=red", "the address is that of the page")
	assert.Equal(t, 1, f.status("shop").InRoom)

	assert.Equal(t, "private", in.checked("").header.Get("Cache-Control"), "while people wait, the site's own answer is for its visitor")
	f.pass(5 * time.Minute)
	again := in.checked("")
	assert.Equal(t, http.StatusOK, again.status)
	assert.Contains(t, again.setCookies(), "fairdoor_shop", "a session that is renewed has a new ticket")
	f.pass(5 * time.Minute)
	assert.Equal(t, http.StatusOK, in.checked("").status, "checks renew the session")
	assert.Empty(t, f.site.requests(), "no check goes to the origin")
}

func TestACheckIsAboutTheMethodHostAndPathThatTheProxyNames(t *testing.T) {
	f := start(t, trustingLoopback, func(c *proxy.Config, _ *proxy.Options) {
		shop := &c.Rooms[0]
		shop.Routes = []route.Route{{Host: "shop.test", Path: "/tickets"}, {Host: "shop.test", Path: "/sale"}}
		shop.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{PathPrefix: "/tickets/static/"}}}
		c.Origin = shop.Origin
	})
	require.Equal(t, http.StatusOK, f.visitor().get(checkPath, about(http.MethodGet, "/tickets")).status)
	f.pass(2 * time.Second)
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
			assert.Equal(t, c.want, f.visitor().get(checkPath, c.change).status)
		})
	}
	assert.Empty(t, f.site.requests())
}

func TestACheckOfWhoIsInHasTheSitesAnswerKeptOutOfSharedCaches(t *testing.T) {
	f := start(t, trustingLoopback, settings(func(s *queue.Settings) { s.TotalActiveUsers, s.ConfirmWithin = 2, 0 }))
	in := f.visitor()
	require.Equal(t, http.StatusOK, in.checked("").status)
	f.pass(time.Second)
	assert.Empty(t, in.checked("").header["Cache-Control"], "nobody waits")
	require.Equal(t, http.StatusOK, f.visitor().checked("").status)
	f.pass(2 * time.Second)
	for _, query := range []string{"", "/nginx"} {
		a := in.checked(query)
		require.Equal(t, http.StatusOK, a.status)
		require.NotContains(t, a.setCookies(), "fairdoor_shop")
		assert.Equal(t, "private", a.header.Get("Cache-Control"), "the room is full")
	}
}

func TestACheckGivesTheTicketAndNoAdmissionToken(t *testing.T) {
	f := start(t, trustingLoopback, admittingAtEdges, settings(func(s *queue.Settings) { s.ConfirmWithin = 0 }))
	v := f.visitor()
	require.Equal(t, http.StatusOK, v.checked("").status)
	f.pass(5 * time.Minute)
	a := v.checked("")
	require.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.setCookies(), "fairdoor_shop")
	assert.Len(t, a.header["Set-Cookie"], 1, "some proxies pass one on only")
	assert.Contains(t, v.get("/").setCookies(), admissionCookie, "at the gate itself there is one")
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
			f := start(t, trustingLoopback, room(c.change), room(func(r *proxy.RoomConfig) { r.Routes[0].Path = "/shop" }))
			v := f.visitor()
			a := v.get(checkPath, about(http.MethodHead, c.path))
			assert.Equal(t, c.status, a.status)
			assert.Empty(t, a.body)
			assert.Equal(t, "0", a.header.Get("Content-Length"), "else the proxy waits for a body")
			assert.NotEmpty(t, v.get(checkPath, about(http.MethodGet, c.path)).body)
			assert.NotEqual(t, "0", v.send(http.MethodHead, checkPath+"/envoy"+c.path, nil).header.Get("Content-Length"), "by a HEAD a length is told")
		})
	}
}

// Some proxies leave the visitor's query at the address of the check.
func TestTheVisitorsQueryIsNoPartOfACheck(t *testing.T) {
	f := start(t, trustingLoopback)
	in := f.visitor()
	for _, query := range []string{"?colour=red", "?for=nginx", "?", "?for=envoy&a=%2F%zz;b"} {
		assert.Equal(t, http.StatusOK, in.checked(query).status, query)
	}
	f.pass(2 * time.Second)
	for _, query := range []string{"?colour=red", "?for=nginx", "?/tickets"} {
		waits := f.visitor()
		page := waits.checked(query)
		assert.Equal(t, http.StatusTooManyRequests, page.status, "the visitor does not choose the protocol")
		assert.Contains(t, page.body, "You are in the waiting room")
		assert.Equal(t, http.StatusUnauthorized, waits.checked("/nginx"+query).status, query)
	}
}

func TestChecksOfStrangersAreRefused(t *testing.T) {
	core, logged := observer.New(zap.WarnLevel)
	f := start(t, func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	a := f.visitor().checked("")
	assert.Equal(t, http.StatusForbidden, a.status)
	assert.Empty(t, a.header["Set-Cookie"])
	assert.Equal(t, http.StatusForbidden, f.visitor().get(checkPath+"/lamps").status)
	assert.Zero(t, f.status("shop").InRoom)
	lines := logged.FilterMessageSnippet("trusted_proxies").All()
	require.Len(t, lines, 1, "the log says once what to configure")
	assert.Contains(t, lines[0].ContextMap()["from"], "127.0.0.1")
}

func TestAStrangersCheckDoesNotUseUpTheWarningsOfTheSitesOwnProxy(t *testing.T) {
	core, logged := observer.New(zap.WarnLevel)
	f := start(t, trustingLoopback, func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	check := func(from, path string) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr = from
		f.Gate.ServeHTTP(&discard{header: http.Header{}}, r)
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
		assert.Equal(t, want, lines[i].ContextMap(), "what the visitor asked for may hold secrets")
	}
	assert.Contains(t, lines[2].Message, "does not say which request it is about")
}

func TestEnvoysChecksHaveTheTargetInTheirPath(t *testing.T) {
	f := start(t, trustingLoopback, room(func(r *proxy.RoomConfig) { r.StatusCode = http.StatusServiceUnavailable }))
	in, waits := f.visitor(), f.visitor()
	require.Equal(t, http.StatusOK, in.get(checkPath+"/envoy/lamps?for=nginx").status)
	f.pass(2 * time.Second)
	a := waits.get(checkPath+"/envoy/lamps?colour=red", asJSON, with("X-Forwarded-Uri", "/.well-known/x"))
	assert.Equal(t, http.StatusTooManyRequests, a.status, "Envoy takes 5xx for a failure of the gate")
	assert.Contains(t, a.header.Get("Refresh"), "; url=/lamps?colour=red")
	assert.Equal(t, http.StatusTooManyRequests, waits.send(http.MethodPost, checkPath+"/envoy/lamps", nil).status)
	assert.Equal(t, http.StatusServiceUnavailable, waits.checked("").status, "others are told what the room tells visitors")
	assert.Equal(t, http.StatusBadRequest, f.visitor().get(checkPath+"/envoy%2flamps").status)
	assert.Equal(t, http.StatusBadRequest, f.visitor().get(checkPath+"/lamps").status)
	assert.Equal(t, http.StatusNotFound, f.visitor().get(checkPath+"s").status)
}

func TestNginxsChecksLetNobodyInAndGiveNoPlaces(t *testing.T) {
	f := start(t, trustingLoopback)
	v := f.visitor()
	for range 3 {
		a := v.checked("/nginx")
		assert.Equal(t, http.StatusUnauthorized, a.status, "the visitor has to come to the gate itself")
		assert.Empty(t, a.header["Set-Cookie"])
	}
	require.True(t, v.get("/lamps").in())
	assert.Equal(t, http.StatusOK, v.checked("/nginx").status)
	f.pass(5 * time.Minute)
	assert.Contains(t, v.checked("/nginx").setCookies(), "fairdoor_shop", "the session is renewed")
	waits := f.visitor()
	require.False(t, waits.get("/lamps").in())
	f.pass(interval)
	assert.Equal(t, http.StatusUnauthorized, waits.checked("/nginx").status)
	s := f.status("shop")
	assert.Equal(t, 1, s.InRoom)
	assert.LessOrEqual(t, s.Queued, 1)
	require.Equal(t, http.StatusOK, f.patch(`{"hold_active": "now"}`).status)
	f.pass(time.Second)
	assert.Equal(t, http.StatusUnauthorized, v.checked("/nginx").status, "who is held is shown it by the gate")
	require.Equal(t, http.StatusOK, f.patch(`{"suspended": true}`).status)
	assert.Equal(t, http.StatusOK, f.visitor().checked("/nginx").status)
	assert.Equal(t, http.StatusBadRequest, v.checked("/apache").status)
}

func TestASessionThatHasToBeActiveIsForbiddenToOthers(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.ConfirmWithin = 0 }))
	in := f.full()[0]
	waits, stranger := f.waits(), f.visitor()
	for name, c := range map[string]struct {
		who      *visitor
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
			list, a := c.who.sessions(c.query)
			assert.Equal(t, c.status, a.status)
			require.Len(t, list, 1)
			assert.Equal(t, c.standing, list[0].Status)
		})
	}
	assert.Equal(t, http.StatusBadRequest, in.get("/.fairdoor/session?require=waiting").status)

	require.Equal(t, http.StatusOK, f.patch(`{"hold_active": "now"}`).status)
	f.pass(time.Second)
	list, held := in.sessions("?require=active")
	assert.Equal(t, http.StatusForbidden, held.status, "who is held is told to wait")
	assert.Equal(t, "active", list[0].Status)
	require.Equal(t, http.StatusOK, f.patch(`{"hold_active": "off"}`).status)
	f.pass(time.Second)
	_, free := in.sessions("?require=active")
	assert.Equal(t, http.StatusOK, free.status)
	f.pass(time.Hour)
	_, over := in.sessions("?require=active")
	assert.Equal(t, http.StatusForbidden, over.status, "the session has ended")
}

// A backend that goes by the session serves those whom the gate lets in.
func TestASessionThatHasToBeActiveIsSoForThoseWhomTheDoorLetsIn(t *testing.T) {
	only := func(only bool) func(*proxy.Config, *proxy.Options) {
		return room(func(r *proxy.RoomConfig) {
			r.Options = r.Options.With(passes.RoomOptions{On: true})
			if only {
				r.Admission = config.WithPass
			}
		})
	}
	f := start(t, takingPasses(t), only(false), settings(func(s *queue.Settings) { s.TotalActiveUsers, s.ConfirmWithin = 1, 0 }))
	in, waits, stranger := f.full()[0], f.waits(), f.visitor()
	require.Equal(t, http.StatusOK, in.get("/.fairdoor/session?require=active").status)

	only(true)(&f.config, nil)
	require.NoError(t, f.Configure(t.Context(), f.config))
	for _, v := range []*visitor{waits, stranger} {
		require.False(t, v.get("/").in())
		list, a := v.sessions("?require=active")
		assert.Equal(t, http.StatusForbidden, a.status)
		assert.Equal(t, "none", list[0].Status, "without a pass there is no place")
	}
	require.Equal(t, http.StatusOK, f.patch(`{"suspended": true}`).status)
	f.pass(time.Second)
	for name, v := range map[string]*visitor{"who was in": in, "who waited": waits, "a newcomer": stranger} {
		require.True(t, v.get("/").in(), name)
		assert.Equal(t, http.StatusOK, v.get("/.fairdoor/session?require=active").status, name)
	}
}

func TestASessionThatHasToBeActiveIsSoInEveryRoomThatIsAskedAbout(t *testing.T) {
	f := start(t, func(c *proxy.Config, _ *proxy.Options) {
		c.Rooms[0].Routes[0].Path = "/a"
		c.Rooms[0].Settings.TotalActiveUsers = 2
	}, func(c *proxy.Config, _ *proxy.Options) {
		b := c.Rooms[0]
		b.Name, b.Routes = "bar", []route.Route{{Path: "/b"}}
		b.Settings.TotalActiveUsers = 1
		c.Rooms = append(c.Rooms, b)
	})
	require.True(t, f.visitor().get("/b").in())
	f.pass(2 * time.Second)
	v := f.visitor()
	require.Equal(t, http.StatusForbidden, v.get("/.fairdoor/session?require=active").status, "without a ticket")
	require.True(t, v.get("/a").in())
	require.Equal(t, http.StatusOK, v.get("/.fairdoor/session?require=active").status)
	require.False(t, v.get("/b").in())
	a := v.get("/.fairdoor/session?require=active")
	assert.Equal(t, http.StatusForbidden, a.status, "they wait for another room")
	assert.True(t, json.Valid([]byte(a.body)))
	assert.Equal(t, http.StatusOK, v.get("/.fairdoor/session?require=active&room=shop").status)
}
