package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// names are the rooms that the API lists.
func names(f *gatetest.Fixture) []string {
	f.T.Helper()
	var rooms []struct{ Name string }
	f.API(http.MethodGet, "/api/v1/rooms", "", &rooms)
	names := []string{}
	for _, r := range rooms {
		names = append(names, r.Name)
	}
	return names
}

func TestEachValueHasARoomOfItsOwn(t *testing.T) {
	f := gatetest.Start(t, gatetest.Family())
	assert.Equal(t, []string{"lobby"}, names(f))
	anna, bert, carl := f.Visitor(), f.Visitor(), f.Visitor()
	require.True(t, anna.Get("/room/a").In())
	require.True(t, bert.Get("/room/b/x").In(), "another value has limits of its own")
	assert.Contains(t, anna.Cookies, "fairdoor_chat.a")
	assert.Contains(t, bert.Cookies, "fairdoor_chat.b")
	assert.Equal(t, []string{"chat.a", "chat.b", "lobby"}, names(f))
	f.Status("chat.a")

	a := carl.Get("/room/a", gatetest.AsJSON)
	assert.Equal(t, true, a.Told("inWaitingRoom"))
	assert.False(t, carl.Get("/ROOM/A").In(), "letter case makes no other room")
	assert.True(t, carl.Get("/room/c").In(), "one may wait in one room and be in another")
	assert.True(t, anna.Get("/room/a").In())
	assert.False(t, anna.Get("/room/b").In(), "a ticket is of one room")
	assert.True(t, f.Visitor().Get("/room/lobby").In(), "a room of its own goes before")
	assert.True(t, f.Visitor().Get("/room").In(), "and what has no value is not of these rooms")
	assert.Equal(t, []string{"chat.a", "chat.b", "chat.c", "lobby"}, names(f))
}

func TestWhatIsNoValueIsNotPassedOn(t *testing.T) {
	f := gatetest.Start(t, gatetest.Family())
	for target, status := range map[string]int{
		"/room/a.b": http.StatusNotFound, "/room/a%20b": http.StatusNotFound, "/room/caf%C3%A9": http.StatusNotFound,
		"/room/" + strings.Repeat("x", 65): http.StatusNotFound, "/room/%2e": http.StatusNotFound,
		"/room/%61": http.StatusBadRequest, "/room/a/../b": http.StatusBadRequest, "/room/a;b": http.StatusBadRequest,
		"/room/a/..%2flobby": http.StatusBadRequest,
	} {
		a := f.Visitor().Get(target)
		assert.Equal(t, status, a.Status, target)
		assert.Empty(t, a.SetCookies(), target)
		assert.Equal(t, "application/problem+json", f.Visitor().Get(target, gatetest.AsJSON).Header.Get("Content-Type"), target)
	}
	assert.Equal(t, http.StatusBadRequest, raw(f, "GET", "GET /room/%u0061 HTTP/1.1\r\nHost: a\r\n\r\n").StatusCode)
	assert.Empty(t, f.Site.Requests())
	assert.Equal(t, []string{"lobby"}, names(f), "no room was made")
	assert.True(t, f.Visitor().Get("/room/a/../A//x%20y").In(), "however it is read it is one room's")
	assert.Equal(t, []string{"chat.a", "lobby"}, names(f))
}

func TestAFamilyHasNoMoreRoomsThanItMay(t *testing.T) {
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) { r.MaxRooms = 2 }))
	anna := f.Visitor()
	require.True(t, anna.Get("/room/a").In())
	require.True(t, f.Visitor().Get("/room/b").In())
	a := f.Visitor().Get("/room/c", gatetest.With("Accept-Language", "de"))
	assert.Equal(t, http.StatusServiceUnavailable, a.Status)
	assert.Equal(t, "20", a.Header.Get("Retry-After"))
	assert.Contains(t, a.Body, `lang="de-DE"`)
	assert.Contains(t, a.Body, "Alle Räume sind belegt")
	assert.Empty(t, a.SetCookies())
	a = f.Visitor().Get("/room/c", gatetest.AsJSON)
	assert.Equal(t, http.StatusServiceUnavailable, a.Status)
	assert.Contains(t, a.Body, "as many rooms here as there may be")
	assert.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
	assert.True(t, anna.Get("/room/a").In(), "rooms that there are go on")
	assert.NotNil(t, f.Visitor().Get("/room/b", gatetest.AsJSON).Room)
	assert.Equal(t, []string{"chat.a", "chat.b", "lobby"}, names(f))
}

