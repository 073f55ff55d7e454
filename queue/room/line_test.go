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

// full opens a room whose slots are all taken, by visitors who do not come back.
func full(t testing.TB, s queue.Settings) *door {
	t.Helper()
	d := open(t, s)
	for range s.TotalActiveUsers {
		d.enter()
	}
	return d
}

func TestNewcomerGetsAPlaceInLine(t *testing.T) {
	d := full(t, settings(1, 10))
	d.pass(7 * time.Second)
	got := d.arrive()
	assert.Equal(t, room.Queued, got.Outcome)
	assert.True(t, got.Issue)
	assert.Equal(t, queue.Ticket{State: queue.Waiting, ID: got.Ticket.ID, ArrivedAt: d.now, LastCheckIn: d.now, RefreshInterval: interval,
		BucketID: d.now.Floor(queue.ArrivalTime), CountedUntil: got.Ticket.CountedUntil}, got.Ticket)
	assert.Greater(t, got.Ticket.CountedUntil, got.Ticket.Due())
	assert.NotZero(t, got.Ticket.ID)
	assert.Equal(t, d.now.Add(interval), got.Ticket.Due())
	assert.Equal(t, 1, d.stand().Waiting)
}

func TestRefreshIntervalIsDrawnAnewAtEachCheckInWithinItsJitter(t *testing.T) {
	s := settings(1, 1)
	s.RefreshIntervalMax, s.RefreshJitter = s.RefreshInterval, .25
	d := full(t, s)
	waiting, drawn, sum := d.join(), map[time.Duration]bool{}, 0.0
	for range 200 {
		assert.InDelta(t, 20, waiting.RefreshInterval.Seconds(), 5)
		drawn[waiting.RefreshInterval] = true
		sum += waiting.RefreshInterval.Seconds()
		d.now = waiting.Due()
		waiting = d.waitsOrJoins(waiting)
	}
	assert.Len(t, drawn, 11, "the whole seconds from 15 to 25")
	assert.InDelta(t, 20, sum/200, 1, "the interval on the average")
}

func TestShortRefreshIntervalStaysWithinItsJitter(t *testing.T) {
	s := settings(1, 1)
	s.QueueAll, s.RefreshInterval, s.RefreshJitter = true, time.Second, .15
	d, drawn := open(t, s), map[time.Duration]bool{}
	for range 200 {
		drawn[d.join().RefreshInterval] = true
	}
	for interval := range drawn {
		assert.LessOrEqual(t, (interval - time.Second).Abs(), 150*time.Millisecond)
	}
	assert.Greater(t, len(drawn), 100)
}

func TestWhoAsksAllTheTimeChecksInNoMoreOftenThanTheyAreTold(t *testing.T) {
	for name, change := range map[string]func(*queue.Settings){
		"by default":                     func(*queue.Settings) {},
		"in random, with few to draw of": func(s *queue.Settings) { s.Method, s.RefreshInterval = queue.Random, 5*time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			s := settings(1, 1)
			s.QueueAll, s.RefreshJitter = true, .15
			change(&s)
			d := open(t, s)
			last := d.join()
			d.now = last.Due()
			last = d.visit(last).Ticket
			for range 2000 {
				d.pass(250 * time.Millisecond)
				got := d.visit(last).Ticket
				if got.LastCheckIn == last.LastCheckIn {
					continue
				}
				assert.GreaterOrEqual(t, got.LastCheckIn.Sub(last.LastCheckIn), queue.WholeSeconds(last.RefreshInterval))
				last = got
			}
		})
	}
}

// waitsOrJoins checks in and, should the visitor get in, joins with another.
func (d *door) waitsOrJoins(t queue.Ticket) queue.Ticket {
	d.Helper()
	got := d.visit(t)
	for got.Outcome == room.Admitted {
		got = d.arrive()
	}
	return got.Ticket
}

func TestCheckInKeepsThePlace(t *testing.T) {
	d := full(t, settings(1, 10))
	waiting := d.join()
	d.pass(interval)
	got := d.visit(waiting)
	assert.Equal(t, room.Queued, got.Outcome)
	assert.True(t, got.Issue)
	assert.Equal(t, waiting.ID, got.Ticket.ID)
	assert.Equal(t, waiting.ArrivedAt, got.Ticket.ArrivedAt)
	assert.Equal(t, d.now, got.Ticket.LastCheckIn)
	assert.Equal(t, 1, d.stand().Waiting)
}

