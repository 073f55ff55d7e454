package flood_test

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/proxy/flood"
)

// server is a bound in virtual time, of a server that is as late as a test says.
type server struct {
	*flood.Bound
	t    testing.TB
	late atomic.Int64
	logs *observer.ObservedLogs
}

// inVirtualTime tests a server in a bubble of its own.
func inVirtualTime(t *testing.T, test func(s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &server{t: t}
		core, logs := observer.New(zap.DebugLevel)
		s.logs = logs
		s.Bound = flood.New(func() time.Duration { return time.Duration(s.late.Load()) }, zap.New(core))
		defer s.Close()
		test(s)
	})
}

// conn is a new connection.
func (s *server) conn(shed func()) *flood.Conn {
	return flood.Of(s.Context(s.t.Context(), shed))
}

// isShed says whether a request of a kind is, on a new connection.
func (s *server) isShed(k flood.Kind) bool {
	return s.conn(func() {}).Sheds(k)
}

// step is how often requests come, one of each kind.
const step = time.Millisecond

// shares is for a time as late as that, and returns what share of each kind was shed.
func (s *server) shares(late, span time.Duration) [4]float64 {
	s.late.Store(int64(late))
	var shed [4]float64
	for range span / step {
		<-time.After(step)
		for k := range shed {
			if s.isShed(flood.Kind(k)) {
				shed[k]++
			}
		}
	}
	for k := range shed {
		shed[k] /= float64(span / step)
	}
	return shed
}

func TestThoseWhoAskTooSoonAreShedFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		late time.Duration
		want [4]float64 // again, aside, early, due
	}{
		{"in time", 500 * time.Microsecond, [4]float64{}},
		{"some requests are late", 15 * time.Millisecond, [4]float64{}},
		{"many are", 25 * time.Millisecond, [4]float64{1, 0, 0, 0}},
		{"late", 80 * time.Millisecond, [4]float64{1, 1, 0, 0}},
		{"very late", 200 * time.Millisecond, [4]float64{1, 1, 1, 0}},
		{"hardly anybody is answered", time.Second, [4]float64{1, 1, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inVirtualTime(t, func(s *server) {
				s.shares(c.late, 5*time.Second)
				assert.Equal(t, c.want, s.shares(c.late, time.Second))
			})
		})
	}
}

func TestNobodyIsShedWhoseKindIsNotInTheWay(t *testing.T) {
	t.Parallel()
	bearable := [4]time.Duration{time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond}
	rapid.Check(t, func(r *rapid.T) {
		lates := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 2), rapid.Int64Range(0, 30), rapid.Int64Range(0, 400)), 1, 3).Draw(r, "how late, in milliseconds, each second")
		inVirtualTime(t, func(s *server) {
			worst := time.Duration(0)
			for _, ms := range lates {
				late := time.Duration(ms) * time.Millisecond
				worst = max(worst, late)
				for k, share := range s.shares(late, time.Second) {
					if worst <= bearable[k] && share > 0 {
						r.Fatalf("%v late at most, and %.2f of kind %d were shed", worst, share, k)
					}
				}
			}
		})
	})
}

func TestNobodyIsShedSomeTimeAfterAFlood(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		s.shares(time.Second, 5*time.Second)
		require.Equal(t, [4]float64{1, 1, 1, 1}, s.shares(time.Second, time.Second))
		s.shares(0, 90*time.Second)
		assert.Equal(t, [4]float64{}, s.shares(0, time.Second))
	})
}

func TestNobodyIsShedByOneSlowMoment(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		s.shares(0, 2*time.Second)
		s.shares(time.Second, 30*time.Millisecond)
		got := s.shares(0, time.Second)
		assert.Less(t, got[flood.Again], .3)
		assert.Zero(t, got[flood.Early])
	})
}

