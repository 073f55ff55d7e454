package room

import (
	"iter"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// waiters remembers which visitors checked in during the last interval and
// where they are counted, so that a node takes away only what it added itself
// and sees repeats. It is sharded by id; a shard holds its own unreported
// changes to the counts.
type waiters struct {
	start   queue.Instant // of the ticks
	shards  [shards]waiterShard
	changed shardSet           // that may have unreported changes
	sums    map[packedCell]int // empty but during a drain
}

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

type waiterShard struct {
	mu      sync.Mutex
	table   table[shortID] // until: as in Cell; more: dueTicks with left and called, or usedUp
	changes cellChanges    // since the last report
	changed *shardSet      // of the table
	index   int            // of the shard
	noted   bool           // it is in changed

	subjects map[queue.ID]subject // those whom the site has named; nil without any
	_        [64]byte             // keeps neighbouring locks off one cache line
}

// packedCell is a Cell in one word: its bucket in seconds, and its end in ticks.
type packedCell uint64

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

// drain hands out the sums that are not zero, and forgets them.
func (c *cellChanges) drain() iter.Seq2[packedCell, int] {
	return func(yield func(packedCell, int) bool) {
		for i := range c.recent {
			if at := &c.recent[i]; at.people != 0 {
				c.rest[at.cell] += at.people
				at.people = 0
			}
		}
		for cell, people := range c.rest {
			if people != 0 && !yield(cell, people) {
				break
			}
		}
		if len(c.rest) > 0 {
			clear(c.rest)
		}
	}
}

const (
	leftFlag   = 1        // the visitor has said goodbye and is not counted
	calledFlag = 2        // the last check-in was before its time, at a call
	usedUp     = leftFlag // and is due at no tick: the visitor has been let in
)

func packDue(due uint32) uint32 { return due << 2 }

func dueTicks(s *slot[shortID]) uint32 { return s.more >> 2 }
func left(s *slot[shortID]) bool       { return s.more&leftFlag != 0 }
func called(s *slot[shortID]) bool     { return s.more&calledFlag != 0 }
func used(s *slot[shortID]) bool       { return s.more == usedUp }

func newWaiters(start queue.Instant) *waiters {
	w := &waiters{start: start, sums: map[packedCell]int{}}
	for i := range w.shards {
		s := &w.shards[i]
		s.changes.rest, s.changed, s.index = map[packedCell]int{}, &w.changed, i
	}
	return w
}

func (w *waiters) shard(id queue.ID) *waiterShard { return &w.shards[id[15]%shards] }

// change counts people more in a bucket until the given tick. The caller holds
// mu.
func (s *waiterShard) change(bucket queue.Instant, until uint32, people int) {
	s.changes.add(packedCell(bucket/1000)<<32|packedCell(until), people)
	if !s.noted {
		s.noted = true
		s.changed.add(s.index)
	}
}

// drain takes the unreported changes of all shards, added up: a crowd is in few
// cells, and in each of them at every shard. One drain is under way at a time.
func (w *waiters) drain() []queue.CellChange {
	for i := range w.changed.drain() {
		s := &w.shards[i]
		s.mu.Lock()
		s.noted = false
		for c, n := range s.changes.drain() {
			w.sums[c] += n
		}
		s.mu.Unlock()
	}
	var list []queue.CellChange
	for c, n := range w.sums {
		if n != 0 {
			list = append(list, queue.CellChange{Cell: w.cell(queue.Instant(c>>32)*1000, uint32(c)), People: n})
		}
	}
	clear(w.sums)
	return list
}

func (w *waiters) cell(bucket queue.Instant, until uint32) queue.Cell {
	return queue.Cell{Bucket: bucket, Until: afterTicks(w.start, until)}
}

// forget forgets where visitors are counted: they count there until their
// windows pass, and nobody takes them away.
func (w *waiters) forget() {
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		for j := range s.table.slots {
			if e := &s.table.slots[j]; !used(e) {
				e.until = 0
			}
		}
		s.mu.Unlock()
	}
}

// remember remembers for longer by so much that places were used.
func (w *waiters) remember(longer time.Duration) {
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		for j := range s.table.slots {
			if e := &s.table.slots[j]; used(e) {
				e.until += uint32(longer / tick)
			}
		}
		s.mu.Unlock()
	}
}

// trim gives memory of one shard back after a crowd has left, and forgets the
// subjects of whom nothing was heard since a moment.
func (w *waiters) trim(shard int, now, since queue.Instant) {
	s := &w.shards[shard%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table.trim(ticksOf(now, w.start))
	s.forgetSubjects(since)
}
