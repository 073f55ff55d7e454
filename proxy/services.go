package proxy

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/assertion"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/networks"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// services is the gate as its features know it.
type services struct{ gate *Gate }

// The methods implement feature.Gate.

func (s services) Now() time.Time              { return s.gate.o.Clock() }
func (s services) Context() context.Context    { return s.gate.sync }
func (s services) Log() *zap.Logger            { return s.gate.o.Log }
func (s services) Metrics() *metrics.Metrics   { return s.gate.metrics }
func (s services) StateDir(name string) string { return below(s.gate.o.StateDir, name) }
func (s services) Go(task func())              { s.gate.start(task) }
func (s services) Signer() *assertion.Signer   { return s.gate.current.Load().signer }
func (s services) Attempts() *networks.Bounds  { return s.gate.attempts }

func (s services) Wait() func(<-chan struct{}, time.Duration) { return s.gate.o.Wait }

func (s services) Hooks() *webhooks.Sender {
	if m, found := has[feature.Messenger](s.gate); found {
		return m.Sender()
	}
	return new(webhooks.Sender)
}

// Survive implements feature.Gate: what broke off is lost this once, and the gate and its rooms go
// on.
func (s services) Survive(doing string) {
	if p := recover(); p != nil {
		s.gate.o.Log.Error("panic", zap.String("doing", doing), zap.Any("panic", p), zap.Stack("stack"))
	}
}

func (s services) Record(ctx context.Context) (*waitlist.Store, error) {
	g := s.gate
	if record := g.record.Load(); record != nil {
		return record, nil
	}
	if g.o.Record == nil {
		return nil, errors.New("a gate needs a record for waitlists and passes")
	}
	record, err := g.o.Record(ctx)
	if err != nil {
		return nil, err
	}
	g.record.Store(record)
	if record.Failing() {
		g.o.Log.Error("the record of waitlists and passes does not answer: rooms are served without it until it does")
	}
	return record, nil
}

func (s services) Room(name string) *feature.Room {
	at := s.gate.current.Load()
	if at == nil { // the gate is being made
		return nil
	}
	if of := at.roomNamed(name); of != nil {
		return &of.Room
	}
	return nil
}

func (s services) OpenRoom(ctx context.Context, name string) (*feature.Room, error) {
	if of := s.Room(name); of != nil {
		return of, nil
	}
	name, value, _ := strings.Cut(name, ".")
	f := s.gate.current.Load().familyNamed(name)
	if f == nil || !route.IsValue(value) {
		return nil, nil
	}
	of, err := f.room(ctx, strings.ToLower(value))
	if err != nil {
		return nil, err
	}
	return &of.Room, nil
}

func (s services) RoomAt(host, path string) *feature.Room {
	if of, _ := s.gate.current.Load().roomAt(host, path); of != nil {
		return &of.Room
	}
	return nil
}

func (s services) Setups() iter.Seq[*feature.Setup] {
	return slices.Values(s.gate.current.Load().setups)
}

func (s services) Groups() iter.Seq[feature.Group] {
	return func(yield func(feature.Group) bool) {
		at := s.gate.current.Load()
		if at == nil {
			return
		}
		for i, of := range at.guards {
			rooms, gone := of.rooms()
			group := feature.Group{Counters: of.counters(), Setup: at.setups[i], Rooms: make([]*feature.Room, len(rooms)), Gone: gone}
			for i, r := range rooms {
				group.Rooms[i] = &r.Room
			}
			if !yield(group) {
				return
			}
		}
	}
}

func (s services) Trust() origin.Trust { return s.gate.current.Load().trust }

func (s services) Requesters(r *http.Request) []*feature.Visit {
	at, now := s.gate.current.Load(), s.gate.o.Clock()
	asked, _ := at.visitorsAsked(r, now)
	from, _ := at.visitorsOfPage(r, now) // cookies that cannot be read hold no ticket that counts
	return append(asked, from...)
}

func (s services) Enter(addr netip.Addr) (leave func(), ok bool) {
	of, ok := s.gate.uncounted.Enter(addr, s.gate.o.Clock())
	return of.Leave, ok
}

func (s services) Serve(w http.ResponseWriter, r *http.Request) {
	if !s.gate.refuses(w, r) {
		s.gate.door(w, r, s.gate.current.Load())
	}
}

func (s services) Problem(w http.ResponseWriter, r *http.Request, status int) {
	s.gate.problem(w, r, status, s.gate.languages)
}

func (s services) Allow(w http.ResponseWriter, r *http.Request, methods string) bool {
	return s.gate.current.Load().allow(w, r, methods)
}

func (s services) Stand(v *feature.Visit, d *room.Decision) any { return describe(v, d) }

func (s services) Visit(ctx context.Context, now time.Time, of *feature.Room, q room.Request) room.Decision {
	return forEvents(of).Visit(ctx, now, q)
}

// RecordFailing implements feature.Gate.
func (s services) RecordFailing() bool {
	record := s.gate.record.Load()
	return record != nil && record.Failing()
}

// collectRecord has the metrics tell whether the record answers.
func (s services) collectRecord() {
	failing := metrics.Gauge("fairdoor_record_failing", "1 while the record of waitlists and passes does not answer.")
	s.gate.metrics.Collect(func(tell metrics.Tell) { tell(failing, metrics.If(s.RecordFailing())) }, failing)
}

// closeRecord closes the record of waitlists and passes, once nothing writes any more.
func (s services) closeRecord() {
	record := s.gate.record.Load()
	if record == nil {
		return
	}
	if err := record.Close(); err != nil {
		s.gate.o.Log.Error("closing the record of waitlists and passes failed", zap.Error(err))
	}
}
