package room

import (
	"cmp"
	"context"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// Peek tells how a visitor stands at now, and changes nothing: it is no check-in
// and renews no session. The ticket's State is None for whoever is neither in nor
// in line. Its times are as far as this node and the store know: AcceptedAt may
// be zero, and so may the Place of somebody in an exact line, while the store does
// not answer.
func (r *Room) Peek(ctx context.Context, now time.Time, q Request) (queue.Ticket, queue.Place) {
	at := r.storeTime(now)
	s, t := r.settings.Load(), q.Ticket
	if q.Subject == (queue.ID{}) && r.isSubject(&t) {
		q.Subject = t.ID
	}
	id := cmp.Or(q.Subject, t.ID)
	if id == (queue.ID{}) || r.isRevoked(id, at) || t.LastCheckIn > at.Add(skew) {
		return queue.Ticket{}, queue.Place{}
	}
	end := r.sessions.expires(at, id)
	if t.State == queue.Accepted && t.ID == id && max(t.Expires, end) > at {
		t.Expires = max(t.Expires, end)
		return t, queue.Place{}
	}
	t = r.placeOf(at, s, &q)
	if s.Method != queue.Line && end <= at && (t.State == queue.Waiting || q.Subject == queue.ID{}) {
		return t, queue.Place{}
	}
	roll, err := r.Roll(ctx, id)
	switch {
	case err == nil && len(roll.Seated) > 0 && !s.Over(roll.Seated[0].AcceptedAt, at):
		seat := queue.Grant{AcceptedAt: roll.Seated[0].AcceptedAt, Expires: roll.Seated[0].Expires}
		return queue.Ticket{State: queue.Accepted, ID: id, AcceptedAt: seat.AcceptedAt, Expires: max(s.SessionEnd(seat), end)}, queue.Place{}
	case end > at:
		return queue.Ticket{State: queue.Accepted, ID: id, Expires: end}, queue.Place{}
	case err == nil && len(roll.Line) > 0:
		return inRoll(at, s, t, &roll.Line[0])
	case s.Method == queue.Line && err == nil && t.LastCheckIn.Add(s.LineDropout) <= at:
		return queue.Ticket{}, queue.Place{}
	}
	return t, queue.Place{}
}

// placeOf is the waiting ticket of a visitor that is worth something; else the
// zero Ticket.
func (r *Room) placeOf(now queue.Instant, s *queue.Settings, q *Request) queue.Ticket {
	t := q.Ticket
	if q.Subject != (queue.ID{}) {
		t = r.ticketOf(now, s, q)
	}
	if t.State != queue.Waiting || r.placeEnds(s, &t) <= now {
		return queue.Ticket{}
	}
	sh := r.waiters.shard(t.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if e := sh.table.find(short(t.ID), ticksOf(now, r.start)); e != nil && used(e) && q.Subject == (queue.ID{}) {
		return queue.Ticket{}
	}
	return t
}

// inRoll is the ticket of somebody whom the store has found in line, and their
// place.
func inRoll(now queue.Instant, s *queue.Settings, t queue.Ticket, w *queue.Waiter) (queue.Ticket, queue.Place) {
	if t.State == queue.None {
		t = queue.Ticket{State: queue.Waiting, ID: w.ID, ArrivedAt: now, LastCheckIn: w.Until.Add(-s.LineDropout), RefreshInterval: s.RefreshInterval}
	}
	t.Number, t.Priority = w.Number, w.Priority
	return t, w.Place
}

// Renew does what a request of the visitor would for what they have: it renews
// the session of an id, as far as requests do in the room, and is a check-in of a
// place in the exact line. It lets nobody in.
func (r *Room) Renew(ctx context.Context, now time.Time, id queue.ID) error {
	return r.renewed(ctx, now, queue.Claim{ID: id, NoSlot: true, NoPlace: true, Renew: r.settings.Load().Renews()})
}

// renewed puts a claim to the store that is to renew something, and takes the end
// of the session down, if there is one.
func (r *Room) renewed(ctx context.Context, now time.Time, c queue.Claim) error {
	g, err := r.batches.put(ctx, now, c)
	if err == nil && g.Verdict == queue.Held {
		r.sessions.note(r.storeTime(now), c.ID, r.settings.Load().SessionEnd(g), true)
	}
	return err
}

// Remove ends the session of an id, or takes it out of the exact line, and says
// whether it was in either. Tickets that tell of it are void from then on, for a
// session's duration at least.
func (r *Room) Remove(ctx context.Context, now time.Time, id queue.ID) (bool, error) {
	roll, err := r.Roll(ctx, id)
	if err != nil || len(roll.Seated)+len(roll.Line) == 0 {
		return false, err
	}
	t := queue.Ticket{State: queue.Accepted, ID: id}
	if len(roll.Seated) > 0 {
		t.Expires = roll.Seated[0].Expires
	} else {
		r.exchange.noted.Lock()
		r.exchange.left = append(r.exchange.left, queue.Departure{ID: id, At: r.storeTime(now)})
		r.exchange.noted.Unlock()
	}
	r.Revoke(now, t)
	return true, r.Sync(ctx, now)
}
