package room_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// closed opens a room that takes people into line only, and lets so many join
// in each of the given minutes.
func closed(t testing.TB, s queue.Settings, people ...int) (*door, [][]queue.Ticket) {
	t.Helper()
	s.QueueAll = true
	d := open(t, s)
	line := make([][]queue.Ticket, len(people))
	for minute, n := range people {
		if minute > 0 {
			d.wait(aMinute, line[:minute]...)
		}
		line[minute] = d.joins(n)
	}
	return d, line
}

// aMinute is as many intervals as a minute has.
const aMinute = int(time.Minute / interval)

// wait passes so many intervals with their check-ins, in which later lines go
// before earlier ones, and returns how many of each line got in.
func (d *door) wait(intervals int, lines ...[]queue.Ticket) []int {
	d.Helper()
	in := make([]int, len(lines))
	for range intervals {
		d.pass(interval)
		for i, line := range slices.Backward(lines) {
			in[i] += d.checkIns(line)
		}
	}
	return in
}

// waitBySeconds is wait for a minute in which nobody is late, whatever interval they
// were told.
func (d *door) waitBySeconds(lines ...[]queue.Ticket) []int {
	d.Helper()
	in := make([]int, len(lines))
	for range int(time.Minute / time.Second) {
		d.pass(time.Second)
		for i, line := range slices.Backward(lines) {
			in[i] += d.checkIns(line)
		}
	}
	return in
}

// checkIns checks in those who are due and returns who got in.
func (d *door) checkIns(tickets []queue.Ticket) int {
	d.Helper()
	in := 0
	for i, t := range tickets {
		if t.State == queue.Waiting {
			tickets[i] = d.visit(t).Ticket
			if tickets[i].State == queue.Accepted {
				in++
			}
		}
	}
	return in
}

func TestFIFOLetsEarlierBucketsInFirst(t *testing.T) {
	s := settings(100, 3)
	d, line := closed(t, s, 4, 4, 4)
	d.wait(aMinute-1, line...) // so that the next check-ins are the first of a minute
	d.configure(s)
	for _, want := range [][]int{{3, 0, 0}, {1, 2, 0}, {0, 2, 1}, {0, 0, 3}, {0, 0, 0}} {
		assert.Equal(t, want, d.wait(aMinute, line...))
	}
}

func TestRandomGivesAllWhoCheckInTheSameChanceWheneverTheyArrived(t *testing.T) {
	// 300 early and 300 late, in the order of a lottery; 300 slots.
	s := settings(300, 300)
	s.Method = queue.Random
	s.RefreshJitter = .15
	early := 0
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		d, line := closed(t, s, 300, 300)
		s.Pacing = queue.PacingMinute
		d.configure(s)
		everyone := slices.Concat(line[0], line[1])
		d.pass(time.Minute)
		rnd.Shuffle(len(everyone), func(i, j int) { everyone[i], everyone[j] = everyone[j], everyone[i] })
		require.Equal(t, 300, d.checkIns(everyone))
		for _, ticket := range everyone {
			if ticket.State == queue.Accepted && ticket.AcceptedAt > 0 {
				early += arrivedEarly(line[0], ticket)
			}
		}
	}
	// 6,000 winners out of 12,000: the standard deviation is below 39.
	assert.InDelta(t, 3000, early, 4*39)
}

func arrivedEarly(early []queue.Ticket, t queue.Ticket) int {
	for _, e := range early {
		if e.ID == t.ID {
			return 1
		}
	}
	return 0
}

func TestNewcomerDrawsNothingInRandomWhilePeopleWait(t *testing.T) {
	s := settings(5, 100)
	s.Method, s.Pacing = queue.Random, queue.PacingMinute
	d, line := closed(t, s, 5)
	d.configure(s)
	for range 50 {
		assert.Equal(t, room.Queued, d.arrive().Outcome)
	}
	d.pass(3 * interval)
	assert.Equal(t, 5, d.checkIns(line[0]))
}

func TestPassthroughLetsEveryoneInCountedUpToFourTimesTheLimit(t *testing.T) {
	s := settings(5, 1)
	s.Method = queue.Passthrough
	d := open(t, s)
	uncounted := 0
	var last queue.Ticket
	for range 30 {
		last = d.enter()
		if last.Uncounted {
			uncounted++
		}
	}
	assert.Equal(t, 10, uncounted)
	assert.Equal(t, 20, d.stand().Active)
	assert.False(t, d.stand().Queueing())

	d.pass(5*time.Minute - time.Millisecond)
	assert.Equal(t, room.Decision{Outcome: room.Admitted, Ticket: last}, d.visit(last))
	d.pass(time.Second)
	assert.False(t, d.isIn(last).Uncounted, "counted when it comes back and there is room")
	assert.Equal(t, 1, d.stand().Active)
}

func TestPassthroughLetsThoseWhoWaitedIn(t *testing.T) {
	s := settings(1, 1)
	d, line := closed(t, s, 10)
	s.Method = queue.Passthrough
	d.configure(s)
	sends := d.room.Visit(t.Context(), d.now.Time(), room.Request{Ticket: line[0][0], Ask: room.Ask{Place: room.NoPlace}})
	assert.Equal(t, room.Admitted, sends.Outcome, "with a form, and before they are due")
	assert.Equal(t, 10, d.checkIns(line[0]))
	assert.Zero(t, d.stand().Waiting, "the uncounted wait no more either")
}

