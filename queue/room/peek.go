package room

import (
	"cmp"
	"context"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// peek is [Room.Peek]: by what is known here; and by the store, where somebody may be
// in, or in an exact line.
func (v visit) peek(ctx context.Context) (queue.Ticket, queue.Place) {
	v.recognize() // from here on the request is the subject's, whatever becomes of the ticket
	v.goBack()
	id, t := cmp.Or(v.Subject, v.Ticket.ID), v.Ticket
	if id == (queue.ID{}) || v.hasMoved() || v.sessions.isRevoked(id, v.at) || t.LastCheckIn > v.at.Add(skew) {
		return queue.Ticket{}, queue.Place{}
	}
	end := v.sessions.expires(v.sessionsAt(), id)
	if t.State == queue.Accepted && t.ID == id && max(t.Expires, end) > v.sessionsAt() {
		t.Expires = max(t.Expires, end)
		return t, queue.Place{}
	}
	t = v.place()
	mayBeIn := end > v.sessionsAt() || v.isSubject() && t.State != queue.Waiting || t.GoesBack() || v.Ticket.State == queue.Accepted && !v.tellsStart()
	if !mayBeIn && !v.rules.Method.HasExactLine() {
		return t, queue.Place{}
	}
	return v.lookUp(ctx, id, t, end)
}

// isIn is [Room.IsIn].
func (vs *visits) isIn(now time.Time, t *queue.Ticket) bool {
	at, rules := vs.clock.at(now), vs.conditions.rules.Load()
	if t.State != queue.Accepted || vs.sessions.hasMoved(t, at) || vs.sessions.isRevoked(t.ID, at) {
		return false
	}
	at = rules.sessionsAt(at)
	return max(t.Expires, vs.sessions.expires(at, t.ID)) > at
}

// place is the waiting ticket of a visitor that is worth something; else the zero
// Ticket.
func (v visit) place() queue.Ticket {
	t := v.Ticket
	if v.isSubject() {
		t = v.presence.subjectTicket(v.at, v.rules, v.Subject, t)
	}
	if t.State != queue.Waiting || v.rules.placeOver(&t, v.at) || !v.isSubject() && !v.mayGoBack() && v.presence.hasEntered(v.at, t.ID) {
		return queue.Ticket{}
	}
	return t
}

// lookUp asks the store how the visitor of a waiting ticket stands, whose session
// lasts until end by what is known here.
func (v visit) lookUp(ctx context.Context, id queue.ID, t queue.Ticket, end queue.Instant) (queue.Ticket, queue.Place) {
	roster, err := v.roster(ctx, id)
	if err != nil {
		roster = &queue.Roster{}
	}
	switch {
	case len(roster.Seated) > 0 && !v.rules.Over(roster.Seated[0].AcceptedAt, v.sessionsAt()):
		seat := queue.Grant{AcceptedAt: roster.Seated[0].AcceptedAt, Expires: roster.Seated[0].Expires}
		return queue.Ticket{State: queue.Accepted, ID: id, AcceptedAt: seat.AcceptedAt, Expires: max(v.rules.SessionEnd(seat), end)}, queue.Place{}
	case end > v.sessionsAt():
		return queue.Ticket{State: queue.Accepted, ID: id, Expires: end}, queue.Place{}
	case len(roster.Line) > 0:
		return v.placeInRoster(t, &roster.Line[0])
	case err == nil && v.rules.Method.HasExactLine() && t.LastCheckIn <= roster.Kept:
		return queue.Ticket{}, queue.Place{}
	}
	return t, queue.Place{}
}

// placeInRoster is the ticket of somebody whom the store has found in line, and their
// place.
func (v visit) placeInRoster(t queue.Ticket, w *queue.Waiter) (queue.Ticket, queue.Place) {
	if t.State == queue.None {
		t = queue.Ticket{State: queue.Waiting, ID: w.ID, ArrivedAt: v.at,
			LastCheckIn: w.Until.Add(-v.rules.LineDropout), RefreshInterval: v.rules.RefreshInterval}
	}
	t.Number, t.Priority = w.Number, w.Priority
	return t, w.Place
}
