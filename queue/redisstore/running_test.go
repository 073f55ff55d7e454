package redisstore_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// copied is a cookie that somebody has kept.
type copied struct {
	ticket queue.Ticket
	used   bool // its place was
}

// outages is a room with an exact line whose gates are all away now and then.
type outages struct {
	*gates
	*rapid.T
	away [][2]queue.Instant
	gate *gate
	kept []*copied
}

// ran is how much running time has passed since a moment.
func (o *outages) ran(since queue.Instant) time.Duration {
	ran := o.clock.time().Sub(since)
	for _, away := range o.away {
		ran -= max(0, away[1].Sub(max(away[0], since)))
	}
	return ran
}

// brings has somebody bring a cookie, and judges what they are told.
func (o *outages) brings(c *copied) {
	const kept, unsure = 20 * time.Second, 3 * time.Second // calls take time, in which the store's clock stands ahead
	ran, p := o.ran(c.ticket.LastCheckIn), person{ticket: c.ticket}
	d := o.visit(o.gate, &p)
	switch keeps := d.Outcome == room.Queued && d.Ticket.Number == c.ticket.Number; {
	case c.used:
		require.False(o.T, keeps, "a place that was used")
		return
	case d.Outcome == room.Admitted:
		o.uses(c.ticket)
		return
	case ran < kept && !o.any(c, func(other queue.Ticket) bool { return other.Number != c.ticket.Number }):
		require.True(o.T, keeps, "%v after the check-in", ran)
	case !o.any(c, func(other queue.Ticket) bool { return o.ran(other.LastCheckIn) < kept+unsure }):
		require.False(o.T, keeps, "%v after the check-in", ran)
	}
	o.kept = append(o.kept, &copied{ticket: d.Ticket})
}

// any reports whether something holds of any cookie of the same visitor.
func (o *outages) any(c *copied, holds func(queue.Ticket) bool) bool {
	return slices.ContainsFunc(o.kept, func(other *copied) bool { return other.ticket.ID == c.ticket.ID && holds(other.ticket) })
}

// uses takes in that a place was used.
func (o *outages) uses(t queue.Ticket) {
	for _, c := range o.kept {
		c.used = c.used || c.ticket.ID == t.ID
	}
}

func TestANumberIsHonouredByRunningTimeAndUsedOnce(t *testing.T) {
	t.Parallel()
	shared, _ := newClock(t)
	rooms := 0
	rapid.Check(t, func(rt *rapid.T) {
		rooms++
		clock := newClocked(shared.Store)
		clock.prefix = fmt.Sprint("r", rooms, "-")
		s := shortLine(3*time.Second, 20*time.Second)
		o := &outages{gates: newGates(rt, clock, s, 0), T: rt}
		o.gate = o.nodes[0]
		o.enters(o.gate)
		for range 3 {
			o.kept = append(o.kept, &copied{ticket: o.joins(o.gate).ticket})
		}
		for range rapid.IntRange(1, 25).Draw(rt, "things") {
			switch rapid.IntRange(0, 5).Draw(rt, "thing") {
			case 0, 1:
				from := clock.time()
				o.gate = o.restart(t, s, time.Duration(rapid.IntRange(2100, 4800).Draw(rt, "away"))*time.Millisecond)
				o.away = append(o.away, [2]queue.Instant{from, clock.time()})
			case 2:
				o.pass(time.Duration(rapid.IntRange(1, 4).Draw(rt, "seconds")) * time.Second)
			default:
				o.brings(rapid.SampledFrom(o.kept).Draw(rt, "who"))
			}
		}
		assert.LessOrEqual(rt, o.origin.most(), 1)
	})
}
