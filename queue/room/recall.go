package room

import (
	"cmp"
	"context"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Somebody may leave, and have their gate check in for them until a slot is kept for them. Then the
// ticket that they come back with is older than what has become of it.

// recall is [Room.Recall]. A session that is over sooner than a whole one was given for a lease.
func (v visit) recall(ctx context.Context, now time.Time) (queue.Ticket, bool) {
	t, id := v.Ticket, cmp.Or(v.Subject, v.Ticket.ID)
	if t.State != queue.Waiting || v.hasMoved() || v.sessions.isRevoked(id, v.at) {
		return queue.Ticket{}, false
	}
	g, err := v.put(ctx, now, queue.Claim{ID: id, Cell: queue.Cell{Bucket: v.bucketOf(t.ArrivedAt), Until: v.at}, KeepCell: true, HeldOnly: true,
		ArrivedAt: t.UsedFrom(), LastCheckIn: t.LastCheckIn, AcceptedAt: t.AcceptedAt})
	isLate := g.Verdict == queue.Used && g.AcceptedAt.Add(v.rules.SessionLasts(0)) > v.at
	if err != nil || g.Verdict != queue.Held && !isLate {
		return queue.Ticket{}, false
	}
	in := queue.Ticket{State: queue.Accepted, ID: id, LastCheckIn: v.at, AcceptedAt: g.AcceptedAt, Expires: g.Expires, Moved: t.Moved}
	return leased(in, t), true
}
