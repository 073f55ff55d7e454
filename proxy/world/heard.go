package world

import (
	"slices"
	"time"
)

// rumour is how long it takes until all gates know what one of them knows.
const rumour = 5 * time.Second

// belated says of each event whether it tells somebody to wait who is in: another gate has let them
// in, this one has not heard of it yet, and they still have the place that they had.
func (h *History) belated() []bool {
	belated, people := make([]bool, len(h.Events)), make([]struct {
		waited Ticket
		in     time.Duration // since when they are in; 0 if they wait
	}, len(h.Plan.People))
	for i := range h.Events {
		e := &h.Events[i]
		if e.Who == nobody || e.What == Copied {
			continue
		}
		switch v := &people[e.Who]; e.What {
		case Waits:
			if belated[i] = h.Plan.Gates > 1 && v.in > 0 && (e.At < v.in+rumour || h.isCutOff(e.Gate, e.At)) && e.Ticket == v.waited; !belated[i] {
				v.waited, v.in = e.Ticket, 0
			}
		case Seen, Enters:
			if v.in == 0 {
				v.in = e.At
			}
		default:
		}
	}
	return belated
}

// isCutOff says whether a gate may not have heard what others know, as its link to the store is cut,
// or was until just before.
func (h *History) isCutOff(gate int, at time.Duration) bool {
	return slices.ContainsFunc(h.Plan.Faults, func(f Fault) bool {
		return f.Kind == linkCut && f.Gate == gate && at >= f.At && at < f.At+f.Lasts+rumour
	})
}
