package measure

import (
	"container/heap"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Limits measures how many are active at a time and are admitted in a calendar minute, as
// an origin would from its log: an id is active from its first request that was let through
// until its session ends, and admitted whenever it was not active before.
type Limits[ID comparable] struct {
	MostActive    int
	MostPerMinute int

	active   map[ID]queue.Instant // until when
	ends     ends[ID]
	admitted map[queue.Instant]int // by minute
}

// NewLimits returns a Limits that has seen nothing.
func NewLimits[ID comparable]() *Limits[ID] {
	return &Limits[ID]{active: map[ID]queue.Instant{}, admitted: map[queue.Instant]int{}}
}

// Seen notes that a request of id reaches the origin now, and that its session lasts until
// the given moment, or as long as an earlier request has said if that is longer. It reports
// whether the id is a new one. Requests have to come in order.
func (l *Limits[ID]) Seen(now queue.Instant, id ID, until queue.Instant) (fresh bool) {
	l.expire(now)
	before, known := l.active[id]
	l.active[id] = max(before, until)
	if !known {
		heap.Push(&l.ends, end[ID]{id: id, at: until})
		l.MostActive = max(l.MostActive, len(l.active))
	}
	return !known
}

// Admitted notes that somebody was admitted at the given moment, and returns how many have
// been in its minute.
func (l *Limits[ID]) Admitted(at queue.Instant) int {
	minute := at.Floor(time.Minute)
	l.admitted[minute]++
	l.MostPerMinute = max(l.MostPerMinute, l.admitted[minute])
	return l.admitted[minute]
}

// Active is how many are active as of the last request.
func (l *Limits[ID]) Active() int { return len(l.active) }

// ActiveAt is how many are active at a moment, after which no earlier one may be asked about.
func (l *Limits[ID]) ActiveAt(now queue.Instant) int {
	l.expire(now)
	return len(l.active)
}

// expire forgets the ids that are active no more. One that was renewed since
// its end was put down is put down again.
func (l *Limits[ID]) expire(now queue.Instant) {
	for len(l.ends) > 0 && l.ends[0].at <= now {
		if until := l.active[l.ends[0].id]; until > now {
			l.ends[0].at = until
			heap.Fix(&l.ends, 0)
			continue
		}
		delete(l.active, l.ends[0].id)
		heap.Pop(&l.ends)
	}
}

// end is when a session ends unless it is renewed.
type end[ID comparable] struct {
	id ID
	at queue.Instant
}

// ends is a heap, the earliest first.
type ends[ID comparable] []end[ID]

func (e ends[ID]) Len() int           { return len(e) }
func (e ends[ID]) Less(i, j int) bool { return e[i].at < e[j].at }
func (e ends[ID]) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push implements [heap.Interface].
func (e *ends[ID]) Push(x any) { *e = append(*e, x.(end[ID])) }

// Pop implements [heap.Interface].
func (e *ends[ID]) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}
