package memstore

import (
	"github.com/fairdoor-gate/fairdoor/queue"
)

var refused = queue.Grant{Verdict: queue.Refused}

// admit decides the claims by the one rule. The journal has the grants before
// anybody learns of them; if it cannot take them, they are undone.
func (r *room) admit(claims []queue.Claim, grants []queue.Grant) error {
	var before []session // of the claimants, with a journal
	if r.journal != nil {
		before = make([]session, len(claims))
	}
	for i, c := range claims {
		if r.journal != nil {
			before[i] = r.sessions.known[c.ID]
		}
		grants[i] = r.decide(c)
		r.noteLost(c)
		if grants[i].Verdict != queue.Held && (!c.HeldOnly || r.repeatOf == 0) {
			r.change(r.closed.movedFrom(c), -1)
		}
	}
	if err := r.journalGrants(claims, grants); err != nil {
		for i, g := range grants {
			if g.Verdict == queue.Granted {
				r.undo(claims[i], before[i], g.Place)
			}
		}
		return err
	}
	for i, g := range grants {
		if g.Verdict == queue.Granted { // the visitor waits no more
			grants[i].Place = queue.Place{}
		}
	}
	return nil
}

// journalGrants writes the slots and the numbers that were given out to the journal.
func (r *room) journalGrants(claims []queue.Claim, grants []queue.Grant) error {
	if r.journal == nil {
		return nil
	}
	for i, g := range grants {
		if g.Verdict == queue.Granted {
			r.journal.admitted(claims[i].ID, r.sessions.known[claims[i].ID])
		}
	}
	r.journal.numbers(r.line.numbers)
	return r.journal.write()
}

func (r *room) decide(c queue.Claim) queue.Grant {
	known := r.sessions.known[c.ID]
	switch {
	case r.revoked[c.ID] > r.now:
		r.line.forget(c.ID)
		return queue.Grant{Verdict: queue.Banned}
	case r.sessions.lasts(known):
		return r.held(c, known)
	case c.HeldOnly && !c.Newcomer() && c.PlaceUsedBy(known.admitted):
		return queue.Grant{Verdict: queue.Used, AcceptedAt: r.acceptedAt(known)}
	case c.HeldOnly:
		return refused
	case r.settings.Method.HasExactLine():
		return r.decideInLine(c)
	case c.NoSlot:
		return refused
	case !c.Newcomer() && r.placeUsed(c):
		return queue.Grant{Verdict: queue.Used}
	case r.settings.AdmitsEveryone() && !r.settings.Shadow && r.sessions.active >= queue.PassthroughCounts*r.settings.Slots():
		r.change(c.Cell, -1)
		return queue.Grant{Verdict: queue.Beyond}
	case r.settings.AdmitsEveryone() || r.hasSlotFor(c):
		r.notes.forget(c.ID)
		return r.grant(c)
	}
	return refused
}

// held is the verdict on a claimant whose session lasts.
func (r *room) held(c queue.Claim, s session) queue.Grant {
	r.line.forget(c.ID)
	if !c.KeepCell && (!c.HeldOnly || r.repeatOf == 0) { // a claim that comes again with its report was decided before
		r.change(c.Cell, -1)
	}
	lasts, last := r.settings.SessionLasts(r.slack), r.settings.LastMoment(r.began(s))
	switch {
	case c.Renew:
		r.sessions.extend(c.ID, min(r.sessionsNow().Add(lasts), last), s.admitted)
	case c.Lease == 0 && !c.HeldOnly:
		r.sessions.extend(c.ID, r.began(s).Add(lasts), s.admitted)
	}
	return queue.Grant{Verdict: queue.Held, AcceptedAt: r.acceptedAt(s), Expires: max(r.sessions.known[c.ID].expires.Add(r.behind()), r.now+1)}
}

// placeUsed reports whether the claimant was admitted after the arrival that is in their ticket,
// and told so.
func (r *room) placeUsed(c queue.Claim) bool {
	s, known := r.sessions.known[c.ID]
	return known && c.PlaceUsedBy(s.admitted) && r.untold.admitted[c.ID] != s.admitted
}

// grant gives the claimant a slot.
func (r *room) grant(c queue.Claim) queue.Grant {
	r.change(c.Cell, -1)
	r.noteIdle()
	expires := r.now.Add(r.settings.Lease(c.Lease, r.slack))
	r.sessions.extend(c.ID, expires.Add(-r.behind()), r.now)
	r.allowance.take(1)
	if len(r.nodes.known) > 1 {
		r.entered = append(r.entered, queue.Session{ID: c.ID, Expires: r.now})
	}
	return queue.Grant{Verdict: queue.Granted, AcceptedAt: r.now, Expires: expires}
}

// undo takes back a grant that nobody has learnt of. The claimant has the session
// again that was there before, which had ended, or none.
func (r *room) undo(c queue.Claim, before session, p queue.Place) {
	r.sessions.set(c.ID, before)
	r.allowance.take(-1)
	r.change(c.Cell, 1)
	if p.Number != 0 {
		r.line.putBack(&c, p)
	}
}

// present counts the people who wait.
func (r *room) present() int {
	if r.settings.Method.HasExactLine() {
		return r.line.waiting.Len()
	}
	return r.cells.present
}

func (r *room) open() int {
	if r.line.settlesAt() != 0 || r.recoversAt() != 0 {
		return 0
	}
	allowance, _ := r.allowance.left(&r.settings, r.allowanceUsed(), r.now, r.present() > 0, nil)
	return queue.Open(r.settings, r.sessions.active, allowance, 0)
}

// decideInLine decides the claim of a visitor without a session, which is a check-in
// in the exact line. Everybody in line is ahead of one who is not in it and takes no place there.
func (r *room) decideInLine(c queue.Claim) queue.Grant {
	e, place, ahead := r.line.checkIn(&c, !c.Newcomer() && r.placeUsed(c))
	if e == nil {
		ahead = r.line.waiting.Len()
	}
	if e == nil || place.Joined {
		r.notes.forget(c.ID)
	}
	if c.NoSlot || r.open()-ahead <= 0 {
		return queue.Grant{Verdict: queue.Refused, Place: place}
	}
	if e != nil {
		r.line.waiting.Remove(e)
	}
	g := r.grant(c)
	g.Place = place
	return g
}

// hasSlotFor reports whether the one rule gives the claimant a slot, in a room without
// an exact line. In random those who have come back draw, once an interval.
func (r *room) hasSlotFor(c queue.Claim) bool {
	open := r.open()
	if r.settings.Method.Draws() && !c.Newcomer() {
		return r.draws.draw(c, open, r.now)
	}
	return open-r.ahead(c) > 0
}

// ahead counts the people who are ahead of the claimant, in any method but random.
func (r *room) ahead(c queue.Claim) int {
	if c.Newcomer() {
		return r.cells.present
	}
	ahead := 0
	for _, b := range r.cells.buckets {
		if b.Bucket >= c.Cell.Bucket {
			break
		}
		ahead += b.Waiting
	}
	return ahead
}