func TestNobodyIsShedWhereHardlyAnybodyWaits(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		s.late.Store(int64(time.Minute))
		for range 500 {
			<-time.After(20 * time.Millisecond)
			assert.False(t, s.isShed(flood.Again))
		}
	})
}

func TestAConnectionOfSomebodyWhoIsInIsNeverShed(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		s.shares(time.Second, 5*time.Second)
		c := s.conn(func() { assert.Fail(t, "shed") })
		c.Keep()
		for k := range flood.Due + 1 {
			assert.False(t, c.Sheds(k))
		}
	})
}

func TestAPageThatIsLoadedAgainIsAnsweredInARoomThatIsMerelyBusy(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		for i := range 3000 { // a minute of 2,000 polls a second, late now and then
			s.late.Store(0)
			if i%30 == 0 {
				s.late.Store(int64(5 * time.Millisecond))
			}
			for range 40 {
				require.False(t, s.isShed(flood.Due))
			}
			require.False(t, s.isShed(flood.Early))
			<-time.After(20 * time.Millisecond)
		}
	})
}

func TestAConnectionThatAsksTooSoonAgainIsShedBeforeOthers(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		c := s.conn(func() {})
		ask := func(k flood.Kind) (shed int) {
			for range 1000 {
				if c.Sheds(flood.Due) {
					shed += 1e6
				}
				for range 2 {
					if c.Sheds(k) {
						shed += 1e3
					}
				}
				if c.Sheds(k) {
					shed++
				}
			}
			return shed
		}
		// The pressure is between 0 and 1 for a while: those of the first kind are shed by lot.
		s.shares(0, 2*time.Second)
		s.shares(30*time.Millisecond, 100*time.Millisecond)
		n := ask(flood.Early)
		assert.Greater(t, n, 100, "the third time it is of the kind Again")
		assert.Less(t, n, 900, "by lot")
	})
}

func TestThePartsOfAPageDoNotMakeItsConnectionOneThatAsksTooSoonAgain(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		s.shares(30*time.Millisecond, 5*time.Second)
		require.Equal(t, [4]float64{1, 0, 0, 0}, s.shares(30*time.Millisecond, time.Second))
		c, shed := s.conn(func() {}), 0
		for range 3 {
			assert.False(t, c.Sheds(flood.Due), "whatever came before")
			assert.False(t, c.Sheds(flood.Early), "the page")
			for range 8 {
				assert.False(t, c.Sheds(flood.Aside), "its parts")
			}
		}
		for range 10 {
			if c.Sheds(flood.Aside) {
				shed++
			}
		}
		assert.Equal(t, 10, shed, "too many parts")
	})
}

func TestWithoutABoundNobodyIsShed(t *testing.T) {
	t.Parallel()
	c := flood.Of(t.Context())
	c.Keep()
	assert.False(t, c.Sheds(flood.Again))
}

func TestAFloodIsLogged(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		s.shares(0, 10*time.Second)
		assert.Zero(t, s.logs.Len())
		s.shares(200*time.Millisecond, 30*time.Second)
		lines := s.logs.TakeAll()
		require.GreaterOrEqual(t, len(lines), 2)
		assert.LessOrEqual(t, len(lines), 4)
		assert.Positive(t, lines[1].ContextMap()["shed"])
		assert.Positive(t, lines[1].ContextMap()["asked_once"])
		assert.Zero(t, lines[1].ContextMap()["came_as_told"])
	})
}

// peer is the other end of a connection that is held.
type peer struct {
	net.Conn
	closed func()
}

func (p peer) Close() error {
	p.closed()
	return nil
}

func TestConnectionsAreHeldForAWhileAndComeBackBitByBit(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		const all = 5000
		var (
			mu  sync.Mutex
			ms  []int
			now = time.Now()
		)
		for range all {
			require.NoError(t, s.Hold(peer{closed: func() {
				mu.Lock()
				defer mu.Unlock()
				ms = append(ms, int(time.Since(now)/time.Millisecond))
			}}))
		}
		<-time.After(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		sum, within := 0, map[int]int{}
		for _, at := range ms {
			sum += at
			within[at/100]++
		}
		assert.Len(t, ms, all)
		assert.InDelta(t, 6250, sum/all, 300, "milliseconds, on average")
		for _, n := range within {
			assert.LessOrEqual(t, n, 55, "in a tenth of a second")
		}
	})
}

