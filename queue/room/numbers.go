package room

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
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
	boundaries queue.Boundaries
	Incomplete bool // the store does not answer, or not all nodes have told it again: some people may be missing
}

// LineNumbers are what the visitors in an exact line are told alike: one with the
// default priority has about Preferred + their own number - First people ahead.
type LineNumbers struct {
	First     uint64 // the lowest number of those who wait with the default priority
	Last      uint64 // the highest that was given out
	Preferred int    // how many wait with a higher priority
}

// estimates are what visitors are told.
type estimates struct {
	numbers atomic.Pointer[Numbers]

	mu    sync.Mutex    // held while the numbers change
	began queue.Instant // since when people wait without a break; 0 if nobody does
}

// renew replaces numbers that are too old, now that the store tells how the room stands.
func (e *estimates) renew(v *queue.View, rules *rules, paused bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case v.Present == 0:
		e.began = 0
	case e.began == 0:
		e.began = v.Now
	}
	if old := e.numbers.Load(); !old.fresh(v) || old.Settings != rules.Settings || old.Paused != paused {
		e.numbers.Store(newNumbers(v, rules, paused, e.began))
	}
}

// current are the numbers as the room stands, rather than what visitors were last told.
func (e *estimates) current(v *queue.View, rules *rules, paused bool) *Numbers {
	e.mu.Lock()
	defer e.mu.Unlock()
	return newNumbers(v, rules, paused, e.began)
}

// doubt has visitors be told that nobody knows what they would be, while the store does
// not answer.
func (e *estimates) doubt() {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := *e.numbers.Load()
	n.Incomplete, n.Rate = true, 0
	e.numbers.Store(&n)
}

func newNumbers(v *queue.View, rules *rules, paused bool, began queue.Instant) *Numbers {
	return &Numbers{At: v.Now, boundaries: v.Boundaries, Settings: rules.Settings, Paused: paused, Rate: rate(v, rules, paused),
		JustBegan: began == 0 || v.Now.Sub(began) < lineSettles, Incomplete: v.Incomplete(),
		Active: v.Active, Open: v.Open, Admitted: v.Admitted, Waiting: v.Present,
		Buckets: queue.Reserve(v.Open, v.Buckets), Line: LineNumbers{First: v.FirstNumber, Last: v.LastNumber, Preferred: v.Preferred}}
}

// rate is how many admissions per minute are expected.
func rate(v *queue.View, rules *rules, paused bool) float64 {
	switch {
	case rules.AdmitsNobody() || paused || v.Recovering:
		return 0
	case v.RateKnown:
		return v.Rate
	}
	sessionsPerMinute := float64(rules.TotalActiveUsers) / rules.SessionLasts(0).Minutes()
	return min(float64(rules.NewUsersPerMinute), sessionsPerMinute)
}

// fresh reports whether visitors may still be told n.
func (n *Numbers) fresh(v *queue.View) bool {
	switch {
	case v.Now.Sub(n.At) >= numbersLast || n.Incomplete != v.Incomplete():
		return false
	case n.Waiting == 0:
		return v.Present == 0
	}
	return !n.JustBegan
}

// Queueing reports whether people wait, or would have to.
func (n *Numbers) Queueing() bool {
	return !n.Settings.AdmitsEveryone() && (n.Waiting > 0 || n.Open == 0 || n.Paused)
}

// Ahead counts the people present in line before a visitor who arrived then,
// by the room's method. It is known in fifo only, while the store answers.
func (n *Numbers) Ahead(arrived queue.Instant) (people int, known bool) {
	if !n.Settings.Method.OrdersBuckets() || n.Incomplete {
		return 0, false
	}
	people, _ = n.ahead(arrived)
	return people, true
}

// ahead counts the people in earlier buckets, and those beside a visitor in their own.
func (n *Numbers) ahead(arrived queue.Instant) (people, beside int) {
	i, found := slices.BinarySearchFunc(n.Buckets, n.BucketOf(arrived), func(b queue.Reserved, at queue.Instant) int { return cmp.Compare(b.Bucket, at) })
	switch {
	case found:
		return n.Buckets[i].Ahead, n.Buckets[i].Waiting
	case i < len(n.Buckets):
		return n.Buckets[i].Ahead, 0
	}
	return n.Waiting, 0
}

// BucketOf is where a visitor who arrived then is counted.
func (n *Numbers) BucketOf(arrived queue.Instant) queue.Instant {
	return n.Settings.BucketOf(arrived, n.boundaries)
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

// Wait estimates the wait of a visitor who arrived then, by the room's method.
func (n *Numbers) Wait(arrived queue.Instant) Wait {
	if n.Rate <= 0 || n.JustBegan {
		return Wait{}
	}
	return methodOf(&n.Settings).wait(n, arrived)
}

// WaitAt estimates the wait of a visitor with a place in the exact line.
func (n *Numbers) WaitAt(p queue.Place) Wait {
	if n.Rate <= 0 || n.JustBegan || p.Number == 0 {
		return Wait{}
	}
	return Wait{Known: true, Minutes: wholeMinutes(float64(p.Ahead+1) / n.Rate)}
}

// LongestWait estimates the wait of a visitor who arrives now.
func (n *Numbers) LongestWait() Wait { return n.Wait(n.At.Add(n.Settings.LongestBucket())) }

func wholeMinutes(minutes float64) int {
	// A product that should be whole may come out a hair above it.
	return int(min(max(math.Ceil(minutes-1e-9), 1), longestWait))
}
