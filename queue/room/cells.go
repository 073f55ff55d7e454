package room

import (
	"iter"
	"math/bits"
	"sync/atomic"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// shards is how many parts the tables of a room have, to keep the waits for
// their locks short.
const shards = 64

// shardSet has a bit for each shard of a table that a report has to look at. A
// shard joins it at its first change since the last look.
type shardSet struct{ bits atomic.Uint64 }

func (s *shardSet) add(shard int) { s.bits.Or(1 << shard) }

// drain hands out the shards, in order, and forgets them.
func (s *shardSet) drain() iter.Seq[int] {
	return func(yield func(int) bool) {
		for left := s.bits.Swap(0); left != 0; left &= left - 1 {
			if !yield(bits.TrailingZeros64(left)) {
				s.bits.Or(left)
				return
			}
		}
	}
}

// packedCell is a Cell in one word: the low half of its bucket, and its end in ticks.
type packedCell uint64

func packCell(bucket queue.Instant, until uint32) packedCell {
	return packedCell(uint32(bucket))<<32 | packedCell(until)
}

// unpack is the cell, whose ticks are counted from start.
func (c packedCell) unpack(start queue.Instant) queue.Cell {
	end := afterTicks(start, uint32(c))
	return queue.Cell{Bucket: lastWithLow(uint32(c>>32), end), Until: end}
}

// lastWithLow is the last moment until then whose low 32 bits are these: of a moment that is less
// than 49 days ago, they tell all.
func lastWithLow(low uint32, then queue.Instant) queue.Instant {
	return then - queue.Instant(uint32(then)-low)
}

// cellChanges sums changes up by cell. Most fall to few cells, which are found in
// the recent ones without hashing; another of the same place puts one into rest.
type cellChanges struct {
	recent [8]struct {
		cell   packedCell
		people int
	}
	rest map[packedCell]int
}

func (c *cellChanges) add(cell packedCell, people int) {
	at := &c.recent[uint64(cell)*0x9e3779b97f4a7c15>>61]
	if at.cell != cell {
		if at.people != 0 {
			c.rest[at.cell] += at.people
		}
		at.cell, at.people = cell, 0
	}
	at.people += people
}

// drainInto adds the sums to others, and forgets them.
func (c *cellChanges) drainInto(sums map[packedCell]int) {
	for i := range c.recent {
		if at := &c.recent[i]; at.people != 0 {
			sums[at.cell] += at.people
			at.people = 0
		}
	}
	for cell, people := range c.rest {
		sums[cell] += people
	}
	clear(c.rest)
}
