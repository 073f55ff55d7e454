package simulate

import "github.com/fairdoor-gate/fairdoor/queue"

// wheel holds the next request of each visitor, by millisecond.
type wheel struct {
	slots [wheelSlots][]appointment
}

// appointment is when a visitor comes.
type appointment struct {
	at      queue.Instant
	visitor int32
}

// wheelSlots is how far the wheel reaches in one turn, in milliseconds. Who
// comes later is passed over until their turn.
const wheelSlots = 1 << 15

// add lets visitor i come at the given moment.
func (w *wheel) add(i int32, at queue.Instant) {
	slot := &w.slots[at%wheelSlots]
	*slot = append(*slot, appointment{at: at, visitor: i})
}

// take appends the visitors who come at now to list, in the order in which they
// were added, and forgets them.
func (w *wheel) take(now queue.Instant, list []int32) []int32 {
	slot := &w.slots[now%wheelSlots]
	later := (*slot)[:0]
	for _, a := range *slot {
		if a.at == now {
			list = append(list, a.visitor)
		} else {
			later = append(later, a)
		}
	}
	*slot = later
	return list
}