func TestRejectTakesNobodyAndEndsPlaces(t *testing.T) {
	s := settings(1, 10)
	d := open(t, s)
	in, waiting := d.enter(), d.join()
	s.Method = queue.Reject
	d.configure(s)
	assert.Equal(t, room.Decision{Outcome: room.Rejected}, d.arrive())
	assert.Equal(t, room.Decision{Outcome: room.Rejected, Drop: true}, d.visit(waiting))
	got := d.room.Visit(t.Context(), d.now.Time(), room.Request{Ticket: waiting, Ask: room.Ask{Place: room.NoPlace}})
	assert.Equal(t, room.Decision{Outcome: room.Rejected, Drop: true}, got)
	assert.Zero(t, d.stand().Waiting)
	d.isIn(in)
	d.pass(6 * time.Minute)
	assert.Equal(t, room.Decision{Outcome: room.Rejected, Drop: true}, d.visit(in))
}

func TestQueueAllKeepsEveryoneInLineWhateverTheMethod(t *testing.T) {
	for method := queue.FIFO; method <= queue.Reject; method++ {
		s := settings(10, 10)
		d := open(t, s)
		in := d.enter()
		s.Method, s.QueueAll = method, true
		d.configure(s)
		waiting := d.join()
		d.pass(interval)
		waiting = d.waits(waiting)
		d.isIn(in)
		n := d.stand()
		assert.Equal(t, 1, n.Waiting, method.String())
		assert.True(t, n.Queueing(), method.String())
		assert.False(t, n.Wait(waiting.ArrivedAt).Known, method.String())
		d.pass(6 * time.Minute)
		assert.Equal(t, room.Queued, d.visit(in).Outcome, "%v: a session that has ended takes no new slot", method)
	}
}

func TestFromFIFOToRandomAndBackKeepsTheOrderOfArrival(t *testing.T) {
	s := settings(100, 1)
	d, line := closed(t, s, 3, 3)
	s.Method, s.Pacing = queue.Random, queue.PacingMinute
	d.wait(aMinute-1, line...) // so that the next check-ins are the first of a minute
	d.configure(s)
	assert.Equal(t, []int{0, 1}, d.waitBySeconds(line...), "in random a late one may be first")
	s.Method = queue.FIFO
	d.configure(s)
	for _, want := range [][]int{{1, 0}, {1, 0}, {1, 0}, {0, 1}, {0, 1}, {0, 0}} {
		assert.Equal(t, want, d.waitBySeconds(line...))
	}
}

func TestOldTicketsOfSomeoneWhoWaitsGainNothing(t *testing.T) {
	s := settings(1, 10)
	s.SessionDuration = time.Hour
	d := full(t, s)
	old := []queue.Ticket{d.join()}
	for range 5 {
		d.pass(interval)
		old = append(old, d.waits(old[len(old)-1]))
	}
	d.pass(time.Second)
	for range 3 {
		for _, ticket := range old {
			got := d.visit(ticket)
			assert.Equal(t, room.Queued, got.Outcome)
			assert.Equal(t, old[5].Due(), got.Ticket.Due(), "due when they are, not before")
			assert.Equal(t, old[0].ArrivedAt, got.Ticket.ArrivedAt)
		}
	}
	assert.Equal(t, 1, d.stand().Waiting)
	d.room.Leave(d.now.Time(), old[0])
	assert.Zero(t, d.stand().Waiting, "counted once, so one goodbye is enough")
}

func TestPlaceThatWasUsedCannotBeUsedAgain(t *testing.T) {
	for name, stall := range map[string]time.Duration{
		"at once, when the session has ended": 0,
		"kept alive while nothing was open":   15 * time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			s := settings(1, 10)
			s.SessionDuration = 30 * time.Second
			d, line := closed(t, s, 1)
			d.configure(s)
			d.pass(interval)
			place := line[0][0]
			d.isIn(place)
			s.QueueAll = stall > 0
			d.configure(s)
			replayed := place
			for until := d.now.Add(stall + 31*time.Second); d.now < until; {
				d.pass(10 * time.Second)
				if stall > 0 && d.now > start.Add(time.Minute) {
					replayed = d.waits(replayed)
					d.waits(place)
				}
			}
			s.QueueAll = false
			d.configure(s)
			d.now = max(d.now, replayed.Due())
			assert.NotEqual(t, place.ID, d.visit(replayed).Ticket.ID)
			assert.NotEqual(t, place.ID, d.visit(place).Ticket.ID)
		})
	}
}

func TestPlaceThatWasUsedBeforeARestartCannotBeUsedAgain(t *testing.T) {
	s := settings(1, 10)
	s.SessionDuration = 30 * time.Second
	store := newFallible() // outlives the gate, as one with a journal does
	s.QueueAll = true
	d := openOn(t, s, store)
	place := d.join()
	s.QueueAll = false
	d.configure(s)
	d.pass(interval)
	d.isIn(place)
	d.at(time.Minute)
	blocker := d.enter()
	again, err := room.New(t.Context(), d.now.Time(), room.Config{Name: "shop", Settings: s, Store: store})
	require.NoError(t, err)
	d.room = again
	d.isIn(blocker)
	assert.NotEqual(t, place.ID, d.waits(place).ID, "though no slot is open, the store is asked")
}

func TestEveryMethodHasTurnsAndWaits(t *testing.T) {
	for _, name := range queue.Method(0).Choices() {
		s := settings(1, 10)
		s.DisableSessionRenewal = true
		require.NoError(t, s.Method.UnmarshalText([]byte(name)))
		d := open(t, s)
		for range 3 {
			d.arrive()
		}
		d.pass(5 * time.Second)
		n := d.stand()
		waits := !s.AdmitsEveryone() && !s.RejectsAll()
		assert.Equal(t, waits, n.Waiting == 2, name)
		assert.Equal(t, waits, n.Wait(d.now).Known, name)
		_, known := n.Ahead(d.now)
		assert.Equal(t, s.Method.OrdersBuckets(), known, name)
		assert.True(t, d.room.Turns().None(), "%s: there is no slot", name)
	}
}
