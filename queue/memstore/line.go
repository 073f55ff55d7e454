package memstore

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/line"
)

// exactLine is who waits in a room with an exact line, with the places of those who may come back
// to it. It decides about places. Who gets a slot is decided by the room.
type exactLine struct {
	*clocks
	settings *queue.Settings

	waiting line.Line
	absent  line.Line // the places of those who said goodbye
	numbers numbers
	unknown queue.Instant // when it was last that places were not known; 0 for never
}

// numbers are the ticket numbers of an exact line. If people wait in a room when it
// gets its line, the numbers above floor, up to top, are reserved for them: one number
// for each millisecond in which one of them may have arrived. Without such people
// floor equals top.
type numbers struct {
	last       uint64        // the highest that was given out or reserved
	began      queue.Instant // when the room got its line
	floor, top uint64
}

// startingAt returns the numbers of a line that begins with a configuration, for a room in which
// those people wait. Some that were given out before may be lost.
func (l *exactLine) startingAt(c *queue.Configuration, people *cells, lost bool) numbers {
	n := numbers{last: l.numbers.last, began: max(l.now, c.At)}
	if lost {
		n.last += queue.LostNumbers
	}
	if people.present == 0 {
		return n
	}
	// Some may have waited for longer than a place outlives its last check-in.
	span := max(c.Remembers(), n.began.Sub(people.buckets[0].Bucket))
	n.floor = n.last
	n.last += uint64(span / time.Millisecond)
	n.top = n.last
	return n
}

// start has the line begin with numbers. Where some are reserved, places are unknown at first.
func (l *exactLine) start(n numbers) {
	l.numbers = n
	if n.top > n.floor {
		l.unknown = n.began
	}
}

// reserved returns the number that is reserved for somebody who arrived then, before
// the line began; 0 if none is.
func (n *numbers) reserved(arrived queue.Instant) uint64 {
	if n.top == n.floor || arrived >= n.began {
		return 0
	}
	return n.top - min(uint64(n.began-arrived), n.top-n.floor-1)
}

// hear takes in a number that was given out.
func (n *numbers) hear(number uint64) {
	if number > n.last {
		n.last = number + queue.LostNumbers
	}
}

// advance drops those who have missed a check-in, and the places that were left for too long.
func (l *exactLine) advance() {
	l.waiting.Expire(l.now, queue.MaxExpired)
	l.absent.Expire(l.now, queue.MaxExpired)
}

// empties is when nobody waits any more if nobody checks in; only meaningful while somebody waits.
func (l *exactLine) empties() queue.Instant { return l.waiting.Last().Until() }

// settlesAt is when everybody who still waits has checked in since places were last unknown; zero
// if that is past. Until then nobody is admitted: else whoever happens to check in first would be
// the first in line.
func (l *exactLine) settlesAt() queue.Instant {
	at := l.unknown.Add(l.settings.ReturnsWithin())
	if !l.settings.Method.HasExactLine() || at <= l.now {
		return 0
	}
	return at
}

// report takes in what a report says of the line.
func (l *exactLine) report(p *queue.Report, revoked func(queue.ID) bool) {
	l.numbers.hear(p.LastNumber)
	for _, d := range p.Left {
		if e := l.find(d.ID); e != nil {
			l.depart(e, d.At, revoked(d.ID))
		}
	}
	for _, id := range p.Unanswered {
		if e := l.find(id); e != nil && !e.Confirmed() {
			l.waiting.Remove(e)
		}
	}
	for _, p := range p.Priorities {
		for _, list := range [...]*line.Line{&l.waiting, &l.absent} {
			if e := list.Find(p.ID); e != nil && e.Until() > l.now {
				list.Prefer(e, p.Priority)
			}
		}
	}
}

// depart has a visitor who said goodbye stand in line for a moment only, and remembers their
// place, unless they have checked in since. Nothing is remembered of one who was revoked, or
// whose place is not confirmed: their ticket tells as much.
func (l *exactLine) depart(e *line.Entry, at queue.Instant, revoked bool) {
	until := at.Add(queue.LineReturn)
	switch {
	case e.Until() >= at.Add(l.placeLasts(e)):
		return
	case revoked:
		l.waiting.Remove(e)
		return
	}
	remove(&l.absent, e.ID)
	if kept := at.Add(l.settings.LineDropout); e.Confirmed() && kept > l.now {
		l.absent.Add(e.ID, e.Priority, e.Number, l.now, kept)
	}
	switch {
	case e.Until() <= until:
	case until <= l.now:
		l.waiting.Remove(e)
	default:
		l.waiting.Keep(e, l.now, until)
	}
}

// find returns the entry of id if its time has not run out.
func (l *exactLine) find(id queue.ID) *line.Entry {
	e := l.waiting.Find(id)
	if e == nil || e.Until() <= l.now {
		return nil
	}
	return e
}

// has reports whether an id has a place, or one that was left and that they may come back to.
func (l *exactLine) has(id queue.ID) bool {
	e := l.absent.Find(id)
	return l.find(id) != nil || e != nil && e.Until() > l.now
}

// forget has an id have no place any more.
func (l *exactLine) forget(id queue.ID) {
	remove(&l.waiting, id)
	remove(&l.absent, id)
}

