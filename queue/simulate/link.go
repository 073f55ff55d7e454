package simulate

import (
	"context"
	"errors"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// sharedStore is the store of all nodes, with its faults. It remembers the
// room's status at the last call.
type sharedStore struct {
	queue.Store
	latency time.Duration
	status  queue.Status
	down    queue.Instant // until when it fails
	traffic traffic
	failed  int // calls without an answer
}

var errStoreDown = errors.New("the store does not answer")

// link is a node's way to the store: calls take their time, half of it before
// the store decides, and fail when it is down at either end.
type link struct {
	store *sharedStore
	node  *node
}

// Configure implements [queue.Store].
func (l *link) Configure(ctx context.Context, room string, c queue.Configuration) error {
	return l.store.Configure(ctx, room, c)
}

// Admit implements [queue.Store].
func (l *link) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	l.node.traffic.countAdmit(l.node.run.now, claims)
	l.store.traffic.countAdmit(l.node.run.now, claims)
	var status queue.Status
	err := l.call(p, func(p *queue.Report) (queue.Status, error) {
		var err error
		status, err = l.store.Admit(ctx, room, p, claims, grants)
		return status, err
	})
	l.node.open = status.Open + max(1, granted(grants))
	return status, err
}

// granted counts the slots that were given away.
func granted(grants []queue.Grant) int {
	n := 0
	for _, g := range grants {
		if g.Verdict == queue.Granted {
			n++
		}
	}
	return n
}

// Sync implements [queue.Store].
func (l *link) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	l.node.traffic.countSync(l.node.run.now)
	l.store.traffic.countSync(l.node.run.now)
	var v *queue.View
	err := l.call(p, func(p *queue.Report) (queue.Status, error) {
		var err error
		if v, err = l.store.Sync(ctx, room, p); err != nil {
			return queue.Status{}, err
		}
		return v.Status, nil
	})
	return v, err
}

// Roster implements [queue.Store].
func (l *link) Roster(ctx context.Context, room string, ids []queue.ID) (*queue.Roster, error) {
	return l.store.Roster(ctx, room, ids)
}

// Close implements [queue.Store]: the store goes on for other nodes.
func (l *link) Close() error { return nil }

// call takes a report to the store, whose clock is the true one, and its answer
// back.
func (l *link) call(p *queue.Report, do func(*queue.Report) (queue.Status, error)) error {
	l.node.reports()
	there := (l.store.latency / 2).Truncate(time.Millisecond)
	if err := l.travel(there); err != nil {
		return err
	}
	arrived := *p
	arrived.Now = l.node.run.now
	status, err := do(&arrived)
	if err != nil {
		return err
	}
	l.store.status, l.node.status = status, status
	clear(l.node.reporting)
	return l.travel(l.store.latency - there)
}

// travel lets time pass, but not while the node is opened; what is under way while the
// store is down is lost.
func (l *link) travel(d time.Duration) error {
	if d > 0 && l.node.room != nil && !l.node.sleep(nil, d) {
		return errNodeDead
	}
	if l.node.run.now < l.store.down {
		l.store.failed++
		return errStoreDown
	}
	return nil
}
