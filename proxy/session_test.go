package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// signed names the user in a token.
func signed(f *gatetest.Fixture, user string, more jwt.MapClaims) func(*http.Request) {
	f.T.Helper()
	c := jwt.MapClaims{"sub": user, "exp": f.Clock.Now().Add(time.Hour).Unix()}
	for name, value := range more {
		c[name] = value
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(gatetest.TokenSecret)
	require.NoError(f.T, err)
	return gatetest.With("Authorization", "Bearer "+token)
}

func session(v *gatetest.Visitor, changes ...func(*http.Request)) gatetest.Session {
	v.Fixture.T.Helper()
	list, a := v.Sessions("", changes...)
	require.Len(v.Fixture.T, list, 1)
	assert.Empty(v.Fixture.T, a.Header.Values("Set-Cookie"))
	return list[0]
}

func TestDevicesOfAUserHaveOneSlotAndOnePlace(t *testing.T) {
	for name, method := range map[string]queue.Method{"fifo": queue.FIFO, "random": queue.Random, "line": queue.Line} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Naming, gatetest.TrustingLoopback, gatetest.Settings(func(s *queue.Settings) { s.Method = method }))
			phone, laptop := f.Visitor(), f.Visitor()
			require.True(t, phone.Get("/", gatetest.As("ann")).In())
			require.True(t, laptop.Get("/", gatetest.As("ann")).In(), "with another device")
			require.True(t, f.Visitor().Get("/", signed(f, "ann", nil)).In(), "by the other way of naming them")
			f.Pass(time.Second)
			assert.Equal(t, 1, f.Status("shop").Active)

			phone, laptop = f.Visitor(), f.Visitor()
			require.False(t, phone.Get("/", gatetest.As("ben")).In())
			require.False(t, laptop.Get("/", gatetest.As("ben")).In())
			require.False(t, f.Visitor().Get("/", gatetest.As("cleo")).In())
			f.Pass(time.Second)
			assert.Equal(t, 2, f.Status("shop").Queued)
		})
	}
}

func TestHeaderOfAStrangerNeverCountsAndNeverReachesTheOrigin(t *testing.T) {
	f := gatetest.Start(t, gatetest.Naming)
	require.True(t, f.Visitor().Get("/", gatetest.As("ann")).In())
	require.False(t, f.Visitor().Get("/", gatetest.As("ann")).In(), "no user, whatever it says")
	for _, r := range f.Site.Requests() {
		assert.NotContains(t, r.Header, "X-User-Id")
	}
	f = gatetest.Start(t, gatetest.Naming, gatetest.TrustingLoopback)
	require.True(t, f.Visitor().Get("/", gatetest.As("ann")).In())
	assert.Equal(t, "ann", f.Site.Requests()[0].Header.Get("X-User-Id"), "a trusted proxy's reaches it")
}

// Neither a room without users of its own, nor a path without a room, nor a trailer
// is a way around.
func TestHeaderOfAStrangerReachesNoOriginByAnyWay(t *testing.T) {
	f := gatetest.Start(t, gatetest.Naming, func(c *proxy.Config, _ *proxy.Options) {
		other := c.Rooms[0]
		other.Name, other.Routes, other.Subject = "other", []route.Route{{Path: "/other"}}, subject.Config{}
		c.Rooms[0].Routes = []route.Route{{Path: "/shop"}}
		c.Rooms, c.Origin = append(c.Rooms, other), other.Origin
		c.Rooms[0].Settings.TotalActiveUsers = 9
	})
	f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
		assert.Contains(t, r.Trailer, "X-Sum", "other trailers pass")
		for _, fields := range []http.Header{r.Header, r.Trailer} {
			for name := range fields {
				assert.NotContains(t, strings.ToLower(name), "user", r.URL.Path)
			}
		}
	})
	names := []string{"X-User-Id", "X_User_Id", "X-User_Id"}
	for _, path := range []string{"/shop", "/other", "/"} {
		text := "POST " + path + " HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, " + strings.Join(names, ", ")
		for _, name := range names {
			text += "\r\n" + name + ": ann"
		}
		text += "\r\n\r\n2\r\nin\r\n0\r\nX-Sum: 1\r\n"
		for _, name := range names {
			text += name + ": ann\r\n"
		}
		assert.Equal(t, http.StatusOK, raw(f, "POST", text+"\r\n").StatusCode, path)
	}
	assert.Len(t, f.Site.Requests(), 3)
}

