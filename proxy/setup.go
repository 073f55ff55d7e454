package proxy

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/assertion"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
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

	strangeChecks, unclearChecks once // warnings of checks that cannot be answered
}

// renewal is a room and the setup that it gets in the next configuration.
type renewal struct {
	room  *room
	setup *feature.Setup
}

// Configure replaces the configuration as a whole, and keeps the old one if it
// returns an error. Rooms are known by their names: one that stays keeps its
// line, its sessions and the changes that operators made while it ran. An origin
// that stays keeps its connections.
func (g *Gate) Configure(ctx context.Context, c Config) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.making.Lock()
	defer g.making.Unlock()
	defer g.syncRooms()
	old := g.current.Load()
	if old == nil {
		old = &setup{}
	}
	next, renewals, err := g.build(ctx, c, old)
	if err != nil {
		return fmt.Errorf("configuring the gate: %w", err)
	}
	g.putToWork(next, renewals)
	old.closeOrigins(next)
	g.closeKeys(c.Rooms)
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
	for _, f := range g.features {
		if f, ok := f.(feature.Chooser); ok {
			f.Use()
		}
	}
	g.current.Store(next)
	g.hooks.Use(next.cfg.Webhooks, next.cfg.WebhookHosts)
	g.pause(nil)
}

// syncRooms starts to sync the rooms that are configured now, and ends the syncing of
// those that are not any more.
func (g *Gate) syncRooms() {
	configured := map[*room]bool{}
	if s := g.current.Load(); s != nil {
		for r := range s.rooms {
			configured[r] = true
		}
	}
	for _, r := range g.rooms {
		g.keepSyncing(r, configured[r])
	}
	for _, f := range g.families {
		rooms, _ := f.rooms()
		for _, r := range rooms {
			g.keepSyncing(r, configured[r])
		}
	}
}

// keepSyncing starts to sync a room if it is at work, and ends its syncing if it is not.
// The caller holds making.
func (g *Gate) keepSyncing(r *room, atWork bool) {
	r.Removed.Store(!atWork)
	switch {
	case atWork && r.stopSync == nil:
		stop := make(chan struct{})
		r.stopSync = stop
		g.watch(r)
		g.tasks.Go(func() { g.keepInSync(r, stop) })
	case !atWork && r.stopSync != nil:
		close(r.stopSync)
		r.stopSync = nil
	}
}

// build makes the next setup of the gate, and those of the rooms that there are now. The
// store knows the rooms' settings then. If build fails, all is as it was.
func (g *Gate) build(ctx context.Context, c Config, old *setup) (*setup, []renewal, error) {
	s := &setup{
		cfg: c, trust: origin.NewTrust(c.TrustedProxies), origins: map[string]*origin.Origin{},
		subjects: map[string]*subject.Reader{}, byCookie: map[string][]guard{},
	}
	renewals, err := g.fill(ctx, s, old)
	if err == nil {
		err = g.rebase(ctx, renewals)
	}
	if err != nil {
		s.closeOrigins(old)
		return nil, nil, err
	}
	return s, renewals, nil
}

// fill makes what the setup holds, and returns the next setups of the rooms that there
// are now. It changes nothing that is at work.
func (g *Gate) fill(ctx context.Context, s, old *setup) ([]renewal, error) {
	var err error
	if s.signer, err = assertion.New(s.cfg.Keys, g.o.WallClock); err != nil {
		return nil, err
	}
	if s.table, err = route.New(s.cfg.routes()); err != nil {
		return nil, err
	}
	if err := g.makeSetups(ctx, s, old); err != nil {
		return nil, err
	}
	return g.openGuards(ctx, s)
}

// makeSetups makes the setups of the setup's rooms and families, with their parts, and its origins.
func (g *Gate) makeSetups(ctx context.Context, s, old *setup) error {
	for _, cfg := range s.cfg.Rooms {
		rs, err := g.newRoomSetup(cfg, s)
		if err == nil {
			rs.Origin, err = g.siteOf(s, old, cfg.HostHeader, cfg.Addresses())
		}
		if err != nil {
			return fmt.Errorf("room %q: %w", cfg.Name, err)
		}
		for _, header := range []string{cfg.Subject.Header, cfg.Subject.LabelHeader} {
			if header != "" {
				s.subjects[http.CanonicalHeaderKey(header)] = rs.Subjects
			}
		}
		s.setups = append(s.setups, rs)
	}
	if err := g.chooseFeatures(ctx, s); err != nil {
		return err
	}
	if s.cfg.SignRequests {
		s.assertions = s.signer.Room("")
	}
	addresses := config.Addresses(s.cfg.Origin, s.cfg.Origins)
	if addresses[0] == nil && s.cfg.Handler == nil {
		return nil
	}
	to, err := g.siteOf(s, old, s.cfg.HostHeader, addresses)
	s.fallback = to
	return err
}

// openGuards gives the setup its rooms and families, those that there are or new ones,
// and returns the next setups of the rooms.
func (g *Gate) openGuards(ctx context.Context, s *setup) ([]renewal, error) {
	var all []renewal
	for _, rs := range s.setups {
		guard, renewals, err := g.openGuard(ctx, rs)
		if err != nil {
			return nil, err
		}
		name := rs.Jar.BareName()
		s.byCookie[name], s.longest = append(s.byCookie[name], guard), max(s.longest, len(name))
		s.guards, all = append(s.guards, guard), append(all, renewals...)
	}
	return all, nil
}

// openGuard returns the room or the family that the setup rs is for, and the next setups
// of the rooms.
func (g *Gate) openGuard(ctx context.Context, rs *feature.Setup) (guard, []renewal, error) {
	name := rs.Config.Name
	if rs.Config.IsFamily() {
		f := g.families[name]
		if f == nil {
			f = &family{gate: g, Counters: g.metrics.Room(name), made: map[string]*room{}, making: map[string]*making{}}
			g.families[name] = f
		}
		renewals, err := f.renewed(rs)
		return f, renewals, err
	}
	r := g.rooms[name]
	if r == nil {
		var err error
		if r, err = g.newRoom(ctx, rs, g.metrics.Room(name)); err != nil {
			return nil, nil, fmt.Errorf("room %q: %w", name, err)
		}
		g.rooms[name] = r
	}
	return r, []renewal{{r, rs}}, nil
}

// rebase configures the rooms with the settings of their next setups, all or none.
func (g *Gate) rebase(ctx context.Context, renewals []renewal) error {
	now := g.o.Clock()
	before := make([]*overrides.File, 0, len(renewals))
	for _, n := range renewals {
		was, err := n.room.Overrides.Reload(ctx, now, fileOf(n.setup))
		if err != nil {
			setBack(ctx, now, renewals, before)
			return fmt.Errorf("room %q: %w", n.setup.Config.Name, err)
		}
		before = append(before, was)
	}
	return nil
}

// setBack gives the first rooms the settings again that they had before. A new room had
// none.
func setBack(ctx context.Context, now time.Time, renewals []renewal, before []*overrides.File) {
	for i, was := range before {
		if was == nil {
			continue
		}
		n := renewals[i]
		if _, err := n.room.Overrides.Reload(ctx, now, *was); err != nil {
			n.setup.Log.Error("room not set back", zap.Error(err))
		}
	}
}

// stripSubjects removes the headers by which the site names its users, unless a trusted
// proxy sent them. It does so for every room, since rooms may share an origin.
func (s *setup) stripSubjects(r *http.Request) {
	for _, subjects := range s.subjects {
		subjects.Strip(r, s.trust)
	}
}
