package proxy

import (
	"context"
	"iter"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// Admin returns the handler of the admin listener; see package admin.
func (g *Gate) Admin() *admin.Handler {
	c := admin.Config{
		Gate: adminGate{g}, Metrics: g.metrics.Handler(), Record: g.o.History, Token: g.o.AdminToken, Clock: g.o.Clock, Log: g.o.Log, Docs: g.o.Docs, Refused: g.o.Refused,
	}
	c.File = func() string { return g.current.Load().cfg.File }
	c.Operators = func() []admin.Operator { return g.current.Load().cfg.Operators }
	if r, found := has[admin.Record](g); found {
		c.Record = r
	}
	for f := range having[feature.Administered](g) {
		c.Parts = append(c.Parts, f.Admin)
	}
	return admin.New(c)
}

// adminGate is a gate as the admin API knows it.
type adminGate struct{ *Gate }

// Rooms implements admin.Gate.
func (g adminGate) Rooms() iter.Seq[admin.Room] {
	return func(yield func(admin.Room) bool) {
		for r := range g.current.Load().rooms {
			if !yield(adminRoom{r, g.Gate}) {
				return
			}
		}
	}
}

// Room implements admin.Gate.
func (g adminGate) Room(name string) (admin.Room, bool) {
	r := g.current.Load().roomNamed(name)
	return adminRoom{r, g.Gate}, r != nil
}

// Family implements admin.Gate.
func (g adminGate) Family(name string) (admin.Description, bool) {
	f := g.current.Load().familyNamed(name)
	if f == nil {
		return admin.Description{}, false
	}
	return describeRoom(f.setup.Load(), queue.Configuration{Settings: f.Settings()}), true
}

// RecordFailing implements admin.Gate.
func (g adminGate) RecordFailing() bool { return services{g.Gate}.RecordFailing() }

// Draining implements admin.Gate.
func (g adminGate) Draining() bool { return g.draining.Load() }

// adminRoom is a room as the admin API knows it.
type adminRoom struct {
	room *keptRoom
	gate *Gate
}

// Describe implements admin.Room.
func (a adminRoom) Describe() admin.Description {
	d := describeRoom(a.room.Setup(), a.room.Queue.Configuration())
	d.Now = a.room.Queue.StoreTime(a.gate.o.Clock())
	return d
}

// Queue implements admin.Room.
func (a adminRoom) Queue() admin.Queue { return a.room.Queue }

// Patch implements admin.Room. A room of a family is kept for a while then.
func (a adminRoom) Patch(ctx context.Context, now time.Time, patch []byte, lasts time.Duration, by string) error {
	a.room.markAsked(now)
	return a.room.Overrides.Patch(ctx, now, patch, lasts, by)
}

// Check implements admin.Room.
func (a adminRoom) Check(now time.Time, patch []byte) error {
	return a.room.Overrides.Check(now, patch)
}

// Events implements admin.Room.
func (a adminRoom) Events() event.List { return a.room.Overrides.Events() }

// EditEvents implements admin.Room. A room of a family is kept for a while then.
func (a adminRoom) EditEvents(ctx context.Context, now time.Time, by string, edit func(event.List) (event.List, error)) error {
	a.room.markAsked(now)
	return a.room.Overrides.EditEvents(ctx, now, by, edit)
}

// Merged implements admin.Room.
func (a adminRoom) Merged(e event.Event) queue.Settings { return a.room.Overrides.Merged(e) }

// Draw implements admin.Room.
func (a adminRoom) Draw(name string) *event.Draw { return a.room.Overrides.Draw(name) }

// Order implements admin.Room.
func (a adminRoom) Order(d *event.Draw) (event.Order, error) {
	if r, found := has[feature.Registrar](a.gate); found {
		return r.Order(a.room.Queue.Name(), d)
	}
	return event.NewOrder(a.room.Queue.Name(), d, nil), nil
}

// OrderHeader implements admin.Room.
func (a adminRoom) OrderHeader(d *event.Draw) (event.Header, error) {
	if r, found := has[feature.Registrar](a.gate); found {
		return r.Header(a.room.Queue.Name(), d)
	}
	return event.NewOrder(a.room.Queue.Name(), d, nil).Header, nil
}

// Disconnect implements admin.Room.
func (a adminRoom) Disconnect(id queue.ID) { a.room.PutOut(a.gate.o.Clock(), id) }

// Preview implements admin.Room.
func (a adminRoom) Preview(now time.Time, state, language, message string) (page []byte, policy string, found bool) {
	return a.room.Setup().Pages.Preview(now, a.room.Queue.Numbers(), state, language, message)
}

// SupportCode implements admin.Room.
func (a adminRoom) SupportCode(short [8]byte) string {
	code := a.room.Setup().Pages.Support.CodeOfShort(short)
	return string(code[:])
}

// PutAhead implements admin.Room. A room of a family is kept for a while then.
func (a adminRoom) PutAhead(ctx context.Context, now time.Time, code string, ahead bool, by string) error {
	a.room.markAsked(now)
	return a.room.Overrides.PutAhead(ctx, now, code, ahead, by)
}

// IsAhead implements admin.Room.
func (a adminRoom) IsAhead(now time.Time, code string) bool {
	return a.room.Overrides.IsAhead(now, code)
}

// NoteFavour implements admin.Room.
func (a adminRoom) NoteFavour(ctx context.Context, now time.Time, by string) error {
	return a.room.Overrides.NoteFavour(ctx, now, by)
}

// Origins implements admin.Room.
func (a adminRoom) Origins() []admin.Origin {
	rs := a.room.Setup()
	states := []admin.Origin{}
	for i, o := range rs.Origin.Origins() {
		states = append(states, admin.Origin{Address: config.OriginName(rs.Config.Addresses()[i]), Failing: o.Failing()})
	}
	return states
}

// describe returns the setup for the admin API, with the configuration c of its queue.
func describeRoom(rs *feature.Setup, c queue.Configuration) admin.Description {
	_, hears := feature.PartOf[feature.Hearer](rs)
	return admin.Description{
		Config: &rs.Config, Names: rs.Config.Subject.HasLabels() || hears, Options: roomOptionsOf(rs.Config.Options), Family: rs.Family, CookieName: rs.Jar.Name(false), Language: rs.Pages.Set.Default(), Configuration: c,
	}
}
