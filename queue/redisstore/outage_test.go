package redisstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// Nobody can check in while the store is away, and who asked meanwhile has not
// left the line.
func TestAnExactLineOutlivesAnOutageThatIsLongerThanItsDropout(t *testing.T) {
	t.Parallel()
	clock, _ := newClock(t)
	s := small(1)
	s.Method, s.LineDropout, s.SessionDuration = queue.Line, 20*time.Second, 10*time.Minute
	g := newGates(t, clock, s, 0, 0)
	g.enters(g.nodes[0])
	var line []*person
	for i := range 3 {
		line = append(line, g.joins(g.nodes[i%2]))
	}
	gone := g.joins(g.nodes[0])
	g.pass(4 * time.Second)
	for _, n := range g.nodes {
		n.wire.cut.Store(true)
		require.Error(t, g.trySync(n))
	}
	for range 90 {
		clock.set(clock.time().Add(time.Second))
		for i, p := range line {
			require.Equal(t, room.Queued, g.visit(g.nodes[i%2], p).Outcome)
		}
	}
	clock.flow(true)
	for _, n := range g.nodes {
		n.wire.cut.Store(false)
	}
	g.sync(g.nodes...)
	late := g.joins(g.nodes[1])
	require.Equal(t, gone.ticket.Number+1, late.ticket.Number)
	for i := len(line) - 1; i >= 0; i-- {
		number := line[i].ticket.Number
		d := g.visit(g.nodes[i%2], line[i])
		assert.Equal(t, number, d.Ticket.Number, "whoever comes back first")
		assert.Zero(t, d.Place, "which is not known before all are back")
	}
	assert.Equal(t, late.ticket.Number+1, g.visit(g.nodes[0], gone).Ticket.Number, "who did not ask has lost the place")
	// A machine that is busy for seconds makes another gap.
	for tries := 0; tries < 5 && g.visit(g.nodes[1], late).Place == (queue.Place{}); tries++ {
		g.pass(s.ReturnsWithin())
		for i, p := range line {
			g.visit(g.nodes[i%2], p)
		}
	}
	for i, p := range line {
		assert.Equal(t, i, g.visit(g.nodes[i%2], p).Place.Ahead)
	}
	assert.Equal(t, 3, g.visit(g.nodes[0], late).Place.Ahead)
}

// While no gate is there, nobody can check in, and that time does not count.
func TestAnExactLineOutlivesARestartOfTheGateThatIsLongerThanItsDropout(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]time.Duration{"of seconds": 4500 * time.Millisecond, "that is doubted at first": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock, _ := newClock(t)
			s := small(1)
			s.Method, s.RefreshInterval, s.LineDropout, s.SessionDuration = queue.Line, time.Second, 2500*time.Millisecond, 10*time.Minute
			g := newGates(t, clock, s, 0)
			g.enters(g.nodes[0])
			line := []*person{g.joins(g.nodes[0]), g.joins(g.nodes[0])}
			gone := g.joins(g.nodes[0])
			for range 3 { // in which the last of them does not check in
				g.pass(time.Second)
				for _, p := range line {
					g.visit(g.nodes[0], p)
				}
			}
			clock.flow(true)
			clock.set(clock.time().Add(away))
			again := g.start(s, 0)
			redistest.Until(t, "the gap is believed", func() bool {
				g.sync(again)
				return remembered(t, clock.Store, "shop", doubtAt) == 0
			})
			for i := len(line) - 1; i >= 0; i-- {
				number := line[i].ticket.Number
				d := g.visit(again, line[i])
				assert.Equal(t, number, d.Ticket.Number)
				assert.False(t, d.Rejoined)
			}
			assert.True(t, g.visit(again, gone).Rejoined, "who had left before has lost the place")
		})
	}
}

