package redisstore_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// tester is a testing.T or a rapid.T.
type tester interface {
	require.TestingT
	Helper()
}

// gates are several nodes with one room, one store between them, and an origin
// behind them that counts.
type gates struct {
	tester
	clock  *clocked
	nodes  []*gate
	origin *origin
}

// gate is one node. Its clock differs from the store's by skew.
type gate struct {
	*room.Room
	wire *wire
	skew time.Duration

	mu   sync.Mutex
	told []error // what OnStoreChange was told
}

var (
	errCut  = errors.New("the store cannot be reached")
	errLost = errors.New("the answer was lost")
)

// wire is a node's way to the store.
type wire struct {
	queue.Store
	cut   atomic.Bool  // calls do not arrive
	lose  atomic.Bool  // answers do not arrive
	until atomic.Int64 // but so many that do first
	calls atomic.Int64 // that arrived
}

func (w *wire) call(f func() error) error {
	if w.cut.Load() {
		return errCut
	}
	w.calls.Add(1)
	err := f()
	if w.lose.Load() && w.until.Add(-1) < 0 {
		return errors.Join(err, errLost)
	}
	return err
}

func (w *wire) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (s queue.Status, err error) {
	err = w.call(func() error {
		into := make([]queue.Grant, len(claims))
		s, err = w.Store.Admit(ctx, room, p, claims, into)
		if !w.lose.Load() {
			copy(grants, into)
		}
		return err
	})
	return s, err
}

func (w *wire) Sync(ctx context.Context, room string, p *queue.Report) (v *queue.View, err error) {
	err = w.call(func() error {
		v, err = w.Store.Sync(ctx, room, p)
		return err
	})
	return v, err
}

// newGates starts nodes at the store's time, one for each skew of a clock.
func newGates(t tester, clock *clocked, s queue.Settings, skews ...time.Duration) *gates {
	g := &gates{tester: t, clock: clock, origin: newOrigin(s)}
	for _, skew := range skews {
		g.start(s, skew)
	}
	return g
}

// start starts one more node.
func (g *gates) start(s queue.Settings, skew time.Duration) *gate {
	g.Helper()
	n := &gate{wire: &wire{Store: g.clock}, skew: skew}
	r, err := room.New(context.Background(), g.clock.time().Add(skew).Time(), room.Config{
		Name: "shop", Settings: s, Store: n.wire,
		OnStoreChange: func(err error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.told = append(n.told, err)
		},
	})
	require.NoError(g, err)
	n.Room = r
	g.nodes = append(g.nodes, n)
	return n
}

func (n *gate) toldOf() []error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]error(nil), n.told...)
}

// person is a visitor with the cookie that they keep.
type person struct {
	ticket queue.Ticket
	in     bool
}

// visit has a person visit a node, and the origin count.
func (g *gates) visit(n *gate, p *person) room.Decision {
	return g.request(n, p, room.Request{})
}

// knocks says whether somebody with a ticket would be let in, who does not wait.
func (g *gates) knocks(n *gate, ticket queue.Ticket) bool {
	return g.request(n, &person{ticket: ticket}, room.Request{Ask: room.Ask{Place: room.NoPlace}}).Outcome == room.Admitted
}

func (g *gates) request(n *gate, p *person, q room.Request) room.Decision {
	now := g.clock.time()
	q.Ticket = p.ticket
	d := n.Visit(context.Background(), now.Add(n.skew).Time(), q)
	if p.in = d.Outcome == room.Admitted; p.in {
		g.origin.saw(d.Ticket.ID, now)
	}
	if d.Issue {
		p.ticket = d.Ticket
	}
	if d.Drop {
		p.ticket = queue.Ticket{}
	}
	return d
}

// newcomer has somebody without a cookie visit a node.
func (g *gates) newcomer(n *gate) *person {
	p := &person{}
	g.visit(n, p)
	return p
}

// enters has a newcomer visit a node who must get in.
func (g *gates) enters(n *gate) *person {
	g.Helper()
	p := g.newcomer(n)
	require.True(g, p.in, "the newcomer is let in")
	return p
}

// joins has a newcomer visit a node who must wait.
func (g *gates) joins(n *gate) *person {
	g.Helper()
	p := g.newcomer(n)
	require.False(g, p.in, "the newcomer has to wait")
	require.Equal(g, queue.Waiting, p.ticket.State)
	return p
}

// sync syncs the nodes, all of them without any named.
func (g *gates) sync(nodes ...*gate) {
	g.Helper()
	if len(nodes) == 0 {
		nodes = g.nodes
	}
	for _, n := range nodes {
		require.NoError(g, g.trySync(n))
	}
}

func (g *gates) trySync(n *gate) error {
	return n.Sync(context.Background(), g.clock.time().Add(n.skew).Time())
}

// pass lets time go by, in which every node syncs once a second, one after
// another, if it can.
func (g *gates) pass(d time.Duration) {
	g.Helper()
	step := time.Second / time.Duration(len(g.nodes))
	for i := 0; d > 0; i++ {
		g.clock.set(g.clock.time().Add(min(d, step)))
		d -= step
		n := g.nodes[i%len(g.nodes)]
		if err := g.trySync(n); !n.wire.cut.Load() && !n.wire.lose.Load() {
			require.NoError(g, err)
		}
	}
}

// look asks the store itself, as a node that has nothing to tell.
func (g *gates) look() *queue.View {
	g.Helper()
	v, err := g.clock.Sync(context.Background(), "shop", &queue.Report{Node: 1 << 60, Now: g.clock.time(), Since: g.clock.time()})
	require.NoError(g, err)
	return v
}

// obeys asserts that the origin saw no more than the limits allow.
func (g *gates) obeys(total, perMinute int) {
	g.Helper()
	assert.LessOrEqual(g, g.origin.most(), total, "distinct visitors at a time, at the origin")
	assert.LessOrEqual(g, g.origin.mostFresh(), perMinute, "new visitors in a minute, at the origin")
}

// origin counts who was let through, by its own log: nothing that the gates say
// of themselves.
type origin struct {
	session time.Duration

	mu     sync.Mutex
	last   map[queue.ID]queue.Instant // the last request of each
	fresh  map[queue.Instant]int      // first requests by the minute
	active int                        // most distinct visitors at a time
}

func newOrigin(s queue.Settings) *origin {
	return &origin{session: s.WithDefaults().SessionDuration, last: map[queue.ID]queue.Instant{}, fresh: map[queue.Instant]int{}}
}

func (o *origin) saw(id queue.ID, now queue.Instant) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.last[id]; !ok {
		o.fresh[now.Floor(time.Minute)]++
	}
	o.last[id] = now
	active := 0
	for _, at := range o.last {
		if at.Add(o.session) > now {
			active++
		}
	}
	o.active = max(o.active, active)
}

// sendsAway ends a visitor's session, of which all nodes learn.
func (g *gates) sendsAway(n *gate, p *person) {
	g.Helper()
	n.Revoke(g.clock.time().Add(n.skew).Time(), p.ticket)
	g.sync(n)
	g.sync()
	g.origin.forget(p.ticket.ID)
}

func (o *origin) forget(id queue.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last[id] = 0
}

func (o *origin) most() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.active
}

func (o *origin) mostFresh() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	most := 0
	for _, n := range o.fresh {
		most = max(most, n)
	}
	return most
}

func (o *origin) distinct() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.last)
}
