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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// goes waits until the API lists these rooms, while the rooms sync.
func goes(f *gatetest.Fixture, want ...string) {
	f.T.Helper()
	require.Eventually(f.T, func() bool { return slices.Equal(want, names(f)) }, gatetest.Patience, 5*time.Millisecond, "%v", want)
}

// stays has the rooms sync some times.
func stays(f *gatetest.Fixture, counts *counting, want ...string) {
	f.T.Helper()
	for _, name := range want {
		before := counts.syncs(name)
		require.Eventually(f.T, func() bool { return counts.syncs(name) > before+3 }, gatetest.Patience, time.Millisecond, name)
	}
	require.Equal(f.T, want, names(f))
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
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) { r.RoomIdle = 20 * time.Minute }), store.quickly)
	anna, bert := f.Visitor(), f.Visitor()
	require.True(t, anna.Get("/room/a").In())
	require.True(t, bert.Get("/room/b").In())
	f.Clock.Add(7 * time.Minute)
	require.True(t, bert.Get("/room/b").In())
	f.Clock.Add(12 * time.Minute)
	stays(f, store, "chat.a", "chat.b", "lobby")

	f.Clock.Add(time.Minute)
	goes(f, "chat.b", "lobby")
	syncs := store.syncs("chat.a")
	stays(f, store, "chat.b", "lobby")
	assert.Equal(t, syncs, store.syncs("chat.a"), "nobody speaks for it any more")

	f.Clock.Add(7 * time.Minute)
	goes(f, "lobby")
	require.True(t, anna.Get("/room/A").In(), "it comes back as a new one")
	assert.Equal(t, 2, store.nodes("chat.a"))
	goes(f, "chat.a", "lobby")
}

func TestWithoutSpaceForAnotherAnEmptyRoomGoesSoon(t *testing.T) {
	store := newCounting()
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) { r.MaxRooms, r.Settings.SessionDuration = 2, time.Minute }), store.quickly)
	anna := f.Visitor()
	require.True(t, anna.Get("/room/a").In())
	require.True(t, f.Visitor().Get("/room/b").In())
	f.Clock.Add(50 * time.Second)
	require.True(t, anna.Get("/room/a").In())
	f.Clock.Add(9 * time.Second)
	require.Equal(t, http.StatusServiceUnavailable, f.Visitor().Get("/room/c").Status)
	stays(f, store, "chat.a", "chat.b", "lobby")
	f.Clock.Add(2 * time.Second)
	goes(f, "chat.a", "lobby")
	require.True(t, f.Visitor().Get("/room/c").In())
	stays(f, store, "chat.a", "chat.c", "lobby")
}

func TestARoomStaysWhileSomebodyIsInIt(t *testing.T) {
	store := newCounting()
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) { r.RoomIdle = time.Second; r.Settings.SessionDuration = time.Minute }), store.quickly)
	require.True(t, f.Visitor().Get("/room/a").In())
	f.Clock.Add(59 * time.Second)
	stays(f, store, "chat.a", "lobby")
	f.Clock.Add(2 * time.Second)
	goes(f, "lobby")
}

func TestARoomStaysWhileSomebodyWaits(t *testing.T) {
	store := newCounting()
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) { r.RoomIdle = time.Second; r.Settings.QueueAll = true }), store.quickly)
	require.False(t, f.Visitor().Get("/room/a").In())
	f.Clock.Add(15 * time.Second)
	stays(f, store, "chat.a", "lobby")
	f.Clock.Add(15 * time.Second)
	goes(f, "lobby")
}

func TestTheFirstRequestsAtOnceMakeOneRoom(t *testing.T) {
	store := newCounting()
	f := gatetest.Start(t, gatetest.Family(), func(_ *proxy.Config, o *proxy.Options) { o.Store = store })
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
	f := gatetest.Start(t, gatetest.Family(func(r *proxy.RoomConfig) { r.MaxRooms = 1 }), func(_ *proxy.Config, o *proxy.Options) { o.Store = store })
	store.fail.Store(true)
	for range 2 {
		a := f.Visitor().Get("/room/a")
		assert.Equal(t, http.StatusServiceUnavailable, a.Status)
		assert.Equal(t, "20", a.Header.Get("Retry-After"))
	}
	assert.Equal(t, []string{"lobby"}, names(f))
	store.fail.Store(false)
	assert.True(t, f.Visitor().Get("/room/b").In(), "it took nobody's place")
}

func TestRoomsMadeWhileTheOriginFailsLetNobodyIn(t *testing.T) {
	f := gatetest.Start(t, gatetest.Family())
	quiet(f.Site).Will(breakOff)
	for range 4 {
		v := f.Visitor()
		v.Get("/room/a")
		f.API(http.MethodPatch, "/api/v1/rooms/chat.a", `{"total_active_users": 9}`, nil)
	}
	originFails(f, 1)
	assert.NotNil(t, f.Visitor().Get("/room/b", gatetest.AsJSON).Room)
}

func TestGateThatIsClosedMakesNoRoomsAndLeavesNothingRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	f := &gatetest.Fixture{T: t, Site: &gatetest.Site{Server: &httptest.Server{URL: "http://127.0.0.1:9"}}}
	c := proxy.Config{Keys: []cookie.Key{gatetest.NewKey(t)}, Rooms: []proxy.RoomConfig{f.Room("shop", "/")}}
	gatetest.Family()(&c, nil)
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
	f := gatetest.Start(t, gatetest.InRealTime, gatetest.Family(func(r *proxy.RoomConfig) {
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
				a := f.Visitor().Get(fmt.Sprintf("/room/%d", (i+n/20)%5), gatetest.AsJSON)
				assert.True(t, a.In() || a.Room != nil || a.Status == http.StatusServiceUnavailable, "%d %s", a.Status, a.Body)
			}
		})
	}
	for i := range 15 {
		next := f.Config
		next.OriginTimeout = time.Duration(i%2+1) * time.Minute
		require.NoError(t, f.Configure(t.Context(), next))
		for _, name := range names(f) {
			f.API(http.MethodGet, "/api/v1/rooms/"+name+"/status", "", nil)
		}
		f.Families()
	}
	close(done)
	visits.Wait()
	goes(f, "lobby")
}

// Of two gates with one store, each keeps the room that the other's visitors are
// in.
func TestARoomStaysWhileSomebodyIsInItAtAnotherGate(t *testing.T) {
	store := newCounting()
	idle := gatetest.Family(func(r *proxy.RoomConfig) { r.RoomIdle = time.Second; r.Settings.SessionDuration = time.Minute })
	one := gatetest.Start(t, idle, store.quickly)
	other := gatetest.Start(t, idle, store.quickly, func(_ *proxy.Config, o *proxy.Options) { o.Clock = one.Clock.Now })
	require.True(t, one.Visitor().Get("/room/a").In())
	require.False(t, other.Visitor().Get("/room/a").In(), "they share its one slot")
	one.Clock.Add(50 * time.Second) // whoever waited is gone
	stays(one, store, "chat.a", "lobby")
	stays(other, store, "chat.a", "lobby")
	one.Clock.Add(12 * time.Second)
	goes(one, "lobby")
	goes(other, "lobby")
}
