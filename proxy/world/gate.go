package world

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

var errDead = errors.New("the process has died")

// roomName is that of the only room.
const roomName = "shop"

// machine is where a gate runs, one process after the other.
type machine struct {
	world  *world
	number int // from 1 on
	disk   *disk
	front  front // to the balancer
	wire   wire  // to Redis
	starts int
	now    atomic.Pointer[process] // nil while none runs

	siteless atomic.Bool // it cannot reach the site
	busy     atomic.Bool // its goroutines are held up
	stalls   atomic.Uint64
	clock    machineClock
	booted   time.Time // by the steady clock
}

// process is a running gate.
type process struct {
	on     *machine
	gate   *proxy.Gate
	admin  http.Handler
	config proxy.Config
	store  queue.Store
	mount  *mount
	turns  turns
	off    time.Duration // by how much the machine's clock was set when the process started
	stands atomic.Pointer[stand]
	late   atomic.Pointer[lateRead]
	seen   atomic.Pointer[chan struct{}] // is closed when the site sees somebody who has just been let in; nil where nobody waits for that
	dead   atomic.Bool                   // nothing that it does has an effect any more
	lives  context.Context
	end    context.CancelFunc // breaks its connections
}

// start starts a gate on the machine.
func (m *machine) start(ctx context.Context) error {
	m.starts++
	if m.starts == 1 {
		m.booted = m.clock.steady()
	}
	w, p := m.world, &process{on: m, off: m.clock.off()}
	p.mount = m.disk.mount(&p.dead)
	p.lives, p.end = context.WithCancel(ctx)
	own := fmt.Sprintf("gate %d.%d", m.number, m.starts)
	o, err := w.openStore(ctx, p, own)
	if err != nil {
		return err
	}
	p.store = o.Store
	key, err := cookie.ParseKey(gatesKey)
	if err != nil {
		return err
	}
	p.config = proxy.Config{Keys: []cookie.Key{key}, Handler: w.site.behind(p), TrustedProxies: []netip.Prefix{netip.PrefixFrom(netip.MustParseAddr(balancer), 32)}, Rooms: []proxy.RoomConfig{
		{Name: roomName, Routes: []route.Route{{Path: "/"}}, Basics: config.Basics{JSON: true}, Settings: w.plan.Settings, Events: w.plan.Sale.events(w.history.begun)},
	}}
	if w.plan.Waitlist != nil {
		w.openWaitlist(p)
	}
	w.takePasses(p)
	w.callVisitors(p, &o)
	o.Record = func(ctx context.Context) (*waitlist.Store, error) {
		return waitlist.Open(ctx, filepath.Join(w.dir, "record.db"))
	}
	o.Log, o.Clock, o.WallClock = zap.New(&said{history: w.history, gate: m.number}), p.now, m.clock.wall
	o.Uint64, o.Wait, o.Turn = shared(source(w.plan.Seed, own)), p.turns.wait, p.turns.next
	if p.gate, err = proxy.New(ctx, p.config, o); err != nil {
		return errors.Join(err, p.store.Close())
	}
	p.admin = p.gate.Admin()
	m.now.Store(p)
	w.history.add(Event{What: Started, Gate: m.number, Who: nobody})
	return nil
}

// kill ends a process as kill -9 does: from now on nothing that it does has an effect. It returns
// false if the process has ended before.
func (m *machine) kill(p *process) bool {
	if p == nil || !m.now.CompareAndSwap(p, nil) {
		return false
	}
	p.dead.Store(true)
	p.end()
	p.wake()
	m.world.history.add(Event{What: Died, Gate: m.number, Who: nobody})
	p.gate.Close() // ends its goroutines
	_ = p.store.Close()
	return true
}

// stop ends the process in order: what is under way is finished. It returns false if none runs.
func (m *machine) stop() bool {
	p := m.now.Swap(nil)
	if p == nil {
		return false
	}
	m.world.history.add(Event{What: Stopped, Gate: m.number, Who: nobody})
	p.gate.Drain()
	wait(shutdownGrace)
	p.gate.Close()
	if err := p.store.Close(); err != nil {
		m.world.history.add(Event{What: Said, Gate: m.number, Who: nobody, Text: "closing the store: " + err.Error()})
	}
	p.dead.Store(true)
	p.end()
	return true
}

// shutdownGrace is how long requests have to finish: longer than any takes here.
const shutdownGrace = 2 * time.Second

// handler is what answers the requests that come to the machine; nil while none does.
func (m *machine) handler() (http.Handler, *process) {
	p := m.now.Load()
	if p == nil || !m.front.passes() {
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
