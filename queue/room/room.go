package room

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// Config is what a Room is made of.
type Config struct {
	Name     string         // required; letters, digits, -, _ and .
	Settings queue.Settings // zero durations take their defaults
	Store    queue.Store    // required; outlives the Room

	// Gather is how long claims of people who wait are collected before they are
	// put to the store in one call; default none, which suits a store in the
	// same process. Newcomers to an open room do not wait for it.
	Gather time.Duration

	// Slack is how much longer than it is told the store counts sessions; default
	// none, which suits a store in the same process.
	Slack time.Duration

	// Uint64 is the source of ids and jitter; default math/rand/v2's.
	Uint64 func() uint64

	// Clock is the node's clock, which never goes back and by which the room's
	// methods are told now; default time.Now. It is read where a call has waited.
	Clock func() time.Time

	// Wait is how a call waits: until it has received from ready, or until atMost
	// has passed, if that is positive. The default waits in real time.
	Wait func(ready <-chan struct{}, atMost time.Duration)

	// OnStoreChange, if set, is told once when the store stops answering, with
	// the error, and once with nil when it answers again.
	OnStoreChange func(err error)

	// OnConfigure, if set, is told of every configuration that another node has
	// given the room.
	OnConfigure func(queue.Configuration)

	// OnLeave, if set, is told of every visitor who has said goodbye, at whichever
	// node: for one who is here all the same, a visit with Returned takes it back.
	OnLeave func(queue.ID)
}

// Room is one room on one node. Its methods may be called concurrently; now is
// always the moment of the call by the node's clock, which never goes back; an Instant is
// a moment by the store's.
type Room struct {
	name        string
	store       queue.Store
	uint64      func() uint64
	slack       time.Duration
	onChange    func(error)
	onConfigure func(queue.Configuration)
	onLeave     func(queue.ID)

	settings atomic.Pointer[queue.Settings]
	memory   atomic.Pointer[memory]
	paused   atomic.Bool
	view     atomic.Pointer[view]
	numbers  atomic.Pointer[Numbers]
	revoked  atomic.Pointer[map[queue.ID]queue.Instant]
	clock    atomic.Int64 // what the store's clock is ahead of the node's, in milliseconds

	start       queue.Instant // of the ticks in the tables; before any visit
	waiters     *waiters
	hasSubjects atomic.Bool // the site has named somebody, and their tickets are looked up
	sessions    *sessions
	answers     *sessions // whose slots answers under way keep after a fixed session has ended
	batches     batcher

	began        atomic.Int64 // since when people wait without a break; 0 if nobody does
	failing      atomic.Bool
	errors       atomic.Uint64 // calls that the store left unanswered
	letInBlindly atomic.Uint64 // visitors let in without the store
	spare        atomic.Int64  // admissions that Share allows until the store answers
	exchange     exchange
}

// New returns a room that has made itself known to its store at now. A room
// that is new to the store is configured with c.Settings; one that is not goes
// on as it was configured. It fails if the settings are out of bounds or the
// store does not answer.
func New(ctx context.Context, now time.Time, c Config) (*Room, error) {
	if c.Name == "" || c.Store == nil {
		return nil, errors.New("a room needs a name and a store")
	}
	if c.Uint64 == nil {
		c.Uint64 = rand.Uint64
	}
	settings := c.Settings.WithDefaults()
	if err := settings.Validate(); err != nil {
		return nil, fmt.Errorf("configuring room %q: %w", c.Name, err)
	}
	r := &Room{
		name: c.Name, store: guarded{c.Store}, uint64: c.Uint64, slack: c.Slack,
		onChange: c.OnStoreChange, onConfigure: c.OnConfigure, onLeave: c.OnLeave,
	}
	r.exchange.node, r.exchange.own = c.Uint64(), map[queue.Cell]int{}
	timing := newTiming(&c)
	r.exchange.mu = newCallLock(timing)
	r.batches = batcher{timing: timing, gather: c.Gather, call: r.PutClaims}
	r.settings.Store(&settings)
	r.memory.Store(&memory{lasts: (&queue.Configuration{Settings: settings}).Remembers()})
	r.view.Store(&view{})
	r.numbers.Store(&Numbers{})
	if err := patiently(func() error { return r.introduce(ctx, now) }); err != nil {
		return nil, err
	}
	if r.Configuration().Version == 0 {
		if err := r.Configure(ctx, now, queue.Configuration{Settings: settings}); err != nil && !errors.Is(err, queue.ErrConflict) {
			return nil, err
		}
	}
	return r, patiently(func() error { return r.Sync(ctx, now) })
}

