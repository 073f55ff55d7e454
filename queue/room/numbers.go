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

	schedule schedule // its rate is Rate
	byDraw   Wait     // of everybody, where every check-in is a draw
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
	tempo tempo

	scores scores // a part of its own, with its lock
}

// renew replaces numbers that are too old, now that the store tells how the room stands.
func (e *estimates) renew(v *queue.View, rules *rules, paused bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tempo.follow(v, rules)
	switch {
	case v.Present == 0:
		e.began = 0
	case e.began == 0:
		e.began = v.Now
	}
	if old := e.numbers.Load(); !old.fresh(v) || old.Settings != rules.Settings || old.Paused != paused {
		n := e.newNumbers(v, rules, paused)
		e.numbers.Store(n)
		e.scores.note(n)
	}
}

// current are the numbers as the room stands, rather than what visitors were last told.
func (e *estimates) current(v *queue.View, rules *rules, paused bool) *Numbers {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.newNumbers(v, rules, paused)
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

// newNumbers are the numbers by a view. The caller holds mu.
func (e *estimates) newNumbers(v *queue.View, rules *rules, paused bool) *Numbers {
	n := &Numbers{At: v.Now, boundaries: v.Boundaries, Settings: rules.Settings, Paused: paused,
		JustBegan: e.began == 0 || v.Now.Sub(e.began) < lineSettles, Incomplete: v.Incomplete(),
		Active: v.Active, Open: v.Open, Admitted: v.Admitted, Waiting: v.Present,
		Buckets: queue.Reserve(v.Open, v.Buckets), Line: LineNumbers{First: v.FirstNumber, Last: v.LastNumber, Preferred: v.Preferred}}
	if !rules.AdmitsNobody() && !paused && !v.Recovering && !e.tempo.stands(v, rules) {
		n.schedule = e.tempo.schedule(v, rules, e.began)
		n.Rate = n.schedule.rate
		if rules.Method.Draws() {
			n.byDraw = drawWait(&n.schedule, n.Waiting)
		}
	}
	return n
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

// Ahead counts the people present in line before a visitor who arrived then, by the room's
// method: those in earlier buckets, and of the visitor's own as many as came before, if
// they came evenly. Nobody is told that they are the first while somebody else of their
// bucket is there. It is known in fifo only, while the store answers.
func (n *Numbers) Ahead(arrived queue.Instant) (people int, known bool) {
	if !n.Settings.Method.OrdersBuckets() || n.Incomplete {
		return 0, false
	}
	return int(math.Ceil(n.ahead(arrived) - 1e-9)), true
}

// ahead is Ahead as it is reckoned.
func (n *Numbers) ahead(arrived queue.Instant) float64 {
	i, found := slices.BinarySearchFunc(n.Buckets, arrived, func(b queue.Reserved, at queue.Instant) int { return cmp.Compare(b.Bucket, at) })
	if !found {
		i--
	}
	switch {
	case len(n.Buckets) == 0:
		return float64(n.Waiting)
	case i < 0:
		return 0
	}
	b, ends := &n.Buckets[i], n.endOf(i)
	if i == len(n.Buckets)-1 && arrived >= n.At {
		// People have come since then, too, as fast as before.
		since := min(arrived.Sub(n.At), maxNews)
		return float64(n.Waiting) + float64(b.Waiting)*since.Seconds()/max(ends.Sub(b.Bucket), time.Second).Seconds()
	}
	if arrived >= ends { // nobody of the visitor's own bucket is present, not even the visitor
		return float64(b.Ahead + b.Waiting)
	}
	part := min(1, float64(arrived-b.Bucket)/float64(max(ends-b.Bucket, 1)))
	return float64(b.Ahead) + max(part*float64(b.Waiting-1), float64(min(b.Waiting-1, 1)))
}

// Moments are times of arrival, in order and so many at most, for which Ahead and Wait tell
// the numbers of everybody else: they are in between. The last one is the end of the last bucket.
func (n *Numbers) Moments(most int) []queue.Instant {
	every := (len(n.Buckets) + most - 2) / max(most-1, 1)
	var list []queue.Instant
	for i := 0; i < len(n.Buckets); i += max(every, 1) {
		list = append(list, n.Buckets[i].Bucket)
	}
	if len(list) > 0 {
		last := len(n.Buckets) - 1
		list = append(list, max(n.endOf(last)-1, n.Buckets[last].Bucket))
	}
	return list
}

// maxNews is how old numbers are at most, as a rule.
const maxNews = 2 * time.Second

// endOf is when the last of a bucket may have come.
func (n *Numbers) endOf(i int) queue.Instant {
	begins, longest := n.Buckets[i].Bucket, n.Settings.LongestBucket()
	ends := min(n.At, begins.Floor(longest).Add(longest))
	if i+1 < len(n.Buckets) {
		ends = min(ends, n.Buckets[i+1].Bucket)
	}
	if next, found := slices.BinarySearch(n.boundaries, begins); found && next+1 < len(n.boundaries) {
		ends = min(ends, n.boundaries[next+1])
	}
	return ends
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
	return Wait{Known: true, Minutes: wholeMinutes(n.timetable().inOrder(float64(p.Ahead)))}
}

// LongestWait estimates the wait of a visitor who arrives now.
func (n *Numbers) LongestWait() Wait { return n.Wait(n.At) }

// timetable is the schedule, or one that knows no more than the rate.
func (n *Numbers) timetable() *schedule {
	if n.schedule.rate == 0 {
		return &schedule{rate: n.Rate}
	}
	return &n.schedule
}

func wholeMinutes(minutes float64) int {
	// What should be whole may come out a hair above it.
	return int(min(max(math.Ceil(minutes-1e-3), 1), longestWait))
}
