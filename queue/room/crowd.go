package room

import (
	"cmp"
	"slices"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// crowd is who is present, by time of arrival, as a view counts them. It does not change.
type crowd struct {
	at       queue.Instant    // of the view
	buckets  []queue.Reserved // those with people, oldest first
	begins   []queue.Instant  // boundaries, but for those where a bucket was cut since somebody in it has checked in
	longest  time.Duration    // of a bucket
	arrivals arrivals
}

func newCrowd(v *queue.View, rules *rules, a arrivals) crowd {
	c := crowd{at: v.Now, buckets: queue.Reserve(v.Open, v.Buckets), longest: rules.LongestBucket(), arrivals: a}
	everybodyBackSince := v.Now.Add(-rules.ReturnsWithin() - rules.slack)
	for _, b := range v.Boundaries {
		if b.Cut <= everybodyBackSince {
			c.begins = append(c.begins, b.At)
		}
	}
	return c
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

// ahead estimates how many people came before a visitor who arrived then: those in earlier
// buckets, and those of the visitor's own who came earlier by the arrivals. Where somebody
// else is in that bucket, nobody has quite nobody ahead. People who came since the view count,
// too, as if they came as fast as before.
func (c *crowd) ahead(arrived queue.Instant) float64 {
	if last := len(c.buckets) - 1; last >= 0 && arrived >= c.at {
		begin, end := c.stretch(c.buckets[last].Bucket)
		people, since := c.before(last+1)-c.before(c.since(begin)), min(arrived.Sub(c.at), maxNews)
		return float64(c.before(last+1)) + float64(people)*since.Seconds()/max(end.Sub(begin), time.Second).Seconds()
	}
	begin, end := c.stretch(arrived)
	before := c.before(c.since(begin))
	others := float64(max(0, c.before(c.since(end))-before-1))
	return float64(before) + max(others*c.arrivals.part(begin, arrived, end), min(others, .01))
}

// maxNews is how old a view is at most, as a rule.
const maxNews = 2 * time.Second

// stretch is the time around a moment of which it is known how many present people came in
// it: a bucket, or the longer one that it was cut from, until everybody has checked in since.
func (c *crowd) stretch(moment queue.Instant) (begin, end queue.Instant) {
	begin = moment.Floor(c.longest)
	end = min(begin.Add(c.longest), max(c.at, moment+1))
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
