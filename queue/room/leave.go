package room

import (
	"context"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// leave is [Room.Leave].
func (vs *visits) leave(now time.Time, t queue.Ticket) {
	if t.State != queue.Waiting || vs.presence.isSubject(&t) {
		return
	}
	at := vs.clock.at(now)
	if vs.sessions.hasMoved(&t, at) {
		return
	}
	if vs.presence.leave(at, &t) || t.Number != 0 {
		vs.outbox.goodbye(t.ID, at)
	}
}

// withdraw is [Room.Withdraw].
func (vs *visits) withdraw(now time.Time, t queue.Ticket) {
	vs.presence.leave(vs.clock.at(now), &t)
	if t.Number != 0 {
		vs.outbox.withdraw(t.ID)
	}
}

// revoke is [Room.Revoke].
func (vs *visits) revoke(now time.Time, t queue.Ticket) {
	if t.State != queue.Accepted {
		return
	}
	vs.revokeFor(vs.clock.at(now), &t, vs.conditions.rules.Load().sessionLasts())
}

// revokeFor ends the session that an accepted ticket tells of, whose tickets are void for so
// long at least.
func (vs *visits) revokeFor(at queue.Instant, t *queue.Ticket, atLeast time.Duration) {
	vs.sessions.revoke(at, t, atLeast)
	vs.conditions.slotFreed(at) // on the only node it is free at once
}

// remove is [Room.Remove], but for the sync that tells the store.
func (vs *visits) remove(ctx context.Context, now time.Time, id queue.ID) (bool, error) {
	roster, err := vs.roster(ctx, id)
	if err != nil || len(roster.Seated)+len(roster.Line) == 0 {
		return false, err
	}
	at, rules := vs.clock.at(now), vs.conditions.rules.Load()
	t, lasts := queue.Ticket{State: queue.Accepted, ID: id}, rules.sessionLasts()
	if len(roster.Seated) > 0 {
		t.Expires = roster.Seated[0].Expires
	} else {
		vs.outbox.remove(id, at)
		lasts = max(lasts, rules.LineDropout) // in which the place could be come back to
	}
	vs.revokeFor(at, &t, lasts)
	return true, nil
}
