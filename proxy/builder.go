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

// builder makes the next setup of a gate, and those of the rooms that there are now. It changes
// nothing that is at work.
type builder struct {
	gate      *Gate
	next, old *setup
	renews    bool // see [Gate.Renew]
}

func newBuilder(g *Gate, c Config, old *setup) *builder {
	return &builder{gate: g, next: &setup{
		cfg: c, trust: origin.NewTrust(c.TrustedProxies), origins: map[string]*origin.Origin{},
		subjects: map[string]*subject.Reader{}, byCookie: map[string][]guard{},
	}, old: old}
}

// build makes the setup. The store knows the rooms' settings then. If build fails, all is as it
// was.
func (b *builder) build(ctx context.Context) ([]renewal, error) {
	renewals, err := b.fill(ctx)
	if err == nil {
		err = b.rebase(ctx, renewals)
	}
	if err != nil {
		b.next.closeOrigins(b.old)
		return nil, err
	}
	return renewals, nil
}

// fill makes what the setup holds, and returns the next setups of the rooms that there
// are now. It changes nothing that is at work.
func (b *builder) fill(ctx context.Context) ([]renewal, error) {
	s := b.next
	var err error
	if s.signer, err = assertion.New(s.cfg.Keys, b.gate.o.WallClock); err != nil {
		return nil, err
	}
	if s.table, err = route.New(s.cfg.routes()); err != nil {
		return nil, err
	}
	if err := b.makeSetups(ctx); err != nil {
		return nil, err
	}
	return b.openGuards(ctx)
}

// makeSetups makes the setups of the setup's rooms and families, with their parts, and its origins.
func (b *builder) makeSetups(ctx context.Context) error {
	s := b.next
	for _, cfg := range s.cfg.Rooms {
		rs, err := b.newRoomSetup(cfg)
		if err == nil {
			rs.Origin, err = b.siteOf(cfg.HostHeader, cfg.Addresses(), healthOf(&cfg))
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
	if err := b.chooseFeatures(ctx); err != nil {
		return err
	}
	if s.cfg.SignRequests {
		s.assertions = s.signer.Room("")
	}
	addresses := config.Addresses(s.cfg.Origin, s.cfg.Origins)
	if addresses[0] == nil && s.cfg.Handler == nil {
		return nil
	}
	to, err := b.siteOf(s.cfg.HostHeader, addresses, origin.Health{}) // of an origin that a room has, too, that room's
	s.fallback = to
	return err
}

// openGuards gives the setup its rooms and families, those that there are or new ones,
// and returns the next setups of the rooms.
func (b *builder) openGuards(ctx context.Context) ([]renewal, error) {
	s := b.next
	var all []renewal
	for _, rs := range s.setups {
		guard, renewals, err := b.openGuard(ctx, rs)
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
func (b *builder) openGuard(ctx context.Context, rs *feature.Setup) (guard, []renewal, error) {
	name := rs.Config.Name
	if rs.Config.IsFamily() {
		f := b.gate.families[name]
		if f == nil {
			f = &family{gate: b.gate, Counters: b.gate.metrics.Room(name), made: map[string]*keptRoom{}, making: map[string]*making{}}
			b.gate.families[name] = f
		}
		renewals, err := f.renewed(rs)
		return f, renewals, err
	}
	r := b.gate.rooms[name]
	if r == nil {
		var err error
		if r, err = b.gate.newRoom(ctx, rs, b.gate.metrics.Room(name)); err != nil {
			return nil, nil, fmt.Errorf("room %q: %w", name, err)
		}
		b.gate.rooms[name] = r
	}
	return r, []renewal{{r, rs}}, nil
}

// rebase configures the rooms with the settings of their next setups, all or none.
func (b *builder) rebase(ctx context.Context, renewals []renewal) error {
	if b.renews {
		return nil
	}
	now := b.gate.o.Clock()
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
