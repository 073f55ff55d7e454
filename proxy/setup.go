package proxy

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/fairdoor-gate/fairdoor/proxy/assertion"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
)

// setup is one configuration of the gate at work. It does not change. The rooms and
// families that it names outlive it.
type setup struct {
	cfg      Config
	table    *route.Table
	guards   []guard            // in the order of the configuration's rooms, by which the table counts them
	setups   []*feature.Setup   // of the guards, in the same order
	byCookie map[string][]guard // the guards by the bare name of their cookie; for a family without its rooms' values
	longest  int                // the length of the longest of those names
	trust    origin.Trust
	origins  map[string]*origin.Origin
	subjects map[string]*subject.Reader // of every room, by the headers that name its users
	fallback http.Handler               // for requests that no room guards; nil if they are refused
	signer   *assertion.Signer
	// assertions are of the requests that no room guards; nil if none are signed.
	assertions *assertion.Room
}

// renewal is a room and the setup that it gets in the next configuration.
type renewal struct {
	room  *keptRoom
	setup *feature.Setup
}

// Configure replaces the configuration as a whole, and keeps the old one if it
// returns an error. Rooms are known by their names: one that stays keeps its
// line, its sessions and the changes that operators made while it ran. An origin
// that stays keeps its connections.
func (g *Gate) Configure(ctx context.Context, c Config) error { return g.configure(ctx, c, false) }

// Renew is Configure with the configuration in force, of which files that it names were read again. The
// rooms' settings and events stay as all gates have them: another gate may have put a newer file's in force.
func (g *Gate) Renew(ctx context.Context, c Config) error { return g.configure(ctx, c, true) }

func (g *Gate) configure(ctx context.Context, c Config, renews bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.making.Lock()
	defer g.making.Unlock()
	defer g.syncRooms()
	old := g.current.Load()
	if old == nil {
		old = &setup{}
	}
	b := newBuilder(g, c, old)
	b.renews = renews
	renewals, err := b.build(ctx)
	if err != nil {
		return fmt.Errorf("configuring the gate: %w", err)
	}
	g.putToWork(b.next, renewals)
	old.closeOrigins(b.next)
	closeKeys(g.keys, &c)
	return nil
}

// putToWork makes a setup the one that requests go by, and those of its rooms theirs.
func (g *Gate) putToWork(next *setup, renewals []renewal) {
	for i, guard := range next.guards {
		if f, ok := guard.(*family); ok {
			f.setup.Store(next.setups[i])
		}
	}
	for _, n := range renewals {
		n.setup.Pages.Overrides = n.room.Overrides
		n.room.Use(n.setup)
	}
	for f := range having[feature.Chooser](g) {
		f.Use()
	}
	g.current.Store(next)
	for _, o := range next.origins {
		o.Watch()
	}
	g.pause(nil)
}

// syncRooms starts to sync the rooms that are configured now, and ends the syncing of
// those that are not any more. It does so in the order of their names, by which each start is alike.
func (g *Gate) syncRooms() {
	configured := map[*keptRoom]bool{}
	if s := g.current.Load(); s != nil {
		for r := range s.rooms {
			configured[r] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.rooms)) {
		r := g.rooms[name]
		g.keepSyncing(r, configured[r])
	}
	for _, name := range slices.Sorted(maps.Keys(g.families)) {
		rooms, _ := g.families[name].rooms()
		for _, r := range rooms {
			g.keepSyncing(r, configured[r])
		}
	}
}

// keepSyncing starts to sync a room if it is at work, and ends its syncing if it is not.
// The caller holds making.
func (g *Gate) keepSyncing(r *keptRoom, atWork bool) {
	r.Removed.Store(!atWork)
	switch {
	case atWork && r.stopSync == nil:
		stop := make(chan struct{})
		r.stopSync = stop
		g.follow(r)
		g.start(func() { g.keepInSync(r, stop) })
	case !atWork && r.stopSync != nil:
		close(r.stopSync)
		r.stopSync = nil
	}
}

// stripSubjects removes the headers by which the site names its users, unless a trusted
// proxy sent them. It does so for every room, since rooms may share an origin.
func (s *setup) stripSubjects(r *http.Request) {
	for _, subjects := range s.subjects {
		subjects.Strip(r, s.trust)
	}
}
