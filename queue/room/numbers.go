package room

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// numbersLast is how long visitors are told the same numbers, so that what is
// made of them can be kept.
const numbersLast = time.Second

// lineSettles is how long a line has to be there before a wait is told: until
// then nobody knows how many are coming.
const lineSettles = 2 * time.Second

// Numbers are what a room tells its visitors, renewed about once a second.
// They do not change; a new pointer means new numbers.
type Numbers struct {
	At         queue.Instant
	Settings   queue.Settings
	Paused     bool // admissions wait for the origin to answer
	Active     int
	Open       int
	Admitted   int // in this calendar minute
	Waiting    int
	Rate       float64 // admissions per minute, expected; 0 if none can be
	Buckets    []queue.Reserved
	Line       LineNumbers
	JustBegan  bool // nobody waited until just now, and how long they will cannot be told
	Incomplete bool // the store does not answer, or not all nodes have told it again: some people may be missing
}

// LineNumbers are what the visitors in an exact line are told alike: one with the
// default priority has about Preferred + their own number - First people ahead.
type LineNumbers struct {
	First     uint64 // the lowest number of those who wait with the default priority
	Last      uint64 // the highest that was given out
	Preferred int    // how many wait with a higher priority
}

// Numbers returns the latest numbers.
func (r *Room) Numbers() *Numbers { return r.numbers.Load() }

// CurrentNumbers syncs and returns how the room stands now, rather than what visitors
// were last told.
func (r *Room) CurrentNumbers(ctx context.Context, now time.Time) (*Numbers, error) {
	v, err := r.sync(ctx, now)
	if err != nil {
		return nil, err
	}
	return r.newNumbers(v), nil
}

// renewNumbers replaces numbers that are too old. The caller holds exchange.mu.
func (r *Room) renewNumbers(v *queue.View) {
	switch {
	case v.Present == 0:
		r.began.Store(0)
	case r.began.Load() == 0:
		r.began.Store(int64(v.Now))
	}
	old := r.numbers.Load()
	fresh := v.Now.Sub(old.At) < numbersLast && (!old.JustBegan || old.Waiting == 0) && old.Incomplete == v.Incomplete()
	if fresh && old.Settings == r.Settings() && old.Paused == r.paused.Load() && (old.Waiting > 0 || v.Present == 0) {
		return
	}
	r.numbers.Store(r.newNumbers(v))
}

func (r *Room) newNumbers(v *queue.View) *Numbers {
	s, paused, began := r.Settings(), r.paused.Load(), queue.Instant(r.began.Load())
	n := &Numbers{At: v.Now, Settings: s, Paused: paused, JustBegan: began == 0 || v.Now.Sub(began) < lineSettles, Incomplete: v.Incomplete(),
		Active: v.Active, Open: v.Open, Admitted: v.Admitted, Waiting: v.Present,
		Buckets: queue.Reserve(v.Open, v.Buckets), Line: LineNumbers{First: v.FirstNumber, Last: v.LastNumber, Preferred: v.Preferred}}
	switch {
	case s.QueueAll || s.Method == queue.Reject || paused || v.Recovering:
	case v.RateKnown:
		n.Rate = v.Rate
	default:
		sessionsPerMinute := float64(s.TotalActiveUsers) / s.SessionLasts(0).Minutes()
		n.Rate = min(float64(s.NewUsersPerMinute), sessionsPerMinute)
	}
	return n
}

// doubtNumbers has visitors be told that nobody knows what they would be, while the
// store does not answer. The caller holds exchange.mu.
func (r *Room) doubtNumbers() {
	n := *r.numbers.Load()
	n.Incomplete, n.Rate = true, 0
	r.numbers.Store(&n)
}

// Queueing reports whether people wait, or would have to.
func (n *Numbers) Queueing() bool {
	if n.Settings.Method == queue.Passthrough && !n.Settings.QueueAll {
		return false
	}
	return n.Waiting > 0 || n.Open == 0 || n.Paused
}

// Ahead counts the people present in line before a visitor who arrived then,
// by the room's method. It is known in fifo only, while the store answers.
func (n *Numbers) Ahead(arrived queue.Instant) (people int, known bool) {
	if n.Settings.Method != queue.FIFO || n.Incomplete {
		return 0, false
	}
	people, _ = n.ahead(arrived)
	return people, true
}

// ahead counts the people in earlier buckets, and those of the visitor's own.
func (n *Numbers) ahead(arrived queue.Instant) (people, own int) {
	bucket := n.Settings.BucketOf(arrived)
	i, found := slices.BinarySearchFunc(n.Buckets, bucket, func(b queue.Reserved, at queue.Instant) int { return int(b.Bucket - at) })
	switch {
	case found:
		return n.Buckets[i].Ahead, n.Buckets[i].Waiting
	case i < len(n.Buckets):
		return n.Buckets[i].Ahead, 0
	default:
		return n.Waiting, 0
	}
}

// Wait is an estimated wait in whole minutes, rounded up. Nothing is known of
// it when nobody is being let in.
type Wait struct {
	Known   bool
	Minutes int // in random, as P50

	// In random, the minutes within which a quarter, half and three quarters of
	// those who wait now will have been let in; else 0.
	P25, P50, P75 int
}

// longestWait keeps absurd estimates within an int of any size: ten years.
const longestWait = 10 * 365 * 24 * 60

// Wait estimates the wait of a visitor who arrived then: in fifo the people
// ahead, with half of those in the visitor's own bucket, and one at least, over
// the admissions per minute; in random n(p) = log(1-p) / log(1-P), where P is the chance to be
// let in during a minute.
func (n *Numbers) Wait(arrived queue.Instant) Wait {
	if n.Rate <= 0 || n.JustBegan {
		return Wait{}
	}
	if n.Settings.Method == queue.Random {
		chance := n.Rate / float64(max(n.Waiting, 1))
		w := Wait{Known: true, P25: minutesFor(.25, chance), P50: minutesFor(.5, chance), P75: minutesFor(.75, chance)}
		w.Minutes = w.P50
		return w
	}
	people, own := n.ahead(arrived)
	return Wait{Known: true, Minutes: wholeMinutes(max(float64(people)+float64(own-1)/2, 1) / n.Rate)}
}

// WaitAt estimates the wait of a visitor with a place in the exact line.
func (n *Numbers) WaitAt(p queue.Place) Wait {
	if n.Rate <= 0 || n.JustBegan || p.Number == 0 {
		return Wait{}
	}
	return Wait{Known: true, Minutes: wholeMinutes(float64(p.Ahead+1) / n.Rate)}
}

// LongestWait estimates the wait of a visitor who arrives now.
func (n *Numbers) LongestWait() Wait { return n.Wait(n.At.Add(n.Settings.Bucket)) }

// minutesFor is how many minutes it takes to be let in with probability p.
func minutesFor(p, chance float64) int {
	if chance >= 1 {
		return 1
	}
	return wholeMinutes(math.Log1p(-p) / math.Log1p(-chance))
}

func wholeMinutes(minutes float64) int {
	// A product that should be whole may come out a hair above it.
	return int(min(max(math.Ceil(minutes-1e-9), 1), longestWait))
}
