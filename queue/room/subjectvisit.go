package room

import "github.com/fairdoor-gate/fairdoor/queue"

// decideForSubject is decideByTicket for a visitor whom the site has named. Whatever ticket
// they bring, they have the subject's place, and the subject's slot.
func (v visit) decideForSubject() (Decision, *pending) {
	if v.sessions.isRevoked(v.Subject, v.at) {
		return v.banned(), nil
	}
	brought := v.Ticket
	if brought.ID != v.Subject {
		v.presence.leave(v.at, &brought)
	}
	at, theirs := v.sessionsAt(), brought.State == queue.Accepted && brought.ID == v.Subject
	if !theirs || max(brought.Expires, v.sessions.expires(at, v.Subject)) <= at {
		if d, p, ok := v.enterAgain(queue.Ticket{ID: v.Subject}); ok {
			return d, p
		}
		v.Ticket = v.presence.subjectTicket(v.at, v.rules, v.Subject, brought)
	}
	d, p := v.decideByTicket()
	switch {
	case p != nil:
		p.issue = p.issue || p.ticket != brought
	case d.Outcome == Queued || d.Outcome == Admitted:
		d.Issue = d.Issue || d.Ticket != brought
	}
	return d, p
}

// banned answers a subject whose session was revoked: under their name they take
// neither a slot nor a place until the revocation ends.
func (v visit) banned() Decision {
	switch {
	case v.rejectsAll():
		return v.reject()
	case v.Ask.Place == NoPlace:
		return v.busy()
	}
	return Decision{Outcome: Queued, Ticket: queue.Ticket{State: queue.Waiting, ID: v.Subject,
		ArrivedAt: v.at, LastCheckIn: v.at, RefreshInterval: v.random.interval(&v.rules.Settings)}}
}
