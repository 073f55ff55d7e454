package callback

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// MaxCalls is how many visitors one gate calls at a time.
	MaxCalls = 2000
	// beat is how often the desk looks for what is due.
	beat = 200 * time.Millisecond
)

// What a visitor is not taken on for.
var (
	ErrFull  = errors.New("too many visitors have asked to be called")
	ErrTaken = errors.New("the subscription is for another visitor's call")
)

// Gate is the gate, as its desk knows it.
type Gate interface {
	// CheckIn has the visitor of a call check in at now, and says how they stand.
	CheckIn(ctx context.Context, now time.Time, c *Call) Stand

	// Push sends a visitor a message; see webpush.Sender.Send.
	Push(ctx context.Context, now time.Time, c *Call, m *Message) (wait time.Duration, err error)
}

// Options are what a desk is made of.
type Options struct {
	Gate    Gate
	Clock   func() time.Time
	Dir     string // of the calls' files; "" keeps them in memory alone
	Log     *zap.Logger
	Survive func(doing string) // deferred where the desk works by itself: recovers from a panic
	Go      func(task func())  // starts what the desk does by itself
}

// Desk has the calls of a gate. It is made by Open.
type Desk struct {
	o Options

	mu        sync.Mutex
	calls     map[string]*entry // by visitor
	endpoints map[string]string // the visitors, by the endpoints of their subscriptions
	all       *tally            // of the calls
	due       map[task][]*entry // what was due at the beat and is not under way yet, the most urgent first
	underWay  map[task]*tally
}

// entry is a call at the desk.
type entry struct {
	Call
	due  time.Time     // when the next check-in is
	busy map[task]bool // what is under way
}

// Open returns a desk with the calls of its files.
func Open(o Options) *Desk {
	d := &Desk{o: o, calls: map[string]*entry{}, endpoints: map[string]string{}, all: newTally(),
		due: map[task][]*entry{}, underWay: map[task]*tally{checkIn: newTally(), push: newTally()}}
	calls, err := d.load()
	if err != nil {
		o.Log.Error("visitors who are to be called were not read", zap.Error(err))
	}
	for _, c := range calls {
		d.put(newEntry(c, o.Clock()))
	}
	return d
}

func newEntry(c Call, due time.Time) *entry { return &entry{Call: c, due: due, busy: map[task]bool{}} }

// Ask takes a visitor on who asks to be called. Somebody who has asked before goes on with the
// ticket that the desk has, and their place is held for longer. One subscription holds one place.
func (d *Desk) Ask(c Call) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, old := d.o.Clock(), d.calls[c.Visitor]
	if err := d.refuses(&c, old); err != nil {
		return err
	}
	e := newEntry(c, now)
	if old != nil && !old.over() {
		e.Ticket, e.Foretold, e.Owed, e.due, e.busy = old.Ticket, old.Foretold, old.Owed, old.due, old.busy
	}
	if old != nil {
		d.drop(old)
	}
	d.put(e)
	d.note(e)
	return nil
}

// refuses says why a call is not taken on; nil for nothing.
func (d *Desk) refuses(c *Call, old *entry) error {
	if by, taken := d.endpoints[c.Subscription.Endpoint]; taken && by != c.Visitor {
		return ErrTaken
	}
	if old == nil && !d.all.hasSpace(c) {
		return ErrFull
	}
	return nil
}

// Calls is how many visitors the desk has.
func (d *Desk) Calls() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.calls)
}

// Has says whether the desk checks in for a visitor.
func (d *Desk) Has(visitor string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.calls[visitor]
	return e != nil && !e.over()
}

// Take returns the ticket of a visitor who comes back, and lets them go, if they were called.
func (d *Desk) Take(visitor string) (ticket string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.calls[visitor]
	if e == nil {
		return "", false
	}
	if e.over() {
		d.forget(e)
	}
	return e.Ticket, true
}

// Drop forgets a visitor, who does not want to be called any more.
func (d *Desk) Drop(visitor string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.calls[visitor]; e != nil {
		d.forget(e)
	}
}

// put adds a call. The caller holds mu.
func (d *Desk) put(e *entry) {
	d.calls[e.Visitor], d.endpoints[e.Subscription.Endpoint] = e, e.Visitor
	d.all.add(&e.Call, 1)
}

// drop takes a call out, and leaves its file. The caller holds mu.
func (d *Desk) drop(e *entry) {
	delete(d.calls, e.Visitor)
	delete(d.endpoints, e.Subscription.Endpoint)
	d.all.add(&e.Call, -1)
}

// forget removes a call. The caller holds mu.
func (d *Desk) forget(e *entry) {
	d.drop(e)
	d.remove(&e.Call)
}

// Run starts what is due until ctx ends.
func (d *Desk) Run(ctx context.Context) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			d.start(ctx, d.o.Clock())
		}
	}
}
