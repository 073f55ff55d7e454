package proxy_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// family starts the gate with one slot in each of the rooms /room/{id}, called
// chat, beside a room called lobby.
func family(changes ...func(*proxy.RoomConfig)) func(*proxy.Config, *proxy.Options) {
	return func(c *proxy.Config, _ *proxy.Options) {
		lobby := c.Rooms[0]
		lobby.Name, lobby.Routes = "lobby", []route.Route{{Path: "/room/lobby"}}
		r := &c.Rooms[0]
		r.Name, r.Routes = "chat", []route.Route{{Path: "/room/{id}"}}
		for _, change := range changes {
			change(r)
		}
		c.Rooms = append(c.Rooms, lobby)
		c.Origin = r.Origin
	}
}

// names are the rooms that the API lists.
func (f *fixture) names() []string {
	f.t.Helper()
	var rooms []struct{ Name string }
	f.api(http.MethodGet, "/api/v1/rooms", "", &rooms)
	names := []string{}
	for _, r := range rooms {
		names = append(names, r.Name)
	}
	return names
}

func TestEachValueHasARoomOfItsOwn(t *testing.T) {
	f := start(t, family())
	assert.Equal(t, []string{"lobby"}, f.names())
	anna, bert, carl := f.visitor(), f.visitor(), f.visitor()
	require.True(t, anna.get("/room/a").in())
	require.True(t, bert.get("/room/b/x").in(), "another value has limits of its own")
	assert.Contains(t, anna.cookies, "fairdoor_chat.a")
	assert.Contains(t, bert.cookies, "fairdoor_chat.b")
	assert.Equal(t, []string{"chat.a", "chat.b", "lobby"}, f.names())
	f.status("chat.a")

	a := carl.get("/room/a", asJSON)
	assert.Equal(t, true, a.told("inWaitingRoom"))
	assert.False(t, carl.get("/ROOM/A").in(), "letter case makes no other room")
	assert.True(t, carl.get("/room/c").in(), "one may wait in one room and be in another")
	assert.True(t, anna.get("/room/a").in())
	assert.False(t, anna.get("/room/b").in(), "a ticket is of one room")
	assert.True(t, f.visitor().get("/room/lobby").in(), "a room of its own goes before")
	assert.True(t, f.visitor().get("/room").in(), "and what has no value is not of these rooms")
	assert.Equal(t, []string{"chat.a", "chat.b", "chat.c", "lobby"}, f.names())
}

func TestWhatIsNoValueIsNotPassedOn(t *testing.T) {
	f := start(t, family())
	for target, status := range map[string]int{
		"/room/a.b": http.StatusNotFound, "/room/a%20b": http.StatusNotFound, "/room/caf%C3%A9": http.StatusNotFound,
		"/room/" + strings.Repeat("x", 65): http.StatusNotFound, "/room/%2e": http.StatusNotFound,
		"/room/%61": http.StatusBadRequest, "/room/a/../b": http.StatusBadRequest, "/room/a;b": http.StatusBadRequest,
		"/room/a/..%2flobby": http.StatusBadRequest,
	} {
		a := f.visitor().get(target)
		assert.Equal(t, status, a.status, target)
		assert.Empty(t, a.setCookies(), target)
		assert.Equal(t, "application/problem+json", f.visitor().get(target, asJSON).header.Get("Content-Type"), target)
	}
	assert.Equal(t, http.StatusBadRequest, f.raw("GET", "GET /room/%u0061 HTTP/1.1\r\nHost: a\r\n\r\n").StatusCode)
	assert.Empty(t, f.site.requests())
	assert.Equal(t, []string{"lobby"}, f.names(), "no room was made")
	assert.True(t, f.visitor().get("/room/a/../A//x%20y").in(), "however it is read it is one room's")
	assert.Equal(t, []string{"chat.a", "lobby"}, f.names())
}

func TestAFamilyHasNoMoreRoomsThanItMay(t *testing.T) {
	f := start(t, family(func(r *proxy.RoomConfig) { r.MaxRooms = 2 }))
	anna := f.visitor()
	require.True(t, anna.get("/room/a").in())
	require.True(t, f.visitor().get("/room/b").in())
	a := f.visitor().get("/room/c", with("Accept-Language", "de"))
	assert.Equal(t, http.StatusServiceUnavailable, a.status)
	assert.Equal(t, "20", a.header.Get("Retry-After"))
	assert.Contains(t, a.body, `lang="de-DE"`)
	assert.Contains(t, a.body, "Alle Räume sind belegt")
	assert.Empty(t, a.setCookies())
	a = f.visitor().get("/room/c", asJSON)
	assert.Equal(t, http.StatusServiceUnavailable, a.status)
	assert.Contains(t, a.body, "as many rooms here as there may be")
	assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
	assert.True(t, anna.get("/room/a").in(), "rooms that there are go on")
	assert.NotNil(t, f.visitor().get("/room/b", asJSON).room)
	assert.Equal(t, []string{"chat.a", "chat.b", "lobby"}, f.names())
}