func TestTokenThatIsNoGoodIsAsNoneAndIsCounted(t *testing.T) {
	core, logged := observer.New(zap.DebugLevel)
	f := gatetest.Start(t, gatetest.Naming, func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	late := signed(f, "ann", jwt.MapClaims{"exp": f.Clock.Now().Unix()})
	require.True(t, f.Visitor().Get("/", late).In())
	require.False(t, f.Visitor().Get("/", late).In(), "another anonymous visitor")
	assert.Contains(t, f.API(http.MethodGet, "/metrics", "", nil).Body, `fairdoor_refused_tokens_total{room="shop"} 2`)
	entries := logged.FilterMessage("token refused").All()
	require.Len(t, entries, 2)
	assert.Equal(t, zap.DebugLevel, entries[0].Level)
	assert.Contains(t, entries[0].ContextMap()["error"], "expired")
}

func TestWhoLogsInIsTheUserFromThenOn(t *testing.T) {
	f := gatetest.Start(t, gatetest.Naming)
	v := f.Waiter()
	before := v.Cookies["fairdoor_shop"]
	a := v.Get("/", signed(f, "ann", nil))
	assert.NotEmpty(t, a.SetCookies()["fairdoor_shop"])
	assert.NotEqual(t, before, v.Cookies["fairdoor_shop"])
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Queued)
}

func TestSessionTellsHowTheCallerStandsAndChangesNothing(t *testing.T) {
	f := gatetest.Start(t, gatetest.Naming)
	v := f.Visitor()
	assert.Equal(t, gatetest.Session{Room: "shop", Status: "none"}, session(v))
	in := f.Full()[0]
	active := session(in)
	assert.Equal(t, "active", active.Status)
	assert.Equal(t, 8*time.Minute, active.ExpiresAt.Sub(active.AcceptedAt).Truncate(time.Second))

	poll := v.Get("/", gatetest.AsJSON)
	f.Pass(5 * time.Second)
	waiting := session(v)
	assert.Equal(t, "waiting", waiting.Status)
	for name := range poll.Room {
		assert.Contains(t, waiting.Waiting, name)
	}
	assert.Equal(t, poll.Told("lastUpdated"), waiting.Waiting["lastUpdated"], "a look is no check-in")
	f.Pass(30 * time.Second)
	session(v)
	assert.Zero(t, f.Status("shop").Queued)
	backend := v.Twin()
	assert.Equal(t, "waiting", session(backend).Status, "by the visitor's cookies, whoever brings them")
	f.Site.Requests()
	f.Clock.Add(30 * time.Minute)
	assert.Equal(t, "none", session(in).Status, "a look renews nothing")
	assert.Equal(t, "none", session(v).Status, "the place was left for too long")
	assert.Empty(t, f.Site.Requests())
}

func TestSessionRenewsWhereItIsAskedTo(t *testing.T) {
	f := gatetest.Start(t)
	in := f.Full()[0]
	v := f.Visitor()
	v.Get("/")
	f.Pass(25 * time.Second)
	list, a := v.Sessions("?renew=1")
	require.Len(t, list, 1)
	assert.Equal(t, "waiting", list[0].Status)
	assert.NotEmpty(t, a.SetCookies()["fairdoor_shop"], "a check-in")
	assert.Equal(t, 1, f.Status("shop").Queued)

	f.Pass(5 * time.Minute)
	before := session(in).ExpiresAt
	list, a = in.Sessions("?renew=1&room=shop")
	assert.Greater(t, list[0].ExpiresAt, before)
	assert.NotEmpty(t, a.SetCookies()["fairdoor_shop"], "a renewal")

	f.Pass(4*time.Minute + 55*time.Second)
	list, _ = v.Sessions("?renew=1")
	require.Equal(t, "waiting", list[0].Status, "renewed, the session outlives its first end")
	f.Pass(4 * time.Minute)
	list, _ = v.Sessions("?renew=1&path=/any")
	assert.Equal(t, "waiting", list[0].Status, "their turn has come, and they have not")
	assert.EqualValues(t, 20, list[0].Waiting["refreshIntervalSeconds"])
	assert.True(t, v.Get("/").In())
	list, a = f.Visitor().Sessions("?renew=1")
	assert.Equal(t, "waiting", list[0].Status, "a newcomer has a place")
	assert.NotEmpty(t, a.SetCookies()["fairdoor_shop"])
}

