package room

import (
	"math"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// settle answers the visitor of a claim by the store's verdict on it.
func (v visit) settle(p *pending, g queue.Grant) Decision {
	over := g.Verdict == queue.Held && v.rules.Over(g.AcceptedAt, v.sessionsAt())
	switch {
	case g.LetIn() && !over:
		return v.enter(p, g)
	case p.beyond && g.Verdict == queue.Refused:
		return v.stayBeyond(p.ticket)
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
	if v.limitsNetwork() {
		v.networks.leave(v.Network, p.claim.ID)
	}
	newcomer := p.claim.Newcomer()
	if newcomer {
		p.ticket = queue.Ticket{ID: p.claim.ID} // there is no place that they could go back to
	}
	d := v.accept(p.ticket, g, p.claim.Lease)
	if !newcomer || p.beyond { // another request of theirs finds the session where the place is used
		v.presence.enter(v.at, v.rules, p.claim.ID)
	}
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
		v.presence.enterSubject(p.ticket.UsedFrom(), v.Subject)
	}
}

// answerNewcomer answers a newcomer who is not let in. If over, the store still keeps the
// slot of a session of theirs that has ended.
func (v visit) answerNewcomer(p *pending, g queue.Grant, over bool) Decision {
	v.learnOfSubject(p, g)
	switch {
	case g.Verdict == queue.Banned && v.isSubject():
		return v.banned()
	case v.rejectsAll():
		return v.reject()
	case v.Ask.Place != AnyPlace:
		return v.busy()
	case !over && (p.claim.ID != v.Ticket.ID || g.Place != queue.Place{}):
		// Should the claim have been granted, and the answer lost, the slot is
		// found again by its id.
		return v.join(p.claim.ID, g.Place, v.backWithin(p, g.Place))
	}
	return v.join(v.newID(), queue.Place{}, v.newcomersAim(queue.Place{}))
}

// answerInLine answers a visitor who goes on waiting, with their place in an exact
// line if there is one.
func (v visit) answerInLine(p *pending, place queue.Place) Decision {
	if v.Ask.Place == NoPlace {
		return v.busy()
	}
	d := Decision{Outcome: Queued, Ticket: p.ticket, Issue: p.issue, Early: p.early, Place: v.certain(place)}
	if place.Number != 0 && (d.Ticket.Number != place.Number || d.Ticket.Priority != place.Priority) {
		d.Ticket.Number, d.Ticket.Priority, d.Issue = place.Number, place.Priority, true
	}
	if within := v.backWithin(p, place); within != 0 && within < d.Ticket.RefreshInterval {
		d.Ticket.RefreshInterval, d.Issue = within, true
		v.presence.expect(v.at, d.Ticket.ID, within)
	}
	d.Rejoined = v.Ticket.Number != 0 && place.Number > v.Ticket.Number
	switch {
	case place.Joined:
		d.Ticket = v.presence.rejoin(v.at, v.rules, v.Request, d.Ticket)
		d.Rejoined = d.Rejoined || v.Ticket.LastCheckIn.Add(v.rules.LineDropout) <= v.at
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
		if g.Verdict == queue.Used && !v.isSubject() { // whose id may have another place
			v.presence.enter(v.at, v.rules, p.claim.ID)
		}
	}
	switch {
	case g.Verdict == queue.Banned && v.isSubject():
		return v.banned()
	case over && v.Ask.Place == NoPlace:
		return v.busy()
	}
	return v.joinAnew()
}

// joinAnew gives a visitor whose place was used another one, if they may have it.
func (v visit) joinAnew() Decision {
	if v.Ask.Place != AnyPlace {
		return v.busy()
	}
	return v.join(v.newID(), queue.Place{}, v.newcomersAim(queue.Place{}))
}

// certain returns a place if it is sure: while the store does not know all places yet,
// more people may be ahead.
func (s situation) certain(place queue.Place) queue.Place {
	if s.by.view.Load().Settling {
		return queue.Place{}
	}
	return place
}

// join gives a visitor a place in line and counts them. Their next check-in is due within a time; 0
// for none.
func (v visit) join(id queue.ID, place queue.Place, within time.Duration) Decision {
	if place.Number == 0 && v.isBeyond(id, v.at) {
		d := v.stayBeyond(queue.Ticket{State: queue.Waiting, ID: id, ArrivedAt: v.at})
		d.Crowded = true
		return d
	}
	t := queue.Ticket{State: queue.Waiting, ID: id, ArrivedAt: v.at, LastCheckIn: v.at, Number: place.Number, Priority: place.Priority}
	t = v.putAhead(v.drawn(t))
	t = v.presence.join(v.at, v.rules, v.Request, t, v.rules.ArrivalBucket(t.ArrivedAt), within)
	if t.ArrivedAt == v.at { // not where it was drawn, put ahead, or another device's
		v.noteArrival()
	}
	return Decision{Outcome: Queued, Ticket: t, Issue: true, Rejoined: v.Ticket.State == queue.Waiting, Place: v.certain(place)}
}

// noteArrival takes in that somebody joins the line.
func (v visit) noteArrival() {
	if v.estimates.Join(v.at) {
		v.onBurst()
	}
}

// busy answers a request that would have to wait and cannot.
func (s situation) busy() Decision { return Decision{Outcome: Busy, Ticket: s.Ticket} }

// reject answers where the room takes nobody.
func (s situation) reject() Decision {
	if s.by.soldOut(s.rules) {
		return Decision{Outcome: Rejected, SoldOut: true, Ticket: s.Ticket}
	}
	return Decision{Outcome: Rejected, Drop: s.Ticket.State != queue.None}
}

// admitted is what becomes of the request of somebody who has a slot.
func (s situation) admitted() Outcome {
	switch {
	case s.rules.HoldsActive():
		return OnHold
	case s.keepsSlot():
		return Kept
	}
	return Admitted
}

// accept turns a grant of a claim with a lease, or 0, into a ticket.
func (v visit) accept(t queue.Ticket, g queue.Grant, lease time.Duration) Decision {
	d := Decision{Outcome: v.admitted(), Issue: !v.Ask.isAside(), Fresh: g.Verdict == queue.Granted || g.Verdict == queue.Beyond}
	d.Ticket = queue.Ticket{State: queue.Accepted, ID: t.ID, LastCheckIn: v.at, AcceptedAt: g.AcceptedAt, Expires: g.Expires}
	if d.Fresh && t.State == queue.Waiting {
		d.Waited = v.at.Sub(t.Came())
	}
	switch {
	case g.Verdict == queue.Beyond:
		d.Ticket.AcceptedAt, d.Ticket.Expires, d.Ticket.Uncounted = v.at, v.at.Add(v.rules.SessionLasts(0)), true
	case g.Verdict == queue.Held && v.renews(): // the session lasts, or there were no grant
		d.Ticket.Expires, _ = v.sessions.renew(v.at, v.rules, t.ID, g.AcceptedAt, math.MaxInt64)
	default:
		d.Ticket.Expires = v.rules.SessionEnd(g)
		v.sessions.learn(v.at, t.ID, d.Ticket.Expires)
		if v.isLeased(g, lease) {
			d.Ticket = leased(d.Ticket, t)
		}
	}
	return d
}

// enterAgain lets the visitor of a ticket in whose session lasts, as this node knows, though the
// ticket does not say so; or has the store asked, which alone knows since when it lasts, where that
// matters: it may end before its time, because the slot was kept for them.
func (v visit) enterAgain(t queue.Ticket) (d Decision, p *pending, in bool) {
	asks := v.Ask.By == StandIn || v.rules.startMatters() && !v.Ask.isAside() && !v.keepsSlot()
	if asks && !v.by.outage.failing() && v.sessions.expires(v.sessionsAt(), t.ID) > v.sessionsAt() {
		return Decision{}, v.pending(v.newcomersClaim(t.ID)), true
	}
	d, in = v.enterAsKnown(t)
	return d, nil, in
}

// enterAsKnown is enterAgain without the store. Where it matters since when the session lasts, the
// new ticket leaves that open, and the store is asked at the next request.
func (v visit) enterAsKnown(t queue.Ticket) (Decision, bool) {
	end := v.sessions.expires(v.sessionsAt(), t.ID)
	switch {
	case end <= v.sessionsAt():
		return Decision{}, false
	case v.rules.startMatters():
		end = v.asWhole(t, end)
		return Decision{Outcome: v.admitted(), Issue: !v.Ask.isAside(), Ticket: queue.Ticket{State: queue.Accepted, ID: t.ID, LastCheckIn: v.at, Expires: end}}, true
	}
	if v.renews() {
		if _, lasts := v.sessions.renew(v.at, v.rules, t.ID, v.at, end); !lasts {
			return Decision{}, false
		}
	}
	return v.accept(t, queue.Grant{Verdict: queue.Held, AcceptedAt: v.at, Expires: end}, 0), true
}

// asWhole is until when the session lasts of somebody who comes with a ticket from before it, and
// of whom this node knows only the end: it may have been given for a lease. A whole one lasts for
// its duration from the arrival at least, and the store is told so.
func (v visit) asWhole(t queue.Ticket, end queue.Instant) queue.Instant {
	came := t.UsedFrom()
	whole := min(came.Add(v.rules.SessionDuration), v.rules.LastMoment(came))
	if came == 0 || whole <= end || v.keepsSlot() || v.Ask.Slot == ProvisionalSlot || !v.sessions.prolong(v.at, t.ID, end, whole) {
		return end
	}
	return whole
}

// stay lets an accepted visitor pass if their ticket or session lasts. Their ticket is
// issued anew once it is a while old, not at every request.
func (v visit) stay() (Decision, bool) {
	t, at := &v.Ticket, v.sessionsAt()
	end, issue, counted, lasts := t.Expires, false, false, true
	if end <= at && !t.Uncounted {
		end, issue = v.sessions.expires(at, t.ID), true
	}
	switch {
	case end <= at || v.startUnknown():
		return Decision{}, false
	case v.rules.HoldsActive():
		if v.sessions.expires(at, t.ID) == 0 { // a store that has lost its memory may not know of it
			v.sessions.add(v.at, t.ID, v.at.Add(end.Sub(at)))
		}
		return Decision{Outcome: OnHold, Ticket: *t}, true
	case t.Uncounted:
		end, counted = v.stayUncounted(end)
		issue = counted || end > t.Expires && v.issuesAnew()
	case v.keepsSlot() || v.Ask.Slot == ProvisionalSlot && t.Leased:
	case v.rules.Renews():
		end, lasts = v.renewed(end)
		issue = issue || t.Leased || v.issuesAnew()
	case t.Leased:
		lasts = v.sessions.prolong(v.at, t.ID, end, min(t.AcceptedAt.Add(v.rules.SessionDuration), v.rules.LastMoment(t.AcceptedAt)))
		end, issue = max(end, v.sessions.expires(v.at, t.ID)), true // as the store is told
	case !issue:
		v.sessions.add(v.at, t.ID, end)
	}
	if !lasts {
		return Decision{}, false
	}
	d := Decision{Outcome: v.admitted(), Ticket: *t, Issue: issue}
	if issue {
		d.Ticket.LastCheckIn, d.Ticket.Expires = v.at, end
		d.Ticket.Uncounted = t.Uncounted && !counted
		if counted && v.rules.Renews() {
			d.Ticket.AcceptedAt = v.at
		}
		if !v.keepsSlot() && v.Ask.Slot != ProvisionalSlot {
			d.Ticket = confirmed(d.Ticket)
		}
	}
	return d, true
}

// startUnknown reports whether the ticket of somebody who is in does not tell since when, so that
// the store has to say until when their session can be renewed. While it does not answer, they stay
// in.
func (s situation) startUnknown() bool {
	return s.rules.startMatters() && !s.tellsStart() && !s.Ticket.Uncounted && !s.by.outage.failing()
}

// tellsStart reports whether an accepted ticket tells since when its visitor is in. One from before
// the end of a hold does not: they count as admitted later by the time of the hold.
func (s situation) tellsStart() bool {
	return s.Ticket.AcceptedAt != 0 && s.Ticket.LastCheckIn >= s.rules.configuration.Standstill.Until
}

// renewed renews the session of an accepted ticket, which lasts until end as far as is known. A
// session that is older than a MaxSession that was set since ends where it would have ended.
func (v visit) renewed(end queue.Instant) (until queue.Instant, lasts bool) {
	until, lasts = v.sessions.renew(v.at, v.rules, v.Ticket.ID, v.Ticket.AcceptedAt, end)
	if until <= v.at {
		until = end
	}
	return until, lasts
}
