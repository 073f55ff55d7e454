package room

import (
	"slices"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// Turns are those whose turn has come, as far as a node knows. The zero Turns
// are nobody's.
type Turns struct {
	// IDs are those at the head of an exact line, in its order.
	IDs []queue.ID

	settings *queue.Settings
	reserved []queue.Reserved // of fifo, the buckets that slots are kept for
}

// Turns returns those whose turn has come. In random there are none: whoever
// were called would draw more often than others.
func (r *Room) Turns() Turns {
	s, v := r.settings.Load(), r.view.Load()
	if v.Open <= 0 || v.Recovering || s.QueueAll || r.paused.Load() || r.failing.Load() {
		return Turns{}
	}
	switch s.Method {
	case queue.Line:
		return Turns{IDs: v.turns}
	case queue.FIFO:
		reserved := queue.Reserve(v.Open, v.buckets)
		none := slices.IndexFunc(reserved, func(b queue.Reserved) bool { return b.Ahead >= v.Open })
		if none >= 0 {
			reserved = reserved[:none]
		}
		return Turns{settings: s, reserved: reserved}
	}
	return Turns{}
}

// None reports whether it is nobody's turn.
func (t Turns) None() bool { return len(t.IDs)+len(t.reserved) == 0 }

// Slots returns how many slots are kept in fifo for those of one bucket, and
// which bucket that is, for a visitor who arrived then.
func (t Turns) Slots(arrived queue.Instant) (bucket queue.Instant, slots int) {
	if len(t.reserved) == 0 {
		return 0, 0
	}
	bucket = t.settings.BucketOf(arrived)
	for _, b := range t.reserved {
		if b.Bucket == bucket {
			return bucket, b.ReservedSlots
		}
	}
	return bucket, 0
}

// DueIn is how long after now the next check-in of a waiting ticket counts;
// negative if it would have counted before.
func (r *Room) DueIn(now time.Time, t queue.Ticket) time.Duration {
	return t.Due().Sub(r.storeTime(now))
}

// BucketOf is where a visitor who arrived then is counted.
func (n *Numbers) BucketOf(arrived queue.Instant) queue.Instant { return n.Settings.BucketOf(arrived) }
