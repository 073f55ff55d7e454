//go:build !race

package room_test

import (
	"cmp"
	pq "container/heap"
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// raffle is a room in random before which as many wait all the time: for each who
// is let in somebody else comes, at any moment of an interval. A tenth ask
// all the time instead, and join again as soon as they have won.
type raffle struct {
	room     *room.Room
	random   *rand.Rand
	now      queue.Instant
	settings queue.Settings
	next     entrants

	polite, eager luck
}

// luck is how many slots some visitors got in so many seconds of waiting.
type luck struct{ won, waited float64 }

// latency is how late an answer and the next request are at most.
const latency = 20 * time.Millisecond

// entrant is somebody who waits.
type entrant struct {
	eager  bool
	ticket queue.Ticket
	since  queue.Instant // when they joined
	comes  queue.Instant
}

// entrants are in the order in which they come.
type entrants []*entrant

func (e entrants) Len() int           { return len(e) }
func (e entrants) Less(i, j int) bool { return e[i].comes < e[j].comes }
func (e entrants) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *entrants) Push(x any)        { *e = append(*e, x.(*entrant)) }
func (e *entrants) Pop() any          { panic("nobody leaves") }

func newRaffle(t testing.TB, s queue.Settings, people int) *raffle {
	t.Helper()
	r := &raffle{random: rand.New(rand.NewPCG(22, 1)), now: start, settings: s.WithDefaults()}
	var err error
	r.room, err = room.New(context.Background(), r.now.Time(), room.Config{Name: "shop", Settings: s, Store: memstore.New(), Uint64: r.random.Uint64})
	require.NoError(t, err)
	for i := range people {
		pq.Push(&r.next, &entrant{eager: i%10 == 0, comes: r.now.Add(r.upTo(r.settings.RefreshInterval))})
	}
	return r
}

func (r *raffle) upTo(d time.Duration) time.Duration {
	return time.Duration(r.random.Int64N(int64(d))) + time.Millisecond
}

// odds are those of somebody eager where a polite visitor's are 1, by so many slots.
func (r *raffle) odds(t testing.TB, slots int) float64 {
	t.Helper()
	for sync := r.now; r.polite.won+r.eager.won < float64(slots); {
		for ; sync <= r.next[0].comes; sync = sync.Add(200 * time.Millisecond) {
			require.NoError(t, r.room.Sync(context.Background(), sync.Time()))
		}
		r.now = r.next[0].comes
		r.visit(r.next[0])
		pq.Fix(&r.next, 0)
	}
	return r.eager.won / r.eager.waited / (r.polite.won / r.polite.waited)
}

func (r *raffle) visit(e *entrant) {
	d := r.room.Visit(context.Background(), r.now.Time(), room.Request{Ticket: e.ticket})
	switch {
	case d.Outcome == room.Admitted:
		of := &r.polite
		if e.eager {
			of = &r.eager
		}
		of.won++
		if e.since != 0 {
			of.waited += r.now.Sub(e.since).Seconds()
		}
		*e = entrant{eager: e.eager, comes: r.now + 1}
		if !e.eager {
			e.comes = r.now.Add(r.upTo(r.settings.RefreshInterval))
		}
		return
	case e.since == 0:
		e.since = r.now
	}
	e.ticket = d.Ticket
	e.comes = r.now.Add(r.settings.RefreshInterval / 50)
	if !e.eager {
		e.comes = r.now.Add(queue.WholeSeconds(d.Ticket.Due().Sub(r.now)) + r.upTo(latency))
	}
}

// Whoever asks all the time has about a polite visitor's odds, whatever rhythm the
// slots come free in. At intervals of a few seconds the time that answers take, which
// polite visitors add to theirs, is a rhythm of its own.
func TestWhoAsksAllTheTimeGainsNothingInRandomWhateverTheSettings(t *testing.T) {
	t.Parallel()
	type limits = queue.Settings
	for name, c := range map[string]struct {
		interval, session time.Duration
		people            int
		rest              limits
	}{
		"sessions of an interval":                     {20 * time.Second, 20 * time.Second, 50, limits{TotalActiveUsers: 10}},
		"sessions of an interval, jittered":           {20 * time.Second, 20 * time.Second, 50, limits{TotalActiveUsers: 10, RefreshJitter: .5}},
		"one slot":                                    {20 * time.Second, 20 * time.Second, 20, limits{TotalActiveUsers: 1}},
		"sessions of a quarter of it":                 {20 * time.Second, 5 * time.Second, 20, limits{TotalActiveUsers: 1}},
		"sessions of two intervals":                   {20 * time.Second, 40 * time.Second, 50, limits{TotalActiveUsers: 10, RefreshJitter: .05}},
		"sessions of three and a half":                {20 * time.Second, 70 * time.Second, 50, limits{TotalActiveUsers: 10}},
		"seven seconds":                               {7 * time.Second, 7 * time.Second, 50, limits{TotalActiveUsers: 10}},
		"two seconds":                                 {2 * time.Second, 2 * time.Second, 50, limits{TotalActiveUsers: 10}},
		"one second":                                  {time.Second, time.Second, 50, limits{TotalActiveUsers: 10}},
		"one second, sessions of several":             {time.Second, 3500 * time.Millisecond, 50, limits{TotalActiveUsers: 10}},
		"an allowance that comes evenly":              {20 * time.Second, time.Second, 50, limits{TotalActiveUsers: 100, NewUsersPerMinute: 6, Pacing: queue.PacingEven}},
		"an allowance that comes at once each minute": {20 * time.Second, time.Second, 50, limits{TotalActiveUsers: 100, NewUsersPerMinute: 12, Pacing: queue.PacingMinute}},
		"an allowance that comes at random":           {20 * time.Second, time.Second, 50, limits{TotalActiveUsers: 100, NewUsersPerMinute: 12}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.rest
			s.Method, s.RefreshInterval, s.SessionDuration = queue.Random, c.interval, c.session
			s.NewUsersPerMinute = cmp.Or(s.NewUsersPerMinute, 1_000_000)
			most := 1.3
			if c.interval < 5*time.Second {
				most = 1.5
			}
			odds := newRaffle(t, s, c.people).odds(t, 3000)
			t.Logf("odds %.2f", odds)
			assert.Less(t, odds, most)
		})
	}
}

