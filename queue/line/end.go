package line

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// end is an instant with the entries that are looked at then. If the time of an entry has
// run out, it is removed; if it was kept, it moves to a later end. So a check-in costs
// nothing here.
type end struct {
	at    queue.Instant
	first *Entry
}

// due is the instant of the end that an entry hangs on.
func (e *Entry) due() queue.Instant { return e.until - queue.Instant(e.late) }

// Keep sets until when the place of an entry lasts, to a later moment or to an earlier one.
func (l *Line) Keep(e *Entry, now, until queue.Instant) {
	due := e.due()
	if until >= due && until-due <= math.MaxUint32 {
		e.until, e.late = until, uint32(until-due)
		return
	}
	l.unhang(e)
	e.until = until
	l.hang(e, now)
}

// Expire removes entries whose time has run out, the oldest first. It looks at so many entries
// at most, and leaves the others for the next call.
func (l *Line) Expire(now queue.Instant, most int) {
	for len(l.ends) > 0 && l.ends[0].at <= now {
		e := l.ends[0].first
		switch {
		case e == nil:
			l.ends = l.ends[1:]
			continue
		case most == 0:
			return
		case e.until <= now:
			l.Remove(e)
		default:
			l.unhang(e)
			l.hang(e, now)
		}
		most--
	}
}

// hang hangs an entry on an end. The farther off the entry's time is, the earlier before it
// may the end be, so that there are few ends.
func (l *Line) hang(e *Entry, now queue.Instant) {
	coarse := max(0, bits.Len64(uint64(max(0, e.until-now)))-10)
	due := e.until >> coarse << coarse
	i, ok := l.findEnd(due)
	if !ok {
		l.ends = slices.Insert(l.ends, i, end{at: due})
	}
	e.late = uint32(e.until - due)
	e.prev, e.next = nil, l.ends[i].first
	if e.next != nil {
		e.next.prev = e
	}
	l.ends[i].first = e
}

func (l *Line) unhang(e *Entry) {
	if e.next != nil {
		e.next.prev = e.prev
	}
	if e.prev != nil {
		e.prev.next = e.next
	} else if i, ok := l.findEnd(e.due()); ok {
		l.ends[i].first = e.next
	}
	e.prev, e.next = nil, nil
}

func (l *Line) findEnd(at queue.Instant) (int, bool) {
	return slices.BinarySearchFunc(l.ends, at, func(e end, at queue.Instant) int { return cmp.Compare(e.at, at) })
}
