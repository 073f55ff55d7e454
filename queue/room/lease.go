package room

import (
	"cmp"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// A session that is given for a lease lasts for a short time only, until a request that brings its
// ticket makes it a whole one. There are two reasons for a lease: a newcomer's ticket may never
// come back, and somebody whose page is hidden, or who is absent, may not look at it. If nobody
// came, the slot goes on to the next. A visitor who had waited, and comes later than that, but
// within what would have been their session, goes back to the place that they had in line, once:
// they are ahead of all who came after them. A newcomer does not: slots that are given for nothing
// could be gathered while nobody waits, and be worth places at the head of a line later.

// provisionalLease is that of a ProvisionalSlot in a room without ConfirmWithin.
const provisionalLease = time.Minute

// keepsSlot reports whether a slot of the visitor's is only kept, until they look at their page or
// come back.
func (s situation) keepsSlot() bool {
	return !s.Ask.isSeen() && s.rules.SlotKept() > 0
}

// lease is that of a claim of the id; 0 for a whole session. A new id may never come back, but
// that of a subject is the same whenever they come.
func (s situation) lease(id queue.ID) time.Duration {
	switch {
	case s.keepsSlot():
		return s.rules.SlotKept()
	case s.isSubject():
		return 0
	case s.Ask.Slot == ProvisionalSlot:
		return cmp.Or(s.rules.ConfirmWithin, provisionalLease)
	case id != s.Ticket.ID:
		return s.rules.ConfirmWithin
	}
	return 0
}

// isLeased reports whether the session of a grant of a claim with a lease, or 0, lasts no longer than
// for that: it began with the grant, or nobody has come since it did.
func (s situation) isLeased(g queue.Grant, lease time.Duration) bool {
	lasts := s.rules.SessionLasts(0)
	return s.rules.Lease(lease, 0) < lasts && (g.Verdict == queue.Granted || g.Expires < g.AcceptedAt.Add(lasts-tick)) // a report's end is rounded down
}

// leased is the accepted ticket of somebody whose session was given for a lease, from the waiting
// ticket whose place they may go back to. A visitor who has gone back to their place before does
// not go back again.
func leased(accepted, waited queue.Ticket) queue.Ticket {
	accepted.Leased = true
	if waited.AcceptedAt == 0 {
		accepted.ArrivedAt, accepted.CameAt = waited.ArrivedAt, waited.CameAt
		accepted.Number, accepted.Priority = waited.Number, waited.Priority
	}
	return accepted
}

// confirmed is a leased ticket, now that it has come back.
func confirmed(t queue.Ticket) queue.Ticket {
	t.Leased, t.ArrivedAt, t.CameAt, t.Number, t.Priority = false, 0, 0, 0, 0
	return t
}

// mayGoBack reports whether the place in the visitor's ticket may be worth something though they
// were let in from it: they went back to it from a session that was given for a lease, or may not
// have been told that they were let in. Only the store knows.
func (s situation) mayGoBack() bool { return s.Ticket.AcceptedAt != 0 || s.by.view.Load().Untold }

// goBack makes a leased ticket of a visitor whose session is over, as far as this node knows, a
// waiting one of their place. The store is asked about it in any case: it may know that the session
// lasts.
func (v visit) goBack() {
	t := &v.Ticket
	accepted := v.rules.configuration.Standstill.Postponed(t.AcceptedAt)
	if accepted != t.AcceptedAt {
		accepted = accepted.Add(tick) // a store takes up a hold, and its end, with the first report after
	}
	whole := accepted.Add(v.rules.SessionLasts(0))
	if !t.Leased || t.ArrivedAt == 0 || max(t.Expires, v.sessions.expires(v.sessionsAt(), t.ID)) > v.sessionsAt() || whole <= v.at || v.Ask.Place == NoPlace {
		return
	}
	*t = queue.Ticket{State: queue.Waiting, ID: t.ID, ArrivedAt: t.ArrivedAt, CameAt: t.CameAt, AcceptedAt: accepted, LastCheckIn: accepted,
		Number: t.Number, Priority: t.Priority}
}
