package memstore

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/line"
)

// expiredAtOnce bounds how many entries of the exact line a call looks at that
// may have run out, so that a wave of leavers holds nobody up.
const expiredAtOnce = queue.MaxExpired

// numbers are those of an exact line. A room that people waited in when it got
// its line keeps those above floor, up to top, for them: one for each
// millisecond in which they may have arrived before it began.
type numbers struct {
	last       uint64 // that was given out
	began      queue.Instant
	floor, top uint64
}

// begin returns the numbers of a line that begins with a configuration.
func (r *room) begin(c queue.Configuration) numbers {
	n := numbers{last: r.numbers.last, began: max(r.now, c.At)}
	if r.cells.present == 0 {
		return n
	}
	// Some may have waited for longer than they can be away.
	span := max(c.Remembers(), n.began.Sub(r.cells.buckets[0].Bucket))
	n.floor = n.last
	n.last += uint64(span / time.Millisecond)
	n.top = n.last
	return n
}

// countInLine takes in what a report says of the exact line.
func (r *room) countInLine(p *queue.Report) {
	r.numbers.last = max(r.numbers.last, p.LastNumber)
	for _, d := range p.Left {
		e, until := r.inLine(d.ID), d.At.Add(queue.LineReturn)
		switch {
		case e == nil || e.Until() >= d.At.Add(r.keeps(e)) || e.Until() <= until:
		case until <= r.now:
			r.line.Remove(e)
		default:
			r.line.Keep(e, r.now, until)
		}
	}
	for _, p := range p.Priorities {
		if e := r.inLine(p.ID); e != nil {
			r.line.Prefer(e, p.Priority)
		}
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

func (r *room) leaveLine(id queue.ID) {
	if e := r.line.Find(id); e != nil {
		r.line.Remove(e)
	}
}

// keeps is how long a place outlives its last check-in. One that is not confirmed
// ends as soon as the first check-in is overdue.
func (r *room) keeps(e *line.Entry) time.Duration {
	if e.Confirmed() {
		return r.settings.LineDropout
	}
	return r.settings.ConfirmsWithin()
}

// decideInLine is the check-in of a claimant without a session. Whoever is new has
// everybody ahead who stands in front, and whoever has come back those of them who
// have, too.
func (r *room) decideInLine(c queue.Claim) queue.Grant {
	e, joined := r.find(c), false
	if e == nil && c.NoPlace {
		if !c.NoSlot && r.open() > r.line.Len() {
			return r.grant(c)
		}
		return queue.Grant{Verdict: queue.Refused}
	}
	if e == nil {
		r.numbers.last++
		e, joined = r.line.Add(c.ID, c.Priority, r.numbers.last, r.now, r.now.Add(r.settings.ConfirmsWithin())), true
	}
	if c.Raise && c.Priority > e.Priority {
		r.line.Prefer(e, c.Priority)
	}
	if !joined || !c.Newcomer() {
		r.line.Confirm(e)
	}
	r.line.Keep(e, r.now, r.now.Add(r.keeps(e)))
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

// find returns the claimant's entry: the one that is there, or that the ticket
// tells of; nil if the claimant has none.
func (r *room) find(c queue.Claim) *line.Entry {
	if e := r.inLine(c.ID); e != nil {
		return e
	}
	r.leaveLine(c.ID)
	number := r.numberOf(c)
	if number == 0 {
		return nil
	}
	r.numbers.last = max(r.numbers.last, number)
	return r.line.Add(c.ID, c.Priority, number, r.now, r.now.Add(r.settings.LineDropout))
}

// numberOf is the number at which a claimant who is not in line is taken up
// again: it is that of the ticket if the line has lost them, or did not wait for
// their first check-in, and goes by their arrival if they waited here before there
// was a line. Nodes learn of the line a little late: they may have checked in
// without one since it began.
func (r *room) numberOf(c queue.Claim) uint64 {
	n, known := &r.numbers, r.sessions[c.ID]
	switch {
	case c.Newcomer() || c.LastCheckIn.Add(r.settings.LineDropout) <= r.now || known.admitted != 0 && known.admitted >= c.ArrivedAt:
		return 0
	case c.Number != 0 && (c.LastCheckIn < r.since || c.LastCheckIn <= c.ArrivedAt):
		return c.Number
	case c.Number == 0 && c.ArrivedAt < n.began && n.top > n.floor:
		before := uint64(n.began - c.ArrivedAt)
		return n.top - min(before, n.top-n.floor-1)
	}
	return 0
}

// viewLine tells of the exact line.
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
	turns := min(v.Open, queue.MaxTurns)
	if turns == 0 {
		return
	}
	for e := range r.line.Confirmed() {
		if e.Until() <= r.now {
			continue
		}
		v.Turns = append(v.Turns, e.ID)
		if len(v.Turns) == turns {
			return
		}
	}
}

// journalNumbers has the numbers in the journal before anybody learns of one.
func (r *room) journalNumbers() {
	if r.journal != nil && r.numbers != r.journal.numbered {
		r.journal.numbers(r.numbers)
	}
}