func TestRequestsThatPassMakeNoRoom(t *testing.T) {
	f := start(t, family(func(r *proxy.RoomConfig) {
		r.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{PathSuffix: ".js"}}}
	}))
	for range 3 {
		assert.True(t, f.visitor().get("/room/a/x.js").in())
	}
	assert.True(t, f.visitor().send(http.MethodOptions, "/room/a", nil, with("Origin", "http://b.test"), with("Access-Control-Request-Method", "GET")).in())
	assert.Equal(t, []string{"lobby"}, f.names())
	assert.InDelta(t, 4, f.metrics()["fairdoor_decisions_total exempt chat"].GetCounter().GetValue(), 0)
	assert.Equal(t, http.StatusNotFound, f.visitor().get("/room/a.b/x.js").status)

	f = start(t, family(func(r *proxy.RoomConfig) { r.Settings.Suspended = true }))
	assert.True(t, f.visitor().get("/room/a").in())
	assert.Equal(t, []string{"lobby"}, f.names())
}

func TestTheAdminAPIKnowsRoomsByTheirFullName(t *testing.T) {
	f := start(t, family(func(r *proxy.RoomConfig) { r.CookieSuffix = "c" }))
	require.True(t, f.visitor().get("/room/a/x").in())
	type described struct {
		Name, Family, Path string
		CookieName         string `json:"cookie_name"`
		Limit              int    `json:"total_active_users"`
		MaxRooms           int    `json:"max_rooms"`
		RoomIdle           string `json:"room_idle"`
	}
	var all []described
	f.api(http.MethodGet, "/api/v1/rooms", "", &all)
	one := described{Name: "chat.a", Family: "chat", Path: "/room/a", CookieName: "fairdoor_c.a", Limit: 1}
	require.Len(t, all, 2)
	assert.Equal(t, one, all[0])
	var got described
	f.api(http.MethodGet, "/api/v1/rooms/chat.a", "", &got)
	assert.Equal(t, one, got)
	assert.Equal(t, 1, f.status("chat.a").InRoom)

	require.Equal(t, http.StatusOK, f.api(http.MethodPatch, "/api/v1/rooms/chat.a", `{"total_active_users": 2}`, nil).status)
	assert.True(t, f.visitor().get("/room/a").in())
	assert.True(t, f.visitor().get("/room/b").in())
	assert.False(t, f.visitor().get("/room/b").in(), "another room is not changed")

	var model described
	require.Equal(t, http.StatusOK, f.api(http.MethodGet, "/api/v1/rooms/chat", "", &model).status)
	assert.Equal(t, described{Name: "chat", Path: "/room/{id}", CookieName: "fairdoor_c", Limit: 1, MaxRooms: 100, RoomIdle: "10m"}, model)
	for _, c := range []struct{ method, path, says string }{
		{http.MethodPatch, "/api/v1/rooms/chat", "chat.VALUE"},
		{http.MethodGet, "/api/v1/rooms/chat/status", "chat.VALUE"},
		{http.MethodGet, "/api/v1/rooms/chat.z", "no room of this name"},
		{http.MethodGet, "/api/v1/rooms/chat.", "no room of this name"},
		{http.MethodGet, "/api/v1/rooms/lobby.a", "no room of this name"},
		{http.MethodGet, "/api/v1/rooms/lobby.", "no room of this name"},
	} {
		body := map[string]string{http.MethodPatch: `{"queue_all": true}`}[c.method]
		a := f.api(c.method, c.path, body, nil)
		assert.Equal(t, http.StatusNotFound, a.status, c.path)
		assert.Contains(t, a.body, c.says, c.path)
	}
}

func TestANewConfigurationIsOneForTheRoomsThatThereAre(t *testing.T) {
	f := start(t, family(func(r *proxy.RoomConfig) { r.MaxRooms = 2 }))
	anna := f.visitor()
	require.True(t, anna.get("/room/a").in())
	require.True(t, f.visitor().get("/room/b").in())
	require.Equal(t, http.StatusOK, f.api(http.MethodPatch, "/api/v1/rooms/chat.b", `{"total_active_users": 5}`, nil).status)
	carl := f.visitor()
	require.False(t, carl.get("/room/a").in())

	next := f.config
	next.Rooms = slices.Clone(f.config.Rooms)
	next.Rooms[0].Settings.TotalActiveUsers, next.Rooms[0].StatusCode, next.Rooms[0].MaxRooms = 0, 429, 1
	require.Error(t, f.Configure(t.Context(), next))
	assert.Equal(t, http.StatusOK, carl.get("/room/a").status, "as a whole or not at all")
	next.Rooms[0].Settings.TotalActiveUsers = 2
	require.NoError(t, f.Configure(t.Context(), next))

	a := f.visitor().get("/room/a")
	assert.Equal(t, 429, a.status, "the line is the same, and has its people")
	f.clock.add(interval * 5 / 4)
	assert.True(t, carl.get("/room/a").in(), "there are two slots now")
	assert.True(t, anna.get("/room/a").in())
	var b struct {
		Limit int `json:"total_active_users"`
	}
	f.api(http.MethodGet, "/api/v1/rooms/chat.b", "", &b)
	assert.Equal(t, 5, b.Limit, "what operators changed stays")
	assert.Equal(t, http.StatusServiceUnavailable, f.visitor().get("/room/c").status)

	next.Rooms = next.Rooms[1:]
	require.NoError(t, f.Configure(t.Context(), next))
	assert.True(t, f.visitor().get("/room/a").in(), "without the family the path is free")
	assert.Equal(t, []string{"lobby"}, f.names())
	require.NoError(t, f.Configure(t.Context(), f.config))
	assert.NotNil(t, f.visitor().get("/room/b", asJSON), "its rooms are there again")
	assert.Equal(t, []string{"chat.a", "chat.b", "lobby"}, f.names())
}

