package simulate

import (
	"container/heap"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// limits checks the room's limits as an origin would from its log: an id is
// active from its first request that was let through until one session duration
// after its last, or as long as its ticket says if that has not come back, and admitted
// whenever it was not active before.
type limits struct {
	settings queue.Settings
	active   map[queue.ID]queue.Instant // until when
	ends     ends

	admitted   map[queue.Instant]int // by minute
	mostActive int
	mostMinute int
	overActive int
	overMinute int

	// Of the minute of the latest change, the highest limit that was in force in it.
	changed queue.Instant
	highest int
}

func newLimits(s queue.Settings) limits {
	return limits{settings: s, active: map[queue.ID]queue.Instant{}, admitted: map[queue.Instant]int{}}
}

// letThrough notes a request of id that reached the origin. If the id is a new
// one, it was admitted at the given moment, which may lie in the minute before
// for an answer that was under way as that ended.
func (l *limits) letThrough(now, admitted queue.Instant, t *queue.Ticket) {
	l.expire(now)
	id := t.ID
	_, known := l.active[id]
	switch {
	case t.Leased:
		l.active[id] = t.Expires
	case !known || !l.settings.DisableSessionRenewal:
		l.active[id] = now.Add(l.settings.SessionDuration)
	}
	if known {
		return
	}
	heap.Push(&l.ends, end{id: id, at: l.active[id]})
	m := admitted.Floor(time.Minute)
	l.admitted[m]++
	l.mostMinute = max(l.mostMinute, l.admitted[m])
	l.mostActive = max(l.mostActive, len(l.active))
	l.overActive = max(l.overActive, len(l.active)-l.settings.TotalActiveUsers)
	l.overMinute = max(l.overMinute, l.admitted[m]-l.perMinute(m))
}

// perMinute is how many may be admitted in a minute.
func (l *limits) perMinute(minute queue.Instant) int {
	if minute <= l.changed {
		return max(l.highest, l.settings.NewUsersPerMinute)
	}
	return l.settings.NewUsersPerMinute
}

// follow goes by other settings from now on.
func (l *limits) follow(now queue.Instant, s queue.Settings) {
	minute := now.Floor(time.Minute)
	l.changed, l.highest = minute, l.perMinute(minute)
	l.settings = s
}

// expire forgets the ids that are active no more. One that was renewed since
// its end was put down is put down again.
func (l *limits) expire(now queue.Instant) {
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
type end struct {
	id queue.ID
	at queue.Instant
}

// ends is a heap, the earliest first.
type ends []end

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].at < e[j].at }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push implements [heap.Interface].
func (e *ends) Push(x any) { *e = append(*e, x.(end)) }

// Pop implements [heap.Interface].
func (e *ends) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}
