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
	queue.Standing
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
	if s.Method == queue.Passthrough || s.OnStoreError == queue.Let && r.failing.Load() {
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

// asks are the claims that wait for the store: while one call is under way the
// next ones gather, and go together.
type asks struct {
	mu      sync.Mutex
	waiting []*ask
	busy    bool
	hurry   chan struct{} // a newcomer has come
	pool    sync.Pool
}

type ask struct {
	claim queue.Claim
	grant queue.Grant
	err   error
	done  chan bool // true: the answer is there; false: lead the next call
}

// ask puts a claim to the store and returns what became of it. While the store
// does not answer, the room's policy decides at once; a Sync finds out when it
// does again.
func (r *Room) ask(ctx context.Context, now queue.Instant, c queue.Claim) queue.Grant {
	if !r.failing.Load() {
		if g, err := r.put(ctx, now, c); err == nil {
			return g
		}
	}
	return r.withoutStore(r.storeTime(now), c)
}

// put puts a claim to the store, together with others.
func (r *Room) put(ctx context.Context, now queue.Instant, c queue.Claim) (queue.Grant, error) {
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
	if c.Newcomer() && r.gather > 0 {
		select {
		case r.asks.hurry <- struct{}{}:
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
		r.lead(ctx, now.Add(waited), a)
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
	case <-r.asks.hurry:
		return 0
	default:
	}
	began := time.Now()
	timer := time.NewTimer(r.gather)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.asks.hurry:
	}
	return time.Since(began)
}

// lead puts all waiting claims to the store at now, own among them, hands the
// answers out, and the lead on.
func (r *Room) lead(ctx context.Context, now queue.Instant, own *ask) {
	r.asks.mu.Lock()
	batch := r.asks.waiting
	r.asks.waiting = nil
	r.asks.mu.Unlock()

	claims, grants := make([]queue.Claim, len(batch)), make([]queue.Grant, len(batch))
	for i, a := range batch {
		claims[i] = a.claim
	}
	err := errUnanswered
	// A panic costs the leader's request: nobody waits for them.
	defer func() { r.handOut(batch, own, grants, err) }()
	err = r.Ask(context.WithoutCancel(ctx), now, claims, grants)
}

// errUnanswered means that the leader has gone without an answer.
var errUnanswered = errors.New("the call broke off")

// handOut tells the claimants of a batch what became of their claims, and has one of
// those who have come meanwhile lead the next call.
func (r *Room) handOut(batch []*ask, own *ask, grants []queue.Grant, err error) {
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
