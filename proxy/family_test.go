package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/anteroom-gate/anteroom/cookie"
	"github.com/anteroom-gate/anteroom/proxy"
	"github.com/anteroom-gate/anteroom/proxy/route"
	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/memstore"
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
	assert.Contains(t, anna.cookies, "anteroom_chat.a")
	assert.Contains(t, bert.cookies, "anteroom_chat.b")
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
	assert.Empty(t, a.setCookies())
	a = f.visitor().get("/room/c", asJSON)
	assert.Equal(t, http.StatusServiceUnavailable, a.status)
	assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
	assert.True(t, anna.get("/room/a").in(), "rooms that there are go on")
	assert.NotNil(t, f.visitor().get("/room/b", asJSON).room)
	assert.Equal(t, []string{"chat.a", "chat.b", "lobby"}, f.names())
}

// goes waits until the API lists these rooms, while the rooms sync.
func (f *fixture) goes(want ...string) {
	f.t.Helper()
	require.Eventually(f.t, func() bool { return slices.Equal(want, f.names()) }, patience, 5*time.Millisecond, "%v", want)
}

// stays has the rooms sync some times.
func (f *fixture) stays(counts *counting, want ...string) {
	f.t.Helper()
	for _, name := range want {
		before := counts.syncs(name)
		require.Eventually(f.t, func() bool { return counts.syncs(name) > before+3 }, patience, time.Millisecond, name)
	}
	require.Equal(f.t, want, f.names())
}

// counting is a store that counts how often it is asked about each room, and
// fails on demand.
type counting struct {
	queue.Store
	fail atomic.Bool
	mu   sync.Mutex
	all  map[string]int
	news map[string]int // nodes that made themselves known
}

func newCounting() *counting {
	return &counting{Store: memstore.New(), all: map[string]int{}, news: map[string]int{}}
}

func (c *counting) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	c.mu.Lock()
	c.all[room]++
	if p.Seq == 0 {
		c.news[room]++
	}
	c.mu.Unlock()
	if c.fail.Load() {
		return nil, errors.New("out of order")
	}
	return c.Store.Sync(ctx, room, p)
}

func (c *counting) syncs(room string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[room]
}

func (c *counting) nodes(room string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.news[room]
}

func (c *counting) quickly(_ *proxy.Config, o *proxy.Options) {
	o.Store, o.SyncInterval = c, 2*time.Millisecond
}

func TestARoomGoesWhenItHasBeenEmptyForLong(t *testing.T) {
	store := newCounting()
	f := start(t, family(func(r *proxy.RoomConfig) { r.RoomIdle = 20 * time.Minute }), store.quickly)
	anna, bert := f.visitor(), f.visitor()
	require.True(t, anna.get("/room/a").in())
	require.True(t, bert.get("/room/b").in())
	f.clock.add(7 * time.Minute)
	require.True(t, bert.get("/room/b").in())
	f.clock.add(12 * time.Minute)
	f.stays(store, "chat.a", "chat.b", "lobby")

	f.clock.add(time.Minute)
	f.goes("chat.b", "lobby")
	syncs := store.syncs("chat.a")
	f.stays(store, "chat.b", "lobby")
	assert.Equal(t, syncs, store.syncs("chat.a"), "nobody speaks for it any more")

	f.clock.add(7 * time.Minute)
	f.goes("lobby")
	require.True(t, anna.get("/room/A").in(), "it comes back as a new one")
	assert.Equal(t, 2, store.nodes("chat.a"))
	f.goes("chat.a", "lobby")
}

func TestARoomStaysWhileSomebodyIsInItOrWaits(t *testing.T) {
	store := newCounting()
	f := start(t, family(func(r *proxy.RoomConfig) { r.RoomIdle = time.Second; r.Settings.SessionDuration = time.Minute }), store.quickly)
	anna, bert := f.visitor(), f.visitor()
	require.True(t, anna.get("/room/a").in())
	f.status("chat.a")
	require.False(t, bert.get("/room/a").in())
	f.clock.add(10 * time.Second)
	f.stays(store, "chat.a", "lobby")
	f.clock.add(49 * time.Second)
	f.stays(store, "chat.a", "lobby")
	f.clock.add(2 * time.Second)
	f.goes("lobby")
}

func TestTheFirstRequestsAtOnceMakeOneRoom(t *testing.T) {
	store := newCounting()
	f := start(t, family(), func(_ *proxy.Config, o *proxy.Options) { o.Store = store })
	var in, answered atomic.Int32
	var visits sync.WaitGroup
	for range 50 {
		visits.Go(func() {
			w := httptest.NewRecorder()
			f.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/room/a", nil))
			if w.Code == http.StatusOK {
				answered.Add(1)
			}
			if w.Body.String() == "in" {
				in.Add(1)
			}
		})
	}
	visits.Wait()
	assert.EqualValues(t, 50, answered.Load())
	assert.EqualValues(t, 1, in.Load(), "its one slot")
	assert.Equal(t, 1, store.nodes("chat.a"))
}

