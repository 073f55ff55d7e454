package world

import (
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// checkFirst finds newcomers who are told fewer people ahead in fifo than surely wait: all of these
// came before them.
func checkFirst(h *History, breach func(time.Duration, string, ...any)) {
	if h.Plan.Settings.Method != queue.FIFO || h.Plan.Sale != (Sale{}) {
		return
	}
	all, known := spellsOf(h), map[queue.ID]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.What != Waits || known[e.Ticket.ID] {
			continue
		}
		known[e.Ticket.ID] = true
		place := h.placeOf(&e.Ticket)
		if place < e.Sent || h.goesBefore(e) || !e.Room.UsersAheadKnown || !h.knowsPlaces(e.At) {
			continue
		}
		late := time.Duration(0) // how long ago somebody came of whom the gate surely knows: it counts those at once who come to it
		if h.Plan.Gates > 1 {
			late = 2 * toldLate
		}
		least := 0
		for _, p := range all {
			least += oneIf(p.surely && p.place < place-late && p.known() < e.Sent-late && p.last >= e.At+toldLate)
		}
		if e.Room.UsersAhead < least-1 { // what is told is rounded
			breach(e.At, "%s comes and is told that %d are ahead, and at least %d are", h.Plan.People[e.Who].Name, e.Room.UsersAhead, least)
			return
		}
	}
}

// known is since when the gate that somebody asked surely tells of them: of those who come at once, of
// those who come back later than told when it looks at all next.
func (s *spell) known() time.Duration {
	if slices.Contains(s.late, s.sure) {
		return s.sure + toldLate
	}
	return s.sure
}
