package room

import (
	"sync/atomic"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// outage is whether the store answers, and what was decided without it.
type outage struct {
	lasts      atomic.Bool
	unanswered atomic.Uint64 // calls
	letIn      atomic.Uint64 // visitors
	spare      atomic.Int64  // admissions that Share allows until the store answers
}

// failing reports whether the store left the last call unanswered.
func (o *outage) failing() bool { return o.lasts.Load() }

// answered takes in how a call has ended, and says whether an outage has begun or ended
// with it.
func (o *outage) answered(err error) bool {
	if err != nil {
		o.unanswered.Add(1)
	}
	return o.lasts.Swap(err != nil) != (err != nil)
}

// spareFor sets how many visitors Share lets in until the store has answered again.
func (o *outage) spareFor(visitors int) { o.spare.Store(int64(visitors)) }

// letsIn decides by a room's policy about a visitor for whom there seems to be a slot.
func (o *outage) letsIn(policy queue.ErrorPolicy) bool {
	if policy == queue.Hold || policy == queue.Share && o.spare.Add(-1) < 0 {
		return false
	}
	o.letIn.Add(1)
	return true
}

// counts are the calls that were left unanswered, and the visitors let in without the
// store.
func (o *outage) counts() (calls, letIn uint64) { return o.unanswered.Load(), o.letIn.Load() }
