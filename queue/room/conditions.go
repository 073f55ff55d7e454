package room

import (
	"sync/atomic"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// conditions are what decisions go by: the rules in force, what the store has said last, whether it
// answers, how many came since, and whether admissions are paused, or everyone new is held. Reading
// them needs no lock.
type conditions struct {
	rules  atomic.Pointer[rules]
	view   atomic.Pointer[view]
	paused atomic.Bool
	holds  atomic.Bool // whatever the rules are
	outage outage

	newcomers atomic.Int64 // since the last report
	returns   atomic.Bool  // somebody has come back who waited before the room was new to its store
}

// view is how the room stands by the store. It does not change.
type view struct {
	queue.Status                   // by its last answer
	synced       *queue.View       // by its last answer to a sync
	outlook      *estimate.Outlook // by the same
}

// noteReturn takes in that the visitor of a waiting ticket has come back.
func (c *conditions) noteReturn(t *queue.Ticket, rules *rules) {
	if first := &rules.configuration; first.Version == 1 && t.LastCheckIn < first.At && !c.returns.Load() {
		c.returns.Store(true)
	}
}

// awaitsReturns reports whether some of those who wait may be missing in the store, because nothing
// was left of what it and the gates knew: the room is new to it, and people have come back who
// waited before.
func (c *conditions) awaitsReturns(at queue.Instant) bool {
	rules := c.rules.Load()
	return c.returns.Load() && rules.configuration.Version == 1 && at < rules.configuration.At.Add(rules.AllReturnWithin())
}

// admitsNobody reports whether nobody new is admitted, whatever slots are open.
func (c *conditions) admitsNobody(rules *rules) bool {
	return rules.AdmitsNobody() || c.stopped() || c.soldOut(rules)
}

// stopped reports whether this node admits nobody, whatever the rules and the store say.
func (c *conditions) stopped() bool { return c.paused.Load() || c.holds.Load() }

// soldOut reports whether the room is closed because nothing is left.
func (c *conditions) soldOut(rules *rules) bool { return rules.SoldOut(c.view.Load().synced.Stock) }

// worthAsking says whether the store may have a slot for a visitor at a moment, as far
// as is known here. The store decides.
func (c *conditions) worthAsking(at queue.Instant, rules *rules, w waiter) bool {
	switch {
	case c.admitsNobody(rules):
		return false
	case rules.AdmitsEveryone() || c.openToAll(rules) || rules.OnStoreError == queue.AdmitAll && c.outage.failing():
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
	return open > ahead || v.outlook.OpenedBy(at) > ahead
}

// letsAllIn reports whether everyone enters, without waiting for anything.
func (c *conditions) letsAllIn(rules *rules) bool {
	return rules.AdmitsEveryone() && !c.stopped() && !c.soldOut(rules) || c.openToAll(rules)
}

// openToAll reports whether everyone enters, and is not counted, because few come. While the store
// does not answer, nothing takes newcomers out of the count: the room stays open until as many have
// come as would pass QueueWhen in a minute.
func (c *conditions) openToAll(rules *rules) bool {
	if rules.QueueWhen == 0 || c.admitsNobody(rules) || c.outage.failing() && int(c.newcomers.Load()) >= rules.QueueWhen {
		return false
	}
	v := c.view.Load()
	return v.OpenToAll && !v.Recovering
}

// factor is what is left of new_users_per_minute.
func (c *conditions) factor() float64 {
	if f := c.view.Load().Factor; f > 0 {
		return f
	}
	return 1
}

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
