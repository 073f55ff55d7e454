package estimate

import "github.com/fairdoor-gate/fairdoor/queue"

// Outlook is what decisions go by: who is ahead of whom by the latest answer to a sync, and when
// slots will open.
type Outlook struct {
	crowd    crowd
	forecast forecast
}

// Before counts the people present in the buckets before one.
func (o *Outlook) Before(bucket queue.Instant) int { return o.crowd.before(o.crowd.since(bucket)) }

// Ahead counts the people who came before a visitor who arrived then. It is not whole where some of
// them came to other nodes, or nobody knows who of a bucket came when.
func (o *Outlook) Ahead(arrived queue.Instant) float64 { return o.crowd.ahead(arrived) }

// OpenedBy is how many slots have opened by a moment, counted from the answer on; 0 if nobody
// knows.
func (o *Outlook) OpenedBy(at queue.Instant) int { return o.forecast.openedBy(at) }

// OpensAt is when a slot opens for a visitor with so many people ahead, as is known at a moment;
// false if nobody knows.
func (o *Outlook) OpensAt(at queue.Instant, ahead float64) (queue.Instant, bool) {
	return o.forecast.opensAt(at, ahead)
}
