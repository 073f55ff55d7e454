package room

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// presence is who checked in lately, and where they are counted: so a node takes away
// only what it added itself, and sees repeats. It is sharded by id; a shard holds its
// own unreported changes to the counts. What it does about a visitor is one step, under
// the lock of their shard.
type presence struct {
	random      random
	made        queue.Instant // when the room was made
	start       queue.Instant // of the ticks; before any check-in that still matters
	shards      [shards]presenceShard
	changed     shardSet    // that may have unreported changes
	hasSubjects atomic.Bool // the site has named somebody, and tickets are looked up

	gaveUp gaveUp

	draining sync.Mutex         // taken before that of a shard
	sums     map[packedCell]int // empty but during a drain
}

func newPresence(made, start queue.Instant, draw random) *presence {
	p := &presence{random: draw, made: made, start: start, sums: map[packedCell]int{}}
	for i := range p.shards {
		s := &p.shards[i]
		s.start, s.changed, s.gaveUp, s.index, s.changes.rest = start, &p.changed, &p.gaveUp, i, map[packedCell]int{}
	}
	return p
}

func (p *presence) shard(id queue.ID) *presenceShard { return &p.shards[id[15]%shards] }

// precedes reports whether a ticket is from before the room was made: only the store knows
// whether its place was used since, and whether its visitor is still counted where the ticket
// says, though that time may have passed: see [queue.Claim.Moved].
func (p *presence) precedes(t *queue.Ticket) bool { return t.LastCheckIn < p.made }

// pendingCheckIn is a check-in of somebody in line, as it is to be counted.
type pendingCheckIn struct {
	*Request
	bucket    queue.Instant // that they are counted in from now on
	elsewhere bool          // by what their ticket says, another node may count them
	precedes  bool          // their ticket is from before the room was made
	within    time.Duration // in which the next one is due at the latest; 0 for none
	rarely    time.Duration // the next one is due after about so long, where that is longer than the refresh interval

	alwaysDue bool // it counts whenever it comes
	soon      bool // it counts though it is not due, shortly before a draw ends
	called    bool // it counts though it is not due, as the first one only until the next that is
	counting  counting

	// despite is a result that the caller has looked into, unknown or entered: a visitor
	// with this result is counted all the same.
	despite checkInResult
}

// counting says how a check-in that is due is counted.
type counting uint8

const (
	countFully    counting = iota // the next one is due in an interval
	countStillDue                 // the next one is due at once
	countNothing                  // not at all, and the next one is due at once
)

// found is how the node finds a visitor who checks in.
type found struct {
	result   checkInResult
	cell     queue.Cell    // where they are counted
	from     queue.Cell    // of another node, which they are to be taken out of; the zero Cell for none
	keeps    bool          // they were taken out of one earlier, and stay counted here if another node has let them in
	was      queue.Instant // the bucket in which they were counted before; 0 for none
	interval time.Duration // until their next check-in is due; for repeats and counted
	moved    bool          // the cell is another than before
	soon     bool          // the check-in leaves the next one due, and so did another one just before; or their turn has come, and they should take it
}

// checkInResult is what a node knows of a visitor who checks in.
type checkInResult uint8

const (
	notDue  checkInResult = iota // their ticket is not due; they are counted as before
	repeats                      // their ticket is due, but they have checked in with another one meanwhile
	counted                      // their check-in counts
	unknown                      // nothing is remembered of them
	entered                      // they were let in from their place
)

// sooner is an interval that was drawn, or the one within which the next check-in is due at the
// latest; 0 for none.
func sooner(drawn, within time.Duration) time.Duration {
	if within == 0 {
		return drawn
	}
	return min(drawn, within)
}

// early reports whether the visitor asks again sooner than they were told.
func (f found) early() bool { return f.result == notDue || f.result == repeats || f.soon }

