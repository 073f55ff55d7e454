package room

import (
	"sync"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// presenceShard is a part of the presence, which calls its methods with mu held. An
// entry of its table is a visitor; until is the end of the window in which they are
// counted, and more says when they are due, and flags; or placeUsed.
type presenceShard struct {
	mu      sync.Mutex
	start   queue.Instant // of the ticks
	table   table[shortID]
	changes cellChanges // since the last report
	changed *shardSet   // where it is listed when there are any
	index   int         // of the shard
	listed  bool

	subjects map[queue.ID]subject // those whom the site has named; nil without any
	_        [64]byte             // keeps neighbouring locks off one cache line
}

const (
	leftFlag   = 1        // the visitor has said goodbye and is not counted
	calledFlag = 2        // the last check-in was before its time, at a call
	placeUsed  = leftFlag // and is due at no tick: the visitor has been let in
)

func packDue(due uint32) uint32 { return due << 2 }

func dueTicks(e *slot[shortID]) uint32 { return e.more >> 2 }
func hasLeft(e *slot[shortID]) bool    { return e.more&leftFlag != 0 }
func wasCalled(e *slot[shortID]) bool  { return e.more&calledFlag != 0 }
func hasEntered(e *slot[shortID]) bool { return e.more == placeUsed }

// find is the entry of a visitor; nil for one who is unknown.
func (s *presenceShard) find(id queue.ID, at queue.Instant) *slot[shortID] {
	return s.table.find(short(id), ticksOf(at, s.start))
}

// add makes an entry for a visitor whom find does not find. Entries move at the next
// add.
func (s *presenceShard) add(id queue.ID, at queue.Instant) *slot[shortID] {
	return s.table.add(short(id), ticksOf(at, s.start))
}

// change counts people more in a bucket until the given tick.
func (s *presenceShard) change(bucket queue.Instant, until uint32, people int) {
	s.changes.add(packCell(bucket, until), people)
	if !s.listed {
		s.listed = true
		s.changed.add(s.index)
	}
}

// checkIn counts a check-in, after which the next one is due in an interval, of the
// visitor of e, who is unknown if that is nil.
func (s *presenceShard) checkIn(at queue.Instant, u *rules, e *slot[shortID], c *checkIn, interval time.Duration, due bool) found {
	if c.counting == staysUntold {
		return found{standing: counted}
	}
	switch {
	case e == nil:
		e = s.add(c.Ticket.ID, at)
	case !hasLeft(e):
		s.change(s.bucketOf(u, &c.Ticket), e.until, -1)
	}
	cell := s.count(e, u, u.BucketOf(c.Ticket.ArrivedAt), at, interval, c.Hidden)
	switch {
	case c.counting == staysDue:
		interval, e.more = 0, packDue(ticksOf(at, s.start))
	case !due:
		e.more |= calledFlag
	}
	return found{counted, cell, interval}
}

// stay leaves a visitor who is not due where they are counted. One who had said goodbye,
// as by loading the page again, is back.
func (s *presenceShard) stay(at queue.Instant, u *rules, e *slot[shortID], c *checkIn) found {
	t := &c.Ticket
	bucket := s.bucketOf(u, t)
	switch {
	case e == nil && c.Returned:
		return found{standing: early, cell: s.count(s.add(t.ID, at), u, bucket, t.LastCheckIn, t.RefreshInterval, c.Hidden)}
	case e == nil:
		return found{standing: early, cell: queue.Cell{Bucket: bucket, Until: at}}
	case hasLeft(e):
		e.more &^= leftFlag
		s.change(bucket, e.until, 1)
	}
	cell := queue.Cell{Bucket: bucket, Until: afterTicks(s.start, e.until)}
	if at < t.Due() {
		return found{standing: early, cell: cell}
	}
	return found{repeats, cell, max(afterTicks(s.start, dueTicks(e)).Sub(at), time.Millisecond)}
}

// count writes a check-in into e: when the next one is due, and the window in which the
// visitor is counted in the bucket until then.
func (s *presenceShard) count(e *slot[shortID], u *rules, bucket, at queue.Instant, interval time.Duration, hidden bool) queue.Cell {
	span := queue.WholeSeconds(interval)
	if hidden {
		span = max(span, hiddenInterval)
	}
	window := max(u.RefreshInterval/8/tick*tick, tick)
	until := at.Add(span + u.CheckInSlack()).Sub(s.start)
	e.until = uint32((until + window - 1) / window * window / tick)
	e.more = packDue(ticksOf(at.Add(interval), s.start))
	s.change(bucket, e.until, 1)
	return queue.Cell{Bucket: bucket, Until: afterTicks(s.start, e.until)}
}

// drainInto adds the unreported changes to others, and forgets them.
func (s *presenceShard) drainInto(sums map[packedCell]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = false
	s.changes.drainInto(sums)
}
