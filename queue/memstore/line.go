package memstore

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/line"
)

// numbers are the ticket numbers of an exact line. If people wait in a room when it
// gets its line, the numbers above floor, up to top, are reserved for them: one number
// for each millisecond in which one of them may have arrived. Without such people
// floor equals top.
type numbers struct {
	last       uint64        // the highest that was given out or reserved
	began      queue.Instant // when the room got its line
	floor, top uint64
}

// begin returns the numbers of a line that begins with a configuration.
func (r *room) begin(c queue.Configuration) numbers {
	n := numbers{last: r.numbers.last, began: max(r.now, c.At)}
	if r.lost != 0 {
		n.last += queue.LostNumbers
	}
	if r.cells.present == 0 {
		return n
	}
	// Some may have waited for longer than a place outlives its last check-in.
	span := max(c.Remembers(), n.began.Sub(r.cells.buckets[0].Bucket))
	n.floor = n.last
	n.last += uint64(span / time.Millisecond)
	n.top = n.last
	return n
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

// countInLine counts what a report says of the exact line.
func (r *room) countInLine(p *queue.Report) {
	r.numbers.hear(p.LastNumber)
	for _, d := range p.Left {
		if e := r.inLine(d.ID); e != nil {
			r.depart(e, d.At)
		}
	}
	for _, id := range p.Unanswered {
		if e := r.inLine(id); e != nil && !e.Confirmed() {
			r.line.Remove(e)
		}
	}
	for _, p := range p.Priorities {
		for _, l := range [...]*line.Line{&r.line, &r.absent} {
			if e := l.Find(p.ID); e != nil && e.Until() > r.now {
				l.Prefer(e, p.Priority)
			}
		}
	}
}

// depart has a visitor who said goodbye stand in line for a moment only, and remembers their
// place, unless they have checked in since. Nothing is remembered of one who was revoked, or
// whose place is not confirmed: their ticket tells as much.
func (r *room) depart(e *line.Entry, at queue.Instant) {
	until := at.Add(queue.LineReturn)
	switch {
	case e.Until() >= at.Add(r.placeLasts(e)):
		return
	case r.revoked[e.ID] > r.now:
		r.line.Remove(e)
		return
	}
	remove(&r.absent, e.ID)
	if kept := at.Add(r.settings.LineDropout); e.Confirmed() && kept > r.now {
		r.absent.Add(e.ID, e.Priority, e.Number, r.now, kept)
	}
	switch {
	case e.Until() <= until:
	case until <= r.now:
		r.line.Remove(e)
	default:
		r.line.Keep(e, r.now, until)
	}
}

// inLine returns the entry of id if its time has not run out.
func (r *room) inLine(id queue.ID) *line.Entry {
	e := r.line.Find(id)
	if e == nil || e.Until() <= r.now {
		return nil
	}
	return e
}

// forgetPlace has an id have no place any more.
func (r *room) forgetPlace(id queue.ID) {
	remove(&r.line, id)
	remove(&r.absent, id)
}

// remove takes an id out of a line, if it is there.
func remove(l *line.Line, id queue.ID) {
	if e := l.Find(id); e != nil {
		l.Remove(e)
	}
}

// placeLasts is how long a place outlives its last check-in. One that is not confirmed
// ends as soon as the first check-in is overdue.
func (r *room) placeLasts(e *line.Entry) time.Duration {
	if e.Confirmed() {
		return r.settings.LineDropout
	}
	return r.settings.ConfirmsWithin()
}

// keepPlace has a place last on from now, and confirms it if the visitor has come back.
func (r *room) keepPlace(e *line.Entry, back bool) {
	if back {
		r.line.Confirm(e)
	}
	r.line.Keep(e, r.now, r.now.Add(r.placeLasts(e)))
	remove(&r.absent, e.ID)
}

// decideInLine decides the claim of a visitor without a session, which is a check-in
// in the exact line. Everybody in front is ahead of a visitor whose place is not
// confirmed; of others, only those in front whose places are confirmed are ahead.
func (r *room) decideInLine(c queue.Claim) queue.Grant {
	e, joined := r.find(c), false
	switch {
	case e == nil && c.NoPlace:
		return r.decideWithoutPlace(c)
	case e == nil:
		r.numbers.last++
		e, joined = r.line.Add(c.ID, c.Priority, r.numbers.last, r.now, r.now.Add(r.settings.ConfirmsWithin())), true
	}
	if c.Raise && c.Priority > e.Priority {
		r.line.Prefer(e, c.Priority)
	}
	r.keepPlace(e, !joined || !c.Newcomer())
	all, ahead := r.line.Ahead(e)
	if !e.Confirmed() {
		ahead = all
	}
	p := queue.Place{Number: e.Number, Priority: e.Priority, Ahead: all, Length: r.line.Len(), Joined: joined}
	if c.NoSlot || r.open()-ahead <= 0 {
		return queue.Grant{Verdict: queue.Refused, Place: p}
	}
	r.line.Remove(e)
	g := r.grant(c)
	g.Place = p
	return g
}

// decideWithoutPlace decides the claim of a visitor who is not in line and takes no
// place there: everybody in line is ahead of them.
func (r *room) decideWithoutPlace(c queue.Claim) queue.Grant {
	if c.NoSlot || r.open() <= r.line.Len() {
		return refused
	}
	return r.grant(c)
}

// find returns the claimant's entry: the one in line, or a new one at the number that
// they have a right to; nil if there is neither.
func (r *room) find(c queue.Claim) *line.Entry {
	if e := r.inLine(c.ID); e != nil {
		return e
	}
	remove(&r.line, c.ID)
	number, priority := r.numberOf(c)
	if number == 0 {
		return nil
	}
	r.numbers.hear(number)
	return r.line.Add(c.ID, priority, number, r.now, r.now.Add(r.settings.LineDropout))
}

// numberOf returns the number, and the priority, that a claimant who is not in line has a
// right to; 0 for none. They are those with which the visitor said goodbye, or else those in
// their ticket: the line may have lost them, or not have heard of their last check-in. A
// ticket without a number has a reserved one if its visitor arrived before the line began.
func (r *room) numberOf(c queue.Claim) (number uint64, priority int16) {
	if c.Newcomer() || r.placeUsed(c) {
		return 0, 0
	}
	if e := r.absent.Find(c.ID); e != nil && e.Until() > r.now {
		return e.Number, e.Priority
	}
	switch {
	case !c.GoesBack() && c.LastCheckIn <= r.ago(r.settings.LineDropout):
		return 0, 0
	case c.Number == 0:
		return r.numbers.reserved(c.ArrivedAt), c.Priority
	}
	return c.Number, c.Priority
}

// viewLine fills in what a view says of the exact line.
func (r *room) viewLine(v *queue.View) {
	if !r.settings.Method.HasExactLine() {
		return
	}
	v.LastNumber = r.numbers.last
	preferred, first := r.line.Default()
	v.Preferred = preferred
	if first != nil {
		v.FirstNumber = first.Number
	}
	v.Turns = r.turns(min(v.Open, queue.MaxTurns))
}

// turns returns the first of the confirmed visitors in line, so many at most.
func (r *room) turns(most int) (ids []queue.ID) {
	for e := range r.line.Confirmed() {
		if len(ids) == most {
			break
		}
		if e.Until() > r.now {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// journalNumbers records the numbers, if they have changed, before anybody learns of one.
func (r *room) journalNumbers() {
	if r.journal != nil && r.numbers != r.journal.numbered {
		r.journal.numbers(r.numbers)
	}
}
