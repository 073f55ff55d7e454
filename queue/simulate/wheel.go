package simulate

import "github.com/anteroom-gate/anteroom/queue"

// wheel holds the next request of each visitor, by millisecond. A visitor is in
// it at most once, which makes a list link and a moment enough for each.
type wheel struct {
	first, last []int32 // of each slot's list; none if empty
	entries     []wheelEntry
}

type wheelEntry struct {
	at   queue.Instant
	next int32
}

// wheelSlots is how far the wheel reaches in one turn, in milliseconds. Who
// comes later is passed over until their turn.
const wheelSlots = 1 << 16

const none = -1

func newWheel(visitors int) *wheel {
	w := &wheel{first: make([]int32, wheelSlots), last: make([]int32, wheelSlots), entries: make([]wheelEntry, visitors)}
	for i := range w.first {
		w.first[i] = none
	}
	return w
}

// add lets visitor i come at the given moment.
func (w *wheel) add(i int32, at queue.Instant) {
	slot := at % wheelSlots
	w.entries[i] = wheelEntry{at: at, next: none}
	if w.first[slot] == none {
		w.first[slot] = i
	} else {
		w.entries[w.last[slot]].next = i
	}
	w.last[slot] = i
}

// take appends the visitors who come at now to list, in the order in which they
// were added, and forgets them.
func (w *wheel) take(now queue.Instant, list []int32) []int32 {
	slot := now % wheelSlots
	i := w.first[slot]
	w.first[slot] = none
	for i != none {
		e := w.entries[i]
		if e.at == now {
			list = append(list, i)
		} else {
			w.add(i, e.at)
		}
		i = e.next
	}
	return list
}
