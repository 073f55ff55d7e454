package estimate

import (
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

const (
	// arrivalsReported is how long after a moment all nodes have reported who came then, as a
	// rule.
	arrivalsReported = 5 * time.Second
	// arrivalParts is of how many people arrivals are told apart at least, as a part of those
	// who came.
	arrivalParts = 4096
	// mostArrivals bounds the parts, with those of the last arrivalsReported, until a view has them
	// merged.
	mostArrivals = 2*arrivalParts + 2*int(arrivalsReported/time.Millisecond)
	// arrivalRate is the time over which it is measured how fast people come to other nodes.
	arrivalRate = 2 * time.Second
)

// arrivals are when people joined the line: those of this node as they join, to the millisecond,
// and those of others as the views count newcomers, see [queue.Settings.ArrivalBucket]. They tell
// how many came between two moments, and so how the people of a longer bucket are spread over its
// time.
type arrivals struct {
	mu     sync.Mutex
	since  queue.Instant // everybody present who came from then on is in the lists
	nobody queue.Instant // who came before it waited when the latest view came in which nobody did
	here   cohorts
	others cohorts
	told   queue.Instant // until when others have told who came to them, as far as is known
	rate   float64       // how many come to others in a millisecond

	reported   queue.Instant // when this node has reported last
	unreported int           // people who joined since
	few        int           // so many need not be reported before it is due; 0 where no other node waits for it
	pause      time.Duration // between two reports at least
}

// join notes that somebody joins the line at this node, and says whether so many have that the
// others should hear of it at once.
func (a *arrivals) join(at queue.Instant) (urgent bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.here.add(at, at+1, 1)
	if len(a.here) > mostArrivals { // the store may be away for long
		a.here.merge(0, at.Add(-arrivalsReported))
	}
	a.unreported++
	if a.few == 0 || a.unreported < a.few || at.Sub(a.reported) < a.pause {
		return false
	}
	a.reported, a.unreported = at, 0
	return true
}

// report notes that the node reports who joined.
func (a *arrivals) report(at queue.Instant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reported, a.unreported = at, 0
}

// setPace says when a burst is urgent, in a room with so many nodes that admits so many people a
// minute. The nodes then report before it is due: each once it has as many newcomers as its share
// of those who are admitted in a second. The pause between two such reports keeps them to a hundred
// a second, of all nodes together.
func (a *arrivals) setPace(nodes int, admitted float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.few = 0; nodes > 1 {
		a.few = max(1, int(admitted/time.Minute.Seconds())/nodes)
		a.pause = max(queue.ArrivalTime, time.Duration(nodes)*10*time.Millisecond)
	}
}

// follow takes in whom a view counts as newcomers. After a check-in they are counted in
// longer buckets, and some leave: as many came as were counted at most.
func (a *arrivals) follow(v *queue.View, settings *queue.Settings) {
	a.mu.Lock()
	defer a.mu.Unlock()
	reported := v.Now.Add(-arrivalsReported)
	first := reported // nobody who came before it waits
	if len(v.Buckets) == 0 {
		a.since, a.nobody = max(a.since, reported), reported
	} else {
		first = min(first, v.Buckets[0].Bucket)
	}
	if a.since == 0 {
		a.since = v.Now
	}
	if len(v.Nodes) > 1 && settings.CutsBuckets() {
		a.followOthers(v, reported)
	} else {
		a.others, a.rate = nil, 0
	}
	a.since = max(a.since, a.here.merge(first, reported), a.others.merge(first, reported))
}

// followOthers takes in how many of the newcomers whom a view counts came to other nodes.
func (a *arrivals) followOthers(v *queue.View, reported queue.Instant) {
	for _, b := range v.Buckets {
		if b.Bucket < max(a.since, reported) {
			continue
		}
		end := b.Bucket.Add(queue.ArrivalTime)
		if more := b.Waiting - int(a.here.between(b.Bucket, end)+a.others.between(b.Bucket, end)); more > 0 {
			a.others.add(b.Bucket, end, more)
		}
	}
	a.told = v.Now.Add(-queue.ArrivalTime).Floor(queue.ArrivalTime)
	a.rate = a.others.between(a.told.Add(-arrivalRate), a.told) / float64(arrivalRate.Milliseconds())
}

// between is how many joined the line from one moment to another. Those who came to others just
// now, as far as it is not told, are taken to have come as fast as before.
func (a *arrivals) between(from, until queue.Instant) float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	here, others := a.here.between(from, until), a.others.between(from, until)
	if untold := max(a.told, from); until > untold {
		others = max(others, a.others.between(from, untold)+a.rate*float64(until-untold))
	}
	return here + others
}

// part is which part of the others who came from begin to end came before a visitor who came at a
// moment, and whether somebody else came in the same millisecond; nobody knows if they came too
// long ago.
func (a *arrivals) part(begin, moment, end queue.Instant) (part float64, shared, known bool) {
	if a == nil {
		return 0, false, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.nobody <= moment {
		begin = max(begin, a.nobody)
	}
	first, before, next, last := a.before(begin), a.before(moment), a.before(moment+1), a.before(end)
	if begin < a.since || last <= first {
		return 0, false, false
	}
	return min(1, (before-first)/max(1, last-first-1)), next-before >= 2, true
}

// before is how many are known to have joined before a moment. The caller holds mu.
func (a *arrivals) before(moment queue.Instant) float64 {
	return a.here.before(moment) + a.others.before(moment)
}
