package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// The defaults of a family.
const (
	defaultMaxRooms = 100
	defaultRoomIdle = 10 * time.Minute
)

// crowdedIdle is how long an empty room is kept at most while there are max_rooms of
// them. No other can be made then, and this one is made again when somebody asks.
const crowdedIdle = 10 * time.Second

// family makes a room for each value of the braces in its path when somebody first
// asks for it, and drops the room when it has been empty for long. A family outlives
// configurations, as rooms do.
type family struct {
	gate *Gate
	metrics.Counters
	setup atomic.Pointer[feature.Setup] // the latest; the setups of its rooms are made from it

	mu      sync.Mutex           // not held through calls to the store
	made    map[string]*keptRoom // by value
	making  map[string]*making   // by value
	dropped feature.Tally        // of the rooms that were dropped
	warned  bool                 // the latest room could not be made, and the log says so
}

// making is a room that a request makes, and that others may wait for.
type making struct {
	done chan struct{} // closed when room and err are final
	room *keptRoom
	err  error // why there is no room
}

// errUnmade stays where making a room ends in a panic.
var errUnmade = errors.New("making the room broke off")

// errFull means that a family has as many rooms as it may.
var errFull = errors.New("there are max_rooms of them")

// roomFor implements guard. A request that passes every room by makes none.
func (f *family) roomFor(w http.ResponseWriter, r *http.Request, s *setup, rs *feature.Setup, value string) (*keptRoom, *feature.Setup) {
	if value == "" {
		f.gate.problem(w, r, http.StatusNotFound, f.gate.languages)
		return nil, nil
	}
	if to := f.lookUp(value); to != nil {
		return to, to.Setup()
	}
	if f.gate.passesBy(w, r, f, nil, rs) {
		return nil, nil
	}
	to, err := f.room(r.Context(), value)
	if err != nil {
		rs.Answers(w.Header(), r)
		feature.RetryLater(w.Header(), f.Settings())
		kind := templates.Plain
		if errors.Is(err, errFull) {
			kind = templates.NoMoreRooms
		}
		f.gate.problemOf(w, r, kind, http.StatusServiceUnavailable, rs.Languages())
		return nil, nil
	}
	return to, to.Setup()
}

// room returns the room of a value. The first request for it makes it, and others that
// come meanwhile wait for that.
func (f *family) room(ctx context.Context, value string) (*keptRoom, error) {
	r, m, first := f.lookUpOrBegin(value)
	switch {
	case r != nil:
		return r, nil
	case m == nil:
		return nil, errFull
	case first:
		f.make(value, m)
	}
	select {
	case <-m.done:
		return m.room, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// lookUpOrBegin returns the room of a value, or else the making of it, which the caller
// has to do if they are the first. It returns neither if there are too many rooms.
func (f *family) lookUpOrBegin(value string) (r *keptRoom, m *making, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.made[value]; r != nil {
		r.markAsked(f.gate.o.Clock())
		return r, nil, false
	}
	if m := f.making[value]; m != nil {
		return nil, m, false
	}
	if f.full() {
		f.warn(errFull)
		return nil, nil, false
	}
	m = &making{done: make(chan struct{})}
	f.making[value] = m
	return nil, m, true
}

// full says whether the family has as many rooms as it may. The caller holds mu.
func (f *family) full() bool { return len(f.made)+len(f.making) >= f.setup.Load().Config.MaxRooms }

// make makes the room of a value. If that fails, the next request tries again.
func (f *family) make(value string, m *making) {
	defer close(m.done)
	f.gate.making.RLock()
	defer f.gate.making.RUnlock()
	m.err = errUnmade
	defer f.finish(value, m) // also after a panic
	m.room, m.err = f.newRoom(value)
}

// finish ends the making of a room, and puts the room to work if it was made.
func (f *family) finish(value string, m *making) {
	f.gate.pausing.Lock() // so that a change of the origin comes before this, or finds the room
	defer f.gate.pausing.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.making, value)
	if m.err != nil {
		f.warn(m.err)
		return
	}
	f.made[value], f.warned = m.room, false
	m.room.Queue.Pause(m.room.Setup().Origin.Failing())
	f.gate.keepSyncing(m.room, true)
}

// newRoom returns a room for a value, which the store knows.
func (f *family) newRoom(value string) (*keptRoom, error) {
	g := f.gate
	if err := g.sync.Err(); err != nil {
		return nil, fmt.Errorf("the gate is closed: %w", err)
	}
	rs, err := setupFor(f.setup.Load(), value, g.o.Log)
	if err != nil {
		return nil, err
	}
	r, err := g.newRoom(g.sync, rs, f.Counters)
	if err != nil {
		return nil, err
	}
	r.value, r.drop = value, func() bool { return f.drop(r) }
	rs.Pages.Overrides = r.Overrides
	r.Use(rs)
	r.markAsked(g.o.Clock())
	_, err = r.Overrides.Reload(g.sync, g.o.Clock(), fileOf(rs))
	return r, err
}

// renewed returns the setups that the rooms which there are get under rs, the family's
// next setup.
func (f *family) renewed(rs *feature.Setup) ([]renewal, error) {
	rooms, _ := f.rooms()
	all := make([]renewal, 0, len(rooms))
	for _, r := range rooms {
		next, err := setupFor(rs, r.value, f.gate.o.Log)
		if err != nil {
			return nil, fmt.Errorf("room %q: %w", r.Queue.Name(), err)
		}
		all = append(all, renewal{r, next})
	}
	return all, nil
}

// drop drops a room in which, by the latest sync, nobody is and nobody waits, and for
// which nobody has asked in room_idle; sooner if the family is full. It says whether it
// did.
func (f *family) drop(r *keptRoom) bool {
	n := r.Queue.Numbers()
	if n.Active > 0 || n.Waiting > 0 || !f.gate.making.TryRLock() {
		return false
	}
	defer f.gate.making.RUnlock()
	now := f.gate.o.Clock()
	known := now.Add(-r.Queue.Age(now, n)) // when nobody was there
	f.mu.Lock()
	defer f.mu.Unlock()
	idle := f.setup.Load().Config.RoomIdle
	if f.full() {
		idle = min(idle, crowdedIdle)
	}
	if known.UnixNano()-r.asked.Load() < int64(idle) {
		return false
	}
	delete(f.made, r.value)
	f.dropped.Add(&r.Room)
	r.Removed.Store(true)
	return true
}

// warn logs why a room could not be made, once until one is made. The caller holds mu.
func (f *family) warn(err error) {
	if !f.warned {
		f.setup.Load().Log.Warn("room not made", zap.Error(err))
	}
	f.warned = true
}

// counters implements guard.
func (f *family) counters() *metrics.Counters { return &f.Counters }

// rooms implements guard. The rooms are in the order of their values.
func (f *family) rooms() ([]*keptRoom, feature.Tally) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*keptRoom, 0, len(f.made))
	for _, r := range f.made {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *keptRoom) int { return cmp.Compare(a.value, b.value) })
	return all, f.dropped
}

// known implements guard.
func (f *family) known(value string) *keptRoom {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made[value]
}

// lookUp returns the room of a value, or nil where there is none now, for a request that
// asks for it.
func (f *family) lookUp(value string) *keptRoom {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.made[value]
	if r != nil {
		r.markAsked(f.gate.o.Clock())
	}
	return r
}

// Settings implements guard.
func (f *family) Settings() queue.Settings { return f.setup.Load().Config.Settings.WithDefaults() }

// Suspended implements guard.
func (f *family) Suspended() bool { return f.setup.Load().Config.Settings.Suspended }
