package world

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/anteroom-gate/anteroom/cookie"
	"github.com/anteroom-gate/anteroom/proxy"
	"github.com/anteroom-gate/anteroom/proxy/route"
	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/memstore"
)

var (
	errDead = errors.New("the process has died")
	errFull = errors.New("no space left on device")
)

// roomName is that of the only room.
const roomName = "shop"

// machine is where a gate runs, one process after the other.
type machine struct {
	world  *world
	number int // from 1 on
	disk   *disk
	starts int
	now    atomic.Pointer[process] // nil while none runs
}

// process is a running gate.
type process struct {
	number int
	gate   *proxy.Gate
	store  queue.Store
	mount  *mount
	dead   atomic.Bool // nothing that it does has an effect any more
	lives  context.Context
	end    context.CancelFunc // breaks its connections
}

// start starts a gate on the machine.
func (m *machine) start(ctx context.Context) error {
	m.starts++
	w, p := m.world, &process{number: m.number}
	p.mount = m.disk.mount(&p.dead)
	p.lives, p.end = context.WithCancel(ctx)
	own := fmt.Sprintf("gate %d.%d", m.number, m.starts)
	store, err := w.openStore(ctx, p)
	if err != nil {
		return err
	}
	p.store = &storeOf{Store: store, process: p, link: newLink(w.plan.Seed, own+" store", 10*time.Microsecond, 80*time.Microsecond)}
	key, err := cookie.ParseKey("a key that every gate of this world has")
	if err != nil {
		return err
	}
	c := proxy.Config{Keys: []cookie.Key{key}, Handler: w.site.behind(p), Rooms: []proxy.RoomConfig{
		{Name: roomName, Routes: []route.Route{{Path: "/"}}, JSON: true, Settings: w.plan.Settings},
	}}
	log := zap.New(&said{history: w.history, gate: m.number})
	p.gate, err = proxy.New(ctx, c, w.pace(proxy.Options{Store: p.store, Log: log, WallClock: time.Now, Uint64: shared(source(w.plan.Seed, own)), Wait: apart()}))
	if err != nil {
		return errors.Join(err, store.Close())
	}
	m.now.Store(p)
	w.history.add(Event{What: Started, Gate: m.number, Who: nobody})
	return nil
}

// kill ends the process as kill -9 does: from now on nothing that it does has an effect.
func (m *machine) kill() {
	p := m.now.Swap(nil)
	if p == nil {
		return
	}
	p.dead.Store(true)
	p.end()
	m.world.history.add(Event{What: Died, Gate: m.number, Who: nobody})
	p.gate.Close() // ends its goroutines
	_ = p.store.Close()
}

// stop ends the process in order.
func (m *machine) stop() {
	p := m.now.Swap(nil)
	if p == nil {
		return
	}
	p.gate.Drain()
	p.gate.Close()
	if err := p.store.Close(); err != nil {
		m.world.history.add(Event{What: Said, Gate: m.number, Who: nobody, Text: "closing the store: " + err.Error()})
	}
	p.dead.Store(true)
	p.end()
}

// storeOf is a process's way to its store.
type storeOf struct {
	queue.Store
	process *process
	link    *link
}

func (s *storeOf) pass() error {
	s.link.pass()
	if s.process.dead.Load() {
		return errDead
	}
	return nil
}

// Configure implements queue.Store.
func (s *storeOf) Configure(ctx context.Context, room string, c queue.Configuration) error {
	if err := s.pass(); err != nil {
		return err
	}
	return s.Store.Configure(ctx, room, c)
}

// Admit implements queue.Store.
func (s *storeOf) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	if err := s.pass(); err != nil {
		return queue.Status{}, err
	}
	return s.Store.Admit(ctx, room, p, claims, grants)
}

// Sync implements queue.Store.
func (s *storeOf) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	if err := s.pass(); err != nil {
		return nil, err
	}
	return s.Store.Sync(ctx, room, p)
}

// Roll implements queue.Store.
func (s *storeOf) Roll(ctx context.Context, room string, ids []queue.ID) (*queue.Roll, error) {
	if err := s.pass(); err != nil {
		return nil, err
	}
	return s.Store.Roll(ctx, room, ids)
}

// openStore opens the store of a process.
func (w *world) openStore(_ context.Context, p *process) (queue.Store, error) {
	return memstore.Config{Dir: "/var/lib/anteroom", Files: p.mount, OnLoss: func(room string, reason error) {
		w.history.add(Event{What: Said, Gate: p.number, Who: nobody, Text: fmt.Sprintf("the journal of %s is damaged: %v", room, reason)})
	}}.Open()
}

// pace sets how often a gate calls its store, as the program does.
func (w *world) pace(o proxy.Options) proxy.Options { return o }

// handler is what answers the requests that come to the machine; nil while none does.
func (m *machine) handler() (http.Handler, *process) {
	p := m.now.Load()
	if p == nil {
		return nil, nil
	}
	return p.gate, p
}

// said has what a gate logs in the history: what operators are warned of, and worse.
type said struct {
	history *History
	gate    int
	fields  []zapcore.Field
}

// Enabled implements zapcore.Core.
func (s *said) Enabled(l zapcore.Level) bool { return l >= zapcore.WarnLevel }

// With implements zapcore.Core.
func (s *said) With(fields []zapcore.Field) zapcore.Core {
	return &said{s.history, s.gate, append(s.fields[:len(s.fields):len(s.fields)], fields...)}
}

// Check implements zapcore.Core.
func (s *said) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if s.Enabled(e.Level) {
		return to.AddCore(e, s)
	}
	return to
}

// Write implements zapcore.Core.
func (s *said) Write(e zapcore.Entry, fields []zapcore.Field) error {
	text := e.Message
	for _, f := range append(s.fields[:len(s.fields):len(s.fields)], fields...) {
		if err, ok := f.Interface.(error); ok {
			text += ": " + err.Error()
		} else if f.Key == "panic" {
			text += fmt.Sprint(": panic: ", f.Interface, f.String)
		}
	}
	s.history.add(Event{What: Said, Gate: s.gate, Who: nobody, Text: text})
	return nil
}

// Sync implements zapcore.Core.
func (s *said) Sync() error { return nil }
