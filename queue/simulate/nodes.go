package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// How gates work with their store: one in the same process, and one that they
// share.
const (
	ownSyncInterval    = 100 * time.Millisecond
	sharedSyncInterval = time.Second
	sharedGather       = 50 * time.Millisecond
	sharedSlack        = 2 * time.Second
)

// How long faults last.
const (
	nodeDownFor  = 10 * time.Second
	storeDownFor = 5 * time.Second
)

// nodes are the gates of a run, with what happens to them and when.
type nodes struct {
	list             []*node // nil in the place of one that is dead
	alive            int
	opened           int
	interval, gather time.Duration
	slack            time.Duration
	rng              *rand.Rand // of the ways that visitors take, and of faults

	events   wheel // by place
	now      []int32
	deaths   []queue.Instant
	failures []queue.Instant
	returns  []comeback

	dead traffic // of those that died
	lost Sharing // what faults took
}

// comeback is when the place of a dead node is taken by a new one.
type comeback struct {
	at    queue.Instant
	place int
}

// shared says whether the store is one between processes.
func (c *Config) shared() bool { return c.Nodes > 1 || c.StoreLatency > 0 || c.StoreFailures > 0 }

func (r *run) openNodes(ctx context.Context) error {
	r.store = &sharedStore{Store: memstore.New()}
	ns := &nodes{list: make([]*node, r.Nodes), interval: ownSyncInterval, rng: random(r.Config, streamNodes)}
	if r.shared() {
		ns.interval, ns.gather, ns.slack = sharedSyncInterval, sharedGather, sharedSlack
		r.store.Store = memstore.NewShared(sharedSlack)
		r.store.latency = r.StoreLatency
	}
	r.nodes = ns
	ns.deaths = ns.drawFaults(r.NodeDeaths, r.Over)
	ns.failures = ns.drawFaults(r.StoreFailures, r.Over)
	for place := range ns.list {
		if err := ns.open(ctx, r, place, ns.interval*time.Duration(place)/time.Duration(r.Nodes)); err != nil {
			return err
		}
	}
	r.store.traffic = traffic{}
	for _, n := range ns.list {
		n.traffic = traffic{}
	}
	return nil
}

// drawFaults draws moments in the time of the arrivals, in order.
func (ns *nodes) drawFaults(count int, over time.Duration) []queue.Instant {
	moments := make([]queue.Instant, count)
	for i := range moments {
		moments[i] = start.Add(gathering + time.Duration(ns.rng.Int64N(int64(over))))
	}
	slices.Sort(moments)
	return moments
}

// open starts a node whose first sync of its own is after the given time.
func (ns *nodes) open(ctx context.Context, r *run, place int, first time.Duration) error {
	n, err := openNode(ctx, r, place, ns.opened)
	if err != nil {
		return err
	}
	ns.list[place] = n
	ns.opened++
	ns.alive++
	n.syncs = r.now.Add(first)
	ns.wake(n, n.syncs)
	return nil
}

// wake has what is due for a node at the given moment happen.
func (ns *nodes) wake(n *node, at queue.Instant) { ns.events.add(int32(n.place), at) }

// close ends the nodes that are alive.
func (ns *nodes) close() {
	for _, n := range ns.list {
		if n != nil {
			n.die()
		}
	}
}

// pass lets happen to the nodes what is due now.
func (ns *nodes) pass(ctx context.Context, r *run) error {
	if err := ns.faults(ctx, r); err != nil {
		return err
	}
	ns.now = ns.events.take(r.now, ns.now[:0])
	for _, place := range ns.now {
		if n := ns.list[place]; n != nil {
			n.due(ctx)
			r.look()
		}
	}
	return r.failed
}

// faults lets the faults happen that are due, and dead nodes return.
func (ns *nodes) faults(ctx context.Context, r *run) error {
	for len(ns.failures) > 0 && ns.failures[0] <= r.now {
		ns.failures = ns.failures[1:]
		ns.lost.StoreFailures++
		r.store.down = r.now.Add(storeDownFor)
	}
	for len(ns.deaths) > 0 && ns.deaths[0] <= r.now && ns.alive > 1 {
		ns.deaths = ns.deaths[1:]
		ns.die(r)
	}
	for len(ns.returns) > 0 && ns.returns[0].at <= r.now {
		if err := ns.reopen(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// reopen opens a node in the place of the one that is to return first, or tries
// again a second later if the store is down.
func (ns *nodes) reopen(ctx context.Context, r *run) error {
	back := ns.returns[0]
	ns.returns = ns.returns[1:]
	err := ns.open(ctx, r, back.place, ns.interval)
	if !errors.Is(err, errStoreDown) {
		return err
	}
	back.at = r.now.Add(time.Second)
	ns.returns = append(ns.returns, back)
	slices.SortStableFunc(ns.returns, func(a, b comeback) int { return int(a.at - b.at) })
	return nil
}

// die ends a node. Those whom it owes an answer ask another one.
func (ns *nodes) die(r *run) {
	n := ns.any()
	ns.list[n.place] = nil
	ns.alive--
	ns.lost.NodeDeaths++
	unanswered, renewals := n.die()
	ns.lost.LostRenewals += renewals
	ns.lost.LostRequests += len(unanswered)
	for _, i := range unanswered {
		r.wheel.add(i, max(r.now.Add(r.roundTrip()), r.now+1))
	}
	ns.dead.atLeast(&n.traffic)
	ns.returns = append(ns.returns, comeback{at: r.now.Add(nodeDownFor), place: n.place})
}

// any draws a node that is alive.
func (ns *nodes) any() *node {
	for {
		if n := ns.list[ns.rng.IntN(len(ns.list))]; n != nil {
			return n
		}
	}
}

// of is the node that a request of visitor i goes to.
func (ns *nodes) of(i int32, sticky bool) *node {
	if len(ns.list) == 1 {
		return ns.list[0]
	}
	if n := ns.list[int(i)%len(ns.list)]; sticky && n != nil {
		return n
	}
	return ns.any()
}

// pause closes the doors, or opens them again.
func (ns *nodes) pause(paused bool) {
	for _, n := range ns.list {
		if n != nil {
			n.touched = true
			n.room.Pause(paused)
		}
	}
}

// fail keeps the first error that is none of the faults that were asked for.
func (r *run) fail(err error) {
	fault := errors.Is(err, errStoreDown) || errors.Is(err, errNodeDead)
	if err != nil && !fault && r.failed == nil {
		r.failed = fmt.Errorf("at %v: %w", r.now.Time().Format(time.TimeOnly), err)
	}
}
