package room

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// batcher has claims go to the store together: while one batch of them is under
// way, the next one gathers.
type batcher struct {
	timing
	gather time.Duration // for how long a batch gathers at least, unless a newcomer hurries it
	call   func(ctx context.Context, now time.Time, claims []queue.Claim, grants []queue.Grant) error

	mu        sync.Mutex
	gathering *batch // takes claims; nil until the next claim comes
	underWay  *batch // goes to the store; nil while none does
}

// batch are claims that go to the store in one call. The first claimant makes it.
type batch struct {
	before *batch        // is to be done first; nil if none was under way
	hurry  chan struct{} // a newcomer's claim is among them; nil where nothing gathers
	claims []queue.Claim // guarded by the batcher's lock while they gather

	done   chan struct{} // closed when there are the following; nil until somebody waits for them
	grants []queue.Grant
	err    error

	ownClaim [1]queue.Claim // space for the leader's, which is the only one as a rule
	ownGrant [1]queue.Grant
}

// await has a batch close done at its end. The caller holds the batcher's lock.
func (b *batch) await() *batch {
	if b != nil && b.done == nil {
		b.done = make(chan struct{})
	}
	return b
}

// errUnanswered means that the leader has gone without an answer.
var errUnanswered = errors.New("the call broke off")

// put puts a claim to the store, together with others.
func (q *batcher) put(ctx context.Context, now time.Time, c queue.Claim) (queue.Grant, error) {
	b, i := q.join(c)
	if i == 0 {
		q.lead(ctx, now, b)
	} else {
		q.wait(b.done, 0)
	}
	if b.err != nil {
		return queue.Grant{}, b.err
	}
	return b.grants[i], nil
}

// join adds a claim to the batch that gathers, and returns which of its claims it is.
// Who is the first leads it.
func (q *batcher) join(c queue.Claim) (*batch, int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.gathering
	if b == nil {
		b = &batch{before: q.underWay.await()}
		b.claims = b.ownClaim[:0]
		if q.gather > 0 {
			b.hurry = make(chan struct{}, 1)
		}
		q.gathering = b
	} else {
		b.await()
	}
	b.claims = append(b.claims, c)
	if c.Newcomer() {
		select {
		case b.hurry <- struct{}{}:
		default:
		}
	}
	return b, len(b.claims) - 1
}

// lead has a batch gather, puts it to the store, and tells the others who are in it.
// A panic costs the leader's request: nobody waits for them.
func (q *batcher) lead(ctx context.Context, now time.Time, b *batch) {
	b.err = errUnanswered
	defer q.finish(b)
	now = q.ready(now, b)
	q.begin(b)
	b.grants = append(b.ownGrant[:0], make([]queue.Grant, len(b.claims))...)
	b.err = q.call(context.WithoutCancel(ctx), now, b.claims, b.grants)
}

// ready waits until a batch may go to the store, and returns when that is.
func (q *batcher) ready(now time.Time, b *batch) time.Time {
	if b.before != nil {
		q.wait(b.before.done, 0)
		b.before = nil
		now = q.now(now)
	}
	if q.gather == 0 {
		return now
	}
	select {
	case <-b.hurry: // a newcomer who leads is spared the timer
		return now
	default:
		q.wait(b.hurry, q.gather)
		return q.now(now)
	}
}

// begin lets no more claims into a batch.
func (q *batcher) begin(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gathering, q.underWay = nil, b
}

// finish tells those who are in a batch that it is done.
func (q *batcher) finish(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.underWay == b {
		q.underWay = nil
	} else { // the leader has gone before it began
		q.gathering = nil
	}
	if b.done != nil {
		close(b.done)
	}
}
