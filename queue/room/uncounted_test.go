package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// marked are limits of so many, for a room that counts from ten newcomers a minute on.
func marked(total int) queue.Settings {
	s := settings(total, 1000)
	s.SessionDuration, s.QueueWhen, s.ConfirmWithin = 2*time.Minute, 10, 0
	return s
}

// openToAll opens a room that has been calm for long enough.
func openToAll(t *testing.T, s queue.Settings) *door {
	t.Helper()
	d := open(t, s)
	assert.False(t, d.room.OpenToAll())
	d.pass(queue.CalmTime)
	require.True(t, d.room.OpenToAll())
	return d
}

func TestRoomThatIsOpenToAllLetsEverybodyInUncounted(t *testing.T) {
	d := openToAll(t, marked(1))
	for range 9 {
		assert.True(t, d.enter().Uncounted)
	}
	d.sync()
	n := d.room.Numbers()
	assert.True(t, n.OpenToAll)
	assert.False(t, n.Queueing())
	assert.Zero(t, n.Active)
}

func TestNobodyIsThrownOutWhenTheRoomBeginsToCount(t *testing.T) {
	for name, change := range map[string]func(*queue.Settings){
		"renewed":  func(*queue.Settings) {},
		"fixed":    func(s *queue.Settings) { s.DisableSessionRenewal = true },
		"in line":  func(s *queue.Settings) { s.Method = queue.Line },
		"by draws": func(s *queue.Settings) { s.Method = queue.Random },
	} {
		t.Run(name, func(t *testing.T) {
			s := marked(3)
			change(&s)
			d := openToAll(t, s)
			var inside []queue.Ticket
			for range 10 {
				inside = append(inside, d.enter())
			}
			d.sync() // with which the store learns that the mark is passed
			d.sync()
			assert.False(t, d.room.OpenToAll())
			for i, ticket := range inside {
				got := d.visit(ticket)
				require.Equal(t, room.Admitted, got.Outcome)
				require.True(t, got.Issue)
				assert.False(t, got.Ticket.Uncounted, "from now on they are counted")
				inside[i] = got.Ticket
			}
			d.pass(2 * time.Second)
			assert.Equal(t, 10, d.room.Numbers().Active, "the overshoot: those who came while the room was open")
			d.join()
			if s.DisableSessionRenewal {
				return
			}
			for range 3 { // they stay for as long as they like
				d.pass(time.Minute)
				for i, ticket := range inside {
					got := d.visit(ticket)
					require.Equal(t, room.Admitted, got.Outcome)
					inside[i] = got.Ticket
				}
			}
		})
	}
}

func TestUncountedVisitorStaysWhileTheRoomIsOpen(t *testing.T) {
	d := openToAll(t, marked(1))
	ticket := d.enter()
	for range 10 {
		d.pass(time.Minute)
		got := d.visit(ticket)
		require.Equal(t, room.Admitted, got.Outcome)
		assert.True(t, got.Ticket.Uncounted)
		ticket = got.Ticket
	}
	assert.Zero(t, d.room.Numbers().Active)
	d.pass(2 * time.Minute)
	got := d.visit(ticket)
	assert.True(t, got.Fresh, "who comes after the end of their ticket is a newcomer")
}

func TestMaxSessionBeginsWhenTheRoomBeginsToCount(t *testing.T) {
	s := marked(1)
	s.MaxSession = 3 * time.Minute
	d := openToAll(t, s)
	ticket := d.enter()
	for range 15 {
		d.pass(time.Minute)
		ticket = d.isIn(ticket)
	}
	for range 10 {
		d.enter()
	}
	d.sync()
	d.sync()
	for range 3 {
		ticket = d.isIn(ticket)
		d.pass(50 * time.Second)
	}
	assert.Equal(t, 1, d.stand().Active)
	d.pass(time.Minute)
	assert.Equal(t, room.Admitted, d.visit(queue.Ticket{}).Outcome, "and ends")
}

func TestVisitorsOfAnOpenRoomAreCountedOnceItCountsAlways(t *testing.T) {
	s := marked(1)
	d := openToAll(t, s)
	ticket := d.enter()
	s.QueueWhen, s.QueueUntil = 0, 0
	d.configure(s)
	for range 5 {
		ticket = d.isIn(ticket)
		d.pass(time.Minute)
		assert.Equal(t, 1, d.stand().Active)
	}
	d.join()
}

func TestVisitorsOfAnOpenRoomAreInThroughAHold(t *testing.T) {
	s := marked(1)
	d := openToAll(t, s)
	ticket := d.enter()
	d.configure(with(s, queue.HoldNow))
	for range 10 {
		assert.Equal(t, room.OnHold, d.visit(ticket).Outcome)
		d.pass(time.Minute)
	}
	d.join()
	d.pass(time.Second)
	d.configure(s)
	d.pass(time.Second)
	assert.False(t, d.room.OpenToAll())
	assert.False(t, d.isIn(ticket).Uncounted)
}

func TestWhoEntersAnOpenRoomHasWaitedSinceTheyCame(t *testing.T) {
	d := openToAll(t, marked(1))
	d.room.Pause(true)
	waiting := d.join()
	waiting.CameAt, waiting.ArrivedAt = waiting.ArrivedAt, d.now.Add(time.Hour) // as drawn in a prequeue that was cancelled
	d.now = d.now.Add(10 * time.Second)
	d.room.Pause(false)
	got := d.visit(waiting)
	require.Equal(t, room.Admitted, got.Outcome)
	assert.Equal(t, 10*time.Second, got.Waited)
}

