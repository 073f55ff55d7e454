package room

import (
	"cmp"
	"context"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// Outcome is what becomes of a request.
type Outcome uint8

// The outcomes.
const (
	Queued   Outcome = iota // the visitor waits, with the place in the ticket
	Admitted                // the visitor is in
	Rejected                // the room takes nobody, and no place in line either
	Busy                    // the visitor would have to wait, and this request cannot
)

// Request is a visitor at the door.
type Request struct {
	Ticket queue.Ticket // what they brought; the zero Ticket for nothing that is trusted

	// Hidden says that their page is in a background tab, which browsers slow
	// down to about a check-in a minute: they are counted that long.
	Hidden bool

	// NoWait says that the request cannot be held back, as a form that is being
	// sent: it takes a slot that is open to newcomers, and never a place in
	// line; the check-in of someone who waits is left as it was.
	NoWait bool

	// Called says that Turns had the visitor: in fifo their check-in counts
	// though it is not due, once until the next one that is.
	Called bool

	// Returned says that somebody has said goodbye for them, maybe at another node, and
	// they are here all the same: they are counted at this node, if at none.
	Returned bool

	// Aside says that the request is not one that the origin will get, but one about
	// how its visitor stands. They may be let in by it; but whoever is in is told so,
	// and neither is their session renewed by that nor a ticket issued.
	Aside bool

	noEntry bool // nobody is let in: see CheckIn

	// Subject is who the site says the visitor is, whichever device they use: they
	// have one place and one slot. The zero ID leaves it to the ticket.
	Subject queue.ID

	// Priority is what the site has signed for the visitor; default 0.
	Priority int16
}

// Decision is the answer to a Request.
type Decision struct {
	Outcome Outcome
	Ticket  queue.Ticket // as it should be from now on; State None if the visitor has none
	Issue   bool         // Ticket is not what the visitor brought: send it
	Drop    bool         // what the visitor brought has ended: delete it
	Fresh   bool         // the visitor was let in by this request
	Place   queue.Place  // in the exact line, of a Queued visitor; the zero Place where none is known

	// Waited is how long a Fresh visitor had been in line.
	Waited time.Duration
}

const (
	// hiddenInterval is what browsers allow a page in the background.
	hiddenInterval = time.Minute
	// skew is how far a ticket may be ahead of the clock.
	skew = time.Minute
)

// Pending is a visit that the store has to decide.
type Pending struct {
	Claim   queue.Claim
	ticket  queue.Ticket // the waiting claimant's, as it is if they go on waiting
	issue   bool         // it is not what they brought
	request Request
}

// Visit decides about a request at now. Visitors who are in, who ask early, or
// whose turn has not come are answered without a call to the store; but it is
// asked once about a place from before the room was made.
func (r *Room) Visit(ctx context.Context, now time.Time, q Request) Decision {
	d, p := r.Check(now, q)
	if p == nil {
		return d
	}
	return r.Settle(now, p, r.claimOrPolicy(ctx, now, p.Claim))
}

// Check is the part of a visit that needs no store. Where it does not decide, it
// returns what to ask; [Room.PutClaims] and then [Room.Settle] finish the visit.
func (r *Room) Check(now time.Time, q Request) (Decision, *Pending) {
	at := r.storeTime(now)
	s := r.settings.Load()
	if r.hasSubjects.Load() && q.Subject == (queue.ID{}) && r.isSubject(&q.Ticket) {
		q.Subject = q.Ticket.ID
	}
	if q.Subject != (queue.ID{}) {
		return r.checkSubject(at, s, &q)
	}
	return r.check(at, s, &q)
}

// check is Check by the store's clock, of a ticket that is the visitor's.
func (r *Room) check(now queue.Instant, s *queue.Settings, q *Request) (Decision, *Pending) {
	t := &q.Ticket
	switch {
	case t.State == queue.None || t.LastCheckIn > now.Add(skew) || r.isRevoked(t.ID, now):
		return r.arrive(now, s, r.nameFor(q), q)
	case t.State == queue.Accepted:
		if d, ok := r.stay(now, s, *t); ok {
			return d, nil
		}
		if s.Over(t.AcceptedAt, now) { // the store may still keep its slot, for an answer
			return r.arrive(now, s, r.nameFor(q), q)
		}
		return r.arrive(now, s, t.ID, q)
	case q.NoWait && !r.letsAllIn(s) || s.RejectsAll() || r.placeEnds(s, t) <= now:
		return r.outOfLine(now, s, q)
	}
	return r.checkIn(now, s, q)
}

// Settle finishes a visit with the store's answer to its claim.
func (r *Room) Settle(now time.Time, p *Pending, g queue.Grant) Decision {
	at := r.storeTime(now)
	s, waiting := r.settings.Load(), !p.Claim.Newcomer()
	if waiting && !g.LetIn() && g.Verdict != queue.Refused {
		r.uncount(at, p.ticket)
	}
	r.noteSubject(at, p, g)
	switch {
	case g.Verdict == queue.Banned && p.request.Subject != queue.ID{}:
		return r.banned(at, s, &p.request)
	case g.Verdict == queue.Held && s.Over(g.AcceptedAt, at):
		if waiting {
			r.taken(at, p.Claim.ID)
		}
		if p.request.NoWait {
			return Decision{Outcome: Busy, Ticket: p.request.Ticket}
		}
		return r.join(at, s, r.nameFor(&p.request), &p.request, queue.Place{})
	case g.LetIn() && waiting:
		// Another request of theirs finds the session where the place is used.
		d := r.accept(at, s, &p.request, p.ticket, g)
		r.taken(at, p.Claim.ID)
		return d
	case g.LetIn():
		return r.accept(at, s, &p.request, queue.Ticket{ID: p.Claim.ID}, g)
	case waiting && g.Verdict == queue.Refused:
		return r.inLine(at, p, g.Place)
	case waiting:
	case p.request.NoWait:
		return Decision{Outcome: Busy, Ticket: p.request.Ticket}
	case p.Claim.ID != p.request.Ticket.ID || g.Place != (queue.Place{}):
		// Should the claim have been granted, and the answer lost, the slot is
		// found again by its id.
		return r.join(at, s, p.Claim.ID, &p.request, g.Place)
	}
	return r.join(at, s, r.nameFor(&p.request), &p.request, queue.Place{})
}

// inLine answers a visitor who goes on waiting, with their place in an exact
// line if there is one.
func (r *Room) inLine(now queue.Instant, p *Pending, place queue.Place) Decision {
	if p.request.NoWait {
		return Decision{Outcome: Busy, Ticket: p.request.Ticket}
	}
	d := Decision{Outcome: Queued, Ticket: p.ticket, Issue: p.issue, Place: place}
	if r.view.Load().Settling {
		d.Place = queue.Place{} // there may be more ahead
	}
	if place.Number != 0 && (d.Ticket.Number != place.Number || d.Ticket.Priority != place.Priority) {
		d.Ticket.Number, d.Ticket.Priority, d.Issue = place.Number, place.Priority, true
	}
	subject := p.request.Subject != queue.ID{}
	if !subject && !place.Joined {
		return d
	}
	if place.Joined {
		r.uncount(now, d.Ticket)
		d.Ticket.ArrivedAt = now
	}
	sh := r.waiters.shard(d.Ticket.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if subject {
		sh.remember(&d.Ticket)
	}
	if place.Joined {
		r.recount(now, sh, &d.Ticket)
	}
	return d
}

// letsAllIn reports whether everyone enters, without waiting for anything.
func (r *Room) letsAllIn(s *queue.Settings) bool {
	return s.Method == queue.Passthrough && !s.QueueAll && !r.paused.Load()
}

// nameFor is the id of somebody who arrives.
func (r *Room) nameFor(q *Request) queue.ID {
	if q.Subject != (queue.ID{}) {
		return q.Subject
	}
	return r.newID()
}

// outOfLine decides about a waiting ticket that cannot check in: the request
// cannot wait, the room rejects, or the place was left for too long.
func (r *Room) outOfLine(now queue.Instant, s *queue.Settings, q *Request) (Decision, *Pending) {
	t := q.Ticket
	switch end := r.sessions.expires(now, t.ID); {
	case end > now:
		return r.accept(now, s, q, t, queue.Grant{Verdict: queue.Held, AcceptedAt: now, Expires: end}), nil
	case s.RejectsAll():
		r.uncount(now, t)
		return Decision{Outcome: Rejected, Drop: true}, nil
	case r.placeEnds(s, &t) <= now:
		return r.arrive(now, s, r.nameFor(q), q)
	}
	return Decision{Outcome: Busy, Ticket: t}, nil
}

// stay lets an accepted visitor pass if their ticket or session lasts.
func (r *Room) stay(now queue.Instant, s *queue.Settings, t queue.Ticket) (Decision, bool) {
	d := Decision{Outcome: Admitted, Ticket: t}
	if t.Uncounted {
		return d, t.Expires > now
	}
	end := t.Expires
	if end <= now {
		end = r.sessions.expires(now, t.ID)
	}
	switch {
	case end <= now:
		return d, false
	case !s.Renews() && end == t.Expires:
		r.sessions.note(now, t.ID, end, false)
		return d, true
	case !s.Renews():
		d.Ticket.LastCheckIn, d.Ticket.Expires, d.Issue = now, end, true
		return d, true
	}
	r.sessions.renew(now, t.ID, now.Add(s.SessionDuration))
	if t.Expires <= now || now.Sub(t.LastCheckIn) > s.SessionDuration/8 {
		d.Ticket.LastCheckIn, d.Ticket.Expires, d.Issue = now, now.Add(s.SessionDuration), true
	}
	return d, true
}

// arrive decides about a newcomer: everyone present is ahead of them.
func (r *Room) arrive(now queue.Instant, s *queue.Settings, id queue.ID, q *Request) (Decision, *Pending) {
	if s.RejectsAll() {
		return Decision{Outcome: Rejected, Drop: q.Ticket.State != queue.None}, nil
	}
	// A session that has run out here may last in the store, and that of a subject
	// may be another device's.
	back := (q.Ticket.State == queue.Accepted || q.Subject != queue.ID{}) && id == cmp.Or(q.Subject, q.Ticket.ID)
	if back || s.Method == queue.Line || r.worthAsking(now, s, queue.Cell{}, 0) {
		c := queue.Claim{ID: id, ArrivedAt: now, Priority: q.Priority, Raise: q.Priority > 0,
			NoSlot: q.noEntry || r.paused.Load(), NoPlace: q.NoWait, Renew: s.Renews() && !q.Aside}
		return Decision{}, &Pending{Claim: c, request: *q}
	}
	if q.NoWait {
		return Decision{Outcome: Busy, Ticket: q.Ticket}, nil
	}
	return r.join(now, s, r.nameFor(q), q, queue.Place{}), nil
}

// join gives a newcomer a place in line and counts them.
func (r *Room) join(now queue.Instant, s *queue.Settings, id queue.ID, q *Request, place queue.Place) Decision {
	t := queue.Ticket{State: queue.Waiting, ID: id, ArrivedAt: now, LastCheckIn: now, RefreshInterval: r.firstInterval(s), Number: place.Number, Priority: place.Priority}
	sh := r.waiters.shard(t.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if r.view.Load().Settling {
		place = queue.Place{} // there may be more ahead
	}
	if q.Subject != (queue.ID{}) {
		if first, ok := r.joinsAgain(now, sh, s, id); ok {
			first.Number, first.Priority = t.Number, t.Priority
			return Decision{Outcome: Queued, Ticket: first, Issue: true, Place: place}
		}
		sh.remember(&t)
	}
	r.count(sh, sh.table.add(short(t.ID), ticksOf(now, r.start)), s, s.BucketOf(now), &t, q.Hidden)
	return Decision{Outcome: Queued, Ticket: t, Issue: true, Place: place}
}

// checkIn decides about a visitor with a place in line.
func (r *Room) checkIn(now queue.Instant, s *queue.Settings, q *Request) (Decision, *Pending) {
	t := q.Ticket
	sh := r.waiters.shard(t.ID)
	sh.mu.Lock()
	e := sh.table.find(short(t.ID), ticksOf(now, r.start))
	if e == nil || used(e) {
		if end := r.sessions.expires(now, t.ID); end > now {
			sh.mu.Unlock()
			return r.accept(now, s, q, t, queue.Grant{Verdict: queue.Held, AcceptedAt: now, Expires: end}), nil
		}
		if e != nil && s.Method != queue.Line && q.Subject == (queue.ID{}) {
			sh.mu.Unlock()
			return r.join(now, s, r.nameFor(q), q, queue.Place{}), nil
		}
		e = nil // the store knows, or it is known already that another place was used
	}
	due := r.letsAllIn(s) || now >= t.Due() && (e == nil || ticksOf(now, r.start) >= dueTicks(e))
	again := s.Method == queue.FIFO && q.Called && (e == nil || !called(e))
	if !due && !again {
		d, cell := r.early(now, s, sh, e, q)
		sh.mu.Unlock()
		if s.Method != queue.Line {
			return d, nil
		}
		return Decision{}, &Pending{Claim: r.claim(q, cell), ticket: d.Ticket, issue: d.Issue, request: *q}
	}
	if q.noEntry && s.Method != queue.Line {
		d := r.showUp(now, s, sh, e, q)
		sh.mu.Unlock()
		return d, nil
	}
	e = r.entry(now, s, sh, e, &t)
	// Only the store knows whether a place from before the start was used since.
	stranger := t.LastCheckIn < r.start
	t.LastCheckIn, t.RefreshInterval = now, r.interval(s)
	cell := r.count(sh, e, s, s.BucketOf(t.ArrivedAt), &t, q.Hidden)
	if !due {
		e.more |= calledFlag
	}
	if q.Subject != (queue.ID{}) {
		sh.remember(&t)
	}
	sh.mu.Unlock()

	if s.Method == queue.Line || r.worthAsking(now, s, cell, t.Number) || stranger && !r.paused.Load() {
		p := &Pending{Claim: r.claim(q, cell), ticket: t, issue: true, request: *q}
		p.Claim.Due = t.Due()
		return Decision{}, p
	}
	return Decision{Outcome: Queued, Ticket: t, Issue: true}, nil
}

// claim is that of a visitor who waits, counted in the cell.
func (r *Room) claim(q *Request, cell queue.Cell) queue.Claim {
	t := &q.Ticket
	c := queue.Claim{ID: t.ID, Cell: cell, ArrivedAt: t.ArrivedAt, LastCheckIn: t.LastCheckIn,
		Number: t.Number, Priority: t.Priority, NoSlot: q.noEntry || r.paused.Load(), Renew: r.settings.Load().Renews() && !q.Aside}
	if q.Priority > max(t.Priority, 0) { // the default raises nobody whom an operator has put last
		c.Priority, c.Raise = q.Priority, true
	}
	return c
}

// accept turns a grant into a ticket.
func (r *Room) accept(now queue.Instant, s *queue.Settings, q *Request, t queue.Ticket, g queue.Grant) Decision {
	d := Decision{Outcome: Admitted, Issue: !q.Aside, Fresh: g.Verdict == queue.Granted || g.Verdict == queue.Beyond}
	d.Ticket = queue.Ticket{State: queue.Accepted, ID: t.ID, LastCheckIn: now, AcceptedAt: g.AcceptedAt, Expires: g.Expires}
	if d.Fresh && t.State == queue.Waiting {
		d.Waited = now.Sub(t.ArrivedAt)
	}
	switch {
	case g.Verdict == queue.Beyond:
		d.Ticket.AcceptedAt, d.Ticket.Expires, d.Ticket.Uncounted = now, now.Add(s.SessionLasts(0)), true
	case g.Verdict == queue.Held && s.Renews() && !q.Aside:
		d.Ticket.Expires = now.Add(s.SessionDuration)
		r.sessions.renew(now, t.ID, d.Ticket.Expires)
	default:
		d.Ticket.Expires = s.SessionEnd(g)
		r.sessions.note(now, t.ID, d.Ticket.Expires, true)
	}
	return d
}