// A visitor is let in by a reply that their gate does not get, and comes to the other gate once
// that session is over.
func TestAReplyThatOneGateLosesCostsNoPlaceAtAnother(t *testing.T) {
	t.Parallel()
	clock, _ := newClock(t)
	s := small(1)
	s.SessionDuration = 4 * time.Second
	g := newGates(t, clock, s, 0, 0)
	g.sync()
	g.enters(g.nodes[0])
	first := g.joins(g.nodes[0])
	arrived := first.ticket.ArrivedAt
	g.pass(max(first.ticket.Due().Sub(clock.time()), 6*time.Second))
	g.nodes[0].wire.lose.Store(true)
	require.Equal(t, room.Queued, g.visit(g.nodes[0], first).Outcome)
	g.nodes[0].wire.lose.Store(false)
	used := *first
	g.pass(6 * time.Second)
	g.enters(g.nodes[1])
	late := g.joins(g.nodes[1])
	require.False(t, g.visit(g.nodes[1], first).Rejoined)
	require.Equal(t, arrived, first.ticket.ArrivedAt)
	for range 20 {
		g.pass(time.Second)
		require.Equal(t, room.Queued, g.visit(g.nodes[1], late).Outcome, "the slot is kept for who came first")
		if g.visit(g.nodes[1], first).Outcome == room.Admitted {
			break
		}
	}
	require.True(t, first.in)
	g.pass(6 * time.Second)
	for _, n := range g.nodes {
		again := used
		assert.True(t, g.visit(n, &again).Rejoined, "once")
	}
	g.obeys(1, 1000)
}

// restart ends all gates, and starts another after so long.
func (g *gates) restart(t testing.TB, s queue.Settings, away time.Duration) *gate {
	t.Helper()
	g.clock.flow(true)
	g.clock.set(g.clock.time().Add(away))
	g.nodes = nil
	again := g.start(s, 0)
	redistest.Until(t, "the gap is believed", func() bool {
		g.sync(again)
		return remembered(t, g.clock.Store, g.clock.prefix+"shop", doubtAt) == 0
	})
	g.clock.flow(false)
	return again
}

// shortLine are settings of a room with an exact line and one slot, whose places last for so long
// of running time.
func shortLine(session, lasts time.Duration) queue.Settings {
	s := small(1)
	s.Method, s.RefreshInterval, s.QueueTicketTTL, s.SessionDuration, s.LineDropout = queue.Line, 2*time.Second, 4*time.Second, session, lasts
	return s
}

func TestTheTimeOfNoRestartCountsForANumber(t *testing.T) {
	t.Parallel()
	clock, _ := newClock(t)
	s := shortLine(10*time.Hour, 30*time.Second)
	g := newGates(t, clock, s, 0)
	n := g.nodes[0]
	g.enters(n)
	first, second := g.joins(n), g.joins(n)
	for _, away := range []time.Duration{3 * time.Hour, 4500 * time.Millisecond, 20 * time.Second, 4500 * time.Millisecond} {
		g.pass(6500 * time.Millisecond)
		n = g.restart(t, s, away)
	}
	d := g.visit(n, second)
	assert.Equal(t, uint64(3), d.Ticket.Number)
	assert.False(t, d.Rejoined)
	g.pass(4500 * time.Millisecond)
	assert.True(t, g.visit(n, first).Rejoined)
}

func TestRestartsInARowTakeNobodysNumber(t *testing.T) {
	t.Parallel()
	clock, _ := newClock(t)
	s := shortLine(10*time.Hour, time.Minute)
	g := newGates(t, clock, s, 0)
	n := g.nodes[0]
	g.enters(n)
	first, second := g.joins(n), g.joins(n)
	for range queue.MaxGaps + 10 {
		g.pass(time.Second)
		n = g.restart(t, s, 3*time.Second)
	}
	d := g.visit(n, first)
	assert.Equal(t, uint64(2), d.Ticket.Number)
	assert.False(t, d.Rejoined)
	g.pass(20 * time.Second)
	assert.True(t, g.visit(n, second).Rejoined, "a minute of running time after their check-in")
}

func TestAUsedPlaceDoesNotComeBackAfterHoursWithoutAGate(t *testing.T) {
	t.Parallel()
	clock, _ := newClock(t)
	s := shortLine(5*time.Second, 45*time.Second)
	g := newGates(t, clock, s, 0)
	n := g.nodes[0]
	g.enters(n)
	used, next, removed, waits := g.joins(n), g.joins(n), g.joins(n), g.joins(n)
	found, err := n.Remove(t.Context(), clock.time().Time(), removed.ticket.ID)
	require.NoError(t, err)
	require.True(t, found)
	old := *used
	for _, p := range []*person{used, next} {
		for tries := 0; tries < 20 && g.visit(n, p).Outcome != room.Admitted; tries++ {
			g.pass(time.Second)
		}
		require.True(t, p.in)
	}
	n = g.restart(t, s, 3*time.Hour)
	g.pass(time.Second)
	d := g.visit(n, waits)
	assert.Equal(t, uint64(5), d.Ticket.Number)
	assert.False(t, d.Rejoined)
	for _, p := range []*person{&old, removed} {
		d := g.visit(n, p)
		assert.Greater(t, d.Ticket.Number, uint64(5), "behind who waits")
		assert.True(t, d.Rejoined)
	}
}

