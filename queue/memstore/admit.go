package memstore

import (
	"github.com/anteroom-gate/anteroom/queue"
)

// beyond is the multiple of total_active_users up to which a passthrough room
// counts who enters.
const beyond = queue.PassthroughCounts

// admit decides the claims by the one rule, and has the grants in the journal
// before anyone learns of them.
func (r *room) admit(claims []queue.Claim, grants []queue.Grant) error {
	var before []session // of the claimants, with a journal
	if r.journal != nil {
		before = make([]session, len(claims))
	}
	for i, c := range claims {
		if r.journal != nil {
			before[i] = r.sessions[c.ID]
		}
		grants[i] = r.decide(c)
	}
	if err := r.journalGrants(claims, grants); err != nil {
		for i, g := range grants {
			if g.Verdict == queue.Granted {
				r.takeBack(claims[i], before[i], g.Place)
			}
		}
		return err
	}
	for i, g := range grants {
		if g.Verdict == queue.Granted {
			grants[i].Place = queue.Place{} // they wait no more
		}
	}
	return nil
}

// journalGrants writes down the slots and the numbers that were given out.
func (r *room) journalGrants(claims []queue.Claim, grants []queue.Grant) error {
	if r.journal == nil {
		return nil
	}
	for i, g := range grants {
		if g.Verdict == queue.Granted {
			r.journal.admitted(claims[i].ID, session{admitted: r.now, expires: g.Expires})
		}
	}
	r.journalNumbers()
	return r.journal.write()
}

func (r *room) decide(c queue.Claim) queue.Grant {
	known, seen := r.sessions[c.ID]
	switch {
	case r.revoked[c.ID] > r.now:
		r.leaveLine(c.ID)
		return queue.Grant{Verdict: queue.Banned}
	case r.lasts(known):
		r.leaveLine(c.ID)
		r.change(c.Cell, -1)
		if c.Renew {
			r.extend(c.ID, r.now.Add(r.settings.SessionLasts(r.slack)), known.admitted)
		}
		return queue.Grant{Verdict: queue.Held, AcceptedAt: known.admitted, Expires: max(r.sessions[c.ID].expires, r.now+1)}
	case c.HeldOnly, c.NoSlot && !r.settings.Method.HasExactLine():
		return queue.Grant{Verdict: queue.Refused}
	case r.settings.Method.HasExactLine():
		return r.decideInLine(c)
	case seen && !c.Newcomer() && c.ArrivedAt <= known.admitted:
		return queue.Grant{Verdict: queue.Used}
	}
	pass := r.settings.AdmitsEveryone()
	if pass && r.active >= beyond*r.settings.TotalActiveUsers {
		r.change(c.Cell, -1)
		return queue.Grant{Verdict: queue.Beyond}
	}
	if !pass && !r.may(c) {
		return queue.Grant{Verdict: queue.Refused}
	}
	return r.grant(c)
}

// grant gives the claimant a slot.
func (r *room) grant(c queue.Claim) queue.Grant {
	r.change(c.Cell, -1)
	r.idle = r.idle || r.present() == 0
	expires := r.now.Add(r.settings.SessionLasts(r.slack))
	r.extend(c.ID, expires, r.now)
	r.admitted++
	if len(r.nodes.known) > 1 {
		r.entered = append(r.entered, queue.Session{ID: c.ID, Expires: r.now})
	}
	return queue.Grant{Verdict: queue.Granted, AcceptedAt: r.now, Expires: expires}
}

// takeBack undoes a grant that nobody has learnt of. The claimant has the session
// again that was there before, which had ended, or none.
func (r *room) takeBack(c queue.Claim, before session, p queue.Place) {
	*r.end(r.sessions[c.ID].expires)--
	r.active--
	r.admitted--
	r.sessions[c.ID] = before
	if before == (session{}) {
		delete(r.sessions, c.ID)
	}
	r.change(c.Cell, 1)
	if p.Number != 0 {
		e := r.line.Add(c.ID, p.Priority, p.Number, r.now, r.now.Add(r.settings.ConfirmsWithin()))
		if !p.Joined || !c.Newcomer() {
			r.line.Confirm(e)
		}
		r.line.Keep(e, r.now, r.now.Add(r.keeps(e)))
	}
}

// present counts the people who wait.
func (r *room) present() int {
	if r.settings.Method.HasExactLine() {
		return r.line.Len()
	}
	return r.cells.present
}

// settled is when all who stay have checked in since the exact line was unknown:
// until then nobody is let in, as whoever happened to be the first to check in
// would be the first in line. It is zero where there is nothing to wait for.
func (r *room) settled() queue.Instant {
	at := r.unknown.Add(r.settings.ReturnsWithin())
	if !r.settings.Method.HasExactLine() || at <= r.now {
		return 0
	}
	return at
}

func (r *room) open() int {
	if r.settled() != 0 || r.recovered() != 0 {
		return 0
	}
	released, _ := r.pacer.Released(r.settings, r.now, r.present() > 0)
	return queue.Open(r.settings, r.active, released, r.allowanceUsed())
}

// may says whether the rule has a slot for the claimant. In random those who have
// come back race, once an interval.
func (r *room) may(c queue.Claim) bool {
	open := r.open()
	if r.settings.Method.Draws() && !c.Newcomer() {
		return r.drawn.may(c, open, r.now)
	}
	return open-r.ahead(c) > 0
}

// ahead counts who is ahead of the claim, in any method but random.
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
