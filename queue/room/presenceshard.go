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

// checkIn counts a check-in that is due, or was called, of the visitor of e, which may
// be nil. It says where they are counted, as far as they are.
func (s *presenceShard) checkIn(at queue.Instant, u *rules, e *slot[shortID], c *checkIn, due bool) queue.Cell {
	t := &c.ticket
	if c.counting == staysUntold {
		t.RefreshInterval = 0
		return queue.Cell{}
	}
	bucket := u.BucketOf(t.ArrivedAt)
	switch {
	case e == nil:
		e = s.add(t.ID, at)
	case !hasLeft(e):
		s.change(s.bucketOf(u, t), e.until, -1)
	}
	cell := s.count(e, u, bucket, t, c.Hidden)
	switch {
	case c.counting == staysDue:
		t.RefreshInterval, e.more = 0, packDue(ticksOf(at, s.start))
	case !due:
		e.more |= calledFlag
	}
	return cell
}

// stay leaves a visitor who is not due where they are counted, and tells where that is.
// One who had said goodbye, as by loading the page again, is back.
func (s *presenceShard) stay(at queue.Instant, u *rules, e *slot[shortID], c *checkIn) queue.Cell {
	t := &c.ticket
	bucket := s.bucketOf(u, t)
	switch {
	case e == nil && c.Returned:
		return s.count(s.add(t.ID, at), u, bucket, t, c.Hidden)
	case e == nil:
		return queue.Cell{Bucket: bucket, Until: at}
	case hasLeft(e):
		e.more &^= leftFlag
		s.change(bucket, e.until, 1)
	}
	if at >= t.Due() { // they are due by their ticket, but checked in with another one
		t.LastCheckIn = at
		t.RefreshInterval = max(afterTicks(s.start, dueTicks(e)).Sub(at), time.Millisecond)
	}
	return queue.Cell{Bucket: bucket, Until: afterTicks(s.start, e.until)}
}

// count writes into e the check-in that t tells of: when the next one is due, and
// the window in which the visitor is counted in the bucket until then.
func (s *presenceShard) count(e *slot[shortID], u *rules, bucket queue.Instant, t *queue.Ticket, hidden bool) queue.Cell {
	span := queue.WholeSeconds(t.RefreshInterval)
	if hidden {
		span = max(span, hiddenInterval)
	}
	window := max(u.RefreshInterval/8/tick*tick, tick)
	until := t.LastCheckIn.Add(span + u.CheckInSlack()).Sub(s.start)
	e.until = uint32((until + window - 1) / window * window / tick)
	e.more = packDue(ticksOf(t.Due(), s.start))
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
