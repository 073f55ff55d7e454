package room

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/anteroom-gate/anteroom/queue"
)

// conditions are what decisions go by: the rules in force, what the store has said
// last, whether it answers, and whether admissions are paused. Reading them needs no
// lock.
type conditions struct {
	rules  atomic.Pointer[rules]
	view   atomic.Pointer[view]
	paused atomic.Bool
	outage outage
}

// view is how the room stands by the store. It does not change.
type view struct {
	queue.Status             // by its last answer
	synced       *queue.View // by its last answer to a sync
	ahead        []int       // people present before each of its buckets
	forecast     forecast
}

func newView(synced *queue.View, rules *rules) *view {
	v := &view{Status: synced.Status, synced: synced, ahead: make([]int, len(synced.Buckets)), forecast: newForecast(synced, rules)}
	people := 0
	for i, b := range synced.Buckets {
		v.ahead[i] = people
		people += b.Waiting
	}
	return v
}

// before counts the people present in buckets earlier than one.
func (v *view) before(bucket queue.Instant) int {
	i, _ := slices.BinarySearchFunc(v.synced.Buckets, bucket, func(b queue.BucketCount, at queue.Instant) int { return cmp.Compare(b.Bucket, at) })
	if i == len(v.ahead) {
		return v.Present
	}
	return v.ahead[i]
}

// aheadOf counts the people ahead of a visitor who arrived then: those in earlier buckets,
// and of those in the visitor's own the part that fits the time of arrival.
func (v *view) aheadOf(rules *rules, arrived queue.Instant) float64 {
	begin := rules.BucketOf(arrived, v.synced.Boundaries)
	i, found := slices.BinarySearchFunc(v.synced.Buckets, begin, func(b queue.BucketCount, at queue.Instant) int { return cmp.Compare(b.Bucket, at) })
	ahead := float64(v.before(begin))
	if !found {
		return ahead
	}
	end := min(begin.Floor(rules.LongestBucket()).Add(rules.LongestBucket()), v.Now)
	next, found := slices.BinarySearch(v.synced.Boundaries, begin)
	if found {
		next++
	}
	if next < len(v.synced.Boundaries) {
		end = min(end, v.synced.Boundaries[next])
	}
	return ahead + float64(v.synced.Buckets[i].Waiting)*min(1, float64(arrived-begin)/float64(max(1, end-begin)))
}

// admitsNobody reports whether nobody new is admitted, whatever slots are open.
func (c *conditions) admitsNobody(rules *rules) bool { return rules.AdmitsNobody() || c.paused.Load() }

// worthAsking says whether the store may have a slot for a visitor at a moment, as far
// as is known here. The store decides.
func (c *conditions) worthAsking(at queue.Instant, rules *rules, w waiter) bool {
	switch {
	case c.admitsNobody(rules):
		return false
	case rules.AdmitsEveryone() || rules.OnStoreError == queue.AdmitAll && c.outage.failing():
		return true
	}
	v := c.view.Load()
	open := v.Open
	if v.NextOpen != 0 && at >= v.NextOpen {
		open++
	}
	switch {
	case v.Recovering || open <= 0:
		return false
	case w == newcomer:
		return open > v.Present
	}
	ahead := rules.method.ahead(v, w)
	return open > ahead || v.forecast.openedBy(at) > ahead
}

// letsAllIn reports whether everyone enters, without waiting for anything.
func (c *conditions) letsAllIn(rules *rules) bool { return rules.AdmitsEveryone() && !c.paused.Load() }

// turns are those whose turn has come.
func (c *conditions) turns() Turns {
	rules, v := c.rules.Load(), c.view.Load()
	if v.Open <= 0 || v.Recovering || c.admitsNobody(rules) || c.outage.failing() {
		return Turns{}
	}
	return rules.method.turns(rules, v)
}

// slotFreed has the store be asked for one more visitor: a slot may be open from that
// moment on.
func (c *conditions) slotFreed(at queue.Instant) {
	for {
		v := c.view.Load()
		next := *v
		next.NextOpen = at
		if c.view.CompareAndSwap(v, &next) {
			return
		}
	}
}
