package queue

import (
	"cmp"
	"context"
)

// Peek tells how a visitor stands at now, and changes nothing: it is no check-in
// and renews no session. The ticket's State is None for whoever is neither in nor
// in line. Its times are as far as this node and the store know: AcceptedAt may
// be zero, and so may the Place of somebody in an exact line, while the store does
// not answer.
func (r *Room) Peek(ctx context.Context, now Instant, q Request) (Ticket, Place) {
	now = r.storeTime(now)
	s, t := r.settings.Load(), q.Ticket
	if q.Subject == (ID{}) && r.isSubject(&t) {
		q.Subject = t.ID
	}
	id := cmp.Or(q.Subject, t.ID)
	if id == (ID{}) || r.isRevoked(id, now) || t.LastCheckIn > now.Add(skew) {
		return Ticket{}, Place{}
	}
	end := r.sessions.expires(now, id)
	if t.State == Accepted && t.ID == id && max(t.Expires, end) > now {
		t.Expires = max(t.Expires, end)
		return t, Place{}
	}
	t = r.placeOf(now, s, &q)
	if s.Method != Line && end <= now && (t.State == Waiting || q.Subject == ID{}) {
		return t, Place{}
	}
	roll, err := r.Roll(ctx, id)
	switch {
	case err == nil && len(roll.Seated) > 0 && !s.over(roll.Seated[0].AcceptedAt, now):
		seat := Grant{AcceptedAt: roll.Seated[0].AcceptedAt, Expires: roll.Seated[0].Expires}
		return Ticket{State: Accepted, ID: id, AcceptedAt: seat.AcceptedAt, Expires: max(s.sessionEnd(seat), end)}, Place{}
	case end > now:
		return Ticket{State: Accepted, ID: id, Expires: end}, Place{}
	case err == nil && len(roll.Line) > 0:
		return inRoll(now, s, t, &roll.Line[0])
	case s.Method == Line && err == nil && t.LastCheckIn.Add(s.LineDropout) <= now:
		return Ticket{}, Place{}
	}
	return t, Place{}
}

// placeOf is the waiting ticket of a visitor that is worth something; else the
// zero Ticket.
func (r *Room) placeOf(now Instant, s *Settings, q *Request) Ticket {
	t := q.Ticket
	if q.Subject != (ID{}) {
		t = r.ticketOf(now, s, q)
	}
	if t.State != Waiting || r.placeEnds(s, &t) <= now {
		return Ticket{}
	}
	sh := r.waiters.shard(t.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if e := sh.table.find(t.ID.short(), now.ticks(r.start)); e != nil && used(e) && q.Subject == (ID{}) {
		return Ticket{}
	}
	return t
}

// inRoll is the ticket of somebody whom the store has found in line, and their
// place.
func inRoll(now Instant, s *Settings, t Ticket, w *Waiter) (Ticket, Place) {
	if t.State == None {
		t = Ticket{State: Waiting, ID: w.ID, ArrivedAt: now, LastCheckIn: w.Until.Add(-s.LineDropout), RefreshInterval: s.RefreshInterval}
	}
	t.Number, t.Priority = w.Number, w.Priority
	return t, w.Place
}

// Renew does what a request of the visitor would for what they have: it renews
// the session of an id, as far as requests do in the room, and is a check-in of a
// place in the exact line. It lets nobody in.
func (r *Room) Renew(ctx context.Context, now Instant, id ID) error {
	return r.renewed(ctx, now, Claim{ID: id, NoSlot: true, NoPlace: true, Renew: r.settings.Load().renews()})
}

// renewed puts a claim to the store that is to renew something, and takes the end
// of the session down, if there is one.
func (r *Room) renewed(ctx context.Context, now Instant, c Claim) error {
	g, err := r.put(ctx, now, c)
	if err == nil && g.Verdict == Held {
		r.sessions.note(r.storeTime(now), c.ID, r.settings.Load().sessionEnd(g), true)
	}
	return err
}

// Remove ends the session of an id, or takes it out of the exact line, and says
// whether it was in either. Tickets that tell of it are void from then on, for a
// session's duration at least.
func (r *Room) Remove(ctx context.Context, now Instant, id ID) (bool, error) {
	roll, err := r.Roll(ctx, id)
	if err != nil || len(roll.Seated)+len(roll.Line) == 0 {
		return false, err
	}
	t := Ticket{State: Accepted, ID: id}
	if len(roll.Seated) > 0 {
		t.Expires = roll.Seated[0].Expires
	} else {
		r.talk.noted.Lock()
		r.talk.left = append(r.talk.left, Departure{ID: id, At: r.storeTime(now)})
		r.talk.noted.Unlock()
	}
	r.Revoke(now, t)
	return true, r.Sync(ctx, now)
}
