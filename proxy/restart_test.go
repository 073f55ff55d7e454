package proxy_test

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// storedIn has a gate keep its journals in dir.
func storedIn(t *testing.T, dir string) func(*proxy.Config, *proxy.Options) {
	t.Helper()
	store, err := memstore.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return func(_ *proxy.Config, o *proxy.Options) { o.Store = store }
}

func TestAClockThatWasSetBackWhileTheGateWasAwayThrowsNobodyOutAndLetsNobodyIn(t *testing.T) {
	for _, back := range []time.Duration{30 * time.Second, time.Minute, time.Hour, 24 * time.Hour} {
		t.Run(back.String(), func(t *testing.T) {
			dir, copied := t.TempDir(), t.TempDir()
			f := gatetest.Start(t, storedIn(t, dir))
			in := f.Full()[0]
			waiting := f.Visitor()
			require.False(t, waiting.Get("/").In())
			f.Pass(12 * time.Second)
			require.NoError(t, os.CopyFS(copied, os.DirFS(dir)), "as a crash leaves it")

			next := gatetest.Start(t, storedIn(t, copied), func(c *proxy.Config, _ *proxy.Options) { c.Keys = f.Config.Keys }, func(_ *proxy.Config, o *proxy.Options) {
				o.Clock = func() time.Time { return f.Clock.Now().Add(3*time.Second - back) }
			})
			again, waits, other := next.Visitor(), next.Visitor(), next.Visitor()
			again.Cookies, waits.Cookies = in.Cookies, waiting.Cookies
			assert.False(t, other.Get("/").In())
			assert.False(t, waits.Get("/").In())
			assert.True(t, again.Get("/").In(), "who was in is in")
			assert.Len(t, next.Site.Requests(), 1)
			assert.Equal(t, 1, next.Status("shop").Active)
		})
	}
}

// Of rooms that come and go with whatever values strangers ask for, those that are
// there cost something, and nothing else.
func TestHundredsOfValuesLeaveNothingBehind(t *testing.T) {
	const rooms, rounds = 20, 20
	dir := t.TempDir()
	f := gatetest.Start(t, storedIn(t, dir), func(_ *proxy.Config, o *proxy.Options) { o.SyncInterval = 2 * time.Millisecond }, gatetest.Family(func(r *proxy.RoomConfig) {
		r.MaxRooms, r.RoomIdle = rooms, time.Second
		r.Settings = queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 1000, SessionDuration: time.Second, RefreshInterval: time.Second, QueueTicketTTL: 2 * time.Second}
	}))
	cost := func() (files, goroutines, series int) {
		open, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(open), runtime.NumGoroutine(), len(f.Families())
	}
	var files, goroutines, series int
	for round := range rounds {
		for i := range rooms {
			require.True(t, f.Visitor().Get(fmt.Sprintf("/room/v%d-%d", round, i)).In())
		}
		if round == 0 {
			files, goroutines, series = cost()
		}
		f.Clock.Add(time.Minute)
		goes(f, "lobby")
	}
	nowFiles, nowGoroutines, nowSeries := cost()
	assert.LessOrEqual(t, nowFiles, files+rooms, "files open")
	assert.LessOrEqual(t, nowGoroutines, goroutines+rooms)
	assert.LessOrEqual(t, nowSeries, series)
	f.Clock.Add(time.Minute)
	f.Status("lobby")
	f.Clock.Add(time.Minute)
	require.Eventually(t, func() bool {
		left, err := os.ReadDir(dir + "/rooms")
		require.NoError(t, err)
		return len(left) <= 1
	}, gatetest.Patience, 10*time.Millisecond, "journals of rooms in which nothing matters any more")
	assert.Equal(t, http.StatusOK, f.Visitor().Get("/room/again").Status)
}

// Nobody can check in while the gate is away; and a page that has a stream brings the cookie from
// the stream's opening.
func TestARestartThatTakesLongerThanTheDropoutKeepsTheLine(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), t.TempDir()
	f := gatetest.Start(t, storedIn(t, dir), inLine)
	open, polls := f.Waiter(), f.Visitor()
	polls.Get("/")
	for range 6 {
		l := tab(open)
		for range 2 {
			f.Pass(gatetest.Interval * 9 / 10)
			polls.Get("/")
		}
		l.Rest()
	}
	tab(open)
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)), "as a crash leaves it")

	next := gatetest.Start(t, storedIn(t, copied), inLine, func(c *proxy.Config, _ *proxy.Options) { c.Keys = f.Config.Keys }, func(_ *proxy.Config, o *proxy.Options) {
		o.Clock = func() time.Time { return f.Clock.Now().Add(5 * time.Minute) }
	})
	for i, v := range []*gatetest.Visitor{polls, open} {
		again := next.Visitor()
		again.Cookies = v.Cookies
		assert.Equal(t, false, again.Get("/", gatetest.AsJSON).Told("rejoined"), i)
	}
	waiting := peopleOf(next).Waiting
	assert.Equal(t, []int{2, 3}, []int{waiting[0].TicketNumber, waiting[1].TicketNumber})
}