func TestEarlyCheckInChangesNothing(t *testing.T) {
	d := full(t, settings(1, 10))
	waiting := d.join()
	for range 100 {
		d.pass(199 * time.Millisecond)
		got := d.visit(waiting)
		assert.Equal(t, room.Decision{Outcome: room.Queued, Ticket: waiting, Early: true}, got)
		assert.Equal(t, 1, d.stand().Waiting)
	}
}

func TestEarlyCheckInDrawsNoSlot(t *testing.T) {
	d := full(t, settings(1, 10))
	d.at(4*time.Minute + 50*time.Second)
	waiting := d.join()
	d.at(5*time.Minute + time.Second)
	require.Equal(t, 1, d.stand().Open)
	d.waits(waiting)
	d.now = waiting.Due()
	d.isIn(waiting)
}

func TestPresenceEndsWhenACheckInIsMissed(t *testing.T) {
	d := full(t, settings(1, 10))
	waiting := d.join()
	d.at(interval + 2*time.Second)
	assert.Equal(t, 1, d.stand().Waiting, "a little late is not too late")
	d.at(interval + 6*time.Second)
	assert.Zero(t, d.stand().Waiting)

	waiting = d.waits(waiting)
	assert.Equal(t, 1, d.stand().Waiting, "back, and counted again")
	assert.Equal(t, start, waiting.ArrivedAt)
}

func TestPlaceIsKeptForTheTicketsTTLAndNoLonger(t *testing.T) {
	d := full(t, settings(1, 10))
	first, second := d.join(), d.join()
	d.at(5*time.Minute - time.Millisecond)
	kept := d.waits(first)
	assert.Equal(t, start, kept.ArrivedAt)
	d.at(5 * time.Minute)
	lost := d.waitsOrJoins(second)
	assert.NotEqual(t, second.ID, lost.ID)
}

func TestPlaceIsNotLostBeforeTheCheckInThatWasTold(t *testing.T) {
	s := settings(1, 10)
	s.RefreshInterval, s.QueueTicketTTL, s.LineDropout = 2*time.Minute, 4*time.Minute, 6*time.Minute
	s.SessionDuration = time.Hour
	d := full(t, s)
	waiting := d.join()
	s.RefreshInterval, s.QueueTicketTTL = time.Second, 2*time.Second
	d.configure(s)
	d.now = waiting.Due()
	assert.Equal(t, waiting.ID, d.waits(waiting).ID)
}

func TestVisitorWhoComesBackIsAmongTheOldest(t *testing.T) {
	s := settings(2, 10)
	s.SessionDuration = 3 * time.Minute
	d := open(t, s)
	d.enter()
	d.at(time.Second)
	d.enter()
	first := d.join()
	d.at(2*time.Minute + 50*time.Second)
	second := d.join()
	d.at(3 * time.Minute)
	first = d.visit(first).Ticket
	assert.Equal(t, queue.Accepted, first.State, "the older of two, though away for a while")
	d.now = second.Due()
	d.isIn(second)
}

func TestHiddenPageIsCountedForAMinute(t *testing.T) {
	s := settings(1, 10)
	s.SessionDuration = time.Hour
	d := full(t, s)
	got := d.room.Visit(context.Background(), d.now.Time(), room.Request{Ask: room.Ask{By: room.HiddenPage}})
	require.Equal(t, room.Queued, got.Outcome)
	assert.Equal(t, interval, got.Ticket.RefreshInterval, "it may check in as soon as others")
	d.at(time.Minute)
	assert.Equal(t, 1, d.stand().Waiting)
	got = d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: got.Ticket, Ask: room.Ask{By: room.HiddenPage}})
	d.at(2 * time.Minute)
	assert.Equal(t, 1, d.stand().Waiting)
	d.waits(got.Ticket)
	d.at(2*time.Minute + 30*time.Second)
	assert.Zero(t, d.stand().Waiting, "looked at again, and then closed")
}

func TestVisitorWhoLeavesCountsNoMoreAndKeepsThePlace(t *testing.T) {
	d := full(t, settings(1, 10))
	waiting, _ := d.join(), d.join()
	d.room.Leave(d.now.Time(), waiting)
	d.room.Leave(d.now.Time(), waiting)
	assert.Equal(t, 1, d.stand().Waiting, "whoever says it twice has left once")
	d.pass(time.Second)
	assert.Equal(t, room.Decision{Outcome: room.Queued, Ticket: waiting, Early: true}, d.visit(waiting), "a reload is no check-in")
	assert.Equal(t, 2, d.stand().Waiting)
	d.visit(waiting)
	assert.Equal(t, 2, d.stand().Waiting)

	d.room.Leave(d.now.Time(), waiting)
	d.at(interval)
	back := d.waits(waiting)
	assert.Equal(t, waiting.ID, back.ID)
	assert.Equal(t, 2, d.stand().Waiting)
}

