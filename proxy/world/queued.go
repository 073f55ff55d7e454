package world

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// checkQueued finds answers that tell of fewer people who wait than surely do, or of more than can.
func checkQueued(h *History, breach func(time.Duration, string, ...any)) {
	if h.Plan.Sale != (Sale{}) {
		return
	}
	all := spellsOf(h)
	for i := range h.Events {
		e := &h.Events[i]
		if e.What != Waits || e.Room.UsersQueued == 0 || h.placeOf(&e.Ticket) == 0 || !h.quiet(e.At, e.At) {
			continue
		}
		near := 1 + h.lostNear(e.At)
		if h.Plan.Redis {
			near += cameLate(all, e.At)
		}
		if h.Plan.Settings.Method == queue.FIFO { // who is told that so many are ahead is told that one more waits
			near++
		}
		least, most := ahead(all, e.Ticket.ID, never/2, e.At, 0)
		if e.Room.UsersQueued < least {
			breach(e.At, "%s is told that %d wait, and at least %d do", h.Plan.People[e.Who].Name, e.Room.UsersQueued, least)
			return
		}
		if most += near; h.Plan.Gates == 1 && e.Room.UsersQueued > most { // whoever changes gates may be counted at both for a while
			breach(e.At, "%s is told that %d wait, and at most %d can", h.Plan.People[e.Who].Name, e.Room.UsersQueued, most)
			return
		}
	}
}
