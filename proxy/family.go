package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/proxy/route"
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
// configurations, as lines do.
type family struct {
	gate  *Gate
	model atomic.Pointer[room] // what its rooms have in common, as configured

	mu         sync.Mutex // not held through calls to the store
	members    map[string]*member
	gone       blindness // of rooms that are gone
	complained bool      // of a room that could not be made, since one was
}

// blindness is what line.queue.StoreErrors tells of rooms.
type blindness struct{ unanswered, letIn uint64 }

func (b *blindness) add(l *line) {
	unanswered, letIn := l.queue.StoreErrors()
	b.unanswered += unanswered
	b.letIn += letIn
}

// member is a value's room, or the making of it.
type member struct {
	value string
	asked time.Time            // when somebody last asked for it; guarded by the family's mu
	room  atomic.Pointer[room] // its latest configuration; nil until it is made
	made  chan struct{}        // closed when it is, or has failed
	err   error                // why it has
}

// errUnmade means that it is not known why a room could not be made.
var errUnmade = errors.New("the making of it broke off")

// errFull means that a family has as many rooms as it may.
var errFull = errors.New("there are max_rooms of them")

// room returns the room of a value. The first who asks makes it, and others who
// ask meanwhile wait for that.
func (f *family) room(ctx context.Context, value string) (*room, error) {
	m, found, err := f.member(value)
	if err != nil {
		return nil, err
	}
	if !found {
		f.make(m)
	}
	select {
	case <-m.made:
		return m.room.Load(), m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// member returns the member of a value, and whether it was there before.
func (f *family) member(value string) (m *member, found bool, err error) {
	now := f.gate.o.Clock()
	f.mu.Lock()
	defer f.mu.Unlock()
	m, found = f.members[value]
	if !found {
		if len(f.members) >= f.model.Load().cfg.MaxRooms {
			f.complain(errFull)
			return nil, false, errFull
		}
		m = &member{value: value, made: make(chan struct{})}
		f.members[value] = m
	}
	m.asked = now
	return m, found, nil
}

// make gives a new member its room, or takes it back, so that the next who asks
// tries again.
func (f *family) make(m *member) {
	defer close(m.made)
	f.gate.making.RLock()
	defer f.gate.making.RUnlock()
	var r *room
	err := errUnmade
	defer func() { f.settle(m, r, err) }() // also after a panic
	if r, err = f.newRoom(m.value); err != nil {
		return
	}
	m.room.Store(r) // so that what is found out of its origin from now on reaches it
	f.gate.pauseOne(r)
	l := r.line
	f.gate.syncFor(r, l, func() bool { return f.drop(m, l) })
}

// settle notes what came of making a room.
func (f *family) settle(m *member, r *room, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		m.err = err
		delete(f.members, m.value)
		f.complain(err)
		return
	}
	m.room.Store(r)
	f.complained = false
}

// newRoom returns the room of a value, which the store knows.
func (f *family) newRoom(value string) (*room, error) {
	g := f.gate
	if err := g.sync.Err(); err != nil {
		return nil, fmt.Errorf("the gate is closed: %w", err)
	}
	r, err := f.model.Load().one(value)
	if err != nil {
		return nil, err
	}
	if r.line, err = g.newLine(g.sync, r); err != nil {
		return nil, err
	}
	_, err = r.line.rebase(g.sync, g.o.Clock(), r.cfg, r.log)
	return r, err
}

// one returns the room that a family's model is for a value, without its line.
func (r *room) one(value string) (*room, error) {
	one := &room{
		cfg: r.cfg, keys: r.keys, log: r.family.gate.o.Log, family: r.family, value: value,
		origin: r.origin, rules: r.rules, set: r.set, roomMetrics: r.roomMetrics,
	}
	one.cfg.Name += "." + value
	if r.cfg.CookieSuffix != "" {
		one.cfg.CookieSuffix += "." + value
	}
	one.cfg.Routes = slices.Clone(r.cfg.Routes)
	for i := range one.cfg.Routes {
		to := &one.cfg.Routes[i]
		to.Path = strings.Replace(to.Path, "{"+to.Value()+"}", value, 1)
	}
	return one, one.takeName()
}

// drop lets go of a room in which nobody is and nobody waits, by the latest sync,
// and which nobody has asked for in a while, sooner if there is no space for
// another. It says whether it did.
func (f *family) drop(m *member, l *line) bool {
	if n := l.queue.Numbers(); n.Active > 0 || n.Waiting > 0 || !f.gate.making.TryRLock() {
		return false
	}
	defer f.gate.making.RUnlock()
	now := f.gate.o.Clock()
	f.mu.Lock()
	defer f.mu.Unlock()
	cfg := &f.model.Load().cfg
	idle := cfg.RoomIdle
	if len(f.members) >= cfg.MaxRooms {
		idle = min(idle, crowdedIdle)
	}
	if now.Sub(m.asked) < idle {
		return false
	}
	delete(f.members, m.value)
	f.gone.add(l)
	l.room.Store(nil)
	return true
}

// complain logs why a room could not be made, once until one is. The caller holds
// mu.
func (f *family) complain(err error) {
	if !f.complained {
		f.gate.o.Log.Warn("room not made", zap.String("room", f.model.Load().cfg.Name), zap.Error(err))
	}
	f.complained = true
}

// all returns the members that have rooms, by value, and what is told of those
// that are gone.
func (f *family) all() (all []*member, gone blindness) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all = make([]*member, 0, len(f.members))
	for _, m := range f.members {
		if m.room.Load() != nil {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *member) int { return cmp.Compare(a.value, b.value) })
	return all, f.gone
}

// known returns the room of a value if there is one.
func (f *family) known(value string) *room {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m, ok := f.members[value]; ok {
		return m.room.Load()
	}
	return nil
}

// ask is known for somebody who asks for the room: it stays then.
func (f *family) ask(value string) *room {
	now := f.gate.o.Clock()
	f.mu.Lock()
	defer f.mu.Unlock()
	m, ok := f.members[value]
	if !ok {
		return nil
	}
	m.asked = now
	return m.room.Load()
}

// oneOf returns the family's room that guards a request; nil if it has answered
// instead. A request that passes any room by makes none: it gets the model.
func (g *Gate) oneOf(w http.ResponseWriter, r *http.Request, s *setup, model *room, value string) *room {
	if value == "" {
		g.problem(w, r, http.StatusNotFound, g.languages)
		return nil
	}
	if one := model.family.ask(value); one != nil {
		return one
	}
	if model.exempts(r, s.trust) || preflight(r) {
		return model
	}
	one, err := model.family.room(r.Context(), value)
	if err != nil {
		model.retryLater(w.Header())
		g.problem(w, r, http.StatusServiceUnavailable, model.set.Languages)
		return nil
	}
	return one
}

// keptCookies is of how many rooms of a family a visitor keeps cookies.
const keptCookies = 24

// excess returns Set-Cookie values that end the cookies of rooms of the family
// which the visitor has come to before many others.
func (v visitor) excess(r *http.Request) []string {
	if v.room.family == nil {
		return nil
	}
	return v.room.jar.Excess(r.Header, keptCookies, v.https)
}

// isFamily says whether the configuration is of a room for each value.
func (c *RoomConfig) isFamily() bool {
	return slices.ContainsFunc(c.Routes, func(r route.Route) bool { return r.Value() != "" })
}
