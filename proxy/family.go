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

	"github.com/anteroom-gate/anteroom/queue"
)

// The defaults of a family.
const (
	defaultMaxRooms = 100
	defaultRoomIdle = 10 * time.Minute
)

// crowdedIdle is how long an empty room is kept at most while there are as many as
// there may be: it is made again for whoever asks, and another one cannot be made.
const crowdedIdle = 10 * time.Second

// family makes a room for each value of the braces in its path when it is first
// asked for, and lets go of it when it has been empty for long. It outlives
// configurations, as rooms do.
type family struct {
	gate *Gate
	roomMetrics
	setup atomic.Pointer[roomSetup] // the latest, which its rooms' are made from

	mu         sync.Mutex // not held through calls to the store
	made       map[string]*room
	making     map[string]*making
	gone       storeErrors // of rooms that are gone
	complained bool        // of a room that could not be made, since one was
}

// making is a family's room that somebody is making.
type making struct {
	done chan struct{} // closed at its end; then the others do not change
	room *room
	err  error // why there is none
}

// errUnmade means that it is not known why a room could not be made.
var errUnmade = errors.New("the making of it broke off")

// errFull means that a family has as many rooms as it may.
var errFull = errors.New("there are max_rooms of them")

// roomFor implements guard. It makes no room for a request that passes any room by.
func (f *family) roomFor(w http.ResponseWriter, r *http.Request, s *setup, rs *roomSetup, value string) (*room, *roomSetup) {
	if value == "" {
		f.gate.problem(w, r, http.StatusNotFound, f.gate.languages)
		return nil, nil
	}
	if to := f.wanted(value); to != nil {
		return to, to.setup.Load()
	}
	if f.gate.passesBy(w, r, s.trust, f, rs) {
		return nil, nil
	}
	to, err := f.room(r.Context(), value)
	if err != nil {
		retryLater(w.Header(), f.settings())
		f.gate.problem(w, r, http.StatusServiceUnavailable, rs.set.Languages)
		return nil, nil
	}
	return to, to.setup.Load()
}

// room returns the room of a value. The first who asks makes it, and others who
// ask meanwhile wait for that.
func (f *family) room(ctx context.Context, value string) (*room, error) {
	r, m, first := f.begin(value)
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

// begin returns the room of a value if there is one, or else the making of it, which
// the first has to do. It returns neither if there are too many rooms.
func (f *family) begin(value string) (r *room, m *making, first bool) {
	now := f.gate.o.Clock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.made[value]; r != nil {
		r.keep(now)
		return r, nil, false
	}
	if m := f.making[value]; m != nil {
		return nil, m, false
	}
	if f.full() {
		f.complain(errFull)
		return nil, nil, false
	}
	m = &making{done: make(chan struct{})}
	f.making[value] = m
	return nil, m, true
}

// full says whether the family has as many rooms as it may. The caller holds mu.
func (f *family) full() bool { return len(f.made)+len(f.making) >= f.setup.Load().cfg.MaxRooms }

// make makes the room of a value. If that fails, the next who asks tries again.
func (f *family) make(value string, m *making) {
	defer close(m.done)
	f.gate.making.RLock()
	defer f.gate.making.RUnlock()
	m.err = errUnmade
	defer f.finish(value, m) // also after a panic
	m.room, m.err = f.newRoom(value)
}

// finish ends the making of a room, and puts it to work if there is one.
func (f *family) finish(value string, m *making) {
	f.gate.pausing.Lock() // what becomes known of the origin from now on reaches the room
	defer f.gate.pausing.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.making, value)
	if m.err != nil {
		f.complain(m.err)
		return
	}
	f.made[value], f.complained = m.room, false
	m.room.queue.Pause(m.room.setup.Load().origin.Failing())
	f.gate.keepSyncing(m.room, true)
}

// newRoom returns a room for a value, which the store knows.
func (f *family) newRoom(value string) (*room, error) {
	g := f.gate
	if err := g.sync.Err(); err != nil {
		return nil, fmt.Errorf("the gate is closed: %w", err)
	}
	rs, err := f.setup.Load().forValue(value, g.o.Log)
	if err != nil {
		return nil, err
	}
	r, err := g.newRoom(g.sync, rs, f.roomMetrics)
	if err != nil {
		return nil, err
	}
	r.value, r.unused = value, func() bool { return f.drop(r) }
	r.setup.Store(rs)
	r.keep(g.o.Clock())
	_, err = r.rebase(g.sync, g.o.Clock(), rs.cfg.Settings, rs.log)
	return r, err
}

// renewed returns the setups that rs, the family's next, means for the rooms that
// there are.
func (f *family) renewed(rs *roomSetup) ([]renewal, error) {
	rooms, _ := f.rooms()
	all := make([]renewal, 0, len(rooms))
	for _, r := range rooms {
		next, err := rs.forValue(r.value, f.gate.o.Log)
		if err != nil {
			return nil, fmt.Errorf("room %q: %w", r.queue.Name(), err)
		}
		all = append(all, renewal{r, next})
	}
	return all, nil
}

// drop lets go of a room in which nobody is and nobody waits, by the latest sync,
// and which nobody has asked for in a while, sooner if there is no space for
// another. It says whether it did.
func (f *family) drop(r *room) bool {
	if n := r.queue.Numbers(); n.Active > 0 || n.Waiting > 0 || !f.gate.making.TryRLock() {
		return false
	}
	defer f.gate.making.RUnlock()
	now := f.gate.o.Clock()
	f.mu.Lock()
	defer f.mu.Unlock()
	idle := f.setup.Load().cfg.RoomIdle
	if f.full() {
		idle = min(idle, crowdedIdle)
	}
	if now.UnixNano()-r.asked.Load() < int64(idle) {
		return false
	}
	delete(f.made, r.value)
	f.gone.add(r)
	r.removed.Store(true)
	return true
}

// complain logs why a room could not be made, once until one is. The caller holds
// mu.
func (f *family) complain(err error) {
	if !f.complained {
		f.setup.Load().log.Warn("room not made", zap.Error(err))
	}
	f.complained = true
}

// rooms implements guard. The rooms are in the order of their values.
func (f *family) rooms() ([]*room, storeErrors) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*room, 0, len(f.made))
	for _, r := range f.made {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *room) int { return cmp.Compare(a.value, b.value) })
	return all, f.gone
}

// known implements guard.
func (f *family) known(value string) *room {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made[value]
}

// wanted returns what known does, for somebody who asks for the room: it stays then.
func (f *family) wanted(value string) *room {
	now := f.gate.o.Clock()
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.made[value]
	if r != nil {
		r.keep(now)
	}
	return r
}

// settings implements guard.
func (f *family) settings() queue.Settings { return f.setup.Load().cfg.Settings.WithDefaults() }

// suspended implements guard.
func (f *family) suspended() bool { return f.setup.Load().cfg.Settings.Suspended }
