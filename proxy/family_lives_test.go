package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

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

func TestWithoutSpaceForAnotherAnEmptyRoomGoesSoon(t *testing.T) {
	store := newCounting()
	f := start(t, family(func(r *proxy.RoomConfig) { r.MaxRooms, r.Settings.SessionDuration = 2, time.Minute }), store.quickly)
	anna := f.visitor()
	require.True(t, anna.get("/room/a").in())
	require.True(t, f.visitor().get("/room/b").in())
	f.clock.add(50 * time.Second)
	require.True(t, anna.get("/room/a").in())
	f.clock.add(9 * time.Second)
	require.Equal(t, http.StatusServiceUnavailable, f.visitor().get("/room/c").status)
	f.stays(store, "chat.a", "chat.b", "lobby")
	f.clock.add(2 * time.Second)
	f.goes("chat.a", "lobby")
	require.True(t, f.visitor().get("/room/c").in())
	f.stays(store, "chat.a", "chat.c", "lobby")
}

func TestARoomStaysWhileSomebodyIsInIt(t *testing.T) {
	store := newCounting()
	f := start(t, family(func(r *proxy.RoomConfig) { r.RoomIdle = time.Second; r.Settings.SessionDuration = time.Minute }), store.quickly)
	require.True(t, f.visitor().get("/room/a").in())
	f.clock.add(59 * time.Second)
	f.stays(store, "chat.a", "lobby")
	f.clock.add(2 * time.Second)
	f.goes("lobby")
}

func TestARoomStaysWhileSomebodyWaits(t *testing.T) {
	store := newCounting()
	f := start(t, family(func(r *proxy.RoomConfig) { r.RoomIdle = time.Second; r.Settings.QueueAll = true }), store.quickly)
	require.False(t, f.visitor().get("/room/a").in())
	f.clock.add(15 * time.Second)
	f.stays(store, "chat.a", "lobby")
	f.clock.add(15 * time.Second)
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

func TestRoomsMadeWhileTheOriginFailsLetNobodyIn(t *testing.T) {
	f := start(t, family())
	f.site.quiet().will(breakOff)
	for range 4 {
		v := f.visitor()
		v.get("/room/a")
		f.api(http.MethodPatch, "/api/v1/rooms/chat.a", `{"total_active_users": 9}`, nil)
	}
	f.originFails(1)
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
	t.Parallel()
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

// Of two gates with one store, each keeps the room that the other's visitors are
// in.
func TestARoomStaysWhileSomebodyIsInItAtAnotherGate(t *testing.T) {
	store := newCounting()
	idle := family(func(r *proxy.RoomConfig) { r.RoomIdle = time.Second; r.Settings.SessionDuration = time.Minute })
	one := start(t, idle, store.quickly)
	other := start(t, idle, store.quickly, func(_ *proxy.Config, o *proxy.Options) { o.Clock = one.clock.Now })
	require.True(t, one.visitor().get("/room/a").in())
	require.False(t, other.visitor().get("/room/a").in(), "they share its one slot")
	one.clock.add(50 * time.Second) // whoever waited is gone
	one.stays(store, "chat.a", "lobby")
	other.stays(store, "chat.a", "lobby")
	one.clock.add(12 * time.Second)
	one.goes("lobby")
	other.goes("lobby")
}