func TestGoodbyeOfNobodyPresentChangesNothing(t *testing.T) {
	d := full(t, settings(1, 10))
	waiting := d.join()
	stranger := waiting
	stranger.ID[0]++
	d.room.Leave(d.now.Time(), stranger)
	d.room.Leave(d.now.Time(), queue.Ticket{})
	d.room.Leave(d.now.Time(), queue.Ticket{State: queue.Accepted, ID: waiting.ID})
	assert.Equal(t, 1, d.stand().Waiting)
}

func TestRequestThatCannotWait(t *testing.T) {
	noWait := func(d *door, t queue.Ticket) room.Decision {
		return d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: t, Ask: room.Ask{Place: room.NoPlace}})
	}
	t.Run("takes a slot that is open to newcomers", func(t *testing.T) {
		d := open(t, settings(1, 10))
		assert.Equal(t, room.Admitted, noWait(d, queue.Ticket{}).Outcome)
	})
	t.Run("takes no place in line", func(t *testing.T) {
		d := full(t, settings(1, 10))
		assert.Equal(t, room.Decision{Outcome: room.Busy}, noWait(d, queue.Ticket{}))
		assert.Zero(t, d.stand().Waiting)
	})
	t.Run("leaves the check-in of someone who waits as it was", func(t *testing.T) {
		d := full(t, settings(1, 10))
		waiting := d.join()
		d.pass(interval)
		assert.Equal(t, room.Decision{Outcome: room.Busy, Ticket: waiting}, noWait(d, waiting))
		assert.Equal(t, 1, d.stand().Waiting)
	})
	t.Run("of someone who is in passes, with an older ticket too", func(t *testing.T) {
		d := full(t, settings(1, 10))
		waiting := d.join()
		d.at(5*time.Minute - time.Second)
		waiting = d.waits(waiting)
		d.at(5*time.Minute + interval)
		in := d.isIn(waiting)
		assert.Equal(t, room.Admitted, noWait(d, in).Outcome)
		assert.Equal(t, room.Admitted, noWait(d, waiting).Outcome)
	})
	t.Run("of someone whose place has ended is a newcomer's", func(t *testing.T) {
		d := full(t, settings(1, 10))
		waiting := d.join()
		d.at(30*time.Minute + time.Second)
		assert.Equal(t, room.Admitted, noWait(d, waiting).Outcome)
	})
}

func TestTicketFromTheFutureIsNotTrusted(t *testing.T) {
	d := full(t, settings(1, 10))
	waiting := d.join()
	waiting.LastCheckIn = d.now.Add(59 * time.Second)
	assert.Equal(t, waiting.ID, d.waits(waiting).ID)
	waiting.LastCheckIn = d.now.Add(61 * time.Second)
	assert.NotEqual(t, waiting.ID, d.waits(waiting).ID)
}

func TestVisitorIsServedByAGateThatHasNeverSeenThem(t *testing.T) {
	store := memstore.New()
	d := openOn(t, settings(1, 10), store)
	other := openOn(t, settings(1, 10), store)
	in, waiting := d.enter(), d.join()
	other.isIn(in)
	d.at(interval)
	other.at(interval)
	assert.Equal(t, waiting.ID, other.waits(waiting).ID)
}

func TestBucketsNeedNotBeWholeMinutes(t *testing.T) {
	for _, bucket := range []time.Duration{time.Second, 1500 * time.Millisecond, 7 * time.Second, time.Hour} {
		s := settings(1, 10)
		s.Bucket = bucket
		d := full(t, s)
		d.pass(1600 * time.Millisecond)
		waiting := d.join()
		d.at(5*time.Minute - 10*time.Second)
		waiting = d.waits(waiting)
		d.at(5*time.Minute + interval)
		d.isIn(waiting)
		assert.Zero(t, d.stand().Waiting, "%v: let in, and out of the line", bucket)
	}
}

func TestChangedBucketsTakeNobodyElseAway(t *testing.T) {
	s := settings(1, 10)
	d := full(t, s)
	d.at(30 * time.Second)
	waiting := d.joins(3)
	s.Bucket = 10 * time.Second
	d.configure(s)
	d.joins(3) // in another bucket than the others, who arrived at the same moment
	d.at(50 * time.Second)
	for _, w := range waiting {
		d.waits(w)
	}
	buckets := d.stand().Buckets
	assert.Equal(t, queue.BucketCount{Bucket: start.Add(30 * time.Second), Waiting: 6}, buckets[len(buckets)-1].BucketCount)
	d.at(65 * time.Second)
	assert.Equal(t, 3, d.stand().Waiting)
}
