package room

import (
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
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

	gaveUp    *gaveUp
	countedTo uint32 // the tick until which those are counted who gave up

	subjects map[queue.ID]subject // those whom the site has named; nil without any
	_        [64]byte             // keeps neighbouring locks off one cache line
}

const (
	leftFlag   = 1 // the visitor has said goodbye and is not counted
	calledFlag = 2 // the last check-in was before its time, at a call
	movedFlag  = 4 // the visitor was taken out of where another node had counted them
	flags      = leftFlag | calledFlag | movedFlag
	placeUsed  = leftFlag // the visitor has been let in: no tick is in it, at which one who has left would be due
)

func packDue(due uint32) uint32 { return due << 3 }

func dueTicks(entry *entry[shortID]) uint32 { return entry.more >> 3 }
func hasMoved(entry *entry[shortID]) bool   { return entry.more&movedFlag != 0 }
func hasLeft(entry *entry[shortID]) bool    { return saidGoodbye(entry) && !hasMoved(entry) }
func hasEntered(entry *entry[shortID]) bool { return entry.more == placeUsed }

// saidGoodbye reports whether somebody has said goodbye for the visitor. One who has moved
// is counted all the same until their window passes: whoever shows one ticket at many nodes
// would else take others out with each goodbye.
func saidGoodbye(entry *entry[shortID]) bool { return entry.more&leftFlag != 0 }

// bucketOf is where a visitor is counted by their entry: boundaries may have changed since. The
// bucket begins before the window ends, but not always before a request that has waited for its
// turn came.
func (s *presenceShard) bucketOf(entry *entry[shortID]) queue.Instant {
	return lastWithLow(entry.low, afterTicks(s.start, entry.until))
}

// isDue reports whether a check-in is due by the visitor's entry. Without an entry it is.
func isDue(entry *entry[shortID], at, start queue.Instant) bool {
	return entry == nil || ticksOf(at, start) >= dueTicks(entry)
}

// mayBeCalled reports whether a check-in at a call counts before its time: not a second one.
func mayBeCalled(entry *entry[shortID]) bool { return entry == nil || entry.more&calledFlag == 0 }

// nextDue is when the next check-in of a visitor is due, by their entry and their ticket. One
// at a call puts it no nearer: of two tickets, the later one is always due later.
func (s *presenceShard) nextDue(entry *entry[shortID], t *queue.Ticket) queue.Instant {
	if entry == nil {
		return t.Due()
	}
	return max(t.Due(), afterTicks(s.start, dueTicks(entry)))
}

// isOlder reports whether an entry is from before a ticket: the visitor has checked in at
// another node since, which has taken them out of where they were counted here.
func (s *presenceShard) isOlder(entry *entry[shortID], t *queue.Ticket) bool {
	return !hasEntered(entry) && t.CountedUntil != 0 && dueTicks(entry) < ticksOf(t.Due(), s.start)
}

// countGone counts the visitors whose windows have passed since it was called last.
func (s *presenceShard) countGone(now uint32) {
	for i := range s.table.entries {
		s.gaveUp.count(&s.table.entries[i], s.countedTo, now)
	}
	s.countedTo = now
}

// find is the entry of a visitor; nil for one who is unknown.
func (s *presenceShard) find(id queue.ID, at queue.Instant) *entry[shortID] {
	return s.table.find(short(id), ticksOf(at, s.start))
}

