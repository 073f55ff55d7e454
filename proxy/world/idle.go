package world

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// checkIdle finds people who wait though nothing keeps them from a slot: for more than a minute and
// two intervals fewer people may hold one than there are, and fewer may have been let in in each of
// its minutes than may be.
func checkIdle(h *History, breach func(time.Duration, string, ...any)) {
	bound, busy := time.Minute+2*h.longestInterval(), h.busy()
	for _, t := range tracks(h) {
		if len(t.told) < 2 || t.broken {
			continue
		}
		from, to := t.told[0].at, t.told[len(t.told)-1].at
		if to-from <= bound {
			continue
		}
		for _, b := range busy {
			if b.earliest <= to && b.latest >= from {
				if b.earliest-from > bound && h.quiet(from, b.earliest) {
					break
				}
				from = max(from, b.latest)
			}
		}
		if to-from > bound && h.quiet(from, to) {
			breach(from+bound, "%s has waited since %s, and slots are open all the time", h.Plan.People[t.who].Name, moment(from))
			return
		}
	}
}

// busy are the times in which all slots may be taken, or the allowance of a minute used, in order.
// They may overlap.
func (h *History) busy() []admission {
	list := h.full()
	var last = map[int]time.Duration{}
	minutes := map[time.Duration]int{}
	for i := range h.Events {
		e := &h.Events[i]
		copied := e.What == Copied && (e.Outcome == Seen || e.Outcome == Enters)
		if e.What != Seen && e.What != Watched && e.What != Enters && !copied {
			continue
		}
		who := e.Who
		if copied || kinds.find(h.Plan.People[who].Kind).strange {
			who = len(h.Plan.People) + i
		}
		over := e.At + h.Plan.Settings.SessionDuration + slack
		from := e.At - h.longestInterval() // somebody may have a slot for as long before anything is seen of it
		if before, known := last[who]; !known || before < from && e.What != Watched {
			minutes[e.At.Truncate(time.Minute)]++
			minutes[from.Truncate(time.Minute)]++
		}
		last[who] = over
	}
	for minute, n := range minutes {
		if n >= h.Plan.Settings.NewUsersPerMinute {
			list = append(list, admission{minute, minute + time.Minute})
		}
	}
	if s := &h.Plan.Sale; *s != (Sale{}) { // everyone new is held, and then comes with their next check-in
		held := admission{s.Prequeue, s.Start + h.longestInterval()}
		if h.clocksDiffer() { // by which it begins at another moment
			held = admission{0, h.Ends}
		}
		list = append(list, held)
	}
	slices.SortFunc(list, func(a, b admission) int { return int(a.earliest - b.earliest) })
	return list
}

// full are the times in which all slots may be taken. Somebody may have one for an interval before
// anything is seen of it.
func (h *History) full() (list []admission) {
	type change struct {
		at   time.Duration
		id   queue.ID
		more int
	}
	var changes []change
	for _, l := range holdings(h) {
		changes = append(changes, change{l.from - h.longestInterval(), l.id, 1}, change{l.until, l.id, -1})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	known, unknown := map[queue.ID]int{}, 0
	for i, c := range changes {
		if c.id == (queue.ID{}) {
			unknown += c.more
		} else if known[c.id] += c.more; known[c.id] == 0 {
			delete(known, c.id)
		}
		if len(known)+unknown >= h.Plan.Settings.TotalActiveUsers && i+1 < len(changes) {
			list = append(list, admission{c.at, changes[i+1].at})
		}
	}
	return list
}