func TestRequestsThatPassMakeNoRoom(t *testing.T) {
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) {
		r.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{PathSuffix: ".js"}}}
	}))
	for range 3 {
		assert.True(t, f.Visitor().Get("/room/a/x.js").In())
	}
	assert.True(t, f.Visitor().Send(http.MethodOptions, "/room/a", nil, gatetest.With("Origin", "http://b.test"), gatetest.With("Access-Control-Request-Method", "GET")).In())
	assert.Equal(t, []string{"lobby"}, names(f))
	assert.InDelta(t, 4, f.Families()["fairdoor_decisions_total exempt chat"].GetCounter().GetValue(), 0)
	assert.Equal(t, http.StatusNotFound, f.Visitor().Get("/room/a.b/x.js").Status)

	f = gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) { r.Settings.Suspended = true }))
	assert.True(t, f.Visitor().Get("/room/a").In())
	assert.Equal(t, []string{"lobby"}, names(f))
}

func TestTheAdminAPIKnowsRoomsByTheirFullName(t *testing.T) {
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) { r.CookieSuffix = "c" }))
	require.True(t, f.Visitor().Get("/room/a/x").In())
	type described struct {
		Name, Family, Path string
		CookieName         string `json:"cookie_name"`
		Limit              int    `json:"total_active_users"`
		MaxRooms           int    `json:"max_rooms"`
		RoomIdle           string `json:"room_idle"`
	}
	var all []described
	f.API(http.MethodGet, "/api/v1/rooms", "", &all)
	one := described{Name: "chat.a", Family: "chat", Path: "/room/a", CookieName: "fairdoor_c.a", Limit: 1}
	require.Len(t, all, 2)
	assert.Equal(t, one, all[0])
	var got described
	f.API(http.MethodGet, "/api/v1/rooms/chat.a", "", &got)
	assert.Equal(t, one, got)
	assert.Equal(t, 1, f.Status("chat.a").InRoom)

	require.Equal(t, http.StatusOK, f.API(http.MethodPatch, "/api/v1/rooms/chat.a", `{"total_active_users": 2}`, nil).Status)
	assert.True(t, f.Visitor().Get("/room/a").In())
	assert.True(t, f.Visitor().Get("/room/b").In())
	assert.False(t, f.Visitor().Get("/room/b").In(), "another room is not changed")

	var model described
	require.Equal(t, http.StatusOK, f.API(http.MethodGet, "/api/v1/rooms/chat", "", &model).Status)
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
		a := f.API(c.method, c.path, body, nil)
		assert.Equal(t, http.StatusNotFound, a.Status, c.path)
		assert.Contains(t, a.Body, c.says, c.path)
	}
}

func TestANewConfigurationIsOneForTheRoomsThatThereAre(t *testing.T) {
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) { r.MaxRooms = 2 }))
	anna := f.Visitor()
	require.True(t, anna.Get("/room/a").In())
	require.True(t, f.Visitor().Get("/room/b").In())
	require.Equal(t, http.StatusOK, f.API(http.MethodPatch, "/api/v1/rooms/chat.b", `{"total_active_users": 5}`, nil).Status)
	carl := f.Visitor()
	require.False(t, carl.Get("/room/a").In())

	next := f.Config
	next.Rooms = slices.Clone(f.Config.Rooms)
	next.Rooms[0].Settings.TotalActiveUsers, next.Rooms[0].StatusCode, next.Rooms[0].MaxRooms = 0, 429, 1
	require.Error(t, f.Configure(t.Context(), next))
	assert.Equal(t, http.StatusOK, carl.Get("/room/a").Status, "as a whole or not at all")
	next.Rooms[0].Settings.TotalActiveUsers = 2
	require.NoError(t, f.Configure(t.Context(), next))

	a := f.Visitor().Get("/room/a")
	assert.Equal(t, 429, a.Status, "the line is the same, and has its people")
	f.Clock.Add(gatetest.Interval * 5 / 4)
	assert.True(t, carl.Get("/room/a").In(), "there are two slots now")
	assert.True(t, anna.Get("/room/a").In())
	var b struct {
		Limit int `json:"total_active_users"`
	}
	f.API(http.MethodGet, "/api/v1/rooms/chat.b", "", &b)
	assert.Equal(t, 5, b.Limit, "what operators changed stays")
	assert.Equal(t, http.StatusServiceUnavailable, f.Visitor().Get("/room/c").Status)

	next.Rooms = next.Rooms[1:]
	require.NoError(t, f.Configure(t.Context(), next))
	assert.True(t, f.Visitor().Get("/room/a").In(), "without the family the path is free")
	assert.Equal(t, []string{"lobby"}, names(f))
	require.NoError(t, f.Configure(t.Context(), f.Config))
	assert.NotNil(t, f.Visitor().Get("/room/b", gatetest.AsJSON), "its rooms are there again")
	assert.Equal(t, []string{"chat.a", "chat.b", "lobby"}, names(f))
}

