package room

import (
	"math"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// While a room is open to all, its visitors get tickets that no store knows of, and that last for a
// session. From when the room counts, a visitor who brings such a ticket is counted as one who is
// in: nobody is thrown out of their visit. So there may be more sessions than total_active_users:
// at most by those who came within a session before the room began to count, or used the site in
// it.

// countNewcomer has the next report tell that a visitor came, where the store needs to know.
func (v visit) countNewcomer() {
	if v.rules.QueueWhen > 0 {
		v.conditions.newcomers.Add(1)
	}
}

// opensToAll reports whether the visitor is let in because everybody is.
func (s situation) opensToAll() bool { return s.Ask.Slot != NoSlot && s.by.openToAll(s.rules) }

// enterUncounted lets a visitor in whom no store counts. If they waited, their place is used.
func (v visit) enterUncounted(t queue.Ticket) Decision {
	d := Decision{Outcome: Admitted, Issue: !v.Ask.isAside(), Fresh: true}
	if t.State == queue.Waiting {
		d.Waited = v.at.Sub(t.Came())
		v.presence.leave(v.at, &t)
	}
	d.Ticket = queue.Ticket{State: queue.Accepted, ID: t.ID, LastCheckIn: v.at, AcceptedAt: v.at, Expires: v.at.Add(v.rules.SessionLasts(0)), Uncounted: true}
	return d
}

// stayUncounted says until when a visitor stays whom no store counts, and whether the room counts
// them from now on.
func (v visit) stayUncounted(end queue.Instant) (until queue.Instant, counted bool) {
	switch {
	case v.rules.QueueWhen == 0 && v.rules.AdmitsEveryone() || v.Ask.isAside():
		return end, false
	case v.conditions.openToAll(v.rules):
		if v.rules.Renews() {
			end = v.at.Add(v.rules.SessionDuration)
		}
		return end, false
	case v.rules.Renews():
		end, _ = v.sessions.renew(v.at, v.rules, v.Ticket.ID, v.at, math.MaxInt64) // it begins now: the store has not heard of it
		return end, true
	}
	v.sessions.begin(v.at, v.Ticket.ID, end)
	return end, true
}

// issuesAnew reports whether the ticket is so old that it is issued anew.
func (s situation) issuesAnew() bool {
	return s.rules.Renews() && s.at.Sub(s.Ticket.LastCheckIn) > s.rules.SessionDuration/8
}
