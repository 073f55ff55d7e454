package estimate

import (
	"math"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Numbers are what a room tells its visitors, renewed about once a second.
// They do not change; a new pointer means new numbers.
type Numbers struct {
	At         queue.Instant
	Settings   queue.Settings
	Paused     bool // admissions wait for the origin to answer
	Pause      Pause
	Stock      queue.Stock
	Active     int
	Open       int
	Admitted   int // in this calendar minute
	Waiting    int
	Rate       float64 // admissions per minute, expected; 0 if none can be, or nobody knows
	Buckets    []queue.Reserved
	Line       LineNumbers
	JustBegan  bool    // nobody waited until just now, and how long they will cannot be told
	Factor     float64 // what is left of new_users_per_minute, because the origin is slow; 1 for all of it
	OpenToAll  bool    // everybody is let in and nobody is counted, because few come
	Incomplete bool    // the store does not answer, or not all nodes have told it again: some people may be missing
	Failing    bool    // the store does not answer
	Nodes      int     // that reported lately

	PausedSince queue.Instant // since when there is the Pause; 0 if nobody knows

	crowd    crowd
	schedule schedule // its rate is Rate

	toldToNewcomers, toldToWaiters Wait // where every check-in is a draw
}

// Items are what there is to buy, by the settings and by what the origin has said.
func (n *Numbers) Items() queue.Items { return n.Settings.Items.With(n.Stock.Items) }

// Pause is why nobody new is let in, whatever is free.
type Pause string

// The pauses.
const (
	NoPause     Pause = ""
	ByOperators Pause = "operators" // somebody holds them
	BySite      Pause = "site"      // the site does not answer
	UntilStart  Pause = "start"     // an event has not begun
)

func pauseOf(s *queue.Settings, paused bool) Pause {
	switch {
	case s.HeldByOperators() || s.HoldActive != queue.HoldOff:
		return ByOperators
	case paused:
		return BySite
	case s.Event.Prequeueing:
		return UntilStart
	}
	return NoPause
}

// LineNumbers are what the visitors in an exact line are told alike: one with the
// default priority has about Preferred + their own number - First people ahead.
type LineNumbers struct {
	First     uint64 // the lowest number of those who wait with the default priority
	Last      uint64 // the highest that was given out
	Preferred int    // how many wait with a higher priority
}

// fresh reports whether visitors may still be told n.
func (n *Numbers) fresh(v *queue.View) bool {
	switch {
	case v.Now.Sub(n.At) >= numbersLast || n.Failing || n.Incomplete != v.Incomplete() || n.Settings.QueueWhen > 0 && n.OpenToAll != v.OpenToAll:
		return false
	case n.Waiting == 0:
		return v.Present == 0
	}
	return !n.JustBegan
}

// Queueing reports whether people wait, or would have to.
func (n *Numbers) Queueing() bool {
	return !n.Settings.AdmitsEveryone() && !n.OpenToAll && (n.Waiting > 0 || n.Open == 0 || n.Paused)
}

// Ahead counts the people present in line before a visitor who arrived then, by the room's
// method: those in earlier buckets, and of the visitor's own as many as came before, if
// they came evenly. Nobody is told that they are the first while somebody else of their
// bucket is there. It is known in fifo only, while the store answers, and not while the order
// is still to be drawn.
func (n *Numbers) Ahead(arrived queue.Instant) (people int, known bool) {
	if !n.Settings.Method.OrdersBuckets() || n.Incomplete || n.Settings.Event.Shuffling() {
		return 0, false
	}
	return int(math.Ceil(n.ahead(arrived) - 1e-6)), true
}

// ahead is Ahead as it is reckoned.
func (n *Numbers) ahead(arrived queue.Instant) float64 {
	if len(n.Buckets) == 0 && !n.Settings.Method.OrdersBuckets() {
		return float64(n.Waiting)
	}
	return n.people().ahead(arrived)
}

// people are those who are present.
func (n *Numbers) people() *crowd {
	if n.crowd.at != 0 {
		return &n.crowd
	}
	return &crowd{at: n.At, settled: n.At, buckets: n.Buckets, longest: n.Settings.LongestBucket()}
}

// Moments are times of arrival, in order and so many at most, for which Ahead and Wait tell
// the numbers of everybody else: they are in between. The last one is the end of the last bucket.
// There are none while the order is still to be drawn.
func (n *Numbers) Moments(most int) []queue.Instant {
	if n.Settings.Event.Shuffling() {
		return nil
	}
	every := (len(n.Buckets) + most - 2) / max(most-1, 1)
	var list []queue.Instant
	for i := 0; i < len(n.Buckets); i += max(every, 1) {
		list = append(list, n.Buckets[i].Bucket)
	}
	if len(list) > 0 {
		c, last := n.people(), n.Buckets[len(n.Buckets)-1].Bucket
		_, end := c.stretch(last)
		if end >= c.settled {
			end = n.At
		}
		list = append(list, max(end-1, last))
	}
	return list
}

// Wait is an estimated wait in whole minutes, rounded up. Nothing is known of
// it when nobody is being let in.
type Wait struct {
	Known   bool
	Minutes int // in random, as P50

	// In random, the minutes within which a quarter, half and three quarters of
	// those who are told it will have been let in; else 0.
	P25, P50, P75 int
}

// longestWait keeps absurd estimates within an int of any size: ten years.
const longestWait = 10 * 365 * 24 * 60

// Wait estimates the wait of a visitor who arrived then, by the room's method.
func (n *Numbers) Wait(arrived queue.Instant) Wait {
	if n.Rate <= 0 || n.JustBegan {
		return Wait{}
	}
	if n.Settings.Method.Draws() {
		return n.waitForADraw(arrived)
	}
	return n.timetable().inOrder(n.ahead(arrived))
}

// waitForADraw is the wait where every check-in is a draw: of a newcomer, or of those who came
// earlier.
func (n *Numbers) waitForADraw(arrived queue.Instant) Wait {
	told, expects := n.toldToWaiters, &waitersFutures
	if arrived >= n.At {
		told, expects = n.toldToNewcomers, &newcomersFutures
	}
	if n.schedule.rate > 0 {
		return told
	}
	return n.timetable().waitByDraw(n.Waiting, expects)
}

// WaitToDraw estimates the wait where every check-in is a draw: of a newcomer, or of everybody who
// came before. They differ while people come, because nobody knows for how much longer: see
// futures.
func (n *Numbers) WaitToDraw(newcomer bool) Wait {
	if newcomer {
		return n.Wait(n.At)
	}
	return n.Wait(n.At - 1)
}

// WaitAt estimates the wait of a visitor with a place in the exact line.
func (n *Numbers) WaitAt(p queue.Place) Wait {
	if n.Rate <= 0 || n.JustBegan || p.Number == 0 {
		return Wait{}
	}
	return n.timetable().inOrder(float64(p.Ahead))
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

// PausedSinceTime is since when nobody new is let in, in RFC 3339; "" where it is not known, or they
// are.
func (n *Numbers) PausedSinceTime() string {
	if n.Pause == NoPause || n.PausedSince == 0 {
		return ""
	}
	return n.PausedSince.Time().Format(time.RFC3339)
}