func TestGoodbyesReachTheRoomOfThePage(t *testing.T) {
	f := gatetest.Start(t, gatetest.Family())
	for _, name := range []string{"a", "b"} {
		require.True(t, f.Visitor().Get("/room/"+name).In())
		f.Status("chat." + name)
	}
	v := f.Visitor()
	v.Get("/room/a")
	v.Get("/room/b")
	waiting := func() [2]int { return [2]int{f.Status("chat.a").Queued, f.Status("chat.b").Queued} }
	require.Equal(t, [2]int{1, 1}, waiting())
	v.Send(http.MethodPost, "/.fairdoor/leave", nil, gatetest.With("Referer", v.Base+"/room/zzz"))
	require.Equal(t, [2]int{1, 1}, waiting(), "a page of a room that is not there")
	v.Send(http.MethodPost, "/.fairdoor/leave", nil, gatetest.With("Referer", v.Base+"/room/A/x"))
	require.Equal(t, [2]int{0, 1}, waiting())
	v.Send(http.MethodPost, "/.fairdoor/leave", nil)
	require.Equal(t, [2]int{0, 0}, waiting())
	assert.Equal(t, []string{"chat.a", "chat.b", "lobby"}, names(f))
}

func TestWhoHasBeenInVeryManyRoomsComesIntoOneMore(t *testing.T) {
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) { r.MaxRooms = 200 }))
	var jar []string // name=value, the oldest first
	for i := range 150 {
		target := fmt.Sprintf("/room/%d", i)
		if i%2 == 0 {
			require.True(t, f.Visitor().Get(target).In())
		}
		a := f.Visitor().Get(target, gatetest.With("Cookie", strings.Join(jar, "; ")))
		require.Equal(t, http.StatusOK, a.Status, target)
		for _, c := range (&http.Response{Header: a.Header}).Cookies() {
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
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) { r.RoomIdle = time.Minute }), store.quickly)
	for i := range 3 {
		require.True(t, f.Visitor().Get(fmt.Sprintf("/room/%d", i)).In())
		f.Visitor().Get(fmt.Sprintf("/room/%d", i))
	}
	f.Clock.Add(time.Second)
	stays(f, store, "chat.0", "chat.1", "chat.2", "lobby")
	m := f.Families()
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
	stays(f, store, "chat.0", "chat.1", "chat.2", "lobby")
	assert.InDelta(t, 1, f.Families()["fairdoor_store_failing chat"].GetGauge().GetValue(), 0)
	f.Clock.Add(time.Hour)
	stays(f, store, "chat.0", "chat.1", "chat.2", "lobby")
	store.fail.Store(false)
	goes(f, "lobby")
	m = f.Families()
	assert.Positive(t, m["fairdoor_store_errors_total chat"].GetCounter().GetValue(), "of rooms that are gone")
	assert.InDelta(t, 3, m["fairdoor_decisions_total admitted chat"].GetCounter().GetValue(), 0)
	assert.InDelta(t, 0, m["fairdoor_family_rooms chat"].GetGauge().GetValue(), 0)
}

func TestEachRoomOfAFamilyHasTheItemsOfTheFamilyUnlessItSaysItsOwn(t *testing.T) {
	listed, err := queue.ParseItems([]byte(`[{"name": "Seat", "price": "9 €", "left": 5}]`))
	require.NoError(t, err)
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) { r.Settings.Items = listed }))
	told := map[string]any{}
	for _, id := range []string{"a", "b", "c"} {
		require.True(t, f.Visitor().Get("/room/"+id).In())
	}
	change := f.API(http.MethodPatch, "/api/v1/rooms/chat.b", `{"items": [{"name": "Seat", "price": "12 €", "left": 1}]}`, nil)
	require.Equal(t, http.StatusOK, change.Status, change.Body)
	f.Clock.Add(time.Second)
	f.Status("chat.b")
	for _, id := range []string{"a", "b", "c"} {
		told[id] = f.Visitor().Get("/room/"+id, gatetest.AsJSON).Told("items").([]any)[0].(map[string]any)["price"]
	}
	assert.Equal(t, map[string]any{"a": "9 €", "b": "12 €", "c": "9 €"}, told)

	recorded := func() map[string]string {
		var e record.Excerpt
		at := f.Clock.Now().UTC()
		f.API(http.MethodGet, "/api/v1/rooms/chat/record?from="+at.Add(-time.Hour).Format(time.RFC3339)+"&to="+at.Add(time.Hour).Format(time.RFC3339), "", &e)
		last := map[string]string{}
		for _, offer := range e.Minutes[len(e.Minutes)-1].Room.Items {
			var items queue.Items
			require.NoError(t, json.Unmarshal(offer.Items, &items))
			last[offer.Room] = string(items)
		}
		return last
	}
	own := `[{"name":"Seat","price":"12 €","left":1,"soldOut":false}]`
	assert.Equal(t, map[string]string{"": string(listed), "chat.b": own}, recorded())
	change = f.API(http.MethodPatch, "/api/v1/rooms/chat.b", `{"items": null}`, nil)
	require.Equal(t, http.StatusOK, change.Status, change.Body)
	f.Clock.Add(time.Second)
	f.Status("chat.b")
	assert.Equal(t, map[string]string{"": string(listed), "chat.b": ""}, recorded(), "the room has the family's again")
}
