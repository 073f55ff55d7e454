package proxy

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/bind"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/pages"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// newRoomSetup returns a setup of a room or a family, without its parts, its pages and its origin.
func (b *builder) newRoomSetup(cfg RoomConfig) (*feature.Setup, error) {
	s := b.next
	rs := &feature.Setup{Config: cfg, Trust: s.trust, Keys: s.cfg.Keys, Signer: s.signer, Identity: cfg.Identity}
	rs.Config.StatusCode = cmp.Or(cfg.StatusCode, http.StatusOK)
	rs.Config.MaxRooms = cmp.Or(cfg.MaxRooms, defaultMaxRooms)
	rs.Config.RoomIdle = cmp.Or(cfg.RoomIdle, defaultRoomIdle)
	if cfg.IsFamily() {
		rs.Config.Settings.Fleeting = true
	}
	file := fileOf(rs)
	err := file.Check(cfg.Settings.WithDefaults())
	if err != nil {
		return nil, err
	}
	if rs.Config.Subject.Published, err = b.keysAt(cfg.Subject.JWKSURL); err != nil {
		return nil, err
	}
	agents, err := b.agents()
	if err != nil {
		return nil, err
	}
	if rs.Rules, err = route.NewRules(cfg.Presets, cfg.Rules, b.gate.verifiedBy(agents, rs.Config.Routes)); err != nil {
		return nil, fmt.Errorf("reading the rules: %w", err)
	}
	rs.Identity.Logo, rs.Identity.Hero = addressOf(cfg.Logo), addressOf(cfg.Hero)
	if s.cfg.SignRequests {
		rs.Assertions = s.signer.Room(cfg.Name)
	}
	return rs, nameAfter(rs, cfg.Name, b.gate.o.Log)
}

// nameAfter names the room of a setup, and makes what its name is in: the jar of its tickets, what
// binds them, the reader of the site's own names for its visitors, and the log.
func nameAfter(s *feature.Setup, name string, log *zap.Logger) error {
	s.Named(name)
	s.Log = log.With(zap.String("room", name))
	codec, err := cookie.New(cookie.Config{Name: cookie.Name(s.CookieSuffix()), Keys: s.Keys})
	if err != nil {
		return fmt.Errorf("making the ticket's codec: %w", err)
	}
	if s.Jar, err = cookie.NewJar(codec, s.Config.CookieAttributes); err != nil {
		return fmt.Errorf("reading the cookie's attributes: %w", err)
	}
	if s.Binder, err = bind.New(s.Config.BindTicket, name, s.Keys); err != nil {
		return fmt.Errorf("binding tickets: %w", err)
	}
	subjects := s.Config.Subject
	subjects.Room = name
	if s.Subjects, err = subject.New(subjects); err != nil {
		return fmt.Errorf("reading how the site names its users: %w", err)
	}
	return nil
}

// chooseFeatures gives the setups what their rooms have of the features, and their pages.
func (b *builder) chooseFeatures(ctx context.Context) error {
	for f := range having[feature.Chooser](b.gate) {
		if err := f.Choose(ctx, b.next); err != nil {
			return err
		}
	}
	for _, rs := range b.next.setups {
		if err := b.addParts(ctx, rs); err != nil {
			return fmt.Errorf("room %q: %w", rs.Config.Name, err)
		}
	}
	return nil
}

func (b *builder) addParts(ctx context.Context, s *feature.Setup) error {
	for _, f := range b.gate.features {
		p, err := f.Part(ctx, s)
		if err != nil {
			return err
		}
		if p != nil {
			s.Add(p)
		}
	}
	s.Pages = &pages.Room{Name: s.Config.Name, Log: s.Log, With: func(custom *templates.Page) (*templates.Set, error) {
		o := templates.Options{Custom: custom, DefaultLanguage: s.Config.Language, Identity: s.Identity}
		for _, f := range s.Dressers {
			f.Dress(&o)
		}
		return templates.NewSet(o)
	}}
	var err error
	if s.Pages.Support, err = pages.NewSupportKey(s.Keys); err != nil {
		return err
	}
	if s.Pages.Set, err = s.Pages.With(s.Config.Page); err != nil {
		return fmt.Errorf("making the page: %w", err)
	}
	return nil
}

// setupFor returns the setup of a family's room for a value. What it has of features it shares with
// the family.
func setupFor(family *feature.Setup, value string, log *zap.Logger) (*feature.Setup, error) {
	s := &feature.Setup{
		Config: family.Config, Family: family.Config.Name, Trust: family.Trust, Keys: family.Keys, Signer: family.Signer,
		Origin: family.Origin, Rules: family.Rules, Identity: family.Identity, Proof: family.Proof, Restricted: family.Restricted,
	}
	if s.Config.CookieSuffix != "" {
		s.Config.CookieSuffix += "." + value
	}
	s.ValueIn(value)
	name := family.Config.Name + "." + value
	if family.Assertions != nil {
		s.Assertions = s.Signer.Room(name)
	}
	if err := nameAfter(s, name, log); err != nil {
		return nil, err
	}
	for _, p := range family.Parts {
		if shared, ok := p.(feature.Sharer); ok {
			var err error
			if p, err = shared.For(s); err != nil {
				return nil, err
			}
		}
		s.Add(p)
	}
	s.Pages = &pages.Room{Name: name, Log: s.Log, Support: family.Pages.Support, Set: family.Pages.Set, With: family.Pages.With}
	return s, nil
}

// fileOf is what the gate's file says of a room's settings and events.
func fileOf(s *feature.Setup) overrides.File {
	return overrides.File{Settings: s.Config.Settings, Events: s.Config.Events, Misfits: s.Config.BindTicket.Misfits}
}

// Setup implements feature.Configuration.
func (s *setup) Setup(name string) *feature.Setup {
	for _, rs := range s.setups {
		if rs.Config.Name == name {
			return rs
		}
	}
	return nil
}

// Options implements feature.Configuration.
func (s *setup) Options(of string) any { return s.cfg.Parts[of] }
