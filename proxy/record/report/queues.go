package report

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
)

// pause is for how long nobody has to wait until the next who do are another queue.
const pause = 5 * time.Minute

// queuesOf are the times in which people waited. A gap in what is known does not end a queue
// that is there after it.
func queuesOf(minutes []record.Minute) []Span {
	queues := []Span{}
	var before, empty time.Time // the end of the latest minute that is known, and since when nobody has waited
	for _, m := range minutes {
		if m.Room == nil {
			continue
		}
		end := m.At.Add(time.Minute)
		last := len(queues) - 1
		switch {
		case m.Room.QueuedMost == 0:
			if empty.IsZero() {
				empty = m.At
			}
		case last < 0 || !empty.IsZero() && m.At.Sub(empty) >= pause:
			queues = append(queues, Span{From: m.At, To: end, Most: m.Room.QueuedMost, OpenBegin: before.Before(m.At)})
			empty = time.Time{}
		default:
			queues[last].To, queues[last].Most = end, max(queues[last].Most, m.Room.QueuedMost)
			empty = time.Time{}
		}
		before = end
	}
	if last := len(queues) - 1; last >= 0 {
		queues[last].OpenEnd = queues[last].To.Equal(before)
	}
	return queues
}

// known says which minutes of a time are not known. The minute that runs at its end may be
// there or not.
func known(minutes []record.Minute, from, to time.Time) Known {
	k := Known{Gaps: []Span{}}
	at, missing := from, 0.0
	gap := func(until time.Time) {
		if until.Sub(at) >= time.Minute {
			k.Gaps = append(k.Gaps, Span{From: at.UTC(), To: until.UTC()})
			missing += until.Sub(at).Seconds()
		}
	}
	for _, m := range minutes {
		if m.Room == nil {
			continue
		}
		gap(m.At)
		at = m.At.Add(time.Minute)
		missing += max(0, min(at.Sub(m.At), to.Sub(m.At)).Seconds()-m.Seconds)
	}
	gap(to.Truncate(time.Minute))
	if span := to.Sub(from).Seconds(); span > 0 {
		k.Share = min(max(0, 1-missing/span), 1)
	}
	return k
}