func TestAConnectionAloneIsHeldForFiveSeconds(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		closed, start := make(chan time.Time, 1), time.Now()
		require.NoError(t, s.Hold(peer{closed: func() { closed <- time.Now() }}))
		assert.WithinDuration(t, start.Add(5*time.Second), <-closed, 20*time.Millisecond)
	})
}

func TestOnlySoManyConnectionsAreHeld(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		var count atomic.Int64
		hold := func() {
			require.NoError(t, s.Hold(peer{closed: func() { count.Add(1) }}))
		}
		for range 40_000 {
			hold()
		}
		held := 40_000 - count.Load()
		assert.Positive(t, held)
		assert.LessOrEqual(t, held, int64(32_768))
		s.MakeRoom()
		assert.Equal(t, held/2, 40_000-count.Load())
		s.Close()
		assert.EqualValues(t, 40_000, count.Load())
		hold()
		assert.EqualValues(t, 40_001, count.Load(), "nothing is held any more")
	})
}

// TestAServerStaysInTimeUnderAFlood has a server that can answer 10 requests a millisecond, one
// after the other, and 2,000 visitors who ask again as soon as they are answered, or let in again
// after they were shed.
func TestAServerStaysInTimeUnderAFlood(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(s *server) {
		type visitor struct {
			*flood.Conn
			polite bool
		}
		var (
			mu    sync.Mutex
			queue []*visitor
			shed  int
		)
		enter := func(v *visitor) {
			mu.Lock()
			defer mu.Unlock()
			queue = append(queue, v)
		}
		open := func(polite bool) *visitor {
			v := &visitor{polite: polite}
			v.Conn = s.conn(func() { assert.False(t, polite, "somebody who came as told was shed") })
			return v
		}
		for range 2000 {
			enter(open(false))
		}
		late := 0
		for ms := range 30_000 {
			<-time.After(time.Millisecond)
			if ms%100 == 0 {
				enter(open(true))
			}
			mu.Lock()
			waiting := len(queue)
			served := queue[:min(10, waiting)]
			queue = append([]*visitor(nil), queue[len(served):]...)
			mu.Unlock()
			s.late.Store(int64(waiting) * int64(time.Millisecond) / 10)
			if ms > 10_000 && waiting > 20 {
				late++
			}
			for _, v := range served {
				switch {
				case v.polite:
					v.Sheds(flood.Due)
				case v.Sheds(flood.Early):
					shed++
					_ = s.Hold(peer{closed: func() { enter(open(false)) }})
				default:
					enter(v)
				}
			}
		}
		assert.Less(t, float64(late)/20_000, .05, "the share of the time in which requests come more than 2 ms late")
		assert.Greater(t, shed, 1000)
	})
}

func TestABusyServerFindsOutThatItIsLateByWhatOneConnectionBrings(t *testing.T) {
	t.Parallel()
	b := flood.New(nil, zap.NewNop())
	defer b.Close()
	var (
		over atomic.Bool
		busy sync.WaitGroup
	)
	for range 2 * runtime.GOMAXPROCS(0) {
		busy.Go(func() {
			n := 0
			for !over.Load() {
				n++
			}
		})
	}
	shed := 0
	c := flood.Of(b.Context(t.Context(), func() {}))
	for end := time.Now().Add(20 * time.Second); shed == 0 && time.Now().Before(end); {
		for range 100 {
			if c.Sheds(flood.Again) {
				shed++
			}
		}
		runtime.Gosched()
	}
	over.Store(true)
	busy.Wait()
	assert.Positive(t, shed)
}
