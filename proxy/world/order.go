package world

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// checkNumbers finds numbers of an exact line that changed without a word, whatever else went
// wrong, where no store had lost what it knew.
func checkNumbers(h *History, breach func(time.Duration, string, ...any)) {
	if h.Plan.Settings.Method != queue.Line {
		return
	}
	for _, t := range tracks(h) {
		for i, said := range t.told {
			if said.Number != 0 && !said.Rejoined && i > 0 && !mayHave(t.told[:i], said) && !h.forgets(t.came, said.at) {
				breach(said.at, "%s had number %d and has %d, and was not told so", h.Plan.People[t.who].Name, t.told[i-1].Number, said.Number)
			}
		}
	}
}

// mayHave says whether somebody may have had the number that they are told when they asked: by the
// answer that had come last, or by one that has come since to another tab. A page does not tell the
// number.
func mayHave(before []told, said told) bool {
	for i, earlier := range slices.Backward(before) {
		if earlier.Number == 0 || earlier.Number == said.Number {
			return true
		}
		if earlier.at < said.sent-onTheWay && (i == 0 || before[i-1].at < earlier.at-onTheWay) { // of two that came at once either may have come last
			return false
		}
	}
	return false
}

// checkNumbersDiffer finds two people in an exact line with one number, where a store or a gate
// always knew which had been given out.
func checkNumbersDiffer(h *History, breach func(time.Duration, string, ...any)) {
	if h.Plan.Settings.Method != queue.Line || slices.ContainsFunc(h.Plan.Faults, func(f Fault) bool { return slices.Contains(forgetNumbers, f.Kind) }) {
		return
	}
	owners := map[int]int{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Who == nobody || e.What != Waits || e.Ticket.Number == 0 || kinds.find(h.Plan.People[e.Who].Kind).strange {
			continue
		}
		n := e.Ticket.Number
		if other, had := owners[n]; had && other != e.Who {
			breach(e.At, "%s has number %d, which %s had", h.Plan.People[e.Who].Name, n, h.Plan.People[other].Name)
			return
		}
		owners[n] = e.Who
	}
}

// forgetNumbers are the kinds of faults by which a gate is lost that alone may know of the last
// numbers.
var forgetNumbers = []string{"gate killed", "gate restarted", "rolling restart", "power loss", "full disk", "disk fails"}

// number is the one that somebody was told first and last; 0 if these differ, or they were not told
// twice.
func (t *track) number() int {
	first, last, times := 0, 0, 0
	for _, said := range t.told {
		if said.Number != 0 {
			first, last = cmp.Or(first, said.Number), said.Number
			times++
		}
	}
	if times < 2 || first != last {
		return 0
	}
	return first
}

// checkLine finds those who were let in before somebody with a lower number who waited all the
// time. A slot is kept for that one until they check in: a fault meanwhile may keep them from it, and
// so does a prequeue that begins, or the end of the minute of whose allowance it was.
func checkLine(h *History, breach func(time.Duration, string, ...any)) {
	if h.Plan.Settings.Method != queue.Line {
		return
	}
	all := tracks(h)
	for _, b := range all {
		if !b.isIn || kinds.find(h.Plan.People[b.who].Kind).ahead || b.number() == 0 || !h.quiet(b.came, b.in.latest+h.longestInterval()) {
			continue
		}
		for _, a := range all {
			n := a.number()
			if n == 0 || n >= b.number() || a.broken || !a.waiting(b.in.earliest) || !a.waiting(h.Plan.Sale.judged(b.in.latest)) || len(a.told) < 3 || a.told[2].at > b.in.earliest || h.Plan.Sale.begins(b.in.latest, a.next(b.in.latest)) || a.losesShare(b.in.latest) || h.takenBack(all, a, b) {
				continue
			}
			breach(b.in.latest, "%s with number %d is let in before %s with number %d, who still waits at %s", h.Plan.People[b.who].Name, b.number(),
				h.Plan.People[a.who].Name, n, moment(a.told[len(a.told)-1].at))
			return
		}
	}
}

// takenBack says whether somebody ahead of a visitor who had not asked in time, or had not come when
// they were called, may have taken the slot that was kept for the visitor as another was let in.
func (h *History) takenBack(all []*track, a, as *track) bool {
	return slices.ContainsFunc(all, func(c *track) bool {
		if !c.isIn || len(c.told) == 0 || c.in.latest < as.in.earliest || c.in.latest > a.told[len(a.told)-1].at {
			return false
		}
		last := &c.told[len(c.told)-1]
		late := c.number() != 0 && c.number() < a.number() && c.in.latest > last.at+time.Duration(last.Retry)*time.Second+fifoGrain
		return late || last.ticket.Number != 0 && last.ticket.Number < a.number() && h.missedCall(c)
	})
}

// fifoGrain is how much earlier somebody has come who surely comes first: gates learn of each
// other's visitors in a second, and visitors are told whole seconds.
const fifoGrain = 2 * time.Second

// checkFIFO finds those who were let in while too many waited who had come earlier: more than were
// let in in any ten seconds about then, and two besides, where few are.
func checkFIFO(h *History, breach func(time.Duration, string, ...any)) {
	if h.Plan.Settings.Method != queue.FIFO {
		return
	}
	all := slices.DeleteFunc(tracks(h), func(t *track) bool { return len(t.told) == 0 })
	_, admitted := read(h)
	for _, b := range all {
		if !b.isIn || kinds.find(h.Plan.People[b.who].Kind).ahead || !h.quiet(b.came, b.in.latest) {
			continue
		}
		overtaken := 0
		for _, a := range all {
			if h.place(a) < h.place(b)-fifoGrain && a.waiting(b.in.earliest) && a.waiting(b.in.latest+time.Second) && !a.broken {
				overtaken++
			}
		}
		if most := mostWithin(admitted, b.in.latest, 10*time.Second); overtaken > most+2 {
			breach(b.in.latest, "%s is let in while %d wait who came earlier; %d were let in in ten seconds", h.Plan.People[b.who].Name, overtaken, most)
			return
		}
	}
}

// place is by when somebody's place goes in fifo: their first check-in, or what was drawn for them.
func (h *History) place(t *track) time.Duration {
	if h.Plan.Sale.Shuffle {
		return t.told[len(t.told)-1].ticket.Placed
	}
	return t.told[0].at
}

// mostWithin is how many were let in within any time of that length, of those that have the moment
// in them.
func mostWithin(admitted []admission, at, length time.Duration) int {
	most := 0
	for _, first := range admitted {
		if first.latest < at-length || first.latest > at {
			continue
		}
		n := 0
		for _, a := range admitted {
			if a.latest >= first.latest && a.latest <= first.latest+length {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
