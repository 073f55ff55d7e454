package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// absent is a check-in for a visitor who has left.
func (d *door) absent(t queue.Ticket) room.Decision {
	return d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: t, Ask: room.Ask{By: room.StandIn}})
}

func (d *door) recall(t queue.Ticket) (queue.Ticket, bool) {
	return d.room.Recall(context.Background(), d.now.Time(), room.Request{Ticket: t})
}

func TestASlotIsKeptForWhoIsAbsentAndTakenWithTheOldTicketAtAnyNode(t *testing.T) {
	store := memstore.NewShared(2 * time.Second)
	d, other := openOn(t, claiming(1), store), openOn(t, claiming(1), store)
	both := func(by time.Duration) {
		d.pass(by)
		other.pass(by)
	}
	in := d.enter()
	left := d.join()
	both(interval)
	ticket := d.absent(left).Ticket
	require.Equal(t, queue.Waiting, ticket.State)
	_, found := other.recall(left)
	require.False(t, found, "it is not their turn")
	d.room.Revoke(d.now.Time(), in)
	both(10 * time.Second)
	both(10 * time.Second)
	kept := d.absent(ticket)
	require.Equal(t, room.Kept, kept.Outcome)
	assert.Equal(t, d.now.Add(time.Minute), kept.Ticket.Expires)
	both(30 * time.Second)
	back, found := other.recall(left)
	require.True(t, found)
	assert.Equal(t, room.Admitted, other.visit(back).Outcome)
	both(40 * time.Second)
	assert.Equal(t, 1, d.stand().Active, "the session is a whole one")
}

func TestASlotOfWhoStaysAbsentGoesOn(t *testing.T) {
	d := open(t, claiming(1))
	in := d.enter()
	left := d.join()
	d.pass(2 * time.Second)
	next := d.join()
	d.room.Revoke(d.now.Time(), in)
	d.pass(time.Minute)
	require.Equal(t, room.Kept, d.absent(left).Outcome)
	d.pass(time.Minute + time.Second)
	d.isIn(next)
	back, _ := d.recall(left)
	d.waits(back)
}

// fixed are settings in which a slot is kept for a minute, and sessions of five minutes are not
// renewed.
func fixed() queue.Settings {
	s := claiming(1)
	s.DisableSessionRenewal = true
	return s
}

// called is somebody who has left and for whom a slot is kept now, with the ticket that they have.
func (d *door) called() queue.Ticket {
	d.Helper()
	in, left := d.enter(), d.join()
	d.pass(interval)
	d.room.Revoke(d.now.Time(), in)
	d.pass(10 * time.Second)
	require.Equal(d, room.Kept, d.absent(left).Outcome)
	return left
}

func TestAFixedSessionIsAWholeOneForWhoComesByThemselvesWhileASlotIsKept(t *testing.T) {
	for name, looks := range map[string]func(d *door, t queue.Ticket) queue.Ticket{
		"with the ticket with which they left": func(_ *door, t queue.Ticket) queue.Ticket { return t },
		"with a page that was hidden":          func(d *door, t queue.Ticket) queue.Ticket { return d.polls(t).Ticket },
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, fixed())
			left := d.called()
			accepted := d.now
			d.pass(50 * time.Second)
			in := d.isIn(looks(d, left))
			assert.Equal(t, accepted.Add(5*time.Minute), in.Expires)
			d.pass(4 * time.Minute)
			d.isIn(in)
			d.pass(11 * time.Second)
			assert.Equal(t, 0, d.stand().Active)
		})
	}
}

func TestTheOldTicketLetsNobodyStayBeyondAFixedSession(t *testing.T) {
	d := open(t, fixed())
	left := d.called()
	for range 5 {
		d.pass(50 * time.Second)
		d.isIn(left)
	}
	d.pass(51 * time.Second)
	assert.Equal(t, 0, d.stand().Active)
}

func TestWhoIsInWithAnOldTicketStaysInWhileTheStoreFails(t *testing.T) {
	d, store := openFallible(t, fixed(), queue.Hold)
	left := d.called()
	d.pass(time.Second)
	store.fail(errGone, nil)
	d.isIn(left)
	d.isIn(left)
}

func TestAStandInIsToldWhetherTheSlotIsOnlyKept(t *testing.T) {
	for name, s := range map[string]queue.Settings{"fixed": fixed(), "renewed": claiming(1)} {
		t.Run(name, func(t *testing.T) {
			d := open(t, s)
			left := d.called()
			d.pass(time.Second)
			again := d.absent(left)
			require.Equal(t, room.Kept, again.Outcome)
			assert.True(t, again.Ticket.Leased)
			d.isIn(left)
			d.pass(4*time.Minute + 30*time.Second)
			again = d.absent(left)
			require.Equal(t, room.Kept, again.Outcome)
			assert.False(t, again.Ticket.Leased, "they are in")
		})
	}
}

func TestWhoIsCalledAndComesLateToAnotherNodeHasTheirPlace(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Line} {
		t.Run(method.String(), func(t *testing.T) {
			s := claiming(1)
			s.Method = method
			store := memstore.NewShared(2 * time.Second)
			d, other := openOn(t, s, store), openOn(t, s, store)
			both := func(by time.Duration) {
				d.pass(by)
				other.pass(by)
			}
			in := d.enter()
			left := d.join()
			both(interval)
			d.room.Revoke(d.now.Time(), in)
			both(10 * time.Second)
			require.Equal(t, room.Kept, d.absent(left).Outcome)
			both(time.Minute + 3*time.Second)
			taker := other.enter()
			last := other.join()
			both(2 * time.Second)
			back, found := other.recall(left)
			require.True(t, found)
			back = other.waits(back)
			assert.Equal(t, left.ArrivedAt, back.ArrivedAt)
			both(interval)
			other.room.Revoke(other.now.Time(), taker)
			both(10 * time.Second)
			other.waits(last)
			both(10 * time.Second)
			other.isIn(back)

			t.Log("once they have used their place, it is worth nothing")
			both(5*time.Minute + time.Second)
			_, found = other.recall(back)
			assert.False(t, found)
		})
	}
}

func TestAPlaceIsWorthNothingToWhoHasHadTheirSession(t *testing.T) {
	s := claiming(1)
	s.MaxSession = 2 * time.Minute
	d := open(t, s)
	left := d.called()
	d.pass(time.Second)
	kept, found := d.recall(left)
	require.True(t, found)
	in := d.isIn(kept)
	d.pass(time.Minute + 10*time.Second)
	d.isIn(in)
	d.pass(50 * time.Second)
	_, found = d.recall(left)
	assert.False(t, found, "with the ticket that they had when they left")
	d.enter()
	again := d.waits(kept)
	assert.Equal(t, d.now, again.ArrivedAt, "with the ticket of the slot that was kept")
}
