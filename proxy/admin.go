package proxy

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/anteroom-gate/anteroom/proxy/admin"
	"github.com/anteroom-gate/anteroom/queue"
)

// Admin returns the handler of the admin listener; see package admin.
func (g *Gate) Admin() http.Handler {
	return admin.New(admin.Config{
		Gate: adminGate{g}, Metrics: g.metrics.Handler(), Token: g.o.AdminToken, Clock: g.o.Clock, Log: g.o.Log,
	})
}

// adminGate is a gate as the admin API knows it.
type adminGate struct{ *Gate }

// Rooms implements admin.Gate.
func (g adminGate) Rooms() iter.Seq[admin.Room] {
	return func(yield func(admin.Room) bool) {
		for r := range g.current.Load().rooms {
			if !yield(adminRoom{r}) {
				return
			}
		}
	}
}

// Room implements admin.Gate.
func (g adminGate) Room(name string) (admin.Room, bool) {
	r := g.current.Load().roomNamed(name)
	return adminRoom{r}, r != nil
}

// Family implements admin.Gate.
func (g adminGate) Family(name string) (admin.Description, bool) {
	f := g.current.Load().familyNamed(name)
	if f == nil {
		return admin.Description{}, false
	}
	return f.setup.Load().describe(queue.Configuration{Settings: f.settings()}), true
}

// Waitlists implements admin.Gate.
func (g adminGate) Waitlists() iter.Seq[admin.Waitlist] {
	return func(yield func(admin.Waitlist) bool) {
		for l := range g.current.Load().waitlists {
			if !yield(l) {
				return
			}
		}
	}
}

// Waitlist implements admin.Gate.
func (g adminGate) Waitlist(name string) (admin.Waitlist, bool) {
	l, found := g.current.Load().lists[name]
	return l.list, found
}

// Draining implements admin.Gate.
func (g adminGate) Draining() bool { return g.draining.Load() }

// adminRoom is a room as the admin API knows it.
type adminRoom struct{ room *room }

// Describe implements admin.Room.
func (a adminRoom) Describe() admin.Description {
	return a.room.setup.Load().describe(a.room.queue.Configuration())
}

// Queue implements admin.Room.
func (a adminRoom) Queue() admin.Queue { return a.room.queue }

// Patch implements admin.Room. A room of a family is kept for a while then.
func (a adminRoom) Patch(ctx context.Context, now time.Time, patch []byte, by string) error {
	a.room.markAsked(now)
	return a.room.overrides.Patch(ctx, now, patch, by)
}

// Disconnect implements admin.Room.
func (a adminRoom) Disconnect(id queue.ID) { a.room.seats.cut(id) }

// describe returns the setup for the admin API, with the configuration c of its queue.
func (rs *roomSetup) describe(c queue.Configuration) admin.Description {
	return admin.Description{
		Config: &rs.cfg, Family: rs.family, CookieName: rs.jar.Name(false), Language: rs.set.Default(), Configuration: c,
	}
}