// Sessions cannot be gathered, to be used at the origin all at once, by asking how one stands.
func TestNobodyIsLetInByAskingHowTheyStand(t *testing.T) {
	for name, method := range map[string]queue.Method{"fifo": queue.FIFO, "random": queue.Random, "line": queue.Line, "passthrough": queue.Passthrough} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Method = method }), gatetest.TrustingLoopback, gatetest.Naming)
			newcomer := f.Visitor()
			list, a := newcomer.Sessions("?renew=1")
			assert.Equal(t, "none", list[0].Status, "a slot is open to them, at the origin")
			assert.Empty(t, a.Header.Values("Set-Cookie"))

			f.Patch(`{"queue_all": true}`)
			var waiting []*gatetest.Visitor
			for range 5 {
				v := f.Visitor()
				require.False(t, v.Get("/").In())
				waiting = append(waiting, v)
			}
			f.Patch(`{"queue_all": false, "total_active_users": 9}`)
			f.Site.Requests()
			for range 5 {
				f.Pass(25 * time.Second)
				for _, v := range append(waiting, f.Visitor()) {
					list, _ := v.Sessions("?renew=1")
					assert.NotEqual(t, "active", list[0].Status)
				}
				f.Visitor().Sessions("?renew=1", gatetest.As("ann"))
			}
			assert.Zero(t, f.Status("shop").Active)
			assert.Empty(t, f.Site.Requests())
			for _, v := range waiting {
				assert.True(t, v.Get("/").In(), "at once, when they come")
			}
		})
	}
}

// What a stream lets in is lost if nobody comes for it, however often the stream is opened.
func TestWhoNeverComesForWhatAStreamAnnouncedHasNothing(t *testing.T) {
	f := gatetest.Start(t)
	v := f.Waiter()
	f.Patch(`{"total_active_users": 2}`)
	f.Pass(25 * time.Second)
	lasts := 8 * time.Minute
	for range 8 {
		v.Listen("").Next("admitted")
		_, a := v.Sessions("?renew=1")
		assert.Empty(t, a.Header.Values("Set-Cookie"))
		f.Clock.Add(lasts / 8)
	}
	f.Pass(2 * time.Second)
	assert.Zero(t, f.Status("shop").Active)
}

func TestSessionOfAnExactLineHasItsPlace(t *testing.T) {
	f := gatetest.Start(t, gatetest.Naming, inLine, gatetest.TrustingLoopback)
	f.Full()
	first, second := f.Visitor(), f.Visitor()
	first.Get("/")
	second.Get("/", gatetest.As("ann"))
	told := session(first).Waiting
	assert.Equal(t, []any{true, 1.0, 2.0, 2.0}, []any{told["positionKnown"], told["position"], told["usersQueued"], told["ticketNumber"]})
	told = session(f.Visitor(), gatetest.As("ann")).Waiting
	assert.Equal(t, []any{true, 2.0, 2.0, 3.0}, []any{told["positionKnown"], told["position"], told["usersQueued"], told["ticketNumber"]}, "by the user's name alone")
	f.Pass(70 * time.Second)
	assert.Equal(t, "none", session(first).Status, "the place was lost without a check-in")
}

func TestSessionsOfSeveralRooms(t *testing.T) {
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) {
		other := c.Rooms[0]
		other.Name, other.Routes = "club", append(other.Routes[:0:0], other.Routes...)
		other.Routes[0].Path = "/club"
		c.Rooms = append(c.Rooms, other)
	})
	v := f.Visitor()
	list, _ := v.Sessions("")
	assert.Empty(t, list, "no ticket, no room")
	v.Get("/")
	list, _ = v.Sessions("")
	require.Len(t, list, 1)
	v.Get("/club/x")
	list, _ = v.Sessions("")
	require.Len(t, list, 2)
	for query, want := range map[string]string{"?room=club": "club", "?path=/club/y%3Fz": "club", "?path=/x": "shop"} {
		list, _ = v.Sessions(query)
		require.Len(t, list, 1, query)
		assert.Equal(t, want, list[0].Room, query)
	}
	for target, status := range map[string]int{
		"?room=nowhere": http.StatusNotFound, "?room=shop&path=/": http.StatusBadRequest,
	} {
		assert.Equal(t, status, v.Get("/.fairdoor/session"+target).Status, target)
	}
	a := v.Send(http.MethodPost, "/.fairdoor/session", nil)
	assert.Equal(t, http.StatusMethodNotAllowed, a.Status)
	assert.Equal(t, "GET", a.Header.Get("Allow"))
	assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, v.Get("/.fairdoor/session?room=shop", gatetest.With("Cookie", strings.Repeat("a=b; ", 5000))).Status)
}

