package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// checkIn has the visitor of a ticket check in without asking to be let in.
func (d *door) checkIn(t queue.Ticket) room.Decision {
	return d.room.CheckIn(context.Background(), d.now.Time(), room.Request{Ticket: t})
}

func TestCheckInKeepsAPlaceAndTheVisitorCounted(t *testing.T) {
	d := open(t, settings(1, 10))
	in := d.enter()
	first := d.join()
	d.pass(time.Minute)
	second := d.join()
	for range 60 { // far beyond what a place outlives
		d.pass(interval)
		in = d.isIn(in)
		got := d.checkIn(first)
		require.Equal(t, room.Queued, got.Outcome)
		require.Equal(t, first.ArrivedAt, got.Ticket.ArrivedAt)
		first, second = got.Ticket, d.waits(second)
		require.Equal(t, 2, d.stand().Waiting)
	}
	d.room.Revoke(d.now.Time(), in)
	d.pass(interval)
	d.waits(second)
	d.isIn(first)
}

func TestACheckInAloneIsEarlyIfAnotherCameJustBefore(t *testing.T) {
	d := open(t, settings(1, 10))
	d.enter()
	t0 := d.join()
	d.pass(interval)
	first := d.checkIn(t0)
	d.pass(interval)
	in := d.checkIn(first.Ticket)
	require.False(t, in.Early, "a whole interval has passed")
	for range 3 {
		d.pass(time.Second)
		require.True(t, d.checkIn(in.Ticket).Early)
		require.True(t, d.checkIn(t0).Early, "with an old ticket, too")
	}
	d.pass(interval)
	assert.False(t, d.checkIn(in.Ticket).Early)
}

func TestSlotIsNotKeptForWhoOnlyChecksIn(t *testing.T) {
	d := open(t, settings(1, 10))
	in := d.enter()
	first := d.join()
	d.pass(time.Minute)
	first = d.checkIn(first).Ticket
	second := d.join()
	d.room.Revoke(d.now.Time(), in)
	for waited := time.Duration(0); ; waited += interval {
		require.Less(t, waited, 4*interval, "the slot goes to the next")
		d.pass(interval)
		got := d.checkIn(first)
		require.Equal(t, room.Queued, got.Outcome)
		first = got.Ticket
		got = d.visit(second)
		if second = got.Ticket; got.Outcome == room.Admitted {
			break
		}
	}
	assert.Equal(t, first.ArrivedAt, d.waits(first).ArrivedAt, "who keeps their place")
}

// However requests and check-ins are mixed: check-ins let nobody in, and people are counted once.
func TestCheckInsLetNobodyInAndCountNobodyTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := settings(2, 10)
		s.Method = rapid.SampledFrom([]queue.Method{queue.FIFO, queue.Random, queue.Line}).Draw(rt, "method")
		d := open(t, s)
		d.enter()
		d.enter()
		tickets := d.joins(4)
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			d.pass(time.Duration(rapid.IntRange(0, 25).Draw(rt, "seconds")) * time.Second)
			i := rapid.IntRange(0, 3).Draw(rt, "visitor")
			before := tickets[i]
			if rapid.Bool().Draw(rt, "checks in only") {
				got := d.checkIn(before)
				if before.State == queue.Waiting {
					require.NotEqual(rt, queue.Accepted, got.Ticket.State)
				}
				if got.Issue {
					tickets[i] = got.Ticket
				}
			} else {
				tickets[i] = d.visit(before).Ticket
			}
			n := d.stand()
			require.LessOrEqual(rt, n.Active, 2)
			require.LessOrEqual(rt, n.Waiting, 4)
			require.GreaterOrEqual(rt, n.Waiting, 0)
		}
	})
}

// openStore opens the store in a directory, which may be open in a process that has crashed.
func openStore(t *testing.T, dir string) *memstore.Store {
	t.Helper()
	store, err := memstore.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestAVisitorOfWhoseCountACrashLeftNothingTakesNobodyOutOfTheCounts(t *testing.T) {
	dir := t.TempDir()
	d := openOn(t, settings(1, 10), openStore(t, dir))
	d.sync()
	d.enter()
	d.now = start.Add(100 * time.Millisecond)
	lost := d.join()
	d.now = start.Add(120 * time.Millisecond)
	again := &door{TB: t, now: d.now}
	var err error
	again.room, err = room.New(t.Context(), d.now.Time(), room.Config{Name: "shop", Settings: settings(1, 10), Store: openStore(t, dir)})
	require.NoError(t, err)
	again.join()
	again.now = lost.Due()
	again.waits(lost)
	assert.Equal(t, 2, again.stand().Waiting)
}
