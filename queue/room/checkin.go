package room

import (
	"context"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// CheckIn does what a request of the visitor's would for what they have, and lets
// nobody in: it renews the session of an accepted ticket, and is a check-in of a
// waiting one. Somebody who has neither gets a place where they have to wait, and
// nothing where a slot is open to them. Whose turn has come may take it with their
// next request.
func (r *Room) CheckIn(ctx context.Context, now time.Time, q Request) Decision {
	t, _ := r.Peek(ctx, now, q)
	at, s := r.storeTime(now), r.settings.Load()
	switch {
	case t.State == queue.Accepted && q.Ticket.State == queue.Accepted && q.Ticket.ID == t.ID:
		return r.prolong(ctx, now, s, q.Ticket)
	case t.State == queue.Accepted:
		return Decision{Outcome: Admitted, Ticket: t}
	case t.State == queue.None && (s.RejectsAll() || r.worthAsking(at, s, queue.Cell{}, 0)):
		return Decision{Outcome: Rejected}
	}
	q.Ticket, q.Aside, q.noEntry = t, true, true
	d, p := r.Check(now, q)
	if p == nil {
		return d
	}
	var g queue.Grant
	if !r.failing.Load() {
		if answer, err := r.batches.put(ctx, now, p.Claim); err == nil {
			g = answer
		}
	}
	return r.Settle(now, p, g)
}

// prolong renews the session of an accepted ticket, which lasts as far as the store
// knows.
func (r *Room) prolong(ctx context.Context, now time.Time, s *queue.Settings, t queue.Ticket) Decision {
	at := r.storeTime(now)
	d, ok := r.stay(at, s, t)
	if !ok && r.Renew(ctx, now, t.ID) == nil {
		d, ok = r.stay(at, s, t)
	}
	if !ok {
		return Decision{Outcome: Rejected}
	}
	return d
}

// showUp is a check-in that leaves the visitor's turn for their next request: that
// one is due then. Whose turn has come already is not counted anew, lest the slot
// that is kept for them stays empty for as long as they like; and whether a place
// from before the start was used since is for the store to say, at that request. The
// caller holds sh.mu.
func (r *Room) showUp(now queue.Instant, s *queue.Settings, sh *waiterShard, e *slot[shortID], q *Request) Decision {
	t := q.Ticket
	if t.LastCheckIn < r.start {
		return Decision{Outcome: Queued, Ticket: t}
	}
	t.LastCheckIn, t.RefreshInterval = now, r.interval(s)
	bucket := s.BucketOf(t.ArrivedAt)
	if !r.worthAsking(now, s, queue.Cell{Bucket: bucket, Until: now}, 0) {
		e = r.entry(now, s, sh, e, &t)
		r.count(sh, e, s, bucket, &t, q.Hidden)
		e.more = packDue(ticksOf(now, r.start))
	}
	t.RefreshInterval = 0
	if q.Subject != (queue.ID{}) {
		sh.remember(&t)
	}
	return Decision{Outcome: Queued, Ticket: t, Issue: true}
}