func TestAUsedPlaceDoesNotComeBackAfterRestartsInARow(t *testing.T) {
	t.Parallel()
	clock, _ := newClock(t)
	s := shortLine(5*time.Second, 30*time.Second)
	g := newGates(t, clock, s, 0)
	g.enters(g.nodes[0])
	used, lost := g.joins(g.nodes[0]), g.joins(g.nodes[0])
	n := g.restart(t, s, 3*time.Hour)
	require.Equal(t, lost.ticket.Number, g.visit(n, lost).Ticket.Number)
	old := *used
	for tries := 0; tries < 20 && g.visit(n, used).Outcome != room.Admitted; tries++ {
		old = *used
		g.pass(time.Second)
	}
	require.True(t, used.in)
	g.pass(time.Minute)
	holder := g.enters(n)
	for range queue.MaxGaps + 3 {
		g.pass(100 * time.Millisecond)
		n = g.restart(t, s, 3*time.Second)
		require.Equal(t, room.Admitted, g.visit(n, holder).Outcome, "the slot is never free")
	}
	for _, p := range []person{old, *lost} {
		d := g.visit(n, &p)
		assert.Greater(t, d.Ticket.Number, lost.ticket.Number)
		assert.True(t, d.Rejoined)
	}
}

func TestLongerPlacesAfterHoursWithoutAGateTakeNobodysNumber(t *testing.T) {
	t.Parallel()
	clock, _ := newClock(t)
	s := shortLine(5*time.Second, 30*time.Second)
	g := newGates(t, clock, s, 0)
	g.enters(g.nodes[0])
	used, waits := g.joins(g.nodes[0]), g.joins(g.nodes[0])
	old := *used
	for tries := 0; tries < 20 && g.visit(g.nodes[0], used).Outcome != room.Admitted; tries++ {
		g.pass(time.Second)
	}
	require.True(t, used.in)
	n := g.restart(t, s, 3*time.Hour)
	stands, _ := n.Peek(t.Context(), clock.time().Time(), room.Request{Ticket: waits.ticket})
	assert.Equal(t, waits.ticket.Number, stands.Number)
	c := n.Configuration()
	c.Settings.LineDropout = 10 * time.Minute
	require.NoError(t, n.Configure(t.Context(), clock.time().Time(), c))
	d := g.visit(n, waits)
	assert.Equal(t, uint64(3), d.Ticket.Number)
	assert.False(t, d.Rejoined)
	g.pass(40 * time.Second)
	assert.True(t, g.visit(n, &old).Rejoined)
	assert.Greater(t, old.ticket.Number, uint64(3))
}

// A node tells numbers just before a loss. The next newcomers come to another, which has not heard
// of them.
func TestNobodyGetsTheNumberOfAnotherAfterALossOfMemory(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*town){
		"all of it": func(w *town) { w.server.Do("FLUSHALL") },
		"the last second, by a failover": func(w *town) {
			w.server.Restart(false)
			w.clock.flow(true)
			w.clock.set(w.clock.time().Add(300 * time.Millisecond))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, redistest.Options{AppendOnly: true})
			s := small(1)
			s.Method = queue.Line
			w := &town{gates: newGates(t, newClocked(open(t, server.URL())), s, 0, 0), server: server}
			w.enters(w.nodes[0])
			w.sync()
			saved := w.save()
			people := []*person{w.joins(w.nodes[1]), w.joins(w.nodes[1])}
			w.restore(saved)
			lose(w)
			redistest.Until(t, "the node finds the server", func() bool { return w.trySync(w.nodes[0]) == nil })
			people = append(people, w.joins(w.nodes[0]), w.joins(w.nodes[0]))
			_ = w.trySync(w.nodes[1])
			people = append(people, w.joins(w.nodes[1]), w.joins(w.nodes[0]))
			for i, p := range people[1:] {
				assert.Greater(t, p.ticket.Number, people[i].ticket.Number, "of those who came one after the other")
			}
		})
	}
}
