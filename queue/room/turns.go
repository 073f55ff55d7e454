package room

import (
	"cmp"
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Turns are those whose turn has come, as far as a node knows. The zero Turns
// are nobody's.
type Turns struct {
	// IDs are those at the head of an exact line, in its order.
	IDs []queue.ID

	settings *queue.Settings
	reserved []queue.Reserved // of fifo, all buckets with people; those that slots are kept for come first
}

// None reports whether it is nobody's turn.
func (t Turns) None() bool {
	return len(t.IDs) == 0 && (len(t.reserved) == 0 || t.reserved[0].ReservedSlots == 0)
}

// Slots returns how many slots are kept in fifo for those of one bucket, and
// which bucket that is, for a visitor who arrived then. A visitor who has not checked in since
// their bucket was cut off from a longer one may still be counted in that.
func (t Turns) Slots(arrived queue.Instant) (bucket queue.Instant, slots int) {
	i, found := slices.BinarySearchFunc(t.reserved, arrived, func(b queue.Reserved, at queue.Instant) int { return cmp.Compare(b.Bucket, at) })
	if !found {
		i--
	}
	if i < 0 || t.reserved[i].Bucket < t.settings.BucketOf(arrived, nil) {
		return 0, 0
	}
	return t.reserved[i].Bucket, t.reserved[i].ReservedSlots
}
