package world

import (
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// exposure is a time in which whoever a gate lets in or renews may be forgotten by all others.
type exposure struct {
	gate     int
	from, to time.Duration
}

// exposures are those by the table of faults: of a gate that dies then, or is silent for long, or
// that does not run while the store loses what it knew.
func (h *History) exposures() (list []exposure) {
	for i := range h.Plan.Faults {
		f := &h.Plan.Faults[i]
		from, to := f.At, f.At+f.Lasts+time.Second
		switch f.Kind {
		case "gate killed":
			from, to = f.At-2*time.Second, f.At+3*time.Second
		case linkCut, "Redis slow":
		case "power loss":
			if from = f.At - mostLost; !h.keepsTime(from, f.At) {
				from = f.At - h.Plan.Settings.SessionDuration // all sessions seem to be over
			}
		case "gate stands still":
			if !h.Plan.Redis {
				continue
			}
			from -= 2 * time.Second
		case "Redis flushed", keyLost, "failover":
			for _, away := range h.Plan.Faults {
				if silent := away.silences(); silent != 0 && away.At <= to+recovers && away.At+away.Lasts+recovers >= f.At {
					list = append(list, exposure{silent, f.At - h.Plan.Settings.SessionDuration, to + recovers})
				}
			}
			continue
		default:
			continue
		}
		list = append(list, exposure{f.Gate, from, to})
	}
	return list
}

// recovers is for how long a store that has lost its memory waits for what gates know.
const recovers = 10 * time.Second

// everyGate is that of a fault that befalls all gates.
const everyGate = -1

// silences is the gate that does not run, or is not heard, while a fault lasts; 0 for none.
func (f *Fault) silences() int {
	switch f.Kind {
	case "gate killed", "gate restarted", "gate stands still", linkCut:
		return f.Gate
	case "rolling restart":
		return everyGate
	}
	return 0
}

// excess is how many of those who have been in since some moments may be beyond the limit, by the
// table of faults: whom a gate had let in or renewed in an exposure.
func (h *History) excess(since map[int]time.Duration) int {
	beyond, all := map[int]bool{}, h.exposures()
	for i := range h.Events {
		e := &h.Events[i]
		began, isIn := since[e.Who]
		if e.What == Seen && isIn && slices.ContainsFunc(all, func(x exposure) bool {
			return (x.gate == e.Gate || x.gate == everyGate) && e.At >= max(x.from, began) && e.At <= x.to
		}) {
			beyond[e.Who] = true
		}
	}
	return len(beyond)
}

// forgets says whether a store may have lost something between two moments that it was told.
func (h *History) forgets(from, to time.Duration) bool {
	return slices.ContainsFunc(h.Plan.Faults, func(f Fault) bool {
		switch f.Kind {
		case "Redis flushed", keyLost, "failover", "power loss", "full disk", "disk fails":
			return f.At-mostLost <= to && f.At+f.Lasts+time.Minute >= from
		}
		return false
	})
}

// keepsTime says whether the time that passes between two moments is known to a gate with a
// journal: not where its machine starts anew after its clock was set.
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

// lets is how many a gate may let in while its link is cut, where it shares what was open: those
// for whom there surely was a slot when the store answered last.
func (h *History) lets(cut *Fault, present []presence) int {
	return min(h.Plan.Settings.TotalActiveUsers-surelyHold(present, cut.At), h.Plan.Settings.NewUsersPerMinute)
}

// checkShare finds gates that let in more people while the store did not answer than had a slot
// when it answered last.
func checkShare(h *History, breach func(time.Duration, string, ...any)) {
	if h.Plan.Settings.OnStoreError != queue.Share {
		return
	}
	present, _ := read(h)
	present = slices.DeleteFunc(present, func(p presence) bool { return p.who >= len(h.Plan.People) })
	all := tracks(h)
	for i := range h.Plan.Faults {
		f := &h.Plan.Faults[i]
		if f.Kind != linkCut || !h.alone(f) {
			continue
		}
		in, latest := 0, f.At
		for _, t := range all {
			if t.isIn && t.gate == f.Gate && t.in.earliest > f.At && t.in.latest < f.At+f.Lasts {
				in, latest = in+1, max(latest, t.in.latest)
			}
		}
		if open := h.lets(f, present); in > open {
			breach(latest, "gate %d has let in %d people since its link was cut at %s, and at most %d slots were open then", f.Gate, in, moment(f.At), open)
			return
		}
	}
}

// alone says whether no other fault comes while one lasts, nor shortly before.
func (h *History) alone(f *Fault) bool {
	return !slices.ContainsFunc(h.Plan.Faults, func(o Fault) bool { return o != *f && o.At <= f.At+f.Lasts && o.At+o.Lasts+time.Minute >= f.At })
}

// lostAdmissions is by how many the allowance of a minute may be exceeded: those whom a gate let in
// that died in it, and those who were let in within the second that a failover lost.
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
				allowed += h.seenThrough(gate+1, max(minute, f.At), min(f.At+2*time.Second, minute+time.Minute))
			}
		}
	}
	return allowed
}

// shared is by how many the limits may be exceeded at a moment, where each gate lets in as many as
// were open when it last heard of the store.
func (h *History) shared(at time.Duration) int {
	if h.Plan.Settings.OnStoreError != queue.Share || h.quiet(at, at) {
		return 0
	}
	return h.Plan.Gates * h.Plan.Settings.TotalActiveUsers
}