// updateTicket writes a check-in at a moment into the ticket that a visitor brought, if it
// counts, and reports whether that has changed the ticket.
func (f found) updateTicket(at queue.Instant, t *queue.Ticket) bool {
	switch {
	case f.result == repeats || f.result == counted:
		t.LastCheckIn, t.RefreshInterval = at, f.interval
		t.CountIn(f.cell)
	case f.moved:
		t.CountIn(f.cell)
	default:
		return false
	}
	return true
}

// noteCheckIn counts a check-in that is due. A visitor who is not due by their ticket, or by
// what is remembered of a check-in with another ticket of theirs, is neither counted nor
// drawn again.
func (p *presence) noteCheckIn(at queue.Instant, rules *rules, c *pendingCheckIn) found {
	s := p.shard(c.Ticket.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := s.find(c.Ticket.ID, at)
	if entry != nil && s.isOlder(entry, &c.Ticket) {
		entry = nil
	}
	if entry == nil || hasEntered(entry) {
		c.elsewhere, c.precedes = entry == nil, p.precedes(&c.Ticket)
		if result := resultOf(entry); result != c.despite {
			return found{result: result}
		}
		entry = nil
	}
	by := at.Add(rules.early)
	due := c.alwaysDue || isDue(entry, by, s.start) && by >= c.Ticket.Due()
	switch {
	case !due && !c.soon && !(c.called && mayBeCalled(entry)):
		return s.stay(at, rules, entry, c)
	case c.counting != countFully && p.precedes(&c.Ticket):
		return found{result: notDue}
	}
	interval := sooner(p.random.about(&rules.Settings, c.rarely), c.within)
	if !due {
		interval = max(interval, s.nextDue(entry, &c.Ticket).Sub(at))
	}
	f := s.noteCheckIn(at, rules, entry, c, interval, due)
	if c.Subject != (queue.ID{}) {
		t := c.Ticket
		f.updateTicket(at, &t)
		p.remember(s, &t)
	}
	return f
}

// resultOf is the result for a visitor who has no entry, or has entered.
func resultOf(entry *entry[shortID]) checkInResult {
	if entry == nil {
		return unknown
	}
	return entered
}

// expect has the next check-in of a visitor be due within a time.
func (p *presence) expect(at queue.Instant, id queue.ID, within time.Duration) {
	s := p.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	due := ticksOf(at.Add(within), s.start)
	if entry := s.find(id, at); entry != nil && !hasEntered(entry) && due < dueTicks(entry) {
		entry.more = packDue(due) | entry.more&flags
	}
}

// join counts a visitor who has got a place, and returns their ticket. A subject who
// has one already keeps it: with another device, they were first.
func (p *presence) join(at queue.Instant, rules *rules, q *Request, t queue.Ticket, bucket queue.Instant, within time.Duration) queue.Ticket {
	t.RefreshInterval = sooner(p.random.firstInterval(&rules.Settings), within)
	s := p.shard(t.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Subject != (queue.ID{}) {
		if first, ok := s.keepPlace(at, rules, t.ID); ok {
			first.Number, first.Priority = t.Number, t.Priority
			return first
		}
		p.remember(s, &t)
	}
	t.CountIn(s.count(s.add(t.ID, at), rules, bucket, at, t.RefreshInterval, q.Ask.isHidden(), 0))
	return t
}

// leave counts a visitor who is counted here no more, and says whether it has.
func (p *presence) leave(at queue.Instant, t *queue.Ticket) bool {
	s := p.shard(t.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := s.find(t.ID, at)
	if entry == nil || saidGoodbye(entry) {
		return false
	}
	if entry.more |= leftFlag; !hasMoved(entry) {
		s.change(s.bucketOf(entry), entry.until, -1)
	}
	return true
}

// rejoin counts a visitor who has lost their place and got another as one who arrives
// now, and returns their ticket.
func (p *presence) rejoin(at queue.Instant, rules *rules, q *Request, t queue.Ticket) queue.Ticket {
	s := p.shard(t.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.ArrivedAt, t.CameAt = at, 0
	if q.Subject != (queue.ID{}) {
		p.remember(s, &t)
	}
	if entry := s.find(t.ID, at); entry != nil && !hasEntered(entry) {
		if !hasLeft(entry) {
			s.change(s.bucketOf(entry), entry.until, -1)
		}
		bucket := rules.ArrivalBucket(at)
		entry.more, entry.low = entry.more&^leftFlag, uint32(bucket)
		s.change(bucket, entry.until, 1)
		t.CountIn(queue.Cell{Bucket: bucket, Until: afterTicks(s.start, entry.until)})
	}
	return t
}

// enter takes in that a visitor was let in, by whichever node, and that the store has
// taken them out of their cell: their place is used, and older tickets that tell of it
// are worth nothing for as long as they are valid. Where another node let them in, they
// are counted here until their window passes.
func (p *presence) enter(at queue.Instant, rules *rules, id queue.ID) {
	s := p.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := s.find(id, at)
	if entry == nil {
		entry = s.add(id, at)
	}
	entry.until, entry.more = ticksOf(at.Add(rules.rememberFor), s.start), placeUsed
	if _, ok := s.subjects[id]; ok {
		p.rememberEntry(s, id, at)
	}
}

// takeOut takes a visitor out of the cell that they are counted in.
func (p *presence) takeOut(id queue.ID, c queue.Cell) {
	s := p.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change(c.Bucket, ticksOf(c.Until, s.start), -1)
}

// drain takes the unreported changes of all shards, added up: a crowd is in few
// cells, and in each of them at every shard.
func (p *presence) drain() []queue.CellChange {
	p.draining.Lock()
	defer p.draining.Unlock()
	for i := range p.changed.drain() {
		s := &p.shards[i]
		s.mu.Lock()
		s.listed = false
		s.changes.drainInto(p.sums)
		s.mu.Unlock()
	}
	var list []queue.CellChange
	for c, people := range p.sums {
		if people != 0 {
			list = append(list, queue.CellChange{Cell: c.unpack(p.start), People: people})
		}
	}
	clear(p.sums)
	return list
}

// follow takes in that other rules are in force.
func (p *presence) follow(before, next *rules) {
	if next.rememberFor > before.rememberFor {
		longer := uint32((next.rememberFor - before.rememberFor) / tick)
		p.each(func(entry *entry[shortID]) {
			if hasEntered(entry) {
				entry.until += longer
			}
		})
	}
}

// each changes all entries.
func (p *presence) each(change func(entry *entry[shortID])) {
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		for j := range s.table.entries {
			change(&s.table.entries[j])
		}
		s.mu.Unlock()
	}
}

// trim counts who has given up in one shard, gives memory of it back after a crowd has left, and
// forgets the subjects of whom nothing was heard for as long as anything is remembered.
func (p *presence) trim(shard int, at queue.Instant, alone bool, rules *rules) {
	s := &p.shards[shard%shards]
	p.gaveUp.follow(alone, s.window(rules, at, max(rules.RefreshInterval+hiddenInterval, rules.AllReturnWithin())))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.countGone(ticksOf(at, s.start))
	s.table.trim(ticksOf(at, s.start))
	s.forgetSubjects(at.Add(-rules.rememberFor))
}

// hasPlaceOf reports whether a visitor is counted here as early as the ticket that they bring says:
// they have checked in by its place since, or somebody has for them. Who has joined the line again
// is counted later, but maybe in a bucket that began before they did.
func (p *presence) hasPlaceOf(at queue.Instant, t *queue.Ticket) bool {
	s := p.shard(t.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := s.find(t.ID, at)
	return entry != nil && !hasEntered(entry) && s.bucketOf(entry) <= t.ArrivedAt
}

// hasEntered reports whether the place of a visitor is used.
func (p *presence) hasEntered(at queue.Instant, id queue.ID) bool {
	s := p.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := s.find(id, at)
	return entry != nil && hasEntered(entry)
}