func TestOverrideOfQueueAllHoldsNewcomersOfAnOpenRoom(t *testing.T) {
	s := marked(1)
	d := openToAll(t, s)
	s.QueueAll = true
	d.configure(s)
	assert.False(t, d.room.OpenToAll())
	d.join()
}

func TestRoomThatIsOpenToAllIsClosedToACrowdWhileTheStoreDoesNotAnswer(t *testing.T) {
	d, store := openFallible(t, marked(1), queue.Hold)
	d.pass(queue.CalmTime)
	store.fail(errGone, nil)
	d.fails(errGone)
	for range 9 {
		d.enter()
	}
	d.joins(20)
	store.fail(nil, nil)
	d.sync()
	assert.False(t, d.room.OpenToAll(), "the store is told of them all")
}

func TestPausedRoomIsNotOpen(t *testing.T) {
	d := openToAll(t, marked(1))
	d.room.Pause(true)
	d.join()
}

func TestAllNodesOfARoomBeginToCountTogether(t *testing.T) {
	s := marked(1)
	g := openGates(t, 3, s)
	g.at(start.Add(queue.CalmTime))
	for i := range 10 {
		assert.True(t, g[i%3].enter().Uncounted)
	}
	g.sync()
	g.sync()
	for _, d := range g {
		assert.False(t, d.room.OpenToAll())
	}
	g[0].enter()
	for _, d := range g {
		d.join()
	}
}

// isAnswered has the origin answer a request of each of some visitors after a while.
func (d *door) isAnswered(visitors byte, after time.Duration) {
	for i := range visitors {
		d.room.FromOrigin(d.room.ToOrigin(queue.ID{1, i}, "/"), after, pressure.Answered)
	}
}

func TestSlowOriginSlowsAdmissions(t *testing.T) {
	s := settings(1000, 60)
	s.AdmissionControlLatency, s.SessionDuration, s.ConfirmWithin = time.Second, 2*time.Minute, 0
	d := open(t, s)
	inside := d.enter()
	for range 59 {
		d.enter()
	}
	for range 60 {
		d.join()
	}
	d.pass(3 * time.Second)
	assert.True(t, d.room.Numbers().LongestWait().Known)
	for range 5 {
		d.isAnswered(20, 2*time.Second)
		d.pass(pressure.Every)
	}
	for range 60 {
		d.join()
	}
	d.pass(3 * time.Second)
	slowed := d.room.Slowed()
	assert.LessOrEqual(t, slowed.Factor, 1./16)
	assert.True(t, slowed.Here.Slow)
	assert.InEpsilon(t, 2, slowed.Here.Latency.Seconds(), .1)
	assert.False(t, d.room.Numbers().LongestWait().Known, "nobody knows how long the origin stays slow")
	assert.Equal(t, room.Admitted, d.visit(inside).Outcome, "sessions that exist are not touched")

	s.AdmissionControlLatency = 0
	require.NoError(t, d.room.Configure(context.Background(), d.now.Time(), queue.Configuration{Settings: s}))
	d.sync()
	d.sync()
	assert.InDelta(t, 1, d.room.Slowed().Factor, 0)
}

func TestMeasuredRequestNeedsNoAllocation(t *testing.T) {
	s := settings(1, 1)
	s.AdmissionControlLatency = time.Second
	d := open(t, s)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		d.room.FromOrigin(d.room.ToOrigin(queue.ID{1}, "/"), time.Second, pressure.Answered)
	}))
}

func TestAVisitorWhoIsCountedLateHoldsTheirSlotAsLongAsTheirTicketLasts(t *testing.T) {
	s := settings(1, 100)
	s.Method, s.DisableSessionRenewal = queue.Passthrough, true
	d := open(t, s)
	var in []queue.Ticket
	for range 20 {
		in = append(in, d.enter())
	}
	require.True(t, in[19].Uncounted)
	d.at(time.Minute)
	s.Method = queue.FIFO
	d.configure(s)
	d.at(5*time.Minute - time.Millisecond)
	for _, ticket := range in {
		d.isIn(ticket)
	}
	assert.Equal(t, 20, d.stand().Active)
}

func TestWhoIsCountedShortlyBeforeTheirEndHoldsASlotUntilThen(t *testing.T) {
	s := settings(1, 1)
	s.Method, s.DisableSessionRenewal = queue.Passthrough, true
	d := open(t, s)
	d.pass(30 * time.Millisecond) // no whole number of what times are kept in
	var inside []queue.Ticket
	for len(inside) < 30 {
		if in := d.enter(); in.Uncounted {
			inside = append(inside, in)
		}
	}
	s.Method, s.TotalActiveUsers = queue.FIFO, 100
	d.configure(s)
	d.pass(s.SessionDuration - time.Millisecond)
	before := d.stand().Active
	for _, in := range inside {
		require.Equal(t, room.Admitted, d.visit(in).Outcome)
	}
	n, err := d.room.CurrentNumbers(context.Background(), d.now.Time())
	require.NoError(t, err)
	assert.Equal(t, before+len(inside), n.Active)
}
