package room

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// view is the store's view with the sums that decisions need.
type view struct {
	queue.Status
	buckets []queue.BucketCount
	ahead   []int      // people present before each bucket
	first   uint64     // number in an exact line
	turns   []queue.ID // in an exact line
}

// before counts the people present in buckets earlier than b.
func (v *view) before(b queue.Instant) int {
	i, _ := slices.BinarySearchFunc(v.buckets, b, func(c queue.BucketCount, b queue.Instant) int { return int(c.Bucket - b) })
	if i == len(v.buckets) {
		return v.Present
	}
	return v.ahead[i]
}

// worthAsking says whether the store may have a slot for who is counted in the
// cell, or has the number in an exact line, as far as the last view tells. The
// store decides.
func (r *Room) worthAsking(now queue.Instant, s *queue.Settings, cell queue.Cell, number uint64) bool {
	if s.QueueAll || r.paused.Load() {
		return false
	}
	if s.Method == queue.Passthrough || s.OnStoreError == queue.AdmitAll && r.failing.Load() {
		return true
	}
	v := r.view.Load()
	if v.Recovering {
		return false
	}
	open := v.Open
	if v.NextOpen != 0 && now >= v.NextOpen {
		open++
	}
	switch {
	case open <= 0:
		return false
	case cell == queue.Cell{}:
		return open > v.Present
	case s.Method == queue.Random:
		return true
	case s.Method == queue.Line:
		return number != 0 && int64(number-v.first) < int64(open)
	default:
		return open > v.before(cell.Bucket)
	}
}

// batch are the claims that wait for the store: while one call is under way the
// next ones gather, and go together.
type batch struct {
	mu      sync.Mutex
	waiting []*batched
	busy    bool
	hurry   chan struct{} // a newcomer has come
	pool    sync.Pool
}

type batched struct {
	claim queue.Claim
	grant queue.Grant
	err   error
	done  chan bool // true: the answer is there; false: lead the next call
}

// claimOrPolicy puts a claim to the store and returns what became of it. While the store
// does not answer, the room's policy decides at once; a Sync finds out when it
// does again.
func (r *Room) claimOrPolicy(ctx context.Context, now time.Time, c queue.Claim) queue.Grant {
	if !r.failing.Load() {
		if g, err := r.putClaim(ctx, now, c); err == nil {
			return g
		}
	}
	return r.withoutStore(r.storeTime(now), c)
}

// putClaim puts a claim to the store, together with others.
func (r *Room) putClaim(ctx context.Context, now time.Time, c queue.Claim) (queue.Grant, error) {
	a, _ := r.batch.pool.Get().(*batched)
	if a == nil {
		a = &batched{done: make(chan bool, 1)}
	}
	defer r.batch.pool.Put(a)
	a.claim = c

	r.batch.mu.Lock()
	r.batch.waiting = append(r.batch.waiting, a)
	lead := !r.batch.busy
	r.batch.busy = true
	r.batch.mu.Unlock()
	if c.Newcomer() && r.gather > 0 {
		select {
		case r.batch.hurry <- struct{}{}:
		default:
		}
	}

	var waited time.Duration // the call is made so much later than the visit
	if !lead {
		began := time.Now()
		lead = !<-a.done
		waited = time.Since(began)
	}
	if lead {
		waited += r.gathering()
		r.putBatch(ctx, now.Add(waited), a)
	}
	return a.grant, a.err
}

// gathering waits for more claims to come, unless a newcomer has, and returns for
// how long it did.
func (r *Room) gathering() time.Duration {
	if r.gather == 0 {
		return 0
	}
	select { // a newcomer who leads is spared the timer
	case <-r.batch.hurry:
		return 0
	default:
	}
	began := time.Now()
	timer := time.NewTimer(r.gather)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.batch.hurry:
	}
	return time.Since(began)
}

// putBatch puts all waiting claims to the store at now, own among them, hands the
// answers out, and the putBatch on.
func (r *Room) putBatch(ctx context.Context, now time.Time, own *batched) {
	r.batch.mu.Lock()
	batch := r.batch.waiting
	r.batch.waiting = nil
	r.batch.mu.Unlock()

	claims, grants := make([]queue.Claim, len(batch)), make([]queue.Grant, len(batch))
	for i, a := range batch {
		claims[i] = a.claim
	}
	err := errUnanswered
	// A panic costs the leader's request: nobody waits for them.
	defer func() { r.handOut(batch, own, grants, err) }()
	err = r.PutClaims(context.WithoutCancel(ctx), now, claims, grants)
}

// errUnanswered means that the leader has gone without an answer.
var errUnanswered = errors.New("the call broke off")

// handOut tells the claimants of a batch what became of their claims, and has one of
// those who have come meanwhile lead the next call.
func (r *Room) handOut(batch []*batched, own *batched, grants []queue.Grant, err error) {
	for i, a := range batch {
		a.grant, a.err = grants[i], err
		if a != own {
			a.done <- true
		}
	}
	r.batch.mu.Lock()
	defer r.batch.mu.Unlock()
	if len(r.batch.waiting) > 0 {
		r.batch.waiting[0].done <- false
	} else {
		r.batch.busy = false
	}
}
