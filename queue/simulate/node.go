package simulate

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// node is one gate: a room as the gate runs it, with what it does at this moment.
type node struct {
	run    *run
	place  int // among the nodes
	room   *room.Room
	status queue.Status // as the store told it last
	open   int          // slots that were open before the last claims were decided

	waits   []wait // of the processes under way
	syncs   queue.Instant
	syncDue bool
	syncing bool
	touched bool // since the last sync
	dead    bool

	// Accepted visitors since the last report, and those in the one under way.
	unreported, reporting map[queue.ID]bool

	traffic traffic
}

// openNode starts a gate at the given place, the serial-th of the run.
func openNode(ctx context.Context, r *run, place, serial int) (*node, error) {
	n := &node{run: r, place: place, unreported: map[queue.ID]bool{}, reporting: map[queue.ID]bool{}}
	opened, err := room.New(ctx, r.now.Time(), room.Config{
		Name: "simulated", Settings: r.Room, Store: &link{store: r.store, node: n}, Gather: r.nodes.gather, Slack: r.nodes.slack,
		Uint64: random(r.Config, uint64(streamRoom+serial*streams)).Uint64,
		Clock:  func() time.Time { return r.now.Time() }, Wait: n.wait,
		OnStoreChange: r.fail, OnBurst: n.syncSoon,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the room: %w", err)
	}
	n.room = opened
	return n, nil
}

// due lets happen what is due at this moment.
func (n *node) due(ctx context.Context) {
	n.settle()
	if n.syncs != n.run.now {
		return
	}
	n.syncs = n.run.now.Add(n.run.nodes.interval)
	n.run.nodes.wake(n, n.syncs)
	// While nobody asks and nobody waits, the sync of a single gate changes
	// nothing, and is left out.
	n.syncDue = n.syncDue || n.touched || n.run.inLine > 0 || n.run.shared()
	if n.syncDue && !n.syncing {
		n.begin(nobody, func() { n.sync(ctx) })
	}
}

// syncSoon has the next sync be due at once.
func (n *node) syncSoon() {
	n.syncs = n.run.now + 1
	n.run.nodes.wake(n, n.syncs)
}

// begin starts a process, and then lets those go on whose waits it has ended.
func (n *node) begin(visitor int32, task func()) {
	n.run.processes.begin(visitor, task)
	n.settle()
}

// sync syncs the room for as often as that is due.
func (n *node) sync(ctx context.Context) {
	for n.syncing = true; n.syncDue; {
		n.syncDue, n.touched = false, false
		n.run.fail(n.room.Sync(ctx, n.run.now.Time()))
	}
	n.syncing = false
	n.syncs = min(n.syncs, n.run.now.Add(n.room.SyncIn(n.run.now.Time(), n.run.nodes.interval)))
	n.run.nodes.wake(n, n.syncs)
}

// visit is a request of visitor i, who learns what becomes of it now or later. Where
// nodes share no store, no request has to wait for anything.
func (n *node) visit(ctx context.Context, i int32, t queue.Ticket) {
	n.touched = true
	if !n.run.shared() {
		n.answer(ctx, i, t)
		return
	}
	n.begin(i, func() { n.answer(ctx, i, t) })
}

// answer has the room decide, and tells the visitor unless the node has died meanwhile.
func (n *node) answer(ctx context.Context, i int32, t queue.Ticket) {
	d := n.room.Visit(ctx, n.run.now.Time(), room.Request{Ticket: t})
	if !n.dead {
		n.run.answered(n, i, d)
	}
}

// openTo is how many slots were open before a visitor got the decision d.
func (n *node) openTo(d room.Decision) int {
	if d.Fresh {
		return n.open
	}
	return n.status.Open + 1
}

// accepted notes a request that was let through.
func (n *node) accepted(id queue.ID) {
	if n.run.NodeDeaths > 0 {
		n.unreported[id] = true
	}
}

// reports notes that what is unreported is under way.
func (n *node) reports() {
	maps.Copy(n.reporting, n.unreported)
	clear(n.unreported)
}

// die ends the node, with all that only it knows. It returns the visitors whom it
// owes an answer.
func (n *node) die() (unanswered []int32, lostRenewals int) {
	n.dead = true
	for _, w := range n.waits {
		for _, p := range w.processes {
			if p.visitor >= 0 {
				unanswered = append(unanswered, p.visitor)
			}
			p.stop()
		}
	}
	maps.Copy(n.unreported, n.reporting)
	return unanswered, len(n.unreported)
}
