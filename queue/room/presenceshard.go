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
	placeUsed  = leftFlag // the visitor has been let in: no tick is in it, at which one who has left would be due
)

func packDue(due uint32) uint32 { return due << 2 }

func dueTicks(entry *slot[shortID]) uint32 { return entry.more >> 2 }
func hasLeft(entry *slot[shortID]) bool    { return entry.more&leftFlag != 0 }
func hasEntered(entry *slot[shortID]) bool { return entry.more == placeUsed }

// isDue reports whether a check-in is due by the visitor's entry. Without an entry it is.
func isDue(entry *slot[shortID], at, start queue.Instant) bool {
	return entry == nil || ticksOf(at, start) >= dueTicks(entry)
}

// mayBeCalled reports whether a check-in at a call counts before its time: not a second one.
func mayBeCalled(entry *slot[shortID]) bool { return entry == nil || entry.more&calledFlag == 0 }

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
	switch {
	case entry == nil:
		entry = s.add(c.Ticket.ID, at)
	case !hasLeft(entry):
		s.change(s.bucketOf(rules, &c.Ticket), entry.until, -1)
	}
	cell := s.count(entry, rules, rules.BucketOf(c.Ticket.ArrivedAt), at, interval, c.Hidden)
	switch {
	case c.counting == countStillDue:
		interval, entry.more = 0, packDue(ticksOf(at, s.start))
	case !due:
		entry.more |= calledFlag
	}
	return found{counted, cell, interval}
}

// stay leaves a visitor who is not due where they are counted. One who had said goodbye,
// as by loading the page again, is back.
func (s *presenceShard) stay(at queue.Instant, rules *rules, entry *slot[shortID], c *pendingCheckIn) found {
	t := &c.Ticket
	bucket := s.bucketOf(rules, t)
	switch {
	case entry == nil && !c.Returned && s.backBy(rules, at, t.Due()) <= s.window(rules, t.LastCheckIn, t.RefreshInterval):
		return found{result: notDue, cell: queue.Cell{Bucket: bucket, Until: at}}
	case entry == nil:
		entry = s.add(t.ID, at)
		s.count(entry, rules, bucket, t.LastCheckIn, t.RefreshInterval, c.Hidden)
	case hasLeft(entry):
		entry.more &^= leftFlag
		s.change(bucket, entry.until, 1)
	}
	f := found{result: notDue}
	due := t.Due()
	if at >= due {
		due = max(afterTicks(s.start, dueTicks(entry)), at.Add(time.Millisecond))
		f = found{result: repeats, interval: due.Sub(at)}
	}
	if until := s.backBy(rules, at, due); until > entry.until {
		s.change(bucket, entry.until, -1)
		s.change(bucket, until, 1)
		entry.until = until
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
	entry.more = packDue(ticksOf(at.Add(interval), s.start))
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
