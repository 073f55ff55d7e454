package world

import (
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// track is what an observer of everything knows of a person who waits, from one admission to the
// next.
type track struct {
	who    int
	came   time.Duration // since when they want to get in
	told   []told        // what they were told while they waited
	in     admission     // with which it ends
	isIn   bool          // whether it does
	gate   int           // that lets them in
	gone   time.Duration // when they left, or when the world ended, if they were not let in
	broken bool          // a request had no answer, or they did not ask when they were told to
}

// told is what somebody was told who waited.
type told struct {
	at     time.Duration
	sent   time.Duration // when they asked, or opened the stream
	ticket Ticket        // that they have since
	Room
}

// waiting says whether the person surely waited at a moment.
func (t *track) waiting(at time.Duration) bool {
	return len(t.told) > 0 && t.told[0].at <= at && at <= t.told[len(t.told)-1].at
}

// next is when the person was told to wait for the first time after a moment at which they waited.
func (t *track) next(after time.Duration) time.Duration {
	return t.told[slices.IndexFunc(t.told, func(s told) bool { return s.at >= after })].at
}

// losesShare says whether somebody who waits at a moment asks again in a later minute only, and later
// than they were told: the share of the minute's allowance that was kept for them has lapsed by then.
func (t *track) losesShare(at time.Duration) bool {
	next := slices.IndexFunc(t.told, func(s told) bool { return s.at >= at })
	if next <= 0 {
		return false
	}
	last := &t.told[next-1]
	again := t.told[next].at
	return again/time.Minute > at/time.Minute && again > last.at+time.Duration(last.Retry)*time.Second+fifoGrain
}

// tracks are those of a history, in no order.
func tracks(h *History) []*track {
	var all []*track
	open, seen, belated := make([]*track, len(h.Plan.People)), make([]time.Duration, len(h.Plan.People)), h.belated()
	for i := range h.Events {
		e := &h.Events[i]
		if e.Who == nobody || kinds.find(h.Plan.People[e.Who].Kind).strange {
			continue
		}
		if e.What == Waits && (e.Sent < seen[e.Who] || belated[i]) { // in the first case another tab asked before they were in
			continue
		}
		t := open[e.Who]
		if t == nil && (e.What == Came || e.What == Waits) {
			t = &track{who: e.Who, came: e.At, gone: h.Ends}
			open[e.Who] = t
			all = append(all, t)
		}
		if e.What == Seen || e.What == Served {
			seen[e.Who] = e.At
		}
		switch {
		case t == nil:
		case e.What == Waits:
			if n := len(t.told); n > 0 && e.At-t.told[n-1].at > h.longestInterval()/2+2*time.Second {
				t.broken = true
			}
			t.told = append(t.told, told{e.At, e.Sent, e.Ticket, e.Room})
		case e.What == Lost, e.What == Goodbye, e.What == Copied, e.What == Moved:
			t.broken = true
		case e.What == Left, e.What == Shut && e.Ticket.State == queue.Accepted: // in the second case they are in, and the site does not answer
			t.gone, open[e.Who] = e.At, nil
		case e.What == Seen:
			t.in, t.isIn, t.gate, open[e.Who] = admission{t.came, e.At}, true, e.Gate, nil
			if n := len(t.told); n > 0 {
				t.in.earliest = t.told[n-1].at
			}
		}
	}
	return all
}

// quiet says whether nothing went wrong from one moment to another, nor for a while before.
func (h *History) quiet(from, to time.Duration) bool { return h.quietBut("", from, to) }

// quietBut is quiet, where one kind of fault does not count.
func (h *History) quietBut(kind string, from, to time.Duration) bool {
	const after = time.Minute
	for i := range h.Plan.Faults {
		f := &h.Plan.Faults[i]
		if f.Kind != kind && f.At <= to && f.At+f.Lasts+h.Plan.Settings.SessionDuration+after >= from {
			return false
		}
	}
	return true
}

// longestInterval is the longest time from one check-in to the next, and the way.
func (h *History) longestInterval() time.Duration {
	s := h.Plan.Settings
	return max(time.Duration(float64(s.RefreshInterval)*(1+s.RefreshJitter))*2, s.Returning().Within(len(h.Plan.People))) + 2*time.Second
}