// add makes an entry for a visitor whom find does not find. Entries move at the next
// add. Those who have given up are counted before the table forgets them.
func (s *presenceShard) add(id queue.ID, at queue.Instant) *entry[shortID] {
	now := ticksOf(at, s.start)
	if s.table.isFull() {
		s.countGone(now)
	}
	e := s.table.add(short(id), now)
	s.gaveUp.count(e, s.countedTo, now)
	return e
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
func (s *presenceShard) noteCheckIn(at queue.Instant, rules *rules, entry *entry[shortID], c *pendingCheckIn, interval time.Duration, due bool) found {
	if c.counting == countNothing {
		return found{result: counted, soon: true}
	}
	f := found{result: counted, interval: interval}
	f.soon = entry != nil && c.counting == countStillDue && at < afterTicks(s.start, dueTicks(entry)).Add(interval/2)
	moved, least := false, uint32(0)
	switch {
	case entry == nil:
		f.was, f.from, least = s.movesFrom(at, rules, c)
		entry, moved = s.add(c.Ticket.ID, at), least != 0
	case !hasLeft(entry):
		f.was = s.bucketOf(entry)
		if moved = hasMoved(entry); moved {
			least, f.keeps = entry.until, true
		}
		s.change(f.was, entry.until, -1)
	}
	f.cell = s.count(entry, rules, c.bucket, at, interval, c.Ask.isHidden(), least)
	switch {
	case c.counting == countStillDue:
		f.interval, entry.more = 0, packDue(ticksOf(at, s.start))
	case !due && !c.soon:
		entry.more |= calledFlag
	}
	if moved {
		entry.more |= movedFlag
	}
	return f
}

// movesFrom is where the ticket of a visitor who is unknown here says that they are counted: the
// bucket, and the cell that they are taken out of, with a tick until when they have to be counted
// here, in another cell.
//
// One ticket can be shown at many nodes, and each of them takes one person out of the cell. So
// each has to count one person for as long at least, whatever else becomes of the visitor: then as
// many people are counted as there are. If the bucket was cut meanwhile, this person counts in the
// visitor's part of it: to leave them in the whole bucket for so long would hold up those who came
// before them.
func (s *presenceShard) movesFrom(at queue.Instant, rules *rules, c *pendingCheckIn) (was queue.Instant, from queue.Cell, until uint32) {
	counted := c.Ticket.Counted()
	if !c.elsewhere || counted == (queue.Cell{}) || counted.Until <= at && !c.precedes {
		return 0, queue.Cell{}, 0
	}
	return counted.Bucket, counted, s.windowEnd(rules, max(counted.Until+1, at))
}

// stay leaves a visitor who is not due where they are counted. One who had said goodbye,
// as by loading the page again, is back.
func (s *presenceShard) stay(at queue.Instant, rules *rules, entry *entry[shortID], c *pendingCheckIn) found {
	t, f := &c.Ticket, found{result: notDue}
	if entry == nil {
		if c.Ask.Prompt != Returned && s.backBy(rules, at, t.Due()) <= s.window(rules, t.LastCheckIn, t.RefreshInterval) {
			f.cell = queue.Cell{Bucket: c.bucket, Until: at}
			return f
		}
		least := uint32(0)
		if c.Ask.Prompt != Returned {
			_, f.from, least = s.movesFrom(at, rules, c)
		}
		entry = s.add(t.ID, at)
		s.count(entry, rules, c.bucket, t.LastCheckIn, t.RefreshInterval, c.Ask.isHidden(), least)
		if least != 0 {
			entry.more |= movedFlag
		}
		f.moved = true
	}
	bucket, due := s.bucketOf(entry), t.Due()
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
// visitor is counted in the bucket until then, or until a later tick.
func (s *presenceShard) count(entry *entry[shortID], rules *rules, bucket, at queue.Instant, interval time.Duration, hidden bool, least uint32) queue.Cell {
	if entry.until = max(s.window(rules, at, interval), least); hidden {
		entry.until = max(entry.until, s.window(rules, at, hiddenInterval))
	}
	entry.more, entry.low = packDue(ticksOf(at.Add(interval), s.start)), uint32(bucket)
	s.change(bucket, entry.until, 1)
	return queue.Cell{Bucket: bucket, Until: afterTicks(s.start, entry.until)}
}

// claimTakes is how long a claim may be under way: it is gathered with others, waits for a call
// and is part of one. A request that comes meanwhile must not move its visitor to a later window,
// because the store takes whoever is let in out of the cell that the claim names.
const claimTakes = 250 * time.Millisecond

// window is the end of the window in which a visitor is counted who checks in at a moment, and next
// after an interval.
func (s *presenceShard) window(rules *rules, at queue.Instant, interval time.Duration) uint32 {
	return s.windowEnd(rules, at.Add(queue.WholeSeconds(interval)+max(rules.CheckInSlack(), queue.LeastSlack+claimTakes)))
}

// windowEnd is the end of the window that a moment is in.
func (s *presenceShard) windowEnd(rules *rules, at queue.Instant) uint32 {
	window := max(rules.RefreshInterval/8/tick*tick, tick)
	return uint32((at.Sub(s.start) + window - 1) / window * window / tick)
}
