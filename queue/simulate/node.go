package simulate

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/room"
)

// node is one gate: the room as it runs it, with at most one call to the store
// at a time. Calls are a coroutine, which stops while one is under way.
type node struct {
	run      *run
	place    int // among the nodes
	room     *room.Room
	standing queue.Status // as the store told it last

	waiting []asking      // claims for the next call
	asked   []asking      // claims in the call under way
	leading bool          // somebody gathers claims, or has their call under way
	hurry   bool          // a newcomer has come
	ready   bool          // claims have been gathered for long enough
	gathers queue.Instant // until when they are
	syncs   queue.Instant // the next sync
	syncDue bool
	touched bool // since the last sync

	dead    bool
	busy    bool // a call is under way
	resumes queue.Instant
	next    func() (time.Duration, bool)
	stop    func()
	yield   func(time.Duration) bool
	task    func() // the call
	then    func() // what follows it

	// Accepted visitors since the last report, and those in the one under way.
	unreported, reporting map[queue.ID]bool

	traffic traffic
}

// asking is a visitor whose claim goes to the store.
type asking struct {
	visitor int32
	at      queue.Instant
	pending *room.Pending
}

// idle is what the coroutine yields between two calls.
const idle = time.Duration(-1)

// openNode starts a gate at the given place, the serial-th of the run.
func openNode(ctx context.Context, r *run, place, serial int) (*node, error) {
	n := &node{run: r, place: place, unreported: map[queue.ID]bool{}, reporting: map[queue.ID]bool{}}
	opened, err := room.New(ctx, r.now.Time(), room.Config{
		Name: "simulated", Settings: r.Room, Store: &link{store: r.store, node: n},
		Uint64: random(r.Config, uint64(streamRoom+serial*streams)).Uint64,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the room: %w", err)
	}
	n.room = opened
	n.next, n.stop = iter.Pull(func(yield func(time.Duration) bool) {
		n.yield = yield
		for yield(idle) {
			n.task()
		}
	})
	n.next()
	return n, nil
}

// wait has the call that is under way stop for d; false if its node has died.
// The calls of a node that is being opened take no time.
func (n *node) wait(d time.Duration) bool {
	return !n.dead && (d <= 0 || n.yield == nil || n.yield(d))
}

// begin starts a call, and has then follow its end.
func (n *node) begin(ctx context.Context, task, then func()) {
	n.busy, n.task, n.then = true, task, then
	n.proceed(ctx)
}

// proceed takes the call on to where it waits next, or to its end.
func (n *node) proceed(ctx context.Context) {
	if d, _ := n.next(); d != idle {
		n.resumes = n.run.now.Add(d)
		n.run.nodes.wake(n, n.resumes)
		return
	}
	n.busy = false
	n.then()
	n.pump(ctx)
}

// due lets happen what is due at this moment.
func (n *node) due(ctx context.Context) {
	now := n.run.now
	if n.resumes == now {
		n.resumes = 0
		n.proceed(ctx)
	}
	if n.gathers == now {
		n.gathered(ctx)
	}
	if n.syncs == now {
		n.syncs = now.Add(n.run.nodes.interval)
		n.run.nodes.wake(n, n.syncs)
		// While nobody asks and nobody waits, the sync of a single gate changes
		// nothing, and is left out.
		n.syncDue = n.syncDue || n.touched || n.run.inLine > 0 || n.run.shared()
		n.pump(ctx)
	}
}

// pump starts the next call if there is something to call for.
func (n *node) pump(ctx context.Context) {
	switch {
	case n.busy:
	case n.syncDue:
		n.syncDue, n.touched = false, false
		at := n.run.now
		var err error
		n.begin(ctx, func() { err = n.room.Sync(ctx, at.Time()) }, func() { n.run.fail(err) })
	case n.ready:
		n.ready = false
		n.ask(ctx)
	}
}

// visit is a request of visitor i, who learns what becomes of it now or later.
func (n *node) visit(ctx context.Context, i int32, t queue.Ticket) {
	n.touched = true
	r := n.run
	d, p := n.room.Check(r.now.Time(), room.Request{Ticket: t})
	switch {
	case p == nil:
		r.answered(n, i, d, 1)
		return
	case n.room.StoreFailing(): // as a gate does that holds
		r.answered(n, i, n.room.Settle(r.now.Time(), p, queue.Grant{}), 1)
		return
	}
	n.waiting = append(n.waiting, asking{visitor: i, at: r.now, pending: p})
	n.hurry = n.hurry || p.Claim.Newcomer()
	switch {
	case !n.leading:
		n.lead(ctx)
	case n.hurry && n.gathers != 0:
		n.gathered(ctx)
	}
}

// lead gathers claims for a call.
func (n *node) lead(ctx context.Context) {
	n.leading = true
	if n.hurry || n.run.nodes.gather == 0 {
		n.gathered(ctx)
		return
	}
	n.gathers = n.run.now.Add(n.run.nodes.gather)
	n.run.nodes.wake(n, n.gathers)
}

// gathered has the claims that there are put to the store.
func (n *node) gathered(ctx context.Context) {
	n.gathers, n.hurry, n.ready = 0, false, true
	n.pump(ctx)
}

// ask puts the gathered claims to the store. As in a gate, the moment of an answer
// is that of the visit.
func (n *node) ask(ctx context.Context) {
	n.asked, n.waiting = n.waiting, nil
	claims, grants := make([]queue.Claim, len(n.asked)), make([]queue.Grant, len(n.asked))
	for i, a := range n.asked {
		claims[i] = a.pending.Claim
	}
	at := n.run.now
	var err error
	n.begin(ctx, func() { err = n.room.PutClaims(ctx, at.Time(), claims, grants) }, func() {
		n.run.fail(err)
		if err != nil {
			clear(grants)
		}
		n.answer(grants)
		n.leading = false
		if len(n.waiting) > 0 {
			n.lead(ctx)
		}
	})
}

// answer tells those who asked what the store granted them.
func (n *node) answer(grants []queue.Grant) {
	granted := 0
	for _, g := range grants {
		if g.Verdict == queue.Granted {
			granted++
		}
	}
	for i, a := range n.asked {
		n.run.answered(n, a.visitor, n.room.Settle(a.at.Time(), a.pending, grants[i]), max(1, granted))
	}
	n.asked = nil
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

// die ends the node, with all that only it knows.
func (n *node) die() (unanswered []asking, lostRenewals int) {
	n.dead = true
	n.stop()
	maps.Copy(n.unreported, n.reporting)
	return append(n.asked, n.waiting...), len(n.unreported)
}
