package redisstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/redisstore/redistest"
	"github.com/anteroom-gate/anteroom/queue/room"
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

// A visitor is let in by a reply that their gate does not get, and comes to the other gate once that session is over.
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
