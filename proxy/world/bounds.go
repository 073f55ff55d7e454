package world

import (
	"slices"
	"time"
)

// excess is by how many sessions the limit may be exceeded at a moment, by the table of faults: those that a gate had renewed
// which then died, or was silent for long.
func (h *History) excess(at time.Duration) int {
	allowed := 0
	for i := range h.Plan.Faults {
		f := &h.Plan.Faults[i]
		from, to := f.At, f.At+f.Lasts+time.Second
		switch f.Kind {
		case "gate killed":
			from, to = f.At-2*time.Second, f.At+3*time.Second
		case "link cut", "Redis slow":
		case "power loss":
			from = f.At - mostLost
		case "gate stands still":
			if !h.Plan.Redis {
				continue
			}
			from -= 2 * time.Second
		default:
			continue
		}
		if at >= from && at <= to+h.Plan.Settings.SessionDuration+slack {
			allowed += h.seenThrough(f.Gate, from, to)
		}
	}
	return allowed
}

// forgets says whether a store may have lost something between two moments that it was told.
func (h *History) forgets(from, to time.Duration) bool {
	return slices.ContainsFunc(h.Plan.Faults, func(f Fault) bool {
		switch f.Kind {
		case "Redis flushed", "key lost", "failover", "power loss", "full disk":
			return f.At-mostLost <= to && f.At+f.Lasts+time.Minute >= from
		}
		return false
	})
}

// keepsTime says whether the time that passes between two moments is known to a gate with a journal: not where its machine starts anew after
// its clock was set.
func (h *History) keepsTime(from, to time.Duration) bool {
	set := slices.IndexFunc(h.Plan.Faults, func(f Fault) bool { return f.Kind == "clock of a machine set" })
	return set < 0 || !slices.ContainsFunc(h.Plan.Faults[set:], func(f Fault) bool {
		return f.Kind == "power loss" && f.At <= to && f.At+f.Lasts >= from
	})
}

// seenThrough is how many people the origin saw through a gate in a time.
func (h *History) seenThrough(gate int, from, to time.Duration) int {
	people := map[int]bool{}
	for i := range h.Events {
		if e := &h.Events[i]; e.What == Seen && e.Gate == gate && e.At >= from && e.At <= to {
			people[e.Who] = true
		}
	}
	return len(people)
}

// lostAdmissions is by how many the allowance of a minute may be exceeded: those whom a gate let in that died in it, and those who were let
// in within the second that a failover lost.
func (h *History) lostAdmissions(minute time.Duration) int {
	allowed := 0
	for i := range h.Plan.Faults {
		f := &h.Plan.Faults[i]
		switch {
		case f.Kind == "gate killed" && f.At.Truncate(time.Minute) <= minute && f.At+3*time.Second >= minute:
			allowed += h.seenThrough(f.Gate, minute, minute+time.Minute)
		case f.Kind == "power loss" && f.At-mostLost <= minute+time.Minute && f.At+f.Lasts >= minute:
			allowed += h.seenThrough(f.Gate, minute, f.At)
		case f.Kind == "failover":
			for gate := range h.Plan.Gates {
				allowed += h.seenThrough(gate, max(minute, f.At), min(f.At+2*time.Second, minute+time.Minute))
			}
		}
	}
	return allowed
}
