package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// start is a whole minute.
var start = queue.At(time.Date(2021, 5, 27, 15, 54, 0, 0, time.UTC))

func newRoom(t testing.TB, s queue.Settings, store queue.Store) *room.Room {
	t.Helper()
	return openOn(t, s, store).room
}

// door is a room, and the time at its door.
type door struct {
	testing.TB
	room *room.Room
	now  queue.Instant
}

// open opens a room on an empty store.
func open(t testing.TB, s queue.Settings) *door {
	t.Helper()
	return openOn(t, s, memstore.New())
}

func openOn(t testing.TB, s queue.Settings, store queue.Store) *door {
	t.Helper()
	return openWith(t, room.Config{Settings: s, Store: store})
}

// openWith opens a room that is made of c, whose clock is the time at the door
// unless it has another.
func openWith(t testing.TB, c room.Config) *door {
	t.Helper()
	d := &door{TB: t, now: start}
	c.Name = "shop"
	if c.Clock == nil {
		c.Clock = func() time.Time { return d.now.Time() }
	}
	var err error
	d.room, err = room.New(context.Background(), start.Time(), c)
	require.NoError(t, err)
	return d
}

// pass lets time go by, and the room sync before and after.
func (d *door) pass(by time.Duration) {
	d.Helper()
	d.sync()
	d.now = d.now.Add(by)
	d.sync()
}

// at goes to so long after start.
func (d *door) at(after time.Duration) {
	d.Helper()
	d.pass(start.Add(after).Sub(d.now))
}

func (d *door) sync() {
	d.Helper()
	require.NoError(d, d.room.Sync(context.Background(), d.now.Time()))
}

// visit brings a ticket.
func (d *door) visit(t queue.Ticket) room.Decision {
	return d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: t})
}

// arrive brings none.
func (d *door) arrive() room.Decision { return d.visit(queue.Ticket{}) }

// enter lets a newcomer in.
func (d *door) enter() queue.Ticket {
	d.Helper()
	got := d.arrive()
	require.Equal(d, room.Admitted, got.Outcome)
	return got.Ticket
}

// join gives a newcomer a place in line.
func (d *door) join() queue.Ticket {
	d.Helper()
	got := d.arrive()
	require.Equal(d, room.Queued, got.Outcome)
	return got.Ticket
}

// joins gives so many newcomers places in line.
func (d *door) joins(people int) []queue.Ticket {
	d.Helper()
	tickets := make([]queue.Ticket, people)
	for i := range tickets {
		tickets[i] = d.join()
	}
	return tickets
}

// waits checks a waiting ticket in that does not get in, and returns its
// successor.
func (d *door) waits(t queue.Ticket) queue.Ticket {
	d.Helper()
	got := d.visit(t)
	require.Equal(d, room.Queued, got.Outcome)
	return got.Ticket
}

// isIn brings a ticket that gets in, and returns its successor.
func (d *door) isIn(t queue.Ticket) queue.Ticket {
	d.Helper()
	got := d.visit(t)
	require.Equal(d, room.Admitted, got.Outcome)
	require.Equal(d, t.ID, got.Ticket.ID)
	return got.Ticket
}

// stand tells how the room stands now.
func (d *door) stand() *estimate.Numbers {
	d.Helper()
	n, err := d.room.CurrentNumbers(context.Background(), d.now.Time())
	require.NoError(d, err)
	return n
}

func (d *door) configure(s queue.Settings) {
	d.Helper()
	require.NoError(d, d.room.Configure(context.Background(), d.now.Time(), queue.Configuration{Settings: s}))
	d.sync()
}

// settings are limits with the defaults, without jitter.
func settings(total, perMinute int) queue.Settings {
	return queue.Settings{TotalActiveUsers: total, NewUsersPerMinute: perMinute, Pacing: queue.PacingMinute}.WithDefaults()
}

const interval = 20 * time.Second // the default refresh interval
