package proxy_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// fragile is a store whose calls panic while it is told so, and that counts its syncs.
type fragile struct {
	queue.Store
	admit, sync, roster atomic.Int32 // how many calls are to panic

	mu     sync.Mutex
	synced map[string]int
	gate   chan struct{} // if set, Admit waits for it
}

// between puts the store between a gate and its own.
func (s *fragile) between(_ *proxy.Config, o *proxy.Options) {
	s.Store, o.Store, s.synced = o.Store, s, map[string]int{}
}

func mayPanic(left *atomic.Int32) {
	if left.Add(-1) >= 0 {
		panic("a fault of the store")
	}
}

func (s *fragile) Admit(ctx context.Context, name string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	if s.gate != nil {
		<-s.gate
	}
	mayPanic(&s.admit)
	return s.Store.Admit(ctx, name, p, claims, grants)
}

func (s *fragile) Sync(ctx context.Context, name string, p *queue.Report) (*queue.View, error) {
	s.mu.Lock()
	s.synced[name]++
	s.mu.Unlock()
	mayPanic(&s.sync)
	return s.Store.Sync(ctx, name, p)
}

func (s *fragile) Roster(ctx context.Context, name string, ids []queue.ID) (*queue.Roster, error) {
	mayPanic(&s.roster)
	return s.Store.Roster(ctx, name, ids)
}

func (s *fragile) syncs(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.synced[name]
}

// soon waits until a room has been synced more often than that.
func (s *fragile) soon(t *testing.T, name string, often int) {
	t.Helper()
	require.Eventually(t, func() bool { return s.syncs(name) > often }, gatetest.Patience, 5*time.Millisecond)
}

func TestPanicOfTheStoreNeverHoldsUpARoom(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]func(s *fragile){
		"once as it admits":            func(s *fragile) { s.admit.Store(1) },
		"as it is told the same again": func(s *fragile) { s.admit.Store(2) },
		"many times":                   func(s *fragile) { s.admit.Store(20) },
		"as it syncs":                  func(s *fragile) { s.sync.Store(10) },
		"in all it does":               func(s *fragile) { s.admit.Store(10); s.sync.Store(10); s.roster.Store(1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &fragile{gate: make(chan struct{})}
			f := gatetest.Start(t, gatetest.InRealTime, s.between, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 100 }))
			faults(s)
			var asking sync.WaitGroup
			for range 10 { // while one call is under way, the others gather
				asking.Go(func() {
					a := f.Visitor().Get("/")
					assert.Equal(t, http.StatusOK, a.Status, "let in or queued")
				})
			}
			close(s.gate)
			asking.Wait()
			for range checkIns(t, 100*time.Millisecond) {
				if f.Visitor().Get("/").In() {
					break
				}
				require.NoError(t, t.Context().Err())
			}
			s.soon(t, "shop", 15)
			assert.LessOrEqual(t, f.Status("shop").Active, 100)
		})
	}
}

func TestRoomThatAReloadRemovesIsSyncedNoMore(t *testing.T) {
	t.Parallel()
	s := &fragile{}
	f := gatetest.Start(t, gatetest.InRealTime, s.between, func(c *proxy.Config, _ *proxy.Options) {
		for _, other := range []proxy.RoomConfig{c.Rooms[0], c.Rooms[0]} {
			other.Name, other.Routes = []string{"club", "event"}[len(c.Rooms)-1], append(other.Routes[:0:0], other.Routes...)
			other.Routes[0].Path = []string{"/club", "/event/{id}"}[len(c.Rooms)-1]
			c.Rooms = append(c.Rooms, other)
		}
	})
	in := f.Visitor()
	require.True(t, in.Get("/club").In())
	require.True(t, f.Visitor().Get("/event/1").In())
	s.soon(t, "club", 3)
	s.soon(t, "event.1", 3)

	less := f.Config
	less.Rooms = less.Rooms[:1]
	require.NoError(t, f.Configure(t.Context(), less))
	now := s.syncs("shop")
	s.soon(t, "shop", now+3)
	club, event := s.syncs("club"), s.syncs("event.1")
	s.soon(t, "shop", now+20)
	assert.Equal(t, club, s.syncs("club"))
	assert.Equal(t, event, s.syncs("event.1"))

	require.NoError(t, f.Configure(t.Context(), f.Config))
	assert.True(t, in.Get("/club").In(), "their session is in the store")
	assert.False(t, f.Visitor().Get("/club").In())
	s.soon(t, "club", club+3)
}
