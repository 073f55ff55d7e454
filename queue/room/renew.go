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
	d, p := v.check()
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

// renewInStore has the store renew the session of an id, if it has one and is to, and
// its place in the exact line; and takes in how long the session lasts.
func (vs *visits) renewInStore(ctx context.Context, now time.Time, id queue.ID, session bool) error {
	g, err := vs.put(ctx, now, queue.Claim{ID: id, NoSlot: true, NoPlace: true, Renew: session})
	if err == nil && g.Verdict == queue.Held {
		vs.sessions.learn(vs.clock.at(now), id, vs.conditions.rules.Load().SessionEnd(g))
	}
	return err
}

// touch is [Room.Touch].
func (vs *visits) touch(now time.Time, t queue.Ticket) bool {
	return vs.sessions.touch(vs.clock.at(now), vs.conditions.rules.Load(), &t)
}

// connect is [Room.Connect].
func (vs *visits) connect(ctx context.Context, now time.Time, t queue.Ticket) bool {
	return vs.touch(now, t) || vs.renewInStore(ctx, now, t.ID, true) == nil && vs.touch(now, t)
}

// leave is [Room.Leave].
func (vs *visits) leave(now time.Time, t queue.Ticket) {
	if t.State != queue.Waiting || vs.presence.isSubject(&t) {
		return
	}
	at := vs.clock.at(now)
	if vs.presence.leave(at, vs.conditions.rules.Load(), &t) || t.Number != 0 {
		vs.outbox.goodbye(t.ID, at)
	}
}

// revoke is [Room.Revoke].
func (vs *visits) revoke(now time.Time, t queue.Ticket) {
	if t.State != queue.Accepted {
		return
	}
	at := vs.clock.at(now)
	vs.sessions.revoke(at, &t, vs.conditions.rules.Load().sessionLasts())
	vs.conditions.slotFreed(at) // on the only node it is free at once
}

// remove is [Room.Remove], but for the sync that tells the store.
func (vs *visits) remove(ctx context.Context, now time.Time, id queue.ID) (bool, error) {
	roll, err := vs.roll(ctx, id)
	if err != nil || len(roll.Seated)+len(roll.Line) == 0 {
		return false, err
	}
	t := queue.Ticket{State: queue.Accepted, ID: id}
	if len(roll.Seated) > 0 {
		t.Expires = roll.Seated[0].Expires
	} else {
		vs.outbox.remove(id, vs.clock.at(now))
	}
	vs.revoke(now, t)
	return true, nil
}
