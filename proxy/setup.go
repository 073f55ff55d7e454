package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/proxy/origin"
	"github.com/anteroom-gate/anteroom/proxy/route"
	"github.com/anteroom-gate/anteroom/proxy/subject"
)

// setup is one configuration at work. It does not change.
type setup struct {
	cfg      Config
	table    *route.Table
	places   []*room            // in the order of the table; the model of a family for all of its rooms
	byCookie map[string][]*room // the places by the bare name of their cookie, of a family without the value
	longest  int                // the length of the longest of those names
	trust    origin.Trust
	origins  map[string]*origin.Origin
	subjects map[string]*subject.Reader // of every room, by the header that names its users
	fallback http.Handler               // for requests that no room guards; nil if they are refused
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
	defer g.syncLines()
	old := g.current.Load()
	if old == nil {
		old = &setup{}
	}
	next, renewed, err := g.build(ctx, c, old)
	if err != nil {
		return fmt.Errorf("configuring the gate: %w", err)
	}
	for _, p := range next.places {
		if f := p.family; f != nil {
			f.model.Store(p)
			g.families[p.cfg.Name] = f
		}
	}
	for m, r := range renewed {
		m.room.Store(r)
	}
	g.current.Store(next)
	g.pause(nil)
	old.closeBut(next)
	return nil
}

// syncLines has those lines synced whose rooms are configured, and no others.
func (g *Gate) syncLines() {
	rooms := map[*line]*room{}
	if s := g.current.Load(); s != nil {
		for r := range s.rooms {
			rooms[r.line] = r
		}
	}
	for _, l := range g.lines {
		g.syncFor(rooms[l], l, func() bool { return false })
	}
	for _, f := range g.families {
		members, _ := f.all()
		for _, m := range members {
			l := m.room.Load().line
			g.syncFor(rooms[l], l, func() bool { return f.drop(m, l) })
		}
	}
}

// syncFor has a line synced for its room, until over says after a sync that nobody
// needs it; or not any more, if the room is nil. The caller holds making.
func (g *Gate) syncFor(r *room, l *line, over func() bool) {
	l.room.Store(r)
	switch {
	case r != nil && l.gone == nil:
		gone := make(chan struct{})
		l.gone = gone
		g.tasks.Go(func() { g.keepInSync(l, gone, over) })
	case r == nil && l.gone != nil:
		close(l.gone)
		l.gone = nil
	}
}

// build makes a setup, and the rooms that members of its families are to have.
func (g *Gate) build(ctx context.Context, c Config, old *setup) (*setup, map[*member]*room, error) {
	s := &setup{
		cfg: c, trust: origin.NewTrust(c.TrustedProxies), origins: map[string]*origin.Origin{},
		subjects: map[string]*subject.Reader{}, byCookie: map[string][]*room{},
	}
	var err error
	if s.table, err = route.New(c.routes()); err != nil {
		return nil, nil, err
	}
	if err := g.fill(s, old); err != nil {
		s.closeBut(old)
		return nil, nil, err
	}
	rooms, renewed, err := s.renew()
	if err == nil {
		err = g.take(ctx, rooms)
	}
	if err != nil {
		s.closeBut(old)
		return nil, nil, err
	}
	return s, renewed, nil
}

// renew returns the rooms that the setup has at once: those of their own, and
// those that its families have already, configured anew.
func (s *setup) renew() (rooms []*room, renewed map[*member]*room, err error) {
	renewed = map[*member]*room{}
	for _, p := range s.places {
		if p.family == nil {
			rooms = append(rooms, p)
			continue
		}
		members, _ := p.family.all()
		for _, m := range members {
			next, err := p.one(m.value)
			if err != nil {
				return nil, nil, fmt.Errorf("room %q: %w", next.cfg.Name, err)
			}
			next.line = m.room.Load().line
			rooms, renewed[m] = append(rooms, next), next
		}
	}
	return rooms, renewed, nil
}

// rooms yields every room that there is.
func (s *setup) rooms(yield func(*room) bool) {
	for _, p := range s.places {
		rooms, _ := p.rooms()
		for _, r := range rooms {
			if !yield(r) {
				return
			}
		}
	}
}

// rooms returns the rooms of a place, itself or those of its family, and what is
// told of those that are gone.
func (r *room) rooms() (rooms []*room, gone blindness) {
	if r.family == nil {
		return []*room{r}, blindness{}
	}
	members, gone := r.family.all()
	for _, m := range members {
		rooms = append(rooms, m.room.Load())
	}
	return rooms, gone
}