// remove takes an id out of a line, if it is there.
func remove(l *line.Line, id queue.ID) {
	if e := l.Find(id); e != nil {
		l.Remove(e)
	}
}

// placeLasts is how long a place outlives its last check-in. One that is not confirmed
// ends as soon as the first check-in is overdue.
func (l *exactLine) placeLasts(e *line.Entry) time.Duration {
	if e.Confirmed() {
		return l.settings.LineDropout
	}
	return l.settings.ConfirmsWithin()
}

// keep has a place last on from now, and confirms it if the visitor has come back.
func (l *exactLine) keep(e *line.Entry, back bool) {
	if back {
		l.waiting.Confirm(e)
	}
	l.waiting.Keep(e, l.now, l.now.Add(l.placeLasts(e)))
	remove(&l.absent, e.ID)
}

// checkIn is the check-in of a claimant, whose place was used or not: it keeps their place, or
// gives them one. It is nil for one who has none and takes none. Everybody in front is ahead of a
// visitor whose place is not confirmed; of others, only those in front whose places are confirmed
// are ahead.
func (l *exactLine) checkIn(c *queue.Claim, used bool) (e *line.Entry, place queue.Place, ahead int) {
	joined := false
	switch e = l.entryOf(c, used); {
	case e == nil && c.NoPlace:
		return nil, queue.Place{}, 0
	case e == nil:
		l.numbers.last++
		e, joined = l.waiting.Add(c.ID, c.Priority, l.numbers.last, l.now, l.now.Add(l.settings.ConfirmsWithin())), true
	}
	if c.Raise && c.Priority > e.Priority {
		l.waiting.Prefer(e, c.Priority)
	}
	l.keep(e, !joined || !c.Newcomer())
	all, ahead := l.waiting.Ahead(e)
	if !e.Confirmed() {
		ahead = all
	}
	return e, queue.Place{Number: e.Number, Priority: e.Priority, Ahead: all, Length: l.waiting.Len(), Joined: joined}, ahead
}

// putBack gives a claimant back the place from which they were let in.
func (l *exactLine) putBack(c *queue.Claim, p queue.Place) {
	e := l.waiting.Add(c.ID, p.Priority, p.Number, l.now, l.now.Add(l.settings.ConfirmsWithin()))
	l.keep(e, !p.Joined || !c.Newcomer())
}

// entryOf returns the claimant's entry: the one in line, or a new one at the number that
// they have a right to; nil if there is neither.
func (l *exactLine) entryOf(c *queue.Claim, used bool) *line.Entry {
	if e := l.find(c.ID); e != nil {
		return e
	}
	remove(&l.waiting, c.ID)
	number, priority := l.numberOf(c, used)
	if number == 0 {
		return nil
	}
	l.numbers.hear(number)
	return l.waiting.Add(c.ID, priority, number, l.now, l.now.Add(l.settings.LineDropout))
}

// numberOf returns the number, and the priority, that a claimant who is not in line has a
// right to; 0 for none. They are those with which the visitor said goodbye, or else those in
// their ticket: the line may have lost them, or not have heard of their last check-in. A
// ticket without a number has a reserved one if its visitor arrived before the line began.
func (l *exactLine) numberOf(c *queue.Claim, used bool) (number uint64, priority int16) {
	if c.Newcomer() || used {
		return 0, 0
	}
	if e := l.absent.Find(c.ID); e != nil && e.Until() > l.now {
		return e.Number, e.Priority
	}
	switch {
	case !c.GoesBack() && c.LastCheckIn <= l.ago(l.outlives(c)):
		return 0, 0
	case c.Number == 0:
		return l.numbers.reserved(c.ArrivedAt), c.Priority
	}
	return c.Number, c.Priority
}

// outlives is how long the claim to a place outlives a check-in.
func (l *exactLine) outlives(c *queue.Claim) time.Duration {
	if c.Number == 0 {
		return l.settings.UnnumberedFor()
	}
	return l.settings.LineDropout
}

// view fills in what a view says of the line.
func (l *exactLine) view(v *queue.View) {
	if !l.settings.Method.HasExactLine() {
		return
	}
	v.LastNumber = l.numbers.last
	preferred, first := l.waiting.Default()
	v.Preferred = preferred
	if first != nil {
		v.FirstNumber = first.Number
	}
	v.Turns = l.turns(min(v.Open, queue.MaxTurns))
}

// turns returns the first of the confirmed visitors in line, so many at most.
func (l *exactLine) turns(most int) (ids []queue.ID) {
	for e := range l.waiting.Confirmed() {
		if len(ids) == most {
			break
		}
		if e.Until() > l.now {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// roster lists the first in line, and names those behind them.
func (l *exactLine) roster() (first []queue.Waiter, more []queue.ID) {
	for e := range l.waiting.All() {
		switch {
		case e.Until() <= l.now:
		case len(first) < queue.MaxRoster:
			first = append(first, l.waiter(e))
		case len(more) < queue.MaxMore:
			more = append(more, e.ID)
		default:
			return first, more
		}
	}
	return first, more
}

func (l *exactLine) waiter(e *line.Entry) queue.Waiter {
	ahead, _ := l.waiting.Ahead(e)
	p := queue.Place{Number: e.Number, Priority: e.Priority, Ahead: ahead, Length: l.waiting.Len()}
	return queue.Waiter{ID: e.ID, Place: p, Until: e.Until()}
}
