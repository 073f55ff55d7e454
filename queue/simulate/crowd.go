package simulate

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// kind is how a visitor behaves.
type kind uint8

const (
	polite     kind = iota
	spamNewest      // asks often, with the newest ticket
	spamOldest      // asks often, with an old ticket
	bot             // keeps no ticket
)

func (k kind) spams() bool { return k == spamNewest || k == spamOldest }

// phase is how far a visitor has come.
type phase uint8

const (
	outside phase = iota
	waiting
	inside
	gone
)

// visitor is one of the crowd. The first fields are drawn beforehand, and are
// the same whatever room the crowd comes to.
type visitor struct {
	joins   queue.Instant // the first request
	arrived queue.Instant // what the ticket will say; earlier than joins if spoofed
	leaves  queue.Instant // when patience ends; zero if it does not
	browse  time.Duration
	kind    kind
	goodbye bool

	phase   phase
	back    bool   // they have come back since they joined
	answers uint32 // that told them to wait
	ticket  queue.Ticket
	until   queue.Instant // of the browsing
	atRisk  queue.Instant // since when they have had their chance at every check-in; zero before
}

// start is when every run begins, and the doors open: a whole day, so that
// arrival minutes and buckets agree.
var start = queue.At(time.Date(2021, time.October, 7, 0, 0, 0, 0, time.UTC))

// gathering is how long a spoofed crowd takes to join.
const gathering = time.Second

// streams of random numbers, so that one does not disturb another. Each node
// has its own streamRoom, streams further on.
const (
	streamCrowd = iota + 1
	streamSteps
	streamRoom
	streamPromises
	streamNodes
	streamStrays
	streams
)

// streamOrigin is beyond those of all nodes.
const streamOrigin = 1 << 40

func random(c Config, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(c.Seed, stream)) }

// drawCrowd returns the crowd in the order of its first requests.
func drawCrowd(c Config) []visitor {
	rng := random(c, streamCrowd)
	crowd := make([]visitor, c.Visitors)
	for i, at := range c.arrivals(rng) {
		v := &crowd[i]
		v.arrived, v.joins = start.Add(at), start.Add(at)
		v.drawCharacter(c, rng)
		if len(c.Stays) > 0 {
			v.browse = c.Stays[i].For
		}
		if c.Spoofed {
			v.arrived = min(v.arrived.Add(-c.Over), start-1)
			v.joins = start.Add(time.Duration(rng.Int64N(int64(gathering))))
			v.ticket = spoofedTicket(c, v.arrived, rng)
		}
		if c.GiveUp > 0 && rng.Float64() < c.GiveUp {
			v.leaves = v.joins.Add(time.Duration(rng.ExpFloat64()*float64(c.Patience)) + time.Millisecond)
		}
	}
	if c.Spoofed {
		slices.SortStableFunc(crowd, func(a, b visitor) int { return cmp.Compare(a.joins, b.joins) })
	}
	return crowd
}

// arrivals are when the visitors come, from 0 on.
func (c *Config) arrivals(rng *rand.Rand) []time.Duration {
	if c.Arrivals != Recorded {
		return c.Arrivals.draw(c.Visitors, c.Over, rng)
	}
	at := make([]time.Duration, len(c.Stays))
	for i, s := range c.Stays {
		at[i] = s.At.Truncate(time.Millisecond)
	}
	return at
}

// Person is one of a crowd, and how they behave.
type Person struct {
	Joins    time.Duration // their first request, after the start
	Patience time.Duration // how long they wait before they give up; 0 for ever
	Browse   time.Duration // how long they stay once they are in
	Bot      bool          // keeps no cookies
	Spams    bool          // asks many times an interval
	Goodbye  bool          // their browser says when they give up
}

// DrawCrowd draws the crowd of c, in the order in which it comes, for those who send it
// elsewhere than through Run.
func DrawCrowd(c Config) []Person {
	crowd := drawCrowd(c)
	people := make([]Person, len(crowd))
	for i, v := range crowd {
		people[i] = Person{Joins: v.joins.Sub(start), Browse: v.browse, Bot: v.kind == bot, Spams: v.kind.spams(), Goodbye: v.goodbye}
		if v.leaves != 0 {
			people[i].Patience = v.leaves.Sub(v.joins)
		}
	}
	return people
}

func (v *visitor) drawCharacter(c Config, rng *rand.Rand) {
	switch u := rng.Float64(); {
	case u < c.Bots:
		v.kind = bot
	case u < c.Bots+c.Spammers/2:
		v.kind = spamNewest
	case u < c.Bots+c.Spammers:
		v.kind = spamOldest
	}
	v.goodbye = rng.Float64() < c.Goodbye
	v.browse = time.Duration(float64(c.Browse) * (.9 + .2*rng.Float64()))
}

// spoofedTicket is that of someone who arrived then and is due for a check-in
// as the run begins.
func spoofedTicket(c Config, arrived queue.Instant, rng *rand.Rand) queue.Ticket {
	interval := c.Room.WithDefaults().RefreshInterval
	t := queue.Ticket{State: queue.Waiting, ArrivedAt: arrived, LastCheckIn: start.Add(-interval), RefreshInterval: interval}
	binary.BigEndian.PutUint64(t.ID[:], rng.Uint64())
	binary.BigEndian.PutUint64(t.ID[8:], rng.Uint64())
	return t
}