// patiently tries a first call to the store some times: while many gates start
// at once, one may take longer than its budget.
func patiently(call func() error) (err error) {
	for range 10 {
		if err = call(); err == nil {
			return nil
		}
	}
	return err
}

// storeTime is the store's clock at a moment of the node's.
func (r *Room) storeTime(now time.Time) queue.Instant {
	return queue.At(now) + queue.Instant(r.clock.Load())
}

// Name returns the room's name.
func (r *Room) Name() string { return r.name }

// Settings returns the limits and switches in force.
func (r *Room) Settings() queue.Settings { return *r.settings.Load() }

// Suspended reports whether the room is not used for now.
func (r *Room) Suspended() bool { return r.settings.Load().Suspended }

// Pause stops admissions, or lets them go on, without touching the settings:
// for a time in which the origin does not answer.
func (r *Room) Pause(paused bool) { r.paused.Store(paused) }

// Occupancy is what keeps a visitor in the room.
func (r *Room) Occupancy() queue.Occupancy { return r.settings.Load().Occupancy }

// SessionLasts is how long a session outlives what renews it.
func (r *Room) SessionLasts() time.Duration { return r.settings.Load().SessionLasts(r.slack) }

// Leave stops counting a waiting visitor who has said goodbye. They keep the
// place in their ticket, and are counted again when they come back; a place in an
// exact line they keep for LineReturn. A subject may wait with another device, and
// counts until their next check-in is missed.
func (r *Room) Leave(now time.Time, t queue.Ticket) {
	if t.State != queue.Waiting {
		return
	}
	if r.isSubject(&t) {
		return
	}
	at := r.storeTime(now)
	if !r.uncount(at, t) && t.Number == 0 {
		return
	}
	r.exchange.noted.Lock()
	defer r.exchange.noted.Unlock()
	// Nodes are told of so many only, and anybody can say goodbye as often as they
	// like: whoever is beyond leaves when their next check-in is missed.
	if len(r.exchange.left) < queue.MaxLeft {
		r.exchange.left = append(r.exchange.left, queue.Departure{ID: t.ID, At: at})
	}
}

// Prefer gives a visitor in the exact line a priority, and whoever is not in it
// none.
func (r *Room) Prefer(ctx context.Context, now time.Time, id queue.ID, priority int16) error {
	r.exchange.noted.Lock()
	r.exchange.preferred = append(r.exchange.preferred, queue.Priority{ID: id, Priority: priority})
	r.exchange.noted.Unlock()
	return r.Sync(ctx, now)
}

// Roll returns who is in the room and in its exact line: of the given ids, or
// without any, of all, at most MaxRoll each.
func (r *Room) Roll(ctx context.Context, ids ...queue.ID) (*queue.Roll, error) {
	roll, err := r.store.Roll(ctx, r.name, ids)
	if err != nil {
		return nil, fmt.Errorf("asking the store who is in room %q: %w", r.name, err)
	}
	return roll, nil
}

func (r *Room) newID() queue.ID {
	var id queue.ID
	hi, lo := r.uint64(), r.uint64()
	for i := range 8 {
		id[i], id[8+i] = byte(hi>>(8*i)), byte(lo>>(8*i))
	}
	return id
}
