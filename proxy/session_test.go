package proxy_test

import (
	"encoding/json"
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
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/queue"
)

var tokenSecret = []byte(strings.Repeat("s", 32))

// naming has the site name its users to the first room.
var naming = room(func(r *proxy.RoomConfig) {
	r.Subject = subject.Config{Header: "X-User-Id", TokenHeader: "Authorization", Secrets: [][]byte{tokenSecret}}
})

// as names the user in the proxy's header.
func as(user string) func(*http.Request) { return with("X-User-Id", user) }

// signed names the user in a token.
func (f *fixture) signed(user string, more jwt.MapClaims) func(*http.Request) {
	f.t.Helper()
	c := jwt.MapClaims{"sub": user, "exp": f.clock.Now().Add(time.Hour).Unix()}
	for name, value := range more {
		c[name] = value
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(tokenSecret)
	require.NoError(f.t, err)
	return with("Authorization", "Bearer "+token)
}

// session is what the session API tells of one room.
type session struct {
	Room       string
	Status     string
	Waiting    map[string]any `json:"cfWaitingRoom"`
	AcceptedAt time.Time
	ExpiresAt  time.Time
}

// sessions asks how the visitor stands.
func (v *visitor) sessions(query string, changes ...func(*http.Request)) ([]session, answer) {
	v.f.t.Helper()
	a := v.get("/.fairdoor/session"+query, changes...)
	var told struct{ Rooms []session }
	require.NoError(v.f.t, json.Unmarshal([]byte(a.body), &told), a.body)
	assert.Equal(v.f.t, "no-store", a.header.Get("Cache-Control"))
	return told.Rooms, a
}

func (v *visitor) session(changes ...func(*http.Request)) session {
	v.f.t.Helper()
	list, a := v.sessions("", changes...)
	require.Len(v.f.t, list, 1)
	assert.Empty(v.f.t, a.header.Values("Set-Cookie"))
	return list[0]
}

func TestDevicesOfAUserHaveOneSlotAndOnePlace(t *testing.T) {
	for name, method := range map[string]queue.Method{"fifo": queue.FIFO, "random": queue.Random, "line": queue.Line} {
		t.Run(name, func(t *testing.T) {
			f := start(t, naming, trustingLoopback, settings(func(s *queue.Settings) { s.Method = method }))
			phone, laptop := f.visitor(), f.visitor()
			require.True(t, phone.get("/", as("ann")).in())
			require.True(t, laptop.get("/", as("ann")).in(), "with another device")
			require.True(t, f.visitor().get("/", f.signed("ann", nil)).in(), "by the other way of naming them")
			f.pass(time.Second)
			assert.Equal(t, 1, f.status("shop").Active)

			phone, laptop = f.visitor(), f.visitor()
			require.False(t, phone.get("/", as("ben")).in())
			require.False(t, laptop.get("/", as("ben")).in())
			require.False(t, f.visitor().get("/", as("cleo")).in())
			f.pass(time.Second)
			assert.Equal(t, 2, f.status("shop").Queued)
		})
	}
}

func TestHeaderOfAStrangerNeverCountsAndNeverReachesTheOrigin(t *testing.T) {
	f := start(t, naming)
	require.True(t, f.visitor().get("/", as("ann")).in())
	require.False(t, f.visitor().get("/", as("ann")).in(), "no user, whatever it says")
	for _, r := range f.site.requests() {
		assert.NotContains(t, r.Header, "X-User-Id")
	}
	f = start(t, naming, trustingLoopback)
	require.True(t, f.visitor().get("/", as("ann")).in())
	assert.Equal(t, "ann", f.site.requests()[0].Header.Get("X-User-Id"), "a trusted proxy's reaches it")
}

// Neither a room without users of its own, nor a path without a room, nor a trailer
// is a way around.
func TestHeaderOfAStrangerReachesNoOriginByAnyWay(t *testing.T) {
	f := start(t, naming, func(c *proxy.Config, _ *proxy.Options) {
		other := c.Rooms[0]
		other.Name, other.Routes, other.Subject = "other", []route.Route{{Path: "/other"}}, subject.Config{}
		c.Rooms[0].Routes = []route.Route{{Path: "/shop"}}
		c.Rooms, c.Origin = append(c.Rooms, other), other.Origin
		c.Rooms[0].Settings.TotalActiveUsers = 9
	})
	f.site.will(func(w http.ResponseWriter, r *http.Request) {
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
		assert.Equal(t, http.StatusOK, f.raw("POST", text+"\r\n").StatusCode, path)
	}
	assert.Len(t, f.site.requests(), 3)
}

func TestTokenThatIsNoGoodIsAsNoneAndIsCounted(t *testing.T) {
	core, logged := observer.New(zap.DebugLevel)
	f := start(t, naming, func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	late := f.signed("ann", jwt.MapClaims{"exp": f.clock.Now().Unix()})
	require.True(t, f.visitor().get("/", late).in())
	require.False(t, f.visitor().get("/", late).in(), "another anonymous visitor")
	assert.Contains(t, f.api(http.MethodGet, "/metrics", "", nil).body, `fairdoor_refused_tokens_total{room="shop"} 2`)
	entries := logged.FilterMessage("token refused").All()
	require.Len(t, entries, 2)
	assert.Equal(t, zap.DebugLevel, entries[0].Level)
	assert.Contains(t, entries[0].ContextMap()["error"], "expired")
}

func TestWhoLogsInIsTheUserFromThenOn(t *testing.T) {
	f := start(t, naming)
	v := f.waiter()
	before := v.cookies["fairdoor_shop"]
	a := v.get("/", f.signed("ann", nil))
	assert.NotEmpty(t, a.setCookies()["fairdoor_shop"])
	assert.NotEqual(t, before, v.cookies["fairdoor_shop"])
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Queued)
}

func TestSessionTellsHowTheCallerStandsAndChangesNothing(t *testing.T) {
	f := start(t, naming)
	v := f.visitor()
	assert.Equal(t, session{Room: "shop", Status: "none"}, v.session())
	in := f.full()[0]
	active := in.session()
	assert.Equal(t, "active", active.Status)
	assert.Equal(t, 8*time.Minute, active.ExpiresAt.Sub(active.AcceptedAt).Truncate(time.Second))

	poll := v.get("/", asJSON)
	f.pass(5 * time.Second)
	waiting := v.session()
	assert.Equal(t, "waiting", waiting.Status)
	for name := range poll.room {
		assert.Contains(t, waiting.Waiting, name)
	}
	assert.Equal(t, poll.told("lastUpdated"), waiting.Waiting["lastUpdated"], "a look is no check-in")
	f.pass(30 * time.Second)
	v.session()
	assert.Zero(t, f.status("shop").Queued)
	backend := v.twin()
	assert.Equal(t, "waiting", backend.session().Status, "by the visitor's cookies, whoever brings them")
	f.site.requests()
	f.clock.add(30 * time.Minute)
	assert.Equal(t, "none", in.session().Status, "a look renews nothing")
	assert.Equal(t, "none", v.session().Status, "the place was left for too long")
	assert.Empty(t, f.site.requests())
}

func TestSessionRenewsWhereItIsAskedTo(t *testing.T) {
	f := start(t)
	in := f.full()[0]
	v := f.visitor()
	v.get("/")
	f.pass(25 * time.Second)
	list, a := v.sessions("?renew=1")
	require.Len(t, list, 1)
	assert.Equal(t, "waiting", list[0].Status)
	assert.NotEmpty(t, a.setCookies()["fairdoor_shop"], "a check-in")
	assert.Equal(t, 1, f.status("shop").Queued)

	f.pass(5 * time.Minute)
	before := in.session().ExpiresAt
	list, a = in.sessions("?renew=1&room=shop")
	assert.Greater(t, list[0].ExpiresAt, before)
	assert.NotEmpty(t, a.setCookies()["fairdoor_shop"], "a renewal")

	f.pass(4*time.Minute + 55*time.Second)
	list, _ = v.sessions("?renew=1")
	require.Equal(t, "waiting", list[0].Status, "renewed, the session outlives its first end")
	f.pass(4 * time.Minute)
	list, _ = v.sessions("?renew=1&path=/any")
	assert.Equal(t, "waiting", list[0].Status, "their turn has come, and they have not")
	assert.EqualValues(t, 20, list[0].Waiting["refreshIntervalSeconds"])
	assert.True(t, v.get("/").in())
	list, a = f.visitor().sessions("?renew=1")
	assert.Equal(t, "waiting", list[0].Status, "a newcomer has a place")
	assert.NotEmpty(t, a.setCookies()["fairdoor_shop"])
}

// Sessions cannot be gathered, to be used at the origin all at once, by asking how one stands.
func TestNobodyIsLetInByAskingHowTheyStand(t *testing.T) {
	for name, method := range map[string]queue.Method{"fifo": queue.FIFO, "random": queue.Random, "line": queue.Line, "passthrough": queue.Passthrough} {
		t.Run(name, func(t *testing.T) {
			f := start(t, settings(func(s *queue.Settings) { s.Method = method }), trustingLoopback, naming)
			newcomer := f.visitor()
			list, a := newcomer.sessions("?renew=1")
			assert.Equal(t, "none", list[0].Status, "a slot is open to them, at the origin")
			assert.Empty(t, a.header.Values("Set-Cookie"))

			f.patch(`{"queue_all": true}`)
			var waiting []*visitor
			for range 5 {
				v := f.visitor()
				require.False(t, v.get("/").in())
				waiting = append(waiting, v)
			}
			f.patch(`{"queue_all": false, "total_active_users": 9}`)
			f.site.requests()
			for range 5 {
				f.pass(25 * time.Second)
				for _, v := range append(waiting, f.visitor()) {
					list, _ := v.sessions("?renew=1")
					assert.NotEqual(t, "active", list[0].Status)
				}
				f.visitor().sessions("?renew=1", as("ann"))
			}
			assert.Zero(t, f.status("shop").Active)
			assert.Empty(t, f.site.requests())
			for _, v := range waiting {
				assert.True(t, v.get("/").in(), "at once, when they come")
			}
		})
	}
}

// What a stream lets in is lost if nobody comes for it, however often the stream is opened.
func TestWhoNeverComesForWhatAStreamAnnouncedHasNothing(t *testing.T) {
	f := start(t)
	v := f.waiter()
	f.patch(`{"total_active_users": 2}`)
	f.pass(25 * time.Second)
	lasts := 8 * time.Minute
	for range 8 {
		v.listen("").next("admitted")
		_, a := v.sessions("?renew=1")
		assert.Empty(t, a.header.Values("Set-Cookie"))
		f.clock.add(lasts / 8)
	}
	f.pass(2 * time.Second)
	assert.Zero(t, f.status("shop").Active)
}

func TestSessionOfAnExactLineHasItsPlace(t *testing.T) {
	f := start(t, naming, inLine, trustingLoopback)
	f.full()
	first, second := f.visitor(), f.visitor()
	first.get("/")
	second.get("/", as("ann"))
	told := first.session().Waiting
	assert.Equal(t, []any{true, 1.0, 2.0, 2.0}, []any{told["positionKnown"], told["position"], told["usersQueued"], told["ticketNumber"]})
	told = f.visitor().session(as("ann")).Waiting
	assert.Equal(t, []any{true, 2.0, 2.0, 3.0}, []any{told["positionKnown"], told["position"], told["usersQueued"], told["ticketNumber"]}, "by the user's name alone")
	f.pass(70 * time.Second)
	assert.Equal(t, "none", first.session().Status, "the place was lost without a check-in")
}

func TestSessionsOfSeveralRooms(t *testing.T) {
	f := start(t, func(c *proxy.Config, _ *proxy.Options) {
		other := c.Rooms[0]
		other.Name, other.Routes = "club", append(other.Routes[:0:0], other.Routes...)
		other.Routes[0].Path = "/club"
		c.Rooms = append(c.Rooms, other)
	})
	v := f.visitor()
	list, _ := v.sessions("")
	assert.Empty(t, list, "no ticket, no room")
	v.get("/")
	list, _ = v.sessions("")
	require.Len(t, list, 1)
	v.get("/club/x")
	list, _ = v.sessions("")
	require.Len(t, list, 2)
	for query, want := range map[string]string{"?room=club": "club", "?path=/club/y%3Fz": "club", "?path=/x": "shop"} {
		list, _ = v.sessions(query)
		require.Len(t, list, 1, query)
		assert.Equal(t, want, list[0].Room, query)
	}
	for target, status := range map[string]int{
		"?room=nowhere": http.StatusNotFound, "?room=shop&path=/": http.StatusBadRequest,
	} {
		assert.Equal(t, status, v.get("/.fairdoor/session"+target).status, target)
	}
	a := v.send(http.MethodPost, "/.fairdoor/session", nil)
	assert.Equal(t, http.StatusMethodNotAllowed, a.status)
	assert.Equal(t, "GET", a.header.Get("Allow"))
	assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, v.get("/.fairdoor/session?room=shop", with("Cookie", strings.Repeat("a=b; ", 5000))).status)
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

func (f *fixture) people() (p people) {
	f.t.Helper()
	require.Equal(f.t, http.StatusOK, f.api(http.MethodGet, visitors, "", &p).status)
	return p
}

func TestOperatorsSeeAndMoveWhoIsInAnExactLine(t *testing.T) {
	core, logged := observer.New(zap.DebugLevel)
	f := start(t, naming, inLine, trustingLoopback, func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
	in := f.full()[0]
	first, second := f.visitor(), f.visitor()
	first.get("/")
	second.get("/", as("ann/1"))
	first.get("/") // is back, and has the place for good
	p := f.people()
	require.Len(t, p.Active, 1)
	require.Len(t, p.Waiting, 2)
	assert.True(t, p.WaitingKnown)
	assert.False(t, p.Truncated)
	assert.Equal(t, 8*time.Minute, p.Active[0].ExpiresAt.Sub(p.Active[0].AcceptedAt).Truncate(time.Second))
	assert.Equal(t, []int{1, 2}, []int{p.Waiting[0].Position, p.Waiting[1].Position})
	assert.Equal(t, f.clock.Now().Add(time.Minute), p.Waiting[0].Until.In(time.UTC))
	ann := p.Waiting[1]

	const ofAnn = visitors + "/subject:ann%2F1"
	var got person
	require.Equal(t, http.StatusOK, f.api(http.MethodGet, ofAnn, "", &got).status)
	assert.Equal(t, "waiting", got.Status)
	got.Status = ""
	assert.Equal(t, ann, got)
	require.Equal(t, http.StatusOK, f.api(http.MethodPatch, ofAnn, `{"priority": 2}`, &got).status)
	assert.Equal(t, 1, got.Position)
	assert.Equal(t, 2, got.Priority)
	assert.Equal(t, 2, f.people().Waiting[1].Position, "the others move as they must")

	f.pass(time.Second)
	require.Equal(t, http.StatusNoContent, f.api(http.MethodDelete, visitors+"/"+f.people().Waiting[1].ID, "", nil).status)
	f.pass(queue.LineReturn)
	assert.Len(t, f.people().Waiting, 1)
	require.Equal(t, http.StatusNoContent, f.api(http.MethodDelete, visitors+"/"+p.Active[0].ID, "", nil).status)
	f.pass(time.Second)
	assert.False(t, in.get("/").in(), "their session has ended")
	f.pass(25 * time.Second)
	assert.True(t, second.get("/", as("ann/1")).in(), "and the slot is the next one's")
	f.api(http.MethodGet, ofAnn, "", &got)
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
			f := start(t, settings(c.change))
			f.full()
			waiting := f.visitor()
			waiting.get("/")
			waiting.get("/")
			before := f.people()
			f.pass(50 * time.Second)
			ask := func(id string) (p person) {
				f.api(http.MethodPost, visitors+"/"+id+"/renew", "", &p)
				return p
			}
			f.api(http.MethodGet, visitors+"/"+before.Active[0].ID+"?renew=1", "", nil)
			assert.Equal(t, before.Active[0].ExpiresAt, f.people().Active[0].ExpiresAt, "to look changes nothing")
			a := f.api(http.MethodPost, visitors+"/"+before.Active[0].ID+"/renew", "", nil, with("Sec-Fetch-Site", "cross-site"))
			assert.Equal(t, http.StatusForbidden, a.status)
			assert.Equal(t, before.Active[0].ExpiresAt, f.people().Active[0].ExpiresAt, "nor does a page of another site")
			got := ask(before.Active[0].ID)
			assert.Equal(t, "active", got.Status)
			assert.Equal(t, c.renews, got.ExpiresAt.After(before.Active[0].ExpiresAt))
			if !before.WaitingKnown {
				return
			}
			got = ask(before.Waiting[0].ID)
			assert.Equal(t, "waiting", got.Status)
			assert.Equal(t, 50*time.Second, got.Until.Sub(before.Waiting[0].Until), "it is a check-in")
			assert.Equal(t, http.StatusNotFound, f.api(http.MethodPost, visitors+"/"+strings.Repeat("0a", 16)+"/renew", "", nil).status)
			f.pass(time.Second)
			assert.Equal(t, 1, f.status("shop").Active, "a stranger's id takes no slot")
			require.Equal(t, http.StatusNoContent, f.api(http.MethodDelete, visitors+"/"+before.Active[0].ID, "", nil).status)
			assert.Equal(t, "waiting", ask(before.Waiting[0].ID).Status, "it lets nobody in")
		})
	}
}

func TestOperatorsAreRefusedWithAReason(t *testing.T) {
	f := start(t)
	f.full()
	f.visitor().get("/")
	p := f.people()
	require.Len(t, p.Active, 1)
	assert.Empty(t, p.Waiting)
	assert.False(t, p.WaitingKnown)
	known, nobody := visitors+"/"+p.Active[0].ID, visitors+"/"+strings.Repeat("0", 31)+"1"
	lined, store := start(t, inLine), &fallible{}
	away := start(t, inLine, store.between)
	store.failing.Store(true)
	for _, c := range []struct {
		f                  *fixture
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
		a := c.f.api(c.method, c.path, c.body, &problem)
		assert.Equal(t, c.status, a.status, "%s %s %s", c.method, c.path, c.body)
		assert.Contains(t, problem.Detail, c.detail)
		if c.path == known && c.status == http.StatusMethodNotAllowed {
			assert.Equal(t, "GET, HEAD, PATCH, DELETE", a.header.Get("Allow"))
		}
	}
}
