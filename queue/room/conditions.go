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
	queue.Status                  // by its last answer
	synced       *queue.View      // by its last answer to a sync
	buckets      []queue.Reserved // of synced
}

func newView(v *queue.View) *view {
	return &view{Status: v.Status, synced: v, buckets: queue.Reserve(v.Open, v.Buckets)}
}

// peopleAhead counts those in the buckets before one, and those beside a visitor of
// that bucket. Of a bucket after the last, all those present are ahead.
func peopleAhead(buckets []queue.Reserved, bucket queue.Instant, present int) (ahead, beside int) {
	i, found := slices.BinarySearchFunc(buckets, bucket, func(b queue.Reserved, at queue.Instant) int { return cmp.Compare(b.Bucket, at) })
	switch {
	case found:
		return buckets[i].Ahead, buckets[i].Waiting
	case i < len(buckets):
		return buckets[i].Ahead, 0
	}
	return present, 0
}

// worthAsking says whether the store may have a slot for a visitor at a moment, as far
// as is known here. The store decides.
func (c *conditions) worthAsking(at queue.Instant, rules *rules, w waiter) bool {
	switch {
	case rules.AdmitsNobody() || c.paused.Load():
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
	return open > rules.method.ahead(v, w)
}

// letsAllIn reports whether everyone enters, without waiting for anything.
func (c *conditions) letsAllIn(rules *rules) bool { return rules.AdmitsEveryone() && !c.paused.Load() }

// turns are those whose turn has come.
func (c *conditions) turns() Turns {
	rules, v := c.rules.Load(), c.view.Load()
	if v.Open <= 0 || v.Recovering || rules.AdmitsNobody() || c.paused.Load() || c.outage.failing() {
		return Turns{}
	}
	return rules.method.turns(rules, v)
}

// slotFreed has the next visitor who asks be put to the store: it may have a slot from
// that moment on.
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
