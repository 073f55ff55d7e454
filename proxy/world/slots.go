package world

import (
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// holding is a time in which somebody may hold a slot.
type holding struct {
	id          queue.ID // of the ticket; the zero ID for one that nobody knows
	from, until time.Duration
}

// answered is a request that was answered.
type answered struct {
	who  int
	sent time.Duration
}

// holdings are all slots that may have been held, by the ticket: those of whoever has been served,
// has been told by a stream that they are in, or was seen without being served. A request that was
// lost may have let somebody in, too, and so may the stream of a page that was frozen since, or of
// one that was closed just then.
func holdings(h *History) []holding {
	served := map[answered]bool{}
	for i := range h.Events {
		if e := &h.Events[i]; e.What == Served || e.What == Copied && e.Outcome == Served {
			served[answered{e.Who, e.Sent}] = true
		}
	}
	list, died, waits := h.asleep(), h.Ends, map[int]Ticket{}
	for i := range h.Events {
		e := &h.Events[i]
		what := e.What
		if what == Copied {
			what = e.Outcome
		}
		until := e.At + h.Plan.Settings.SessionDuration + slack
		switch t, waited := waits[e.Who]; {
		case e.What == Waits:
			waits[e.Who] = e.Ticket
		case e.What == Served:
			delete(waits, e.Who)
		case e.What == Left && waited:
			list = append(list, holding{t.ID, e.At - countTakes, until})
		}
		switch {
		case what == Served, what == Enters:
			list = append(list, holding{e.Ticket.ID, min(e.Sent, e.At), until})
		case what == Seen && !served[answered{e.Who, e.Sent}], (what == Lost || what == Shut) && e.Gate != 0:
			list = append(list, holding{queue.ID{}, min(e.Sent, e.At), until})
		case what == Died, what == Stopped:
			died = min(died, e.At)
		case what == Started: // a gate that starts holds each slot for a session
			for i := range list {
				if l := &list[i]; l.until >= min(died, e.At) {
					l.until = max(l.until, until)
				}
			}
			died = h.Ends
		}
	}
	return list
}

// asleep are those of pages that are frozen: from when they were told to wait to when anything is
// heard of them. So it is of those who are to be called, who may come back while no gate is reached.
func (h *History) asleep() []holding {
	var list []holding
	latest := map[int]int{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Who == nobody || e.What == Copied || !kinds.find(h.Plan.People[e.Who].Kind).freezes {
			continue
		}
		if before, known := latest[e.Who]; known && e.What != Lost {
			if list[before].until = e.At; e.What == Left {
				list[before].until += h.Plan.Settings.SessionDuration + slack
			}
			delete(latest, e.Who)
		}
		if e.What == Waits {
			latest[e.Who] = len(list)
			list = append(list, holding{e.Ticket.ID, e.At, h.Ends})
		}
	}
	return list
}

// countTakes is how much later than a slot is taken, by what was sent, a count may have it.
const countTakes = 2 * time.Second

// checkSlots finds gates that count more who are in than have a slot by all that happened, or fewer
// than surely have one.
func checkSlots(h *History, breach func(time.Duration, string, ...any)) {
	list := holdings(h)
	present, _ := read(h)
	present = slices.DeleteFunc(present, func(p presence) bool { return p.who >= len(h.Plan.People) })
	for i := range h.Events {
		e := &h.Events[i]
		if e.What != Measured || !e.Size.Counted {
			continue
		}
		if most := mayHold(list, e.At); e.Size.Active > most {
			breach(e.At, "gate %d counts %d who are in, and at most %d can be", e.Gate, e.Size.Active, most)
			return
		}
		if least := surelyHold(present, e.At); e.Size.Active < least {
			breach(e.At, "gate %d counts %d who are in, and at least %d are", e.Gate, e.Size.Active, least)
			return
		}
	}
}

// mayHold is how many may hold a slot at a moment.
func mayHold(list []holding, at time.Duration) int {
	known, unknown := map[queue.ID]bool{}, 0
	for _, l := range list {
		switch {
		case l.from > at+countTakes || l.until < at:
		case l.id == queue.ID{}:
			unknown++
		default:
			known[l.id] = true
		}
	}
	return len(known) + unknown
}

// surelyHold is how many people surely hold a slot about a moment.
func surelyHold(present []presence, at time.Duration) int {
	people := map[int]bool{}
	for _, p := range present {
		if p.from <= at-countTakes && p.until >= at+countTakes {
			people[p.who] = true
		}
	}
	return len(people)
}

// remembers says whether a gate has to know at a moment who is in: nothing has gone wrong lately by
// which it may have been forgotten.
func (h *History) remembers(at time.Duration) bool {
	return !slices.ContainsFunc(h.Plan.Faults, func(f Fault) bool {
		return f.At <= at && f.At+f.Lasts+h.Plan.Settings.SessionDuration+time.Minute >= at && !slices.Contains(forgetNothing, f.Kind)
	})
}
