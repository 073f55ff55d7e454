package room

import (
	"cmp"
	"slices"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

const (
	// arrivalsReported is how long after a moment all nodes have reported who came then, as a
	// rule.
	arrivalsReported = 5 * time.Second
	// arrivalParts is of how many people arrivals are told apart at least, as a part of those
	// who wait.
	arrivalParts = 1000
)

// arrivals are how many people came when, as newcomers are counted: see
// [queue.Settings.ArrivalBucket]. They tell how the people of a longer bucket are spread
// over its time.
type arrivals struct {
	since queue.Instant // everybody present who came from then on is in the list
	list  []arrived     // in order; no two overlap
}

// arrived are people who came in an interval.
type arrived struct {
	from, until queue.Instant
	people      int
	before      int // people who came before them; in a snapshot only
}

// follow takes in whom a view counts as newcomers. After a check-in they are counted in
// longer buckets, and some leave: as many came as were counted at most.
func (a *arrivals) follow(v *queue.View, rules *rules) {
	reported := v.Now.Add(-arrivalsReported)
	switch {
	case !rules.CutsBuckets():
		*a = arrivals{}
		return
	case len(v.Buckets) == 0:
		*a = arrivals{since: reported}
		return
	case a.since == 0:
		a.since = v.Now
	}
	for _, b := range v.Buckets {
		if b.Bucket >= max(a.since, reported) {
			a.count(b)
		}
	}
	a.merge(v.Buckets[0].Bucket, reported, v.Present/arrivalParts)
}

// count notes that so many came in the time of a newcomers' bucket, at least.
func (a *arrivals) count(b queue.BucketCount) {
	i, found := find(a.list, b.Bucket)
	if !found {
		a.list = slices.Insert(a.list, i, arrived{from: b.Bucket, until: b.Bucket.Add(queue.ArrivalTime)})
	}
	a.list[i].people = max(a.list[i].people, b.Waiting)
}

// find returns which are the first of a list who came at a moment or later.
func find(list []arrived, moment queue.Instant) (int, bool) {
	return slices.BinarySearchFunc(list, moment, func(e arrived, at queue.Instant) int { return cmp.Compare(e.from, at) })
}

// merge puts together those of whom everybody is reported, so many at most, and forgets those
// who came before all who wait.
func (a *arrivals) merge(first, reported queue.Instant, most int) {
	merged := a.list[:0]
	for _, e := range a.list {
		last := len(merged) - 1
		switch {
		case e.until <= first:
			a.since = max(a.since, e.until)
		case last >= 0 && e.until <= reported && merged[last].people+e.people <= most:
			merged[last].until, merged[last].people = e.until, merged[last].people+e.people
		default:
			merged = append(merged, e)
		}
	}
	a.list = merged
}

// snapshot is a copy that does not change.
func (a *arrivals) snapshot() arrivals {
	s := arrivals{since: a.since, list: slices.Clone(a.list)}
	for i := 1; i < len(s.list); i++ {
		s.list[i].before = s.list[i-1].before + s.list[i-1].people
	}
	return s
}

// part is which part of those who came from begin to end came up to a moment. If nobody
// knows, it is as if they came evenly.
func (a *arrivals) part(begin, moment, end queue.Instant) float64 {
	from := a.before(begin)
	if all := a.before(end) - from; begin >= a.since && all > 0 {
		return (a.before(moment+1) - from) / all
	}
	return min(1, float64(moment+1-begin)/float64(max(1, end-begin)))
}

// before is how many came before a moment. Those of one interval came evenly.
func (a *arrivals) before(moment queue.Instant) float64 {
	i, _ := find(a.list, moment)
	if i == 0 {
		return 0
	}
	e := &a.list[i-1]
	return float64(e.before) + float64(e.people)*min(1, float64(moment-e.from)/float64(e.until-e.from))
}
