package room

import "github.com/anteroom-gate/anteroom/queue"

// settle answers the visitor of a claim by the store's verdict on it.
func (v visit) settle(p *pending, g queue.Grant) Decision {
	over := g.Verdict == queue.Held && v.rules.Over(g.AcceptedAt, v.at)
	switch {
	case g.LetIn() && !over:
		return v.enter(p, g)
	case p.claim.Newcomer():
		return v.answerNewcomer(p, g, over)
	case g.Verdict == queue.Refused:
		return v.answerInLine(p, g.Place)
	}
	return v.answerPlaceUsed(p, g, over)
}

// enter answers a visitor who is let in.
func (v visit) enter(p *pending, g queue.Grant) Decision {
	v.learnOfSubject(p, g)
	if p.claim.Newcomer() {
		return v.accept(queue.Ticket{ID: p.claim.ID}, g)
	}
	// Another request of theirs finds the session where the place is used.
	d := v.accept(p.ticket, g)
	v.presence.enter(v.at, v.rules, p.claim.ID)
	return d
}

// learnOfSubject takes in what the store says of a subject: that they are let in, or
// were when they had come already.
func (v visit) learnOfSubject(p *pending, g queue.Grant) {
	switch {
	case !v.isSubject():
	case g.LetIn():
		v.presence.enterSubject(v.at, v.Subject)
	case g.Verdict == queue.Used:
		v.presence.enterSubject(p.ticket.ArrivedAt, v.Subject)
	}
}

// answerNewcomer answers a newcomer who is not let in. If over, the store still keeps the
// slot of a session of theirs that has ended.
func (v visit) answerNewcomer(p *pending, g queue.Grant, over bool) Decision {
	v.learnOfSubject(p, g)
	switch {
	case g.Verdict == queue.Banned && v.isSubject():
		return v.banned()
	case v.NoWait:
		return v.busy()
	case !over && (p.claim.ID != v.Ticket.ID || g.Place != queue.Place{}):
		// Should the claim have been granted, and the answer lost, the slot is
		// found again by its id.
		return v.join(p.claim.ID, g.Place)
	}
	return v.join(v.newID(), queue.Place{})
}

// answerInLine answers a visitor who goes on waiting, with their place in an exact
// line if there is one.
func (v visit) answerInLine(p *pending, place queue.Place) Decision {
	if v.NoWait {
		return v.busy()
	}
	d := Decision{Outcome: Queued, Ticket: p.ticket, Issue: p.issue, Place: v.certain(place)}
	if place.Number != 0 && (d.Ticket.Number != place.Number || d.Ticket.Priority != place.Priority) {
		d.Ticket.Number, d.Ticket.Priority, d.Issue = place.Number, place.Priority, true
	}
	if place.Number != 0 {
		if within := v.aimAt(float64(place.Ahead)); within != 0 && within < d.Ticket.RefreshInterval {
			d.Ticket.RefreshInterval, d.Issue = within, true
		}
	}
	switch {
	case place.Joined:
		d.Ticket = v.presence.rejoin(v.at, v.rules, v.Request, d.Ticket)
	case v.isSubject():
		v.presence.keep(&d.Ticket)
	}
	return d
}

// answerPlaceUsed answers a visitor whose place in line was used, or was taken from them.
// If over, it was used for a session that has ended.
func (v visit) answerPlaceUsed(p *pending, g queue.Grant, over bool) Decision {
	if over {
		v.learnOfSubject(p, g)
		v.presence.enter(v.at, v.rules, p.claim.ID)
	} else {
		v.presence.leave(v.at, &p.ticket)
		v.learnOfSubject(p, g)
	}
	switch {
	case g.Verdict == queue.Banned && v.isSubject():
		return v.banned()
	case over && v.NoWait:
		return v.busy()
	}
	return v.join(v.newID(), queue.Place{})
}

// certain returns a place if it is sure: while the store does not know all places yet,
// more people may be ahead.
func (v visit) certain(place queue.Place) queue.Place {
	if v.conditions.view.Load().Settling {
		return queue.Place{}
	}
	return place
}

// join gives a visitor a place in line and counts them.
func (v visit) join(id queue.ID, place queue.Place) Decision {
	t := queue.Ticket{State: queue.Waiting, ID: id, ArrivedAt: v.at, LastCheckIn: v.at, Number: place.Number, Priority: place.Priority}
	t = v.presence.join(v.at, v.rules, v.Request, t, v.bucketOf(v.at), v.aimAt(float64(v.aheadOfNewcomer(place))))
	return Decision{Outcome: Queued, Ticket: t, Issue: true, Place: v.certain(place)}
}

// busy answers a request that would have to wait and cannot.
func (v visit) busy() Decision { return Decision{Outcome: Busy, Ticket: v.Ticket} }

// reject answers where the room takes nobody.
func (v visit) reject() Decision {
	return Decision{Outcome: Rejected, Drop: v.Ticket.State != queue.None}
}

// accept turns a grant into a ticket.
func (v visit) accept(t queue.Ticket, g queue.Grant) Decision {
	d := Decision{Outcome: Admitted, Issue: !v.Aside, Fresh: g.Verdict == queue.Granted || g.Verdict == queue.Beyond}
	d.Ticket = queue.Ticket{State: queue.Accepted, ID: t.ID, LastCheckIn: v.at, AcceptedAt: g.AcceptedAt, Expires: g.Expires}
	if d.Fresh && t.State == queue.Waiting {
		d.Waited = v.at.Sub(t.ArrivedAt)
	}
	switch {
	case g.Verdict == queue.Beyond:
		d.Ticket.AcceptedAt, d.Ticket.Expires, d.Ticket.Uncounted = v.at, v.at.Add(v.rules.SessionLasts(0)), true
	case g.Verdict == queue.Held && v.renews():
		d.Ticket.Expires = v.sessions.renew(v.at, v.rules, t.ID)
	default:
		d.Ticket.Expires = v.rules.SessionEnd(g)
		v.sessions.learn(v.at, t.ID, d.Ticket.Expires)
	}
	return d
}

// enterAgain lets a visitor in whose session lasts, as this node knows, though their
// ticket says that they wait.
func (v visit) enterAgain() (Decision, bool) {
	end := v.sessions.expires(v.at, v.Ticket.ID)
	if end <= v.at {
		return Decision{}, false
	}
	return v.acceptUntil(v.Ticket, end), true
}

// acceptUntil lets a visitor in whose session lasts.
func (v visit) acceptUntil(t queue.Ticket, end queue.Instant) Decision {
	return v.accept(t, queue.Grant{Verdict: queue.Held, AcceptedAt: v.at, Expires: end})
}

// stay lets an accepted visitor pass if their ticket or session lasts. Their ticket is
// issued anew once it is a while old, not at every request.
func (v visit) stay() (Decision, bool) {
	t := &v.Ticket
	end, issue := t.Expires, false
	if end <= v.at && !t.Uncounted {
		end, issue = v.sessions.expires(v.at, t.ID), true
	}
	switch {
	case end <= v.at:
		return Decision{}, false
	case t.Uncounted:
	case v.rules.Renews():
		end = v.sessions.renew(v.at, v.rules, t.ID)
		issue = issue || v.at.Sub(t.LastCheckIn) > v.rules.SessionDuration/8
	case !issue:
		v.sessions.add(v.at, t.ID, end)
	}
	d := Decision{Outcome: Admitted, Ticket: *t, Issue: issue}
	if issue {
		d.Ticket.LastCheckIn, d.Ticket.Expires = v.at, end
	}
	return d, true
}
