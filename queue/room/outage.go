package room

import "github.com/anteroom-gate/anteroom/queue"

// storeAnswered tells of the store's going and coming back, once each, and
// returns err. The caller holds exchange.mu.
func (r *Room) storeAnswered(err error) error {
	if err != nil {
		r.errors.Add(1)
		if !r.failing.Load() {
			r.doubtNumbers()
		}
	}
	if failing := err != nil; r.failing.Swap(failing) != failing && r.onChange != nil {
		r.onChange(err)
	}
	return err
}

// StoreFailing reports whether the store left the last call unanswered.
func (r *Room) StoreFailing() bool { return r.failing.Load() }

// StoreErrors counts the calls that the store has left unanswered, and the
// visitors who were let in meanwhile by the room's policy.
func (r *Room) StoreErrors() (calls, letIn uint64) { return r.errors.Load(), r.letInBlindly.Load() }

// withoutStore decides a claim by the room's policy.
func (r *Room) withoutStore(now queue.Instant, c queue.Claim) queue.Grant {
	s := r.settings.Load()
	if s.OnStoreError == queue.Hold || !r.worthAsking(now, s, c.Cell, c.Number) || s.OnStoreError == queue.Share && r.spare.Add(-1) < 0 {
		return queue.Grant{}
	}
	r.letInBlindly.Add(1)
	expires := now.Add(s.SessionLasts(r.slack))
	r.sessions.note(now, c.ID, expires, false)
	r.exchange.noted.Lock()
	r.exchange.alone.Add(queue.Admissions{Minute: now.Floor(queue.AllowancePeriod), Visitors: 1})
	r.exchange.noted.Unlock()
	if !c.Newcomer() {
		sh := r.waiters.shard(c.ID)
		sh.mu.Lock()
		sh.change(c.Cell.Bucket, ticksOf(c.Cell.Until, r.start), -1)
		sh.mu.Unlock()
	}
	return queue.Grant{Verdict: queue.Granted, AcceptedAt: now, Expires: expires}
}
