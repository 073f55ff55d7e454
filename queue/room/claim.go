package room

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// pending is the visit, left to the store's answer to a claim.
func (v visit) pending(c queue.Claim) *pending { return &pending{claim: c, request: *v.Request} }

// pendingInLine is the visit of somebody in line, left to the store.
func (v visit) pendingInLine(f found) *pending {
	p := v.pending(v.waitingClaim(f.cell))
	p.claim.Moved, p.claim.KeepCell = f.from, f.keeps
	p.ticket = v.Ticket
	p.issue, p.early = f.updateTicket(v.at, &p.ticket), f.early()
	if f.result == counted {
		p.claim.Due = p.ticket.Due()
	}
	return p
}

// newcomersClaim is that of a visitor who is not in line.
func (v visit) newcomersClaim(id queue.ID) queue.Claim {
	priority := v.linePriority(0)
	return queue.Claim{ID: id, Lease: v.lease(id), ArrivedAt: v.at, Priority: priority, Raise: priority > 0,
		NoSlot: v.noSlot(), NoPlace: v.Ask.Place != AnyPlace || v.rejectsAll() || v.rules.Method.HasExactLine() && v.isBeyond(id, v.at), Renew: v.renews()}
}

// waitingClaim is that of a visitor who waits, counted in the cell.
func (v visit) waitingClaim(cell queue.Cell) queue.Claim {
	t := &v.Ticket
	c := queue.Claim{ID: t.ID, Lease: v.lease(t.ID), Cell: cell, ArrivedAt: t.UsedFrom(), LastCheckIn: t.LastCheckIn, AcceptedAt: t.AcceptedAt,
		Number: t.Number, Priority: t.Priority, NoSlot: v.noSlot(), Renew: v.renews()}
	if priority := v.linePriority(t.Priority); priority > max(t.Priority, 0) { // the default raises nobody whom an operator has put last
		c.Priority, c.Raise = priority, true
	}
	return c
}

// noSlot reports whether the visitor is to keep or take a place, and no slot.
func (s situation) noSlot() bool { return s.Ask.Slot == NoSlot || s.by.stopped() }

// renews reports whether the request renews its visitor's session.
func (s situation) renews() bool { return s.rules.Renews() && !s.Ask.isAside() && !s.keepsSlot() }

// withoutStore decides a claim by the room's policy.
func (vs *visits) withoutStore(now time.Time, c queue.Claim) queue.Grant {
	at, rules := vs.clock.at(now), vs.conditions.rules.Load()
	if !vs.conditions.worthAsking(at, rules, waiter{cell: c.Cell, number: c.Number}) || !vs.conditions.outage.letsIn(rules.OnStoreError) {
		return queue.Grant{}
	}
	expires := at.Add(rules.Lease(c.Lease, rules.slack))
	vs.sessions.add(at, c.ID, expires)
	vs.outbox.countAdmission(at)
	if !c.Newcomer() {
		vs.outbox.tell(c.ID) // the store may have granted a slot in an answer that was lost
		if !c.KeepCell {
			vs.presence.takeOut(c.ID, c.Cell)
		}
	}
	return queue.Grant{Verdict: queue.Granted, AcceptedAt: at, Expires: expires}
}
