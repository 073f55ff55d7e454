package room

import (
	"cmp"
	"context"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Somebody may leave, and have their gate check in for them until a slot is kept for them. Then the
// ticket that they come back with is older than what has become of it.

// recall is [Room.Recall].
func (v visit) recall(ctx context.Context) (queue.Ticket, bool) {
	t, id := v.Ticket, cmp.Or(v.Subject, v.Ticket.ID)
	if t.State != queue.Waiting || v.hasMoved() || v.sessions.isRevoked(id, v.at) {
		return queue.Ticket{}, false
	}
	roster, err := v.roster(ctx, id)
	if err != nil || len(roster.Seated) == 0 || roster.Seated[0].Expires <= v.sessionsAt() {
		return queue.Ticket{}, false
	}
	seat := roster.Seated[0]
	in := queue.Ticket{State: queue.Accepted, ID: id, LastCheckIn: v.at, AcceptedAt: seat.AcceptedAt, Expires: seat.Expires, Moved: t.Moved}
	return leased(in, t), true
}