// TestReplayingOldTicketsWinsNoMoreThanPoliteWaiting has one visitor bring their
// first ticket ten times a second into a random room.
func TestReplayingOldTicketsWinsNoMoreThanPoliteWaiting(t *testing.T) {
	const polite, rounds = 1000, 60
	s := settings(300, 300)
	s.Method, s.RefreshJitter, s.SessionDuration = queue.Random, .15, time.Hour
	won, politeWon := 0, 0
	for round := range uint64(rounds) {
		rnd := rand.New(rand.NewPCG(round, 2021))
		closed := s
		closed.QueueAll = true
		d := openWith(t, room.Config{Settings: closed, Store: newFallible(), Uint64: rnd.Uint64})
		line, place, first := make([]queue.Ticket, polite), rnd.IntN(polite), queue.Ticket{}
		for i := range line {
			d.now = start.Add(time.Duration(i) * interval / polite)
			line[i] = d.join()
			if i == place {
				first = d.join()
			}
		}
		d.configure(s)
		replayerWon, end := false, start.Add(45*time.Second)
		for ; d.now < end; d.pass(100 * time.Millisecond) {
			for i, ticket := range line {
				if ticket.State == queue.Waiting && ticket.Due() <= d.now {
					line[i] = d.visit(ticket).Ticket
				}
			}
			if !replayerWon {
				replayerWon = d.visit(first).Outcome == room.Admitted
			}
		}
		require.LessOrEqual(t, d.stand().Waiting, polite+1)
		for _, ticket := range line {
			if ticket.State == queue.Accepted {
				politeWon++
			}
		}
		if replayerWon {
			won++
		}
	}
	// The replayer's wins are binomial with the polite rate, up to chance.
	rate := float64(politeWon) / (polite * rounds)
	band := 3.3 * math.Sqrt(rate*(1-rate)*rounds)
	assert.InDelta(t, rate*rounds, won, band, "polite rate %.3f", rate)
}

// The example of the article: five check in at the same moments, and one between them, who would
// have half of the slots that are released at random, and none of those that are released just
// before the others come. Here everybody has a sixth of either, because intervals vary.
func TestARhythmOfOnesOwnGainsNothingInRandom(t *testing.T) {
	t.Parallel()
	for _, released := range []queue.Pacing{queue.PacingRandom, queue.PacingMinute} {
		t.Run(released.String(), func(t *testing.T) {
			t.Parallel()
			const rooms = 400
			alone := 0
			for seed := range uint64(rooms) {
				if firstIn(t, seed, released) == 5 {
					alone++
				}
			}
			assert.InDelta(t, 1./6, float64(alone)/rooms, 4*.0187, "four standard deviations")
		})
	}
}

// firstIn has five come at the start, and a sixth 15 seconds later, be held for ten minutes, and
// tells who is the first to be let in.
func firstIn(t *testing.T, seed uint64, released queue.Pacing) int {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	s := queue.Settings{Method: queue.Random, TotalActiveUsers: 10, NewUsersPerMinute: 1, Pacing: released, RefreshInterval: 30 * time.Second, QueueAll: true}
	r, err := room.New(context.Background(), start.Time(), room.Config{Name: "shop", Settings: s, Store: memstore.New(), Uint64: random.Uint64})
	require.NoError(t, err)
	var tickets [6]queue.Ticket
	at := func(now queue.Instant) []int { // who checks in at a moment, in any order
		var due []int
		for _, i := range random.Perm(len(tickets)) {
			if tickets[i].State == 0 && now == start.Add(time.Duration(i/5)*15*time.Second) || tickets[i].State != 0 && tickets[i].Due() <= now {
				due = append(due, i)
			}
		}
		return due
	}
	for now := start; ; now = now.Add(time.Second) {
		require.NoError(t, r.Sync(context.Background(), now.Time()))
		if s.QueueAll && now >= start.Add(10*time.Minute) {
			s.QueueAll = false
			require.NoError(t, r.Configure(context.Background(), now.Time(), queue.Configuration{Settings: s}))
		}
		for _, i := range at(now) {
			d := r.Visit(context.Background(), now.Time(), room.Request{Ticket: tickets[i]})
			if d.Outcome == room.Admitted {
				return i
			}
			tickets[i] = d.Ticket
		}
	}
}