// people are those whom the admin API knows in the room called shop.
type people struct {
	Active, Waiting         []person
	WaitingKnown, Truncated bool
}

type person struct {
	ID, Status            string
	AcceptedAt, ExpiresAt time.Time
	Position              int
	TicketNumber          int
	Priority              int
	Until                 time.Time
}

const visitors = "/api/v1/rooms/shop/visitors"

func peopleOf(f *gatetest.Fixture) (p people) {
	f.T.Helper()
	require.Equal(f.T, http.StatusOK, f.API(http.MethodGet, visitors, "", &p).Status)
	return p
}

func TestOperatorsSeeAndMoveWhoIsInAnExactLine(t *testing.T) {
	core, logged := observer.New(zap.DebugLevel)
	f := gatetest.Start(t, gatetest.Naming, inLine, gatetest.TrustingLoopback, func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	in := f.Full()[0]
	first, second := f.Visitor(), f.Visitor()
	first.Get("/")
	second.Get("/", gatetest.As("ann/1"))
	first.Get("/") // is back, and has the place for good
	p := peopleOf(f)
	require.Len(t, p.Active, 1)
	require.Len(t, p.Waiting, 2)
	assert.True(t, p.WaitingKnown)
	assert.False(t, p.Truncated)
	assert.Equal(t, 8*time.Minute, p.Active[0].ExpiresAt.Sub(p.Active[0].AcceptedAt).Truncate(time.Second))
	assert.Equal(t, []int{1, 2}, []int{p.Waiting[0].Position, p.Waiting[1].Position})
	assert.Equal(t, f.Clock.Now().Add(time.Minute), p.Waiting[0].Until.In(time.UTC))
	ann := p.Waiting[1]

	const ofAnn = visitors + "/subject:ann%2F1"
	var got person
	require.Equal(t, http.StatusOK, f.API(http.MethodGet, ofAnn, "", &got).Status)
	assert.Equal(t, "waiting", got.Status)
	got.Status = ""
	assert.Equal(t, ann, got)
	require.Equal(t, http.StatusOK, f.API(http.MethodPatch, ofAnn, `{"priority": 2}`, &got).Status)
	assert.Equal(t, 1, got.Position)
	assert.Equal(t, 2, got.Priority)
	assert.Equal(t, 2, peopleOf(f).Waiting[1].Position, "the others move as they must")

	f.Pass(time.Second)
	require.Equal(t, http.StatusNoContent, f.API(http.MethodDelete, visitors+"/"+peopleOf(f).Waiting[1].ID, "", nil).Status)
	f.Pass(queue.LineReturn)
	assert.Len(t, peopleOf(f).Waiting, 1)
	require.Equal(t, http.StatusNoContent, f.API(http.MethodDelete, visitors+"/"+p.Active[0].ID, "", nil).Status)
	f.Pass(time.Second)
	assert.False(t, in.Get("/").In(), "their session has ended")
	f.Pass(25 * time.Second)
	assert.True(t, second.Get("/", gatetest.As("ann/1")).In(), "and the slot is the next one's")
	f.API(http.MethodGet, ofAnn, "", &got)
	assert.Equal(t, "active", got.Status)
	for _, e := range logged.All() {
		line := fmt.Sprint(e.Message, e.ContextMap())
		assert.NotContains(t, line, ann.ID)
		assert.NotContains(t, line, "ann/1")
	}
}

func TestTheSitesBackendRenewsAVisitorByTheirID(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*queue.Settings)
		renews bool
	}{
		"in an exact line":                   {func(s *queue.Settings) { s.Method = queue.Line }, true},
		"in fifo":                            {func(*queue.Settings) {}, true},
		"not where sessions are not renewed": {func(s *queue.Settings) { s.DisableSessionRenewal = true }, false},
		"not where only connections keep seats": {func(s *queue.Settings) {
			s.Method, s.Occupancy, s.LineGrace = queue.Line, queue.ByConnection, time.Minute
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Settings(c.change))
			f.Full()
			waiting := f.Visitor()
			waiting.Get("/")
			waiting.Get("/")
			before := peopleOf(f)
			f.Pass(50 * time.Second)
			ask := func(id string) (p person) {
				f.API(http.MethodPost, visitors+"/"+id+"/renew", "", &p)
				return p
			}
			f.API(http.MethodGet, visitors+"/"+before.Active[0].ID+"?renew=1", "", nil)
			assert.Equal(t, before.Active[0].ExpiresAt, peopleOf(f).Active[0].ExpiresAt, "to look changes nothing")
			a := f.API(http.MethodPost, visitors+"/"+before.Active[0].ID+"/renew", "", nil, gatetest.With("Sec-Fetch-Site", "cross-site"))
			assert.Equal(t, http.StatusForbidden, a.Status)
			assert.Equal(t, before.Active[0].ExpiresAt, peopleOf(f).Active[0].ExpiresAt, "nor does a page of another site")
			got := ask(before.Active[0].ID)
			assert.Equal(t, "active", got.Status)
			assert.Equal(t, c.renews, got.ExpiresAt.After(before.Active[0].ExpiresAt))
			if !before.WaitingKnown {
				return
			}
			got = ask(before.Waiting[0].ID)
			assert.Equal(t, "waiting", got.Status)
			assert.Equal(t, 50*time.Second, got.Until.Sub(before.Waiting[0].Until), "it is a check-in")
			assert.Equal(t, http.StatusNotFound, f.API(http.MethodPost, visitors+"/"+strings.Repeat("0a", 16)+"/renew", "", nil).Status)
			f.Pass(time.Second)
			assert.Equal(t, 1, f.Status("shop").Active, "a stranger's id takes no slot")
			require.Equal(t, http.StatusNoContent, f.API(http.MethodDelete, visitors+"/"+before.Active[0].ID, "", nil).Status)
			assert.Equal(t, "waiting", ask(before.Waiting[0].ID).Status, "it lets nobody in")
		})
	}
}

