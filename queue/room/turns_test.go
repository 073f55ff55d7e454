package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// calls brings a ticket whose turn is said to have come.
func (d *door) calls(t queue.Ticket) room.Decision {
	return d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: t, Ask: room.Ask{Prompt: room.Called}})
}

// freeing has one who is in leave, and the room hear of it.
func (d *door) freeing(in queue.Ticket) {
	d.Helper()
	d.room.Revoke(d.now.Time(), in)
	d.sync()
}

func TestWhoIsCalledChecksInBeforeTheirTimeOnce(t *testing.T) {
	d := open(t, settings(1, 10))
	in := d.enter()
	waiting := d.join()
	d.pass(time.Second)

	got := d.calls(waiting)
	require.Equal(t, room.Queued, got.Outcome, "there was no slot")
	assert.Equal(t, d.now, got.Ticket.LastCheckIn)
	assert.Equal(t, 1, d.stand().Waiting, "they are counted once")
	d.pass(time.Second)
	d.freeing(in)
	for _, ticket := range []queue.Ticket{waiting, got.Ticket} {
		again := d.calls(ticket)
		assert.Equal(t, room.Queued, again.Outcome, "not twice until they are due, whichever ticket they show")
		assert.Equal(t, 1, d.stand().Waiting)
	}
	d.now = got.Ticket.Due()
	d.isIn(got.Ticket)
}

func TestACallHoldsAgainAfterACheckInThatWasDue(t *testing.T) {
	d := open(t, settings(1, 10))
	in := d.enter()
	called := d.calls(d.join()).Ticket
	d.pass(interval)
	called = d.waits(called)
	d.pass(time.Second)
	d.freeing(in)
	got := d.calls(called)
	assert.Equal(t, room.Admitted, got.Outcome)
	assert.Equal(t, called.ID, got.Ticket.ID)
}

func TestACallIsNothingInRandom(t *testing.T) {
	s := settings(1, 10)
	s.Method = queue.Random
	d := open(t, s)
	in := d.enter()
	waiting := d.join()
	d.pass(time.Second)
	d.freeing(in)
	assert.Equal(t, room.Decision{Outcome: room.Queued, Ticket: waiting, Early: true}, d.calls(waiting))
	assert.True(t, d.room.Turns().None())
}

func TestTurnsInFifoAreOfTheBucketsThatSlotsAreKeptFor(t *testing.T) {
	s := settings(3, 100)
	s.Bucket = time.Second
	d := open(t, s)
	in := []queue.Ticket{d.enter(), d.enter(), d.enter()}
	first := d.joins(2)[0].ArrivedAt
	d.pass(time.Second)
	second := d.joins(2)[0].ArrivedAt
	d.pass(time.Second)
	third := d.join().ArrivedAt
	d.sync()
	assert.True(t, d.room.Turns().None(), "no slot is open")

	slots := func(arrived queue.Instant) int {
		bucket, n := d.room.Turns().Slots(arrived)
		if n > 0 {
			assert.Equal(t, arrived.Floor(time.Second), bucket)
		}
		return n
	}
	for _, c := range []struct{ first, second, third int }{{1, 0, 0}, {2, 0, 0}, {2, 1, 0}} {
		d.freeing(in[0])
		in = in[1:]
		assert.Equal(t, []int{c.first, c.second, c.third}, []int{slots(first), slots(second), slots(third)})
	}
	d.room.Pause(true)
	assert.True(t, d.room.Turns().None(), "nobody is called while the origin does not answer")
	d.room.Pause(false)
	s.QueueAll = true
	d.configure(s)
	assert.True(t, d.room.Turns().None())
}

func TestCalledVisitorsEnterInTheOrderOfTheLine(t *testing.T) {
	s := settings(1, 100)
	s.Bucket = time.Second
	d := open(t, s)
	in := d.enter()
	first := d.join()
	d.pass(2 * time.Second)
	second := d.join()
	d.pass(time.Second)
	d.freeing(in)
	require.Equal(t, room.Queued, d.calls(second).Outcome, "the slot is kept for the first")
	require.Equal(t, room.Admitted, d.calls(first).Outcome)
}
