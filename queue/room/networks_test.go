package room_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

var (
	school = netip.MustParsePrefix("192.0.2.0/24")
	home   = netip.MustParsePrefix("198.51.100.0/24")
)

// from brings a ticket, or none, from a network.
func (d *door) from(network netip.Prefix, t queue.Ticket) room.Decision {
	return d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: t, Network: network})
}

// crowdOf fills a room in which two of a network may wait, and has three of the school wait.
func crowdOf(t *testing.T, method queue.Method) (d *door, in queue.Ticket, waiting []queue.Ticket) {
	s := settings(1, 100)
	s.MaxWaitingPerNetwork, s.Method, s.Bucket = 2, method, time.Second
	d = open(t, s)
	in = d.from(school, queue.Ticket{}).Ticket
	for range 3 {
		got := d.from(school, queue.Ticket{})
		require.Equal(t, room.Queued, got.Outcome)
		waiting = append(waiting, got.Ticket)
		d.pass(time.Second)
	}
	return d, in, waiting
}

func TestOnlySoManyOfANetworkCountInLine(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line} {
		t.Run(method.String(), func(t *testing.T) {
			d, in, waiting := crowdOf(t, method)
			assert.Equal(t, 2, d.stand().Waiting)
			other := d.from(home, queue.Ticket{}).Ticket
			assert.Equal(t, 3, d.stand().Waiting)
			if method.Draws() {
				return // their intervals are drawn
			}
			d.pass(interval)
			for i, ticket := range waiting {
				waiting[i] = d.from(school, ticket).Ticket
			}
			assert.Equal(t, 3, d.stand().Waiting)
			other = d.from(home, other).Ticket
			d.pass(interval)
			d.room.Revoke(d.now.Time(), in)
			d.sync()
			assert.Equal(t, room.Queued, d.from(school, waiting[2]).Outcome, "who is beyond is behind everybody")
			assert.Equal(t, room.Queued, d.from(home, other).Outcome)
			assert.Equal(t, room.Admitted, d.from(school, waiting[0]).Outcome)
		})
	}
}

func TestWhoIsBeyondCountsWhenAnotherOfTheirNetworkHasGoneIn(t *testing.T) {
	d, in, waiting := crowdOf(t, queue.FIFO)
	d.room.Revoke(d.now.Time(), in)
	d.pass(interval - time.Second)
	require.Equal(t, room.Admitted, d.from(school, waiting[0]).Outcome)
	d.from(school, waiting[1])
	d.pass(time.Second)
	got := d.from(school, waiting[2])
	assert.Equal(t, waiting[2].ID, got.Ticket.ID)
	assert.Equal(t, 2, d.stand().Waiting)
}

func TestWhoIsBeyondCountsWhenAnotherOfTheirNetworkHasGone(t *testing.T) {
	d, _, waiting := crowdOf(t, queue.FIFO)
	d.pass(interval + 6*time.Second)
	d.from(school, waiting[1])
	d.from(school, waiting[2])
	assert.Equal(t, 2, d.stand().Waiting)
	assert.Equal(t, room.Queued, d.from(school, waiting[0]).Outcome)
	assert.Equal(t, 2, d.stand().Waiting)
}

func TestWhoIsBeyondEntersOnceNobodyElseWaits(t *testing.T) {
	d, in, waiting := crowdOf(t, queue.FIFO)
	for _, ticket := range waiting[:2] {
		d.room.Leave(d.now.Time(), ticket)
	}
	d.room.Revoke(d.now.Time(), in)
	d.pass(interval)
	got := d.from(school, waiting[2])
	assert.Equal(t, room.Admitted, got.Outcome)
	assert.Equal(t, waiting[2].ID, got.Ticket.ID)
	assert.Equal(t, 1, d.stand().Active)
}

func TestWhoIsBeyondHasNoPlaceToGoBackTo(t *testing.T) {
	s := claiming(1)
	s.MaxWaitingPerNetwork = 1
	d := open(t, s)
	in := d.from(home, queue.Ticket{}).Ticket
	counts, beyond := d.from(school, queue.Ticket{}).Ticket, d.from(school, queue.Ticket{}).Ticket
	d.room.Leave(d.now.Time(), counts)
	d.room.Revoke(d.now.Time(), in)
	d.pass(interval)
	got := d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: beyond, Network: school, Ask: room.Ask{By: room.HiddenPage}})
	require.Equal(t, room.Kept, got.Outcome)
	d.pass(time.Minute + time.Second)
	d.from(home, queue.Ticket{})
	other := d.from(home, queue.Ticket{}).Ticket
	d.pass(time.Second)
	assert.Greater(t, d.from(school, got.Ticket).Ticket.ArrivedAt, other.ArrivedAt)
}

func TestANetworkThatIsNotKnownIsNotLimited(t *testing.T) {
	s := settings(1, 100)
	s.MaxWaitingPerNetwork = 1
	d := open(t, s)
	d.enter()
	d.joins(3)
	assert.Equal(t, 3, d.stand().Waiting)
}

func TestThoseOfANetworkWhoGoBackToTheirPlacesCountAsTheOthersDo(t *testing.T) {
	s := claiming(1)
	s.MaxWaitingPerNetwork, s.Bucket = 1, time.Second
	d := open(t, s)
	hidden := func(ticket queue.Ticket) room.Decision {
		return d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: ticket, Network: school, Ask: room.Ask{By: room.HiddenPage}})
	}
	var late []queue.Ticket
	for range 3 { // one after the other waits, and leaves a slot that is kept for them
		in := d.from(home, queue.Ticket{}).Ticket
		waiting := d.from(school, queue.Ticket{}).Ticket
		d.room.Revoke(d.now.Time(), in)
		d.pass(interval)
		got := hidden(waiting)
		require.Equal(t, room.Kept, got.Outcome)
		late = append(late, got.Ticket)
		d.pass(time.Minute + time.Second)
	}
	d.from(home, queue.Ticket{})
	other := d.from(home, queue.Ticket{}).Ticket
	for i, ticket := range late {
		got := d.from(school, ticket)
		assert.Equal(t, room.Queued, got.Outcome)
		late[i] = got.Ticket
	}
	assert.Equal(t, 2, d.stand().Waiting)
	assert.Less(t, late[0].ArrivedAt, other.ArrivedAt)
	assert.GreaterOrEqual(t, late[1].ArrivedAt, other.ArrivedAt)
}