// fill makes the setup's rooms and origins. It changes nothing that is at work.
func (g *Gate) fill(s, old *setup) error {
	for i := range s.cfg.Rooms {
		r, err := g.newRoom(&s.cfg.Rooms[i], s.cfg)
		if err == nil {
			r.origin, err = g.originOf(s, old, r.cfg.Origin)
		}
		if err != nil {
			return fmt.Errorf("room %q: %w", s.cfg.Rooms[i].Name, err)
		}
		if r.cfg.isFamily() {
			r.cfg.Settings.Fleeting = true
			if r.family = g.families[r.cfg.Name]; r.family == nil {
				r.family = &family{gate: g, members: map[string]*member{}}
			}
		}
		if header := r.cfg.Subject.Header; header != "" {
			s.subjects[http.CanonicalHeaderKey(header)] = r.names
		}
		s.places = append(s.places, r)
		name := r.jar.BareName()
		s.byCookie[name], s.longest = append(s.byCookie[name], r), max(s.longest, len(name))
	}
	if s.cfg.Origin != nil {
		o, err := g.originOf(s, old, s.cfg.Origin)
		if err != nil {
			return err
		}
		s.fallback = o
	}
	return nil
}

// take gives the rooms their lines and the lines their settings, or leaves all
// lines as they were.
func (g *Gate) take(ctx context.Context, rooms []*room) error {
	for _, r := range rooms {
		if err := g.open(ctx, r); err != nil {
			return fmt.Errorf("room %q: %w", r.cfg.Name, err)
		}
	}
	now := g.o.Clock()
	before := make([]*RoomConfig, 0, len(rooms))
	for _, r := range rooms {
		was, err := r.line.rebase(ctx, now, r.cfg, r.log)
		if err == nil {
			before = append(before, was)
			continue
		}
		setBack(ctx, now, rooms, before)
		return fmt.Errorf("room %q: %w", r.cfg.Name, err)
	}
	return nil
}

// setBack gives the first of the rooms the settings that their lines had before;
// those of a new line were none.
func setBack(ctx context.Context, now time.Time, rooms []*room, before []*RoomConfig) {
	for i, was := range before {
		if was == nil {
			continue
		}
		if _, err := rooms[i].line.rebase(ctx, now, *was, rooms[i].log); err != nil {
			rooms[i].log.Error("room not set back", zap.Error(err))
		}
	}
}

// originOf returns the setup's proxy to the address; rooms of one origin share
// its connections and its breaker.
func (g *Gate) originOf(s, old *setup, u *url.URL) (*origin.Origin, error) {
	if u == nil {
		return nil, errors.New("it has no origin")
	}
	key := strings.TrimSuffix(u.String(), "/")
	if o, ok := s.origins[key]; ok {
		return o, nil
	}
	c := s.cfg
	if o, ok := old.origins[key]; ok && c.OriginTimeout == old.cfg.OriginTimeout && slices.Equal(c.TrustedProxies, old.cfg.TrustedProxies) {
		s.origins[key] = o
		return o, nil
	}
	var o *origin.Origin
	o, err := origin.New(origin.Config{
		URL: u, TrustedProxies: c.TrustedProxies, ResponseHeaderTimeout: c.OriginTimeout, Log: g.o.Log,
		ErrorHandler: g.originFailed,
		OnResponse:   g.respond,
		OnChange:     func(bool) { g.pause(o) },
		Metrics:      g.metrics.origin(key),
	})
	if err != nil {
		return nil, err
	}
	s.origins[key] = o
	return o, nil
}

// pause holds admissions to the rooms of an origin while it does not answer, or
// lets them go on. A nil origin stands for all.
func (g *Gate) pause(o *origin.Origin) {
	g.pausing.Lock()
	defer g.pausing.Unlock()
	s := g.current.Load()
	if s == nil {
		return
	}
	for r := range s.rooms {
		if o == nil || r.origin == o {
			r.line.queue.Pause(r.origin.Failing())
		}
	}
}

// pauseOne is pause for a new room, which pause sees from now on.
func (g *Gate) pauseOne(r *room) {
	g.pausing.Lock()
	defer g.pausing.Unlock()
	r.line.queue.Pause(r.origin.Failing())
}

// closeBut closes the setup's origins, except those that the other one has too.
func (s *setup) closeBut(other *setup) {
	for key, o := range s.origins {
		if other.origins[key] != o {
			o.Close()
		}
	}
}