func TestGoodbyesReachTheRoomOfThePage(t *testing.T) {
	f := start(t, family())
	for _, name := range []string{"a", "b"} {
		require.True(t, f.visitor().get("/room/"+name).in())
		f.status("chat." + name)
	}
	v := f.visitor()
	v.get("/room/a")
	v.get("/room/b")
	waiting := func() [2]int { return [2]int{f.status("chat.a").Queued, f.status("chat.b").Queued} }
	require.Equal(t, [2]int{1, 1}, waiting())
	v.send(http.MethodPost, "/.fairdoor/leave", nil, with("Referer", v.base+"/room/zzz"))
	require.Equal(t, [2]int{1, 1}, waiting(), "a page of a room that is not there")
	v.send(http.MethodPost, "/.fairdoor/leave", nil, with("Referer", v.base+"/room/A/x"))
	require.Equal(t, [2]int{0, 1}, waiting())
	v.send(http.MethodPost, "/.fairdoor/leave", nil)
	require.Equal(t, [2]int{0, 0}, waiting())
	assert.Equal(t, []string{"chat.a", "chat.b", "lobby"}, f.names())
}

func TestWhoHasBeenInVeryManyRoomsComesIntoOneMore(t *testing.T) {
	f := start(t, family(func(r *proxy.RoomConfig) { r.MaxRooms = 200 }))
	var jar []string // name=value, the oldest first
	for i := range 150 {
		target := fmt.Sprintf("/room/%d", i)
		if i%2 == 0 {
			require.True(t, f.visitor().get(target).in())
		}
		a := f.visitor().get(target, with("Cookie", strings.Join(jar, "; ")))
		require.Equal(t, http.StatusOK, a.status, target)
		for _, c := range (&http.Response{Header: a.header}).Cookies() {
			at := slices.IndexFunc(jar, func(kept string) bool { return strings.HasPrefix(kept, c.Name+"=") })
			switch {
			case c.MaxAge < 0:
				require.GreaterOrEqual(t, at, 0, c.Name)
				jar = slices.Delete(jar, at, at+1)
			case at < 0:
				jar = append(jar, c.Name+"="+c.Value)
			}
		}
	}
	require.Len(t, jar, 24)
	assert.Contains(t, jar[23], "fairdoor_chat.149=")
}

func TestMetricsTellOfAFamilyAsOne(t *testing.T) {
	store := newCounting()
	f := start(t, family(func(r *proxy.RoomConfig) { r.RoomIdle = time.Minute }), store.quickly)
	for i := range 3 {
		require.True(t, f.visitor().get(fmt.Sprintf("/room/%d", i)).in())
		f.visitor().get(fmt.Sprintf("/room/%d", i))
	}
	f.clock.add(time.Second)
	f.stays(store, "chat.0", "chat.1", "chat.2", "lobby")
	m := f.metrics()
	for name, want := range map[string]float64{
		"fairdoor_active_users chat": 3, "fairdoor_queued_users chat": 3, "fairdoor_total_active_users_limit chat": 3,
		"fairdoor_new_users_per_minute_limit chat": 3000, "fairdoor_family_rooms chat": 3, "fairdoor_family_rooms_limit chat": 100,
	} {
		require.Contains(t, m, name)
		assert.InDelta(t, want, m[name].GetGauge().GetValue(), 0, name)
	}
	assert.InDelta(t, 3, m["fairdoor_decisions_total admitted chat"].GetCounter().GetValue(), 0)
	for name := range m {
		assert.NotContains(t, name, "chat.", "a label for each value is one for whatever strangers ask for")
	}

	store.fail.Store(true)
	f.stays(store, "chat.0", "chat.1", "chat.2", "lobby")
	assert.InDelta(t, 1, f.metrics()["fairdoor_store_failing chat"].GetGauge().GetValue(), 0)
	f.clock.add(time.Hour)
	f.stays(store, "chat.0", "chat.1", "chat.2", "lobby")
	store.fail.Store(false)
	f.goes("lobby")
	m = f.metrics()
	assert.Positive(t, m["fairdoor_store_errors_total chat"].GetCounter().GetValue(), "of rooms that are gone")
	assert.InDelta(t, 3, m["fairdoor_decisions_total admitted chat"].GetCounter().GetValue(), 0)
	assert.InDelta(t, 0, m["fairdoor_family_rooms chat"].GetGauge().GetValue(), 0)
}