func TestARoomThatCannotBeMadeIsTriedAgain(t *testing.T) {
	store := newCounting()
	f := start(t, family(func(r *proxy.RoomConfig) { r.MaxRooms = 1 }), func(_ *proxy.Config, o *proxy.Options) { o.Store = store })
	store.fail.Store(true)
	for range 2 {
		a := f.visitor().get("/room/a")
		assert.Equal(t, http.StatusServiceUnavailable, a.status)
		assert.Equal(t, "20", a.header.Get("Retry-After"))
	}
	assert.Equal(t, []string{"lobby"}, f.names())
	store.fail.Store(false)
	assert.True(t, f.visitor().get("/room/b").in(), "it took nobody's place")
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
	assert.InDelta(t, 4, f.metrics()["anteroom_decisions_total exempt chat"].GetCounter().GetValue(), 0)
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
	one := described{Name: "chat.a", Family: "chat", Path: "/room/a", CookieName: "anteroom_c.a", Limit: 1}
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
	assert.Equal(t, described{Name: "chat", Path: "/room/{id}", CookieName: "anteroom_c", Limit: 1, MaxRooms: 100, RoomIdle: "10m"}, model)
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
	v.send(http.MethodPost, "/.anteroom/leave", nil, with("Referer", v.base+"/room/zzz"))
	require.Equal(t, [2]int{1, 1}, waiting(), "a page of a room that is not there")
	v.send(http.MethodPost, "/.anteroom/leave", nil, with("Referer", v.base+"/room/A/x"))
	require.Equal(t, [2]int{0, 1}, waiting())
	v.send(http.MethodPost, "/.anteroom/leave", nil)
	require.Equal(t, [2]int{0, 0}, waiting())
	assert.Equal(t, []string{"chat.a", "chat.b", "lobby"}, f.names())
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
		"anteroom_active_users chat": 3, "anteroom_queued_users chat": 3, "anteroom_total_active_users_limit chat": 3,
		"anteroom_new_users_per_minute_limit chat": 3000, "anteroom_family_rooms chat": 3, "anteroom_family_rooms_limit chat": 100,
	} {
		require.Contains(t, m, name)
		assert.InDelta(t, want, m[name].GetGauge().GetValue(), 0, name)
	}
	assert.InDelta(t, 3, m["anteroom_decisions_total admitted chat"].GetCounter().GetValue(), 0)
	for name := range m {
		assert.NotContains(t, name, "chat.", "a label for each value is one for whatever strangers ask for")
	}

	store.fail.Store(true)
	f.stays(store, "chat.0", "chat.1", "chat.2", "lobby")
	assert.InDelta(t, 1, f.metrics()["anteroom_store_failing chat"].GetGauge().GetValue(), 0)
	f.clock.add(time.Hour)
	f.stays(store, "chat.0", "chat.1", "chat.2", "lobby")
	store.fail.Store(false)
	f.goes("lobby")
	m = f.metrics()
	assert.Positive(t, m["anteroom_store_errors_total chat"].GetCounter().GetValue(), "of rooms that are gone")
	assert.InDelta(t, 3, m["anteroom_decisions_total admitted chat"].GetCounter().GetValue(), 0)
	assert.InDelta(t, 0, m["anteroom_family_rooms chat"].GetGauge().GetValue(), 0)
}

func TestRoomsMadeWhileTheOriginFailsLetNobodyIn(t *testing.T) {
	f := start(t, family())
	f.site.quiet().will(breakOff)
	for range 4 {
		v := f.visitor()
		v.get("/room/a")
		f.api(http.MethodPatch, "/api/v1/rooms/chat.a", `{"total_active_users": 9}`, nil)
	}
	assert.InDelta(t, 1, f.metrics()["anteroom_origin_failing "+f.site.URL].GetGauge().GetValue(), 0)
	assert.NotNil(t, f.visitor().get("/room/b", asJSON).room)
}

func TestGateThatIsClosedMakesNoRoomsAndLeavesNothingRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	f := &fixture{t: t, site: &site{Server: &httptest.Server{URL: "http://127.0.0.1:9"}}}
	c := proxy.Config{Keys: []cookie.Key{newKey(t)}, Rooms: []proxy.RoomConfig{f.room("shop", "/")}}
	family()(&c, nil)
	g, err := proxy.New(t.Context(), c, proxy.Options{Store: memstore.New()})
	require.NoError(t, err)
	ask := func(target string) int {
		w := httptest.NewRecorder()
		g.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		return w.Code
	}
	assert.Equal(t, http.StatusBadGateway, ask("/room/a"))
	g.Close()
	assert.Equal(t, http.StatusServiceUnavailable, ask("/room/b"))
	goleak.VerifyNone(t, before)
}

// Rooms come and go under traffic and new configurations, and each holds its
// limit.
func TestRoomsComeAndGoUnderTraffic(t *testing.T) {
	f := start(t, inRealTime, family(func(r *proxy.RoomConfig) {
		r.MaxRooms, r.RoomIdle, r.Settings.SessionDuration, r.Settings.RefreshInterval = 3, time.Millisecond, time.Second, time.Second
	}))
	done := make(chan struct{})
	var visits sync.WaitGroup
	for i := range 6 {
		visits.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				a := f.visitor().get(fmt.Sprintf("/room/%d", (i+n/20)%5), asJSON)
				assert.True(t, a.in() || a.room != nil || a.status == http.StatusServiceUnavailable, "%d %s", a.status, a.body)
			}
		})
	}
	for i := range 15 {
		next := f.config
		next.OriginTimeout = time.Duration(i%2+1) * time.Minute
		require.NoError(t, f.Configure(t.Context(), next))
		for _, name := range f.names() {
			f.api(http.MethodGet, "/api/v1/rooms/"+name+"/status", "", nil)
		}
		f.metrics()
	}
	close(done)
	visits.Wait()
	f.goes("lobby")
}
