package room

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// early answers a visitor who is not due by their ticket, or by what this node
// remembers in e of a check-in with another ticket of theirs, and tells where
// they are counted. They are not counted or drawn again; but one who had said
// goodbye, as by reloading the page, is back. The caller holds sh.mu.
func (r *Room) early(now queue.Instant, s *queue.Settings, sh *waiterShard, e *slot[shortID], q *Request) (Decision, queue.Cell) {
	t := q.Ticket
	cell := queue.Cell{Bucket: s.BucketOf(sh.counted(&t)), Until: now}
	switch {
	case e == nil && q.Returned:
		cell = r.count(sh, sh.table.add(short(t.ID), ticksOf(now, r.start)), s, cell.Bucket, &t, q.Hidden)
	case e != nil:
		if left(e) {
			e.more &^= leftFlag
			sh.change(cell.Bucket, e.until, 1)
		}
		cell = r.waiters.cell(cell.Bucket, e.until)
	}
	if now < t.Due() {
		return Decision{Outcome: Queued, Ticket: t}, cell
	}
	t.LastCheckIn = now
	t.RefreshInterval = max(afterTicks(r.start, dueTicks(e)).Sub(now), time.Millisecond)
	return Decision{Outcome: Queued, Ticket: t, Issue: true}, cell
}

// entry returns the entry of a visitor who is about to be counted anew, and takes
// them away from where they are counted by e, if that is one. The caller holds sh.mu.
func (r *Room) entry(now queue.Instant, s *queue.Settings, sh *waiterShard, e *slot[shortID], t *queue.Ticket) *slot[shortID] {
	if e == nil {
		return sh.table.add(short(t.ID), ticksOf(now, r.start))
	}
	if !left(e) {
		sh.change(s.BucketOf(sh.counted(t)), e.until, -1)
	}
	return e
}

// count notes in e the check-in that t tells of: when the next one is due, and
// the window in which the visitor is counted in their bucket until then. The
// caller holds sh.mu.
func (r *Room) count(sh *waiterShard, e *slot[shortID], s *queue.Settings, bucket queue.Instant, t *queue.Ticket, hidden bool) queue.Cell {
	span := queue.WholeSeconds(t.RefreshInterval)
	if hidden {
		span = max(span, hiddenInterval)
	}
	window := max(s.RefreshInterval/8/tick*tick, tick)
	until := t.LastCheckIn.Add(span + s.CheckInSlack()).Sub(r.start)
	e.until = uint32((until + window - 1) / window * window / tick)
	e.more = packDue(ticksOf(t.Due(), r.start))
	sh.change(bucket, e.until, 1)
	return r.waiters.cell(bucket, e.until)
}

// uncount has a visitor who is counted here counted no more, and says whether it has.
func (r *Room) uncount(now queue.Instant, t queue.Ticket) bool {
	sh := r.waiters.shard(t.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	e := sh.table.find(short(t.ID), ticksOf(now, r.start))
	if e == nil || left(e) {
		return false
	}
	e.more |= leftFlag
	sh.change(r.settings.Load().BucketOf(sh.counted(&t)), e.until, -1)
	return true
}

// recount counts a visitor in the bucket of their ticket who was uncounted from
// another. The caller holds sh.mu.
func (r *Room) recount(now queue.Instant, sh *waiterShard, t *queue.Ticket) {
	if e := sh.table.find(short(t.ID), ticksOf(now, r.start)); e != nil && left(e) && !used(e) {
		e.more &^= leftFlag
		sh.change(r.settings.Load().BucketOf(t.ArrivedAt), e.until, 1)
	}
}

// taken notes that a visitor was let in, by whichever node, and that the store has
// taken them out of their cell: their place is used, and older tickets that tell of
// it are worth nothing for as long as they are valid. Where another node let them in,
// they are counted here until their window passes.
func (r *Room) taken(now queue.Instant, id queue.ID) {
	sh := r.waiters.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	e := sh.table.find(short(id), ticksOf(now, r.start))
	if e == nil {
		e = sh.table.add(short(id), ticksOf(now, r.start))
	}
	e.until, e.more = ticksOf(now.Add(r.memory.Load().lasts), r.start), usedUp
	if sh.knows(id) {
		sh.letIn(id, now)
	}
}
