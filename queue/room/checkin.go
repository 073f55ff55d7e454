package room

import (
	"context"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// checkInOnly is [Room.CheckIn].
func (vs *visits) checkInOnly(ctx context.Context, now time.Time, q Request) Decision {
	v := vs.visit(now, &q)
	if v.hasMoved() {
		return Decision{Outcome: Moved}
	}
	t, _ := v.peek(ctx)
	switch {
	case t.State == queue.Accepted && v.Ticket.State == queue.Accepted && v.Ticket.ID == t.ID:
		return v.prolong(ctx, now)
	case t.State == queue.Accepted:
		return Decision{Outcome: Admitted, Ticket: t}
	case t.State == queue.None && (v.rejectsAll() || v.conditions.worthAsking(v.at, v.rules, newcomer)):
		return Decision{Outcome: Rejected}
	}
	brought := q.Ticket
	q.Ticket, q.Ask.Slot = t, NoSlot
	d, p := v.decideHere()
	if p == nil {
		return d.movedAs(&brought)
	}
	g, _ := vs.verdictOn(ctx, now, p.claim) // on an error the zero Grant without the store: a claim for no slot gets none
	return vs.visit(now, &p.request).settle(p, g).movedAs(&brought)
}

// prolong renews the session of an accepted ticket, which lasts as far as the store
// knows.
func (v visit) prolong(ctx context.Context, now time.Time) Decision {
	d, ok := v.stay()
	if !ok && v.renewInStore(ctx, now, v.Ticket.ID, v.rules.Renews()) == nil {
		d, ok = v.stay()
	}
	if !ok {
		return Decision{Outcome: Rejected}
	}
	return d
}
