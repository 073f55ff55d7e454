package world

import (
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// checkQueued finds answers that tell of fewer people who wait than surely do, or of more than can.
func checkQueued(h *History, breach func(time.Duration, string, ...any)) {
	if h.Plan.Sale != (Sale{}) {
		return
	}
	all, stops, lost, changes := spellsOf(h), h.only(stops), h.only(loses), h.gateChanges()
	for i := range h.Events {
		e := &h.Events[i]
		known := e.Room.UsersAheadKnown && h.knowsPlaces(e.At) || h.Plan.Settings.Method == queue.Random && h.remembers(e.At) || h.quiet(e.At, e.At)
		if e.What != Waits || h.goesBefore(e) || e.Room.UsersQueued == 0 || h.placeOf(&e.Ticket) == 0 || !known || h.recounts(stops, e.At) {
			continue
		}
		near := 1 + h.lostNear(lost, e.At)
		if h.Plan.Redis {
			near += cameLate(all, e.At)
		}
		if h.Plan.Settings.Method == queue.FIFO { // who is told that so many are ahead is told that one more waits
			near++
			if place := h.placeOf(&e.Ticket); h.Plan.Gates > 1 && place > e.At-hasJustCome {
				near += newAt(all, e.At)
			}
		}
		least, most := ahead(all, e.Ticket.ID, never/2, e.At, 0)
		if e.Room.UsersQueued < least {
			breach(e.At, "%s is told that %d wait, and at least %d do", h.Plan.People[e.Who].Name, e.Room.UsersQueued, least)
			return
		}
		if most += near + 2 + h.countedTwice(changes, e.At); e.Room.UsersQueued > most {
			breach(e.At, "%s is told that %d wait, and at most %d can", h.Plan.People[e.Who].Name, e.Room.UsersQueued, most)
			return
		}
	}
}

// gateChanges is each time at which a gate tells somebody to wait whom another has told so last. In exact
// lines it is none, as everybody has one entry there.
func (h *History) gateChanges() (list []time.Duration) {
	if h.Plan.Settings.Method == queue.Line {
		return nil
	}
	last := map[int]int{}
	for i := range h.Events {
		if e := &h.Events[i]; e.What == Waits && e.Who != nobody {
			if last[e.Who] != 0 && last[e.Who] != e.Gate {
				list = append(list, e.At)
			}
			last[e.Who] = e.Gate
		}
	}
	return list
}

// countedTwice is how many may be counted at two gates at a moment: those who have changed from one
// to the other are expected at both until they would have asked again.
func (h *History) countedTwice(changes []time.Duration, at time.Duration) int {
	from, _ := slices.BinarySearch(changes, at-h.longestInterval())
	to, _ := slices.BinarySearch(changes, at+1)
	return to - from
}

// knowsPlaces says whether what a gate tells of places as known has to be true at a moment: until
// that is so again after some faults, which cost nobody a place, nothing is known.
func (h *History) knowsPlaces(at time.Duration) bool {
	return !slices.ContainsFunc(h.Plan.Faults, func(f Fault) bool {
		lasts, brief := unknownFor[f.Kind]
		if !brief {
			lasts = h.Plan.Settings.SessionDuration + time.Minute
		}
		return f.At <= at && f.At+f.Lasts+lasts >= at && !slices.Contains(forgetNothing, f.Kind)
	})
}

// recounts says whether a gate of several has stopped in the last interval, of all that stop:
// whoever had a stream from it, or had come to it last, may be counted there yet, and at another
// gate.
func (h *History) recounts(all []*Event, at time.Duration) bool {
	return h.Plan.Gates > 1 && slices.ContainsFunc(all, func(e *Event) bool { return e.At <= at && e.At+h.longestInterval() >= at })
}

// stops says whether a gate ends.
func stops(e *Event) bool { return e.What == Stopped || e.What == Died }

// unknownFor is for how long after some faults places may be told that are not true.
var unknownFor = map[string]time.Duration{"Redis flushed": 10 * time.Second, repliesLost: 4 * time.Second, "commands twice": 4 * time.Second}
