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
	_, found := d.recall(left)
	assert.False(t, found)
	d.isIn(next)
}
