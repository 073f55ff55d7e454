package room

import (
	"context"
	"errors"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// visits decides about requests: from the parts of the room where they know enough,
// and by a claim where the store has to say.
type visits struct {
	basis
	random    random
	clock     *storeClock
	presence  *presence
	estimates *estimate.Estimator
	networks  *networks
	sessions  *sessions
	outbox    *outbox
	turnstile *turnstile

	// put puts a claim to the store: it is batcher.put. roster asks the store who is in
	// the room: it is exchange.roster. See assemble in open.go.
	put    func(ctx context.Context, now time.Time, c queue.Claim) (queue.Grant, error)
	roster func(ctx context.Context, ids ...queue.ID) (*queue.Roster, error)
	draw   func(e queue.ActiveEvent, id queue.ID) queue.Instant // Config.Draw

	onDrawn func(t queue.Ticket) // Config.OnDrawn
	onBurst func()               // Config.OnBurst
}

// situation is a request at one moment, by one set of rules, and what it follows from these alone:
// it remembers nobody, and changes nothing.
type situation struct {
	*Request
	at    queue.Instant
	rules *rules
	by    *basis
}

// basis has the conditions. A situation points at it, and not at them: with an atomic so near, the
// compiler would put each Request on the heap.
type basis struct{ *conditions }

// visit is one request while it is decided about: by its situation, and by what the room remembers
// of the visitor.
type visit struct {
	*visits
	situation
}

// visit is that of a request at now.
func (vs *visits) visit(now time.Time, q *Request) visit {
	return visit{vs, situation{Request: q, at: vs.clock.at(now), rules: vs.conditions.rules.Load(), by: &vs.basis}}
}

// decide is [Room.Visit].
func (vs *visits) decide(ctx context.Context, now time.Time, q Request) Decision {
	return vs.checkInAhead(ctx, now, q, vs.decideOnce(ctx, now, q))
}

// decideOnce is what is known here, then the store's word where that does not do, then the
// answer, by the rules that are in force by then.
func (vs *visits) decideOnce(ctx context.Context, now time.Time, q Request) Decision {
	brought := q.Ticket
	d, p := vs.visit(now, &q).decideHere()
	if p != nil {
		d = vs.decideByStore(ctx, now, p)
	}
	d.Rejoined = d.Rejoined || q.outOfDraw && d.Outcome == Queued
	if d.tellsOfSession(&brought) {
		vs.outbox.tell(d.Ticket.ID)
	}
	return d.movedAs(&brought)
}

// decideByStore decides what is left to the store. If it does not answer, whoever is in stays in, as
// far as this node knows, and else the room's policy decides.
func (vs *visits) decideByStore(ctx context.Context, now time.Time, p *pending) Decision {
	g, err := vs.verdictOn(ctx, now, p.claim)
	v := vs.visit(now, &p.request)
	if err != nil {
		if d, in := v.enterAsKnown(queue.Ticket{ID: p.claim.ID}); in {
			return d
		}
		g = vs.withoutStore(now, p.claim)
		p.unheard = !errors.Is(err, errNotAsked) || v.rules.Method.HasExactLine()
	}
	return v.settle(p, g)
}

// tellsOfSession reports whether a visitor is told that they have had a session, of which the
// ticket that they brought does not know.
func (d *Decision) tellsOfSession(brought *queue.Ticket) bool {
	return brought.State != queue.Accepted && d.Ticket.State == queue.Accepted && !d.Fresh && !d.Ticket.Uncounted
}

// errNotAsked is the error of a claim that is not put to the store, because it does not answer.
var errNotAsked = errors.New("the store does not answer")

// verdictOn puts a claim to the store. While the store does not answer, it is not asked; a
// sync finds out when it answers again.
func (vs *visits) verdictOn(ctx context.Context, now time.Time, c queue.Claim) (queue.Grant, error) {
	if vs.conditions.outage.failing() {
		return queue.Grant{}, errNotAsked
	}
	return vs.put(ctx, now, c)
}

// decideHere decides what needs no store, or says what to ask it.
func (v visit) decideHere() (Decision, *pending) {
	v.recognize()
	if v.hasMoved() {
		return Decision{Outcome: Moved, Ticket: v.Ticket, Drop: true}, nil
	}
	v.goBack()
	if v.isSubject() {
		return v.decideForSubject()
	}
	return v.decideByTicket()
}

// rejectsAll reports whether nobody gets even a place in line.
func (s situation) rejectsAll() bool { return s.rules.RejectsAll() || s.by.soldOut(s.rules) }

// sessionsAt is the moment by which the visitor's session lasts or has ended.
func (s situation) sessionsAt() queue.Instant { return s.rules.sessionsAt(s.at) }

// recognize has the ticket of a subject name them.
func (v visit) recognize() {
	if !v.isSubject() && v.presence.isSubject(&v.Ticket) {
		v.Subject = v.Ticket.ID
	}
}

// isSubject reports whether the visitor is a subject, who may come with several devices.
func (s situation) isSubject() bool { return s.Subject != queue.ID{} }

// decideByTicket decides by the ticket: are they in; if not, can they check in?
func (v visit) decideByTicket() (Decision, *pending) {
	t := &v.Ticket
	switch {
	case t.State == queue.None || t.LastCheckIn > v.at.Add(skew) || v.sessions.isRevoked(t.ID, v.at):
		return v.arrive(v.newID())
	case t.State == queue.Accepted:
		if d, ok := v.stay(); ok {
			return d, nil
		}
		return v.arrive(v.idAfterSession())
	case v.opensToAll():
		return v.enterUncounted(*t), nil
	case v.rejectsAll() || v.rules.placeOver(t, v.at) || v.Ask.Place == NoPlace && !v.conditions.letsAllIn(v.rules):
		return v.decideOutOfLine()
	}
	v.conditions.noteReturn(t, v.rules)
	return v.checkIn()
}

// decideOutOfLine decides about a waiting ticket that cannot check in: the request
// cannot wait, the room rejects, or the place was left for too long.
func (v visit) decideOutOfLine() (Decision, *pending) {
	if d, p, ok := v.enterAgain(v.Ticket); ok {
		return d, p
	}
	switch {
	case v.rejectsAll():
		v.presence.leave(v.at, &v.Ticket)
		return v.reject(), nil
	case v.rules.placeOver(&v.Ticket, v.at):
		return v.arrive(v.newID())
	}
	return v.busy(), nil
}

// checkIn decides about a visitor with a place in line: are they due; if so, count them;
// and ask the store if a slot may be theirs.
func (v visit) checkIn() (Decision, *pending) {
	if v.isBeyond(v.Ticket.ID, v.waitsSince()) {
		return v.waitBeyond()
	}
	v.Ticket = v.comesBack(v.Ticket)
	bucket := v.bucketOf(v.Ticket.ArrivedAt)
	within, rarely := v.aim(bucket)
	c := pendingCheckIn{Request: v.Request, counting: v.counting(), bucket: bucket, within: within, rarely: rarely,
		alwaysDue: v.conditions.letsAllIn(v.rules), soon: v.startsSoon(), called: v.Ask.Prompt == Called && v.rules.Method.OrdersBuckets()}
	f := v.presence.noteCheckIn(v.at, v.rules, &c)
	for f.result == unknown || f.result == entered {
		if d, p, ok := v.enterAgain(v.Ticket); ok {
			return d, p
		}
		if f.result == entered && !v.rules.Method.HasExactLine() && !v.isSubject() && !v.mayGoBack() {
			return v.joinAnew(), nil
		}
		// The store knows, or it is known already that another place was used.
		c.despite = f.result
		f = v.presence.noteCheckIn(v.at, v.rules, &c)
	}
	if v.needsStore(f) || c.despite == entered && v.mayGoBack() {
		return Decision{}, v.pendingInLine(f)
	}
	if f.from != (queue.Cell{}) {
		v.presence.takeOut(v.Ticket.ID, f.from)
	}
	d := Decision{Outcome: Queued, Ticket: v.Ticket, Early: f.early()}
	d.Issue = f.updateTicket(v.at, &d.Ticket)
	return d, nil
}

// counting is how the visitor's check-in is counted. A request that lets nobody in leaves
// the visitor's turn to their next request, which is due at once. A visitor whose turn has
// come already is not counted again: if they were, they could keep the slot that is
// reserved for them empty for as long as they like.
func (s situation) counting() counting {
	switch {
	case s.Ask.Slot != NoSlot || s.rules.Method.HasExactLine():
		return countFully
	case s.by.worthAsking(s.at, s.rules, waiter{cell: queue.Cell{Bucket: s.bucketOf(s.Ticket.ArrivedAt), Until: s.at}}):
		return countNothing
	}
	return countStillDue
}

// needsStore reports whether the check-in of somebody in line is put to the store.
func (v visit) needsStore(f found) bool {
	switch {
	case v.rules.Method.HasExactLine():
		return true
	case v.Ticket.GoesBack():
		return true
	case f.result != counted || v.Ask.Slot == NoSlot:
		return false
	}
	return v.conditions.worthAsking(v.at, v.rules, waiter{f.cell, f.was, v.Ticket.Number}) || v.presence.precedes(&v.Ticket)
}

// arrive decides about a newcomer: everyone present is ahead of them. A session that
// has run out here may last in the store, and that of a subject may be another
// device's.
func (v visit) arrive(id queue.ID) (Decision, *pending) {
	v.countNewcomer()
	if v.opensToAll() {
		return v.enterUncounted(queue.Ticket{ID: id}), nil
	}
	mayBeIn := v.isSubject() || v.Ticket.State == queue.Accepted && id == v.Ticket.ID
	switch {
	case v.rejectsAll() && !(mayBeIn && v.conditions.soldOut(v.rules)):
		return v.reject(), nil
	case mayBeIn || v.rules.Method.HasExactLine() || v.conditions.worthAsking(v.at, v.rules, newcomer):
		return Decision{}, v.pending(v.newcomersClaim(id))
	case v.Ask.Place != AnyPlace:
		return v.busy(), nil
	}
	return v.join(id, queue.Place{}, v.newcomersAim(queue.Place{})), nil
}

// newID is the id of somebody who arrives.
func (v visit) newID() queue.ID {
	if v.isSubject() {
		return v.Subject
	}
	return v.random.id()
}

// idAfterSession is the id of a visitor whose session is over, as far as this node knows.
// The store may know that it lasts, and finds it by its id. A fixed session ends in its
// time, and the store may only keep its slot, for an answer that is under way: after it,
// the visitor gets a new id. A ticket from before the end of a hold, or without the time of
// the admission, does not tell when the session ends.
func (v visit) idAfterSession() queue.ID {
	t := &v.Ticket
	if v.tellsStart() && !v.rules.HoldsActive() && v.rules.Over(t.AcceptedAt, v.at) {
		return v.newID()
	}
	return t.ID
}
