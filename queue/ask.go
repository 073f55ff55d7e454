package queue

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// view is the store's view with the sums that decisions need.
type view struct {
	Standing
	buckets []BucketCount
	ahead   []int // people present before each bucket
}

// before counts the people present in buckets earlier than b.
func (v *view) before(b Instant) int {
	i, _ := slices.BinarySearchFunc(v.buckets, b, func(c BucketCount, b Instant) int { return int(c.Bucket - b) })
	if i == len(v.buckets) {
		return v.Present
	}
	return v.ahead[i]
}

// worthAsking says whether the store may have a slot for the claim, as far as
// the last view tells. The store decides.
func (r *Room) worthAsking(now Instant, s *Settings, c Claim) bool {
	if s.QueueAll || r.paused.Load() {
		return false
	}
	if s.Method == Passthrough || r.policy == Let && r.failing.Load() {
		return true
	}
	v := r.view.Load()
	open := v.Open
	if v.NextOpen != 0 && now >= v.NextOpen {
		open++
	}
	switch {
	case open <= 0:
		return false
	case c.Newcomer():
		return open > v.Present
	case s.Method == Random:
		return true
	default:
		return open > v.before(c.Cell.Bucket)
	}
}

// asks are the claims that wait for the store: while one call is under way the
// next ones gather, and go together.
type asks struct {
	mu      sync.Mutex
	waiting []*ask
	busy    bool
	pool    sync.Pool
}

type ask struct {
	claim Claim
	grant Grant
	err   error
	done  chan bool // true: the answer is there; false: lead the next call
}

// ask puts a claim to the store and returns what became of it; while the store
// does not answer, the room's policy decides.
func (r *Room) ask(ctx context.Context, now Instant, c Claim) Grant {
	a, _ := r.asks.pool.Get().(*ask)
	if a == nil {
		a = &ask{done: make(chan bool, 1)}
	}
	defer r.asks.pool.Put(a)
	a.claim = c

	r.asks.mu.Lock()
	r.asks.waiting = append(r.asks.waiting, a)
	lead := !r.asks.busy
	r.asks.busy = true
	r.asks.mu.Unlock()

	if lead || !<-a.done {
		r.lead(ctx, now, a)
	}
	if a.err != nil {
		return r.withoutStore(now, c)
	}
	return a.grant
}

// lead puts all waiting claims to the store, own among them, hands the answers
// out, and the lead on.
func (r *Room) lead(ctx context.Context, now Instant, own *ask) {
	r.asks.mu.Lock()
	batch := r.asks.waiting
	r.asks.waiting = nil
	r.asks.mu.Unlock()

	claims, grants := make([]Claim, len(batch)), make([]Grant, len(batch))
	for i, a := range batch {
		claims[i] = a.claim
	}
	err := r.admit(context.WithoutCancel(ctx), now, claims, grants)
	for i, a := range batch {
		a.grant, a.err = grants[i], err
		if a != own {
			a.done <- true
		}
	}

	r.asks.mu.Lock()
	defer r.asks.mu.Unlock()
	if len(r.asks.waiting) > 0 {
		r.asks.waiting[0].done <- false
	} else {
		r.asks.busy = false
	}
}

// admit is one Admit of the store, with all that is unreported.
func (r *Room) admit(ctx context.Context, now Instant, claims []Claim, grants []Grant) error {
	r.storeMu.Lock()
	defer r.storeMu.Unlock()
	if err := r.resend(ctx); err != nil {
		return err
	}
	r.unsent = r.report(now)
	standing, err := r.store.Admit(ctx, r.name, r.unsent, claims, grants)
	if r.storeAnswered(err) != nil {
		return fmt.Errorf("admitting to room %q: %w", r.name, err)
	}
	r.unsent = nil
	v := *r.view.Load()
	v.Standing = standing
	r.take(&v)
	return nil
}

// Sync reports to the store what this node has seen and takes in how the room
// stands. Call it about once a second; a store in the same process ten times.
func (r *Room) Sync(ctx context.Context, now Instant) error {
	_, err := r.sync(ctx, now)
	return err
}

func (r *Room) sync(ctx context.Context, now Instant) (*View, error) {
	r.storeMu.Lock()
	defer r.storeMu.Unlock()
	if err := r.resend(ctx); err != nil {
		return nil, err
	}
	r.unsent = r.report(now)
	known, err := r.store.Sync(ctx, r.name, r.unsent)
	if r.storeAnswered(err) != nil {
		return nil, fmt.Errorf("syncing room %q: %w", r.name, err)
	}
	r.unsent = nil
	r.takeRevoked(now, known)
	v := &view{Standing: known.Standing, buckets: known.Buckets, ahead: make([]int, len(known.Buckets))}
	for i, b := range known.Buckets[:max(0, len(known.Buckets)-1)] {
		v.ahead[i+1] = v.ahead[i] + b.Waiting
	}
	r.take(v)
	r.renewNumbers(now, known)
	r.syncs++
	r.sessions.trim(r.syncs, now)
	r.waiters.trim(r.syncs, now)
	return known, nil
}

// resend sends a report again whose answer was lost. The caller holds storeMu.
func (r *Room) resend(ctx context.Context) error {
	if r.unsent == nil {
		return nil
	}
	_, err := r.store.Sync(ctx, r.name, r.unsent)
	if r.storeAnswered(err) != nil {
		return fmt.Errorf("reporting to room %q again: %w", r.name, err)
	}
	r.unsent = nil
	return nil
}

// report gathers what is unreported. The caller holds storeMu.
func (r *Room) report(now Instant) *Report {
	r.seq++
	p := &Report{Node: r.node, Seq: r.seq, Now: now, Revoked: r.revoking}
	r.revoking = nil
	p.Cells = r.waiters.drain(nil)
	p.Sessions = r.sessions.drain(now, nil)
	return p
}

// take makes v what decisions go by. The caller holds storeMu.
func (r *Room) take(v *view) {
	r.view.Store(v)
	r.spare.Store(int64(v.Open))
}

// takeRevoked learns of sessions that other nodes revoked.
func (r *Room) takeRevoked(now Instant, known *View) {
	if len(known.Revoked) == 0 {
		r.revoked.Store(nil)
		return
	}
	revoked := make(map[ID]Instant, len(known.Revoked))
	for _, s := range known.Revoked {
		revoked[s.ID] = s.Expires
		r.sessions.remove(now, s.ID)
	}
	r.revoked.Store(&revoked)
}

// storeAnswered tells of the store's going and coming back, once each, and
// returns err.
func (r *Room) storeAnswered(err error) error {
	if failing := err != nil; r.failing.Swap(failing) != failing && r.onChange != nil {
		r.onChange(err)
	}
	return err
}

// StoreFailing reports whether the store left the last call unanswered.
func (r *Room) StoreFailing() bool { return r.failing.Load() }

// withoutStore decides a claim by the room's policy.
func (r *Room) withoutStore(now Instant, c Claim) Grant {
	s := r.settings.Load()
	if r.policy == Hold || !r.worthAsking(now, s, c) || r.policy == Share && r.spare.Add(-1) < 0 {
		return Grant{}
	}
	expires := now.Add(s.SessionDuration)
	r.sessions.note(now, c.ID, expires, false)
	if !c.Newcomer() {
		sh := r.waiters.shard(c.ID)
		sh.mu.Lock()
		sh.change(c.Cell.Bucket, c.Cell.Until.ticks(r.start), -1)
		sh.mu.Unlock()
	}
	return Grant{Verdict: Granted, AcceptedAt: now, Expires: expires}
}