func TestOperatorsAreRefusedWithAReason(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	f.Visitor().Get("/")
	p := peopleOf(f)
	require.Len(t, p.Active, 1)
	assert.Empty(t, p.Waiting)
	assert.False(t, p.WaitingKnown)
	known, nobody := visitors+"/"+p.Active[0].ID, visitors+"/"+strings.Repeat("0", 31)+"1"
	lined, store := gatetest.Start(t, inLine), &gatetest.Fallible{}
	away := gatetest.Start(t, inLine, store.Between)
	store.Failing.Store(true)
	for _, c := range []struct {
		f                  *gatetest.Fixture
		method, path, body string
		status             int
		detail             string
	}{
		{f, "GET", nobody, "", http.StatusNotFound, "exact line only"},
		{f, "GET", visitors + "/xyz", "", http.StatusNotFound, "32 hexadecimal"},
		{f, "GET", visitors + "/subject:", "", http.StatusNotFound, "32 hexadecimal"},
		{f, "PATCH", known, `{"priority": 1}`, http.StatusConflict, "no exact line"},
		{lined, "PATCH", nobody, `{"priority": 1}`, http.StatusNotFound, "in the line"},
		{lined, "PATCH", nobody, `{"priority": 40000}`, http.StatusUnprocessableEntity, "-32768 to 32767"},
		{lined, "PATCH", nobody, `{"priority": 1.5}`, http.StatusUnprocessableEntity, "whole number"},
		{lined, "PATCH", nobody, `{}`, http.StatusUnprocessableEntity, "whole number"},
		{lined, "PATCH", nobody, `{"priority": 1, "x": 2}`, http.StatusUnprocessableEntity, "whole number"},
		{lined, "DELETE", nobody, "", http.StatusNotFound, "Nobody"},
		{away, "GET", visitors, "", http.StatusServiceUnavailable, "store does not answer"},
		{away, "GET", nobody, "", http.StatusServiceUnavailable, "store does not answer"},
		{away, "PATCH", nobody, `{"priority": 1}`, http.StatusServiceUnavailable, "store does not answer"},
		{away, "DELETE", nobody, "", http.StatusServiceUnavailable, "store does not answer"},
		{f, "POST", visitors, "{}", http.StatusMethodNotAllowed, "method"},
		{f, "POST", known, "{}", http.StatusMethodNotAllowed, "method"},
	} {
		var problem struct{ Detail string }
		a := c.f.API(c.method, c.path, c.body, &problem)
		assert.Equal(t, c.status, a.Status, "%s %s %s", c.method, c.path, c.body)
		assert.Contains(t, problem.Detail, c.detail)
		if c.path == known && c.status == http.StatusMethodNotAllowed {
			assert.Equal(t, "GET, HEAD, PATCH, DELETE", a.Header.Get("Allow"))
		}
	}
}
