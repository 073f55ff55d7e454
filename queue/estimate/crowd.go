package estimate

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// crowd is who is present, by time of arrival: as a view counts them, and by the arrivals of the
// last moments before it and since. But for those it does not change.
type crowd struct {
	at       queue.Instant    // of the view
	settled  queue.Instant    // everybody who came before it is in the view
	buckets  []queue.Reserved // those with people, oldest first
	begins   []queue.Instant  // boundaries, but for those where a bucket was cut since somebody in it has checked in
	longest  time.Duration    // of a bucket
	arrivals *arrivals        // nil where nobody knows
}

func newCrowd(v *queue.View, settings *queue.Settings, a *arrivals) crowd {
	c := crowd{at: v.Now, settled: settled(v, settings), buckets: queue.Reserve(v.Open, v.Buckets), longest: settings.LongestBucket(), arrivals: a}
	for _, b := range v.Boundaries {
		if b.Settles <= v.Now {
			c.begins = append(c.begins, b.At)
		}
	}
	return c
}

// news is how old a view is at most, as a rule, and how long after a moment the nodes have reported
// who came then.
const news = 2 * time.Second

// settled is up to when the view has everybody who came, in whole arrival buckets where newcomers
// are counted in those.
func settled(v *queue.View, settings *queue.Settings) queue.Instant {
	switch {
	case !settings.CutsBuckets():
		return v.Now
	case len(v.Nodes) > 1:
		return v.Now.Add(-news).Floor(queue.ArrivalTime)
	}
	return v.Now.Add(-queue.ArrivalTime).Floor(queue.ArrivalTime)
}

// since is which is the first bucket that begins at a moment or later.
func (c *crowd) since(begin queue.Instant) int {
	i, _ := slices.BinarySearchFunc(c.buckets, begin, func(b queue.Reserved, at queue.Instant) int { return cmp.Compare(b.Bucket, at) })
	return i
}

// before counts the people in the buckets before one.
func (c *crowd) before(i int) int {
	switch {
	case i < len(c.buckets):
		return c.buckets[i].Ahead
	case i == 0:
		return 0
	}
	last := &c.buckets[i-1]
	return last.Ahead + last.Waiting
}

// ahead counts the people who came before a visitor who arrived then: those in earlier buckets,
// and those of the visitor's own who came earlier by the arrivals, or if nobody knows, if they came
// evenly. Where that is a guess, or somebody else came in the same millisecond, nobody has quite
// nobody ahead.
func (c *crowd) ahead(arrived queue.Instant) float64 {
	if arrived >= c.settled {
		before := float64(c.before(c.since(c.settled)))
		if c.arrivals != nil {
			before += c.arrivals.between(c.settled, arrived)
		}
		return before
	}
	begin, end := c.stretch(arrived)
	before := c.before(c.since(begin))
	others := float64(max(0, c.before(c.since(end))-before-1))
	part, shared, known := c.arrivals.part(begin, arrived, end)
	if known && !shared {
		return float64(before) + others*part
	}
	if !known {
		part = min(1, float64(arrived+1-begin)/float64(max(1, end-begin)))
	}
	return float64(before) + max(others*part, min(others, .01))
}

// stretch is the time around a moment of which it is known how many present people came in
// it: a bucket, or the longer one that it was cut from, until everybody has checked in since.
func (c *crowd) stretch(moment queue.Instant) (begin, end queue.Instant) {
	begin = moment.Floor(c.longest)
	end = min(begin.Add(c.longest), max(c.settled, moment+1))
	next, found := slices.BinarySearch(c.begins, moment)
	if found {
		next++
	}
	if next > 0 {
		begin = max(begin, c.begins[next-1])
	}
	if next < len(c.begins) {
		end = min(end, c.begins[next])
	}
	return begin, end
}
