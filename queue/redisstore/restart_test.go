package redisstore_test

import (
	"context"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// throng is a crowd in line at some gates, in virtual time: everybody comes when they are
// told to, to any gate, and nobody leaves.
type throng struct {
	testing.TB
	now    queue.Instant
	rand   *rand.Rand
	set    func(queue.Instant) // sets the store's clock
	every  time.Duration       // how often a gate syncs
	gates  []*room.Room        // none while they are away
	people []*waits            // in the order in which they came
	in     []queue.Instant     // when people were let in
	told   []told
}

// waits is somebody who has come.
type waits struct {
	ticket queue.Ticket
	due    queue.Instant // when they ask
	in     bool
}

// told is what somebody in line is told, and what is true.
type told struct {
	at              queue.Instant
	known           bool
	ahead, queued   int
	wait            estimate.Wait
	isAhead, inLine int
}

// perSecond is how many are let in.
const perSecond = 2

// right reports whether a place is true up to ten seconds of admissions, the wait up to a minute,
// and the length of the line up to those of five seconds.
func (t *told) right() bool {
	minutes := float64(t.isAhead) / perSecond / 60
	return max(t.ahead-t.isAhead, t.isAhead-t.ahead) <= 10*perSecond &&
		(!t.wait.Known || float64(t.wait.Minutes) >= minutes-.5 && float64(t.wait.Minutes) <= minutes+1.5) &&
		max(t.queued-t.inLine, t.inLine-t.queued) <= 5*perSecond
}

// newThrong is a crowd that is to come, at gates that sync so often.
func newThrong(t testing.TB, every time.Duration, set func(queue.Instant)) *throng {
	return &throng{TB: t, now: start, rand: rand.New(rand.NewPCG(1, 2)), set: set, every: every}
}

// open opens a gate.
func (c *throng) open(store queue.Store) *room.Room {
	c.Helper()
	s := queue.Settings{TotalActiveUsers: 100_000, NewUsersPerMinute: 60 * perSecond, SessionDuration: time.Minute, Pacing: queue.PacingEven, RefreshJitter: .15}
	r, err := room.New(context.Background(), c.now.Time(), room.Config{Name: "shop", Settings: s.WithDefaults(), Store: store, Uint64: c.rand.Uint64})
	require.NoError(c, err)
	return r
}

// pass lets time go by in which so many newcomers come in a second.
func (c *throng) pass(d time.Duration, newcomers int) {
	c.Helper()
	const step = 100 * time.Millisecond
	for end := c.now.Add(d); c.now < end; {
		c.now = c.now.Add(step)
		c.set(c.now)
		for i, g := range c.gates {
			if at := c.now.Add(time.Duration(i) * step); at == at.Floor(c.every) {
				require.NoError(c, g.Sync(context.Background(), c.now.Time()))
			}
		}
		if len(c.gates) > 0 {
			for come := newcomers; c.rand.IntN(10) < come; come -= 10 {
				c.people = append(c.people, &waits{due: c.now})
			}
			c.ask()
		}
	}
}

// ask has everybody check in who is due.
func (c *throng) ask() {
	ahead, first := 0, len(c.told)
	for _, p := range c.people {
		if !p.in && p.due <= c.now {
			c.checkIn(p, ahead)
		}
		if !p.in {
			ahead++
		}
	}
	for i := range c.told[first:] {
		c.told[first+i].inLine = ahead
	}
}

// checkIn has somebody check in who has so many people ahead.
func (c *throng) checkIn(p *waits, ahead int) {
	g := c.gates[c.rand.IntN(len(c.gates))]
	d := g.Visit(context.Background(), c.now.Time(), room.Request{Ticket: p.ticket})
	p.ticket = d.Ticket
	if p.in = d.Outcome == room.Admitted; p.in {
		c.in = append(c.in, c.now)
		return
	}
	p.due = c.now.Add(queue.WholeSeconds(d.Ticket.Due().Sub(c.now)))
	n := g.Numbers()
	t := told{at: c.now, isAhead: ahead, queued: n.Waiting, wait: n.Wait(d.Ticket.ArrivedAt)}
	t.ahead, t.known = n.Ahead(d.Ticket.ArrivedAt)
	c.told = append(c.told, t)
}

// judge asserts that what is told from now on is true, that it is known soon, and that the line
// goes on.
func (c *throng) judge() {
	c.Helper()
	const soon, judged = 5 * time.Second, 40 * time.Second
	from, entered := c.now, len(c.in)
	c.told = nil
	c.pass(judged, 3)
	known, right, late, lateKnown := 0, 0, 0, 0
	for _, t := range c.told {
		if t.at.Sub(from) > soon {
			late++
		}
		if !t.known {
			continue
		}
		if known++; t.right() {
			right++
		}
		if t.at.Sub(from) > soon {
			lateKnown++
		}
	}
	c.Logf("%d told, %d known, %d of them right; after %v, %d of %d known; %d let in", len(c.told), known, right, soon, lateKnown, late, len(c.in)-entered)
	assert.GreaterOrEqual(c, float64(right), .95*float64(known), "of what is told, is true")
	assert.GreaterOrEqual(c, float64(lateKnown), .95*float64(late), "soon it is known")
	assert.GreaterOrEqual(c, len(c.in)-entered, int((judged-soon).Seconds())*perSecond, "the line goes on")
}

func TestWhatIsToldAfterARestartIsTrue(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(*memstore.Store) error{
		"the gate was killed":  func(*memstore.Store) error { return nil },
		"the gate was stopped": (*memstore.Store).Close,
	} {
		t.Run(name, func(t *testing.T) {
			c := newThrong(t, 100*time.Millisecond, func(queue.Instant) {})
			before, dir := t.TempDir(), t.TempDir()
			store, err := memstore.Open(before)
			require.NoError(t, err)
			c.gates = []*room.Room{c.open(store)}
			c.pass(30*time.Second, 20)
			c.pass(60*time.Second, 3)
			require.NoError(t, ends(store))
			require.NoError(t, os.CopyFS(dir, os.DirFS(before)))
			c.gates = nil
			c.pass(3*time.Second, 0)
			store, err = memstore.Open(dir)
			require.NoError(t, err)
			c.gates = []*room.Room{c.open(store)}
			c.judge()
		})
	}
}

// Nobody knows how many wait until all of them had time to come back.
func TestWhereNothingIsLeftOfALineItsNumbersAreUnknownAtFirst(t *testing.T) {
	t.Parallel()
	for name, stores := range map[string]func(*testing.T, *throng) (store queue.Store, loses func() queue.Store){
		"a gate that keeps no journal": func(_ *testing.T, c *throng) (queue.Store, func() queue.Store) {
			return memstore.New(), func() queue.Store { return memstore.New() }
		},
		"Redis and all gates at once": func(t *testing.T, c *throng) (queue.Store, func() queue.Store) {
			clock, server := newClock(t)
			c.set = clock.set
			return clock, func() queue.Store { server.Do("FLUSHALL"); return clock }
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newThrong(t, 100*time.Millisecond, func(queue.Instant) {})
			store, loses := stores(t, c)
			c.gates = []*room.Room{c.open(store)}
			c.pass(30*time.Second, 20)
			c.pass(60*time.Second, 3)
			c.gates = nil
			c.pass(3*time.Second, 0)
			c.gates = []*room.Room{c.open(loses())}
			from := c.now
			c.told = nil
			c.pass(140*time.Second, 3)
			unknown := 0
			for _, told := range c.told {
				switch since := told.at.Sub(from); {
				case since < 115*time.Second && since > 200*time.Millisecond:
					assert.Falsef(t, told.known, "after %v", since)
					assert.Falsef(t, told.wait.Known, "after %v", since)
					unknown++
				case since > 125*time.Second:
					assert.Truef(t, told.known, "after %v", since)
				}
			}
			assert.Positive(t, unknown)
		})
	}
}

func TestWhatIsToldAfterAFaultAtTheStoreIsTrue(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(c *throng, store queue.Store, server *redistest.Server){
		"the store has lost its memory": func(_ *throng, _ queue.Store, server *redistest.Server) { server.Do("FLUSHALL") },
		"a gate was restarted":          func(c *throng, store queue.Store, _ *redistest.Server) { c.gates[1] = c.open(store) },
	} {
		t.Run(name, func(t *testing.T) {
			clock, server := newClock(t)
			c := newThrong(t, time.Second, clock.set)
			for range 3 {
				c.gates = append(c.gates, c.open(clock))
			}
			c.pass(30*time.Second, 20)
			c.pass(60*time.Second, 3)
			fault(c, clock, server)
			c.judge()
		})
	}
}
