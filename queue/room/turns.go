package room

import "github.com/anteroom-gate/anteroom/queue"

// Turns are those whose turn has come, as far as a node knows. The zero Turns
// are nobody's.
type Turns struct {
	// IDs are those at the head of an exact line, in its order.
	IDs []queue.ID

	settings   *queue.Settings
	boundaries queue.Boundaries
	reserved   []queue.Reserved // of fifo, the buckets that slots are kept for
}

// None reports whether it is nobody's turn.
func (t Turns) None() bool { return len(t.IDs)+len(t.reserved) == 0 }

// Slots returns how many slots are kept in fifo for those of one bucket, and
// which bucket that is, for a visitor who arrived then.
func (t Turns) Slots(arrived queue.Instant) (bucket queue.Instant, slots int) {
	if len(t.reserved) == 0 {
		return 0, 0
	}
	bucket = t.settings.BucketOf(arrived, t.boundaries)
	for _, b := range t.reserved {
		if b.Bucket == bucket {
			return bucket, b.ReservedSlots
		}
	}
	return bucket, 0
}
