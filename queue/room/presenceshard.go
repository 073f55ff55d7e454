package room

import (
	"sync"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// presenceShard is a part of the presence, which calls its methods with mu held. An
// entry of its table is a visitor; until is the end of the window in which they are
// counted, low is the low half of the bucket, and more says when they are due, and flags;
// or placeUsed.
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
	movedFlag  = 4        // the visitor was taken out of where another node had counted them
	placeUsed  = leftFlag // the visitor has been let in: no tick is in it, at which one who has left would be due
)

func packDue(due uint32) uint32 { return due << 3 }

func dueTicks(entry *slot[shortID]) uint32 { return entry.more >> 3 }
func hasMoved(entry *slot[shortID]) bool   { return entry.more&movedFlag != 0 }
func hasLeft(entry *slot[shortID]) bool    { return saidGoodbye(entry) && !hasMoved(entry) }
func hasEntered(entry *slot[shortID]) bool { return entry.more == placeUsed }

// saidGoodbye reports whether somebody has said goodbye for the visitor. One who has moved
// is counted all the same until their window passes: whoever shows one ticket at many nodes
// would else take others out with each goodbye.
func saidGoodbye(entry *slot[shortID]) bool { return entry.more&leftFlag != 0 }

// bucketOf is where a visitor is counted by their entry: boundaries may have changed since.
func bucketOf(entry *slot[shortID], at queue.Instant) queue.Instant {
	return lastWithLow(entry.low, at)
}

// isDue reports whether a check-in is due by the visitor's entry. Without an entry it is.
func isDue(entry *slot[shortID], at, start queue.Instant) bool {
	return entry == nil || ticksOf(at, start) >= dueTicks(entry)
}

// mayBeCalled reports whether a check-in at a call counts before its time: not a second one.
func mayBeCalled(entry *slot[shortID]) bool { return entry == nil || entry.more&calledFlag == 0 }

// isOlder reports whether an entry is from before a ticket: the visitor has checked in at
// another node since, which has taken them out of where they were counted here.
func (s *presenceShard) isOlder(entry *slot[shortID], t *queue.Ticket) bool {
	return !hasEntered(entry) && t.Counted.Until != 0 && dueTicks(entry) < ticksOf(t.Due(), s.start)
}

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

// noteCheckIn counts a check-in, after which the next one is due in an interval, of the
// visitor of an entry; it is nil for one who is unknown.
func (s *presenceShard) noteCheckIn(at queue.Instant, rules *rules, entry *slot[shortID], c *pendingCheckIn, interval time.Duration, due bool) found {
	if c.counting == countNothing {
		return found{result: counted}
	}
	was := queue.Cell{}
	switch {
	case entry == nil:
		entry = s.add(c.Ticket.ID, at)
		if c.elsewhere && c.Ticket.Counted.Until > at {
			was = c.Ticket.Counted
		}
	case !hasLeft(entry):
		was = queue.Cell{Bucket: bucketOf(entry, at), Until: afterTicks(s.start, entry.until)}
	}
	if was != (queue.Cell{}) {
		s.change(was.Bucket, ticksOf(was.Until, s.start), -1)
	}
	moved := c.elsewhere && was != (queue.Cell{})
	cell := s.count(entry, rules, c.bucket, at, interval, c.Hidden)
	switch {
	case c.counting == countStillDue:
		interval, entry.more = 0, packDue(ticksOf(at, s.start))
	case !due:
		entry.more |= calledFlag
	}
	if moved {
		entry.more |= movedFlag
	}
	return found{result: counted, cell: cell, was: was.Bucket, interval: interval}
}

// stay leaves a visitor who is not due where they are counted. One who had said goodbye,
// as by loading the page again, is back.
func (s *presenceShard) stay(at queue.Instant, rules *rules, entry *slot[shortID], c *pendingCheckIn) found {
	t, f := &c.Ticket, found{result: notDue}
	if entry == nil {
		if !c.Returned && s.backBy(rules, at, t.Due()) <= s.window(rules, t.LastCheckIn, t.RefreshInterval) {
			f.cell = queue.Cell{Bucket: c.bucket, Until: at}
			return f
		}
		entry = s.add(t.ID, at)
		s.count(entry, rules, c.bucket, t.LastCheckIn, t.RefreshInterval, c.Hidden)
		if c.elsewhere && !c.Returned && t.Counted.Until > at {
			s.change(t.Counted.Bucket, ticksOf(t.Counted.Until, s.start), -1)
			entry.more |= movedFlag
		}
		f.moved = true
	}
	bucket, due := bucketOf(entry, at), t.Due()
	if hasLeft(entry) {
		s.change(bucket, entry.until, 1)
	}
	entry.more &^= leftFlag
	if at >= due {
		due = max(afterTicks(s.start, dueTicks(entry)), at.Add(time.Millisecond))
		f.result, f.interval = repeats, due.Sub(at)
	}
	if until := s.backBy(rules, at, due); until > entry.until {
		s.change(bucket, entry.until, -1)
		s.change(bucket, until, 1)
		entry.until, f.moved = until, true
	}
	f.cell = queue.Cell{Bucket: bucket, Until: afterTicks(s.start, entry.until)}
	return f
}

// backBy is until when a visitor who asks before their check-in is due has to be counted:
// what is left until then is told in whole seconds, so that they may be later than due.
func (s *presenceShard) backBy(rules *rules, at, due queue.Instant) uint32 {
	return s.windowEnd(rules, at.Add(queue.WholeSeconds(due.Sub(at))+queue.LeastSlack))
}

// count writes a check-in into an entry: when the next one is due, and the window in which the
// visitor is counted in the bucket until then.
func (s *presenceShard) count(entry *slot[shortID], rules *rules, bucket, at queue.Instant, interval time.Duration, hidden bool) queue.Cell {
	if entry.until = s.window(rules, at, interval); hidden {
		entry.until = max(entry.until, s.window(rules, at, hiddenInterval))
	}
	entry.more, entry.low = packDue(ticksOf(at.Add(interval), s.start)), uint32(bucket)
	s.change(bucket, entry.until, 1)
	return queue.Cell{Bucket: bucket, Until: afterTicks(s.start, entry.until)}
}

// window is the end of the window in which a visitor is counted who checks in at a moment, and next
// after an interval.
func (s *presenceShard) window(rules *rules, at queue.Instant, interval time.Duration) uint32 {
	return s.windowEnd(rules, at.Add(queue.WholeSeconds(interval)+rules.CheckInSlack()))
}

// windowEnd is the end of the window that a moment is in.
func (s *presenceShard) windowEnd(rules *rules, at queue.Instant) uint32 {
	window := max(rules.RefreshInterval/8/tick*tick, tick)
	return uint32((at.Sub(s.start) + window - 1) / window * window / tick)
}
