package room

import (
	"context"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// checkInOnly is [Room.CheckIn].
func (vs *visits) checkInOnly(ctx context.Context, now time.Time, q Request) Decision {
	v := vs.visit(now, &q)
	t, _ := v.peek(ctx)
	switch {
	case t.State == queue.Accepted && v.Ticket.State == queue.Accepted && v.Ticket.ID == t.ID:
		return v.prolong(ctx, now)
	case t.State == queue.Accepted:
		return Decision{Outcome: Admitted, Ticket: t}
	case t.State == queue.None && (v.rules.RejectsAll() || v.conditions.worthAsking(v.at, v.rules, newcomer)):
		return Decision{Outcome: Rejected}
	}
	q.Ticket, q.Aside, q.noEntry = t, true, true
	d, p := v.decideHere()
	if p == nil {
		return d
	}
	return vs.visit(now, &p.request).settle(p, vs.claimNoSlot(ctx, now, p.claim))
}

// claimNoSlot is the store's word on a claim that asks for no slot: without the store
// there is none.
func (vs *visits) claimNoSlot(ctx context.Context, now time.Time, c queue.Claim) queue.Grant {
	if vs.conditions.outage.failing() {
		return queue.Grant{}
	}
	g, err := vs.put(ctx, now, c)
	if err != nil {
		return queue.Grant{}
	}
	return g
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
