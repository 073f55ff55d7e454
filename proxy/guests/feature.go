package guests

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/guests/operate"
	"github.com/fairdoor-gate/fairdoor/proxy/networks"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// Name is that of the feature.
const Name = "waitlist"

// RoomOptions are what a room's configuration says of its guests, who are those that have accepted
// an invite of its waitlist.
type RoomOptions struct {
	Priority int `yaml:"guest_priority" default:"0" min:"0" max:"30000" outside:"no" usage:"priority in the line of those who have accepted an invite of the room's waitlist"`
}

// Feature are the waitlists of a gate.
type Feature struct {
	gate    feature.Gate
	metrics *Metrics
	lists   map[string]*list // by name; they outlive configurations. Used while the gate is being configured
	next    []chosen
	use     atomic.Pointer[[]chosen] // those of the configuration at work, in its order
}

// list is a waitlist, and what it does by itself.
type list struct {
	*Waitlist
	stop context.CancelFunc // ends it; nil while it does nothing
}

// chosen is a waitlist, the setup that a configuration gives it, and that of the room that it
// belongs to.
type chosen struct {
	*list
	setup *Setup
	room  *feature.Setup
}

// NewFeature returns the waitlists of a gate.
func NewFeature(g feature.Gate) *Feature {
	f := &Feature{gate: g, lists: map[string]*list{}}
	f.use.Store(&[]chosen{})
	f.metrics = NewMetrics(g.Metrics(), g.Now, f.numbered)
	return f
}

// Choose implements [feature.Chooser]: it opens the waitlists of a configuration, those that there
// are or new ones.
func (f *Feature) Choose(ctx context.Context, c feature.Configuration) error {
	f.next = nil
	configs, _ := c.Options(Name).([]Config)
	for _, cfg := range configs {
		if err := f.open(ctx, c.Setup(cfg.Room), cfg); err != nil {
			return fmt.Errorf("waitlist %q: %w", cfg.Name, err)
		}
	}
	return nil
}

func (f *Feature) open(ctx context.Context, s *feature.Setup, c Config) error {
	switch {
	case s == nil || s.Config.IsFamily():
		return fmt.Errorf("there is no room %q that can have a waitlist", c.Room)
	case f.of(s) != nil:
		return fmt.Errorf("the room %q has another one", c.Room)
	}
	o := Options{
		Clock: f.gate.Now, Log: f.gate.Log(), Counters: f.metrics.Waitlist(c.Name), Problem: f.gate.Problem, Survive: f.gate.Survive, Wait: f.gate.Wait(),
		Hooks: f.gate.Hooks,
	}
	next, err := NewSetup(c, Site{
		Identity: s.Identity, Language: s.Config.Language, Keys: s.Keys, Cookie: s.Config.CookieAttributes,
		Proof:  func() feature.Proof { return s.Proof },
		Frames: slices.DeleteFunc(slices.Clone(s.Config.CORSOrigins), func(site string) bool { return site == "*" }),
	}, o)
	if err != nil {
		return err
	}
	l := f.lists[c.Name]
	if l == nil {
		record, err := f.gate.Record(ctx)
		if err != nil {
			return err
		}
		o.Enter = networks.New().PerMinute
		opened, err := Open(ctx, record, next, o)
		if err != nil {
			return err
		}
		l = &list{Waitlist: opened}
		f.lists[c.Name] = l
	}
	f.next = append(f.next, chosen{l, next, s})
	return nil
}

// of is the waitlist of a room in the next configuration; nil for none.
func (f *Feature) of(s *feature.Setup) *Waitlist {
	for _, c := range f.next {
		if c.room == s {
			return c.Waitlist
		}
	}
	return nil
}

// Use implements [feature.Chooser]: the waitlists that are configured now do what they do by
// themselves, and the others do not any more.
func (f *Feature) Use() {
	next := f.next
	for _, c := range next {
		c.Waitlist.Use(c.setup)
	}
	f.use.Store(&next)
	for _, l := range f.lists {
		switch configured := slices.ContainsFunc(next, func(c chosen) bool { return c.list == l }); {
		case configured && l.stop == nil:
			var ctx context.Context
			ctx, l.stop = context.WithCancel(f.gate.Context())
			f.gate.Go(func() { l.Sweep(ctx) })
			f.gate.Go(func() { l.Send(ctx) })
			f.gate.Go(func() { l.Tell(ctx) })
		case !configured && l.stop != nil:
			l.stop()
			l.stop = nil
		}
	}
}

// All yields the waitlists in the order of the configuration.
func (f *Feature) All() iter.Seq[*Waitlist] {
	return func(yield func(*Waitlist) bool) {
		for _, c := range *f.use.Load() {
			if !yield(c.Waitlist) {
				return
			}
		}
	}
}

// Admin implements [feature.Administered].
func (f *Feature) Admin(a admin.API) admin.Part {
	all := each(f, func(l *Waitlist) operate.Waitlist { return l })
	return operate.Waitlists{All: all, Clock: f.gate.Now, Log: f.gate.Log()}.Admin(a)
}

// numbered yields the records of the waitlists.
func (f *Feature) numbered() iter.Seq[Numbered] {
	return each(f, func(l *Waitlist) Numbered { return l.Record() })
}

// each yields what others know of each waitlist.
func each[As any](f *Feature, as func(*Waitlist) As) iter.Seq[As] {
	return func(yield func(As) bool) {
		for l := range f.All() {
			if !yield(as(l)) {
				return
			}
		}
	}
}

// door is what a room has of its waitlist.
type door struct {
	only     bool  // nobody is let in but guests
	priority int16 // of guests in an exact line
	list     *Waitlist
}

// Part implements [feature.Feature].
func (f *Feature) Part(_ context.Context, s *feature.Setup) (feature.Part, error) {
	d := &door{s.Config.Admission == config.Invited, int16(config.OptionsOf[RoomOptions](&s.Config).Priority), f.of(s)}
	switch {
	case d.only && d.list == nil:
		return nil, errors.New("it lets in those who were invited, and has no waitlist")
	case d.list == nil:
		return nil, nil
	}
	s.Restricted = s.Restricted || d.only
	return d, nil
}

// Paths implements [feature.Owner].
func (f *Feature) Paths() []feature.Path {
	return []feature.Path{{Name: strings.TrimPrefix(Paths, feature.Paths), Serve: f.serve}}
}

// serve answers a request for a path of a waitlist. It is on the hosts of its room alone: on others
// the site may name other users alike. Pages of other sites may send forms to it if the room's
// cors_origins list them.
func (f *Feature) serve(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Paths), "/")
	all := *f.use.Load()
	i := slices.IndexFunc(all, func(c chosen) bool { return c.Name() == name })
	if i < 0 || !all[i].room.IsOn(r.Host) {
		f.gate.Problem(w, r, http.StatusNotFound)
		return
	}
	c := all[i]
	of := f.gate.Room(c.room.Config.Name)
	if of == nil { // the configuration changes just now
		f.gate.Problem(w, r, http.StatusNotFound)
		return
	}
	c.room.Share(w.Header(), r)
	switch {
	case f.gate.Allow(w, r, Methods):
	case feature.Foreign(r) && !c.room.Lists(r.Header.Get("Origin")):
		f.gate.Problem(w, r, http.StatusBadRequest)
	default:
		q := c.room.RequesterOf(r, of, f.gate.Now())
		if to := r.URL.Query().Get("to"); to != "" {
			q.CameFor(feature.WayIn(f.gate, of, r, to))
		}
		c.ServeHTTP(w, r, q)
	}
}

// Recognise implements [feature.Recogniser]: it notes whether the visitor is a guest of their room,
// if that makes a difference. By an invite they are one visitor on all of their devices. Somebody
// who is in without it stays in as they are.
func (d *door) Recognise(r *http.Request, v *feature.Visit) {
	if !d.only && d.priority == 0 {
		return
	}
	person, found := d.list.Guest(v, r)
	if !found && d.only {
		person, found = d.list.FindGuest(v, r)
	}
	if !found {
		v.Shut = v.Shut || d.only
		return
	}
	v.Priority = max(v.Priority, d.priority)
	if id := room.SubjectID(v.Setup.Config.Name, person); v.Ticket.ID == id || !v.Room.Queue.IsIn(v.Now, v.Ticket) {
		v.Subject = id
	}
}

// PrefersSome implements [feature.Preferrer].
func (d *door) PrefersSome(by queue.Method) bool { return d.priority > 0 && by.HasExactLine() }

// Header tells the site of the guest who sends a request: the entry's id, the how-manieth spot of
// the list they have, and when they were invited. It is a dictionary of structured fields (RFC
// 9651).
const Header = "Fairdoor-Guest"

// Ask implements [feature.Asker]: the site is told of guests. No visitor's header of that name gets
// there.
func (d *door) Ask(r *http.Request, _ *feature.Room, v *feature.Visit) *http.Request {
	if v == nil {
		return r
	}
	g, found := d.list.find(v, r)
	if !found {
		return r
	}
	return origin.WithField(r, Header, []string{fmt.Sprintf("entry=%d, rank=%d, invited=%q", g.Number, g.Rank, g.InvitedAt.Format(time.RFC3339))})
}

// Before implements [feature.Doorkeeper]: somebody who may not join sees the page on which they can
// sign up, or which has their place on the waitlist.
func (d *door) Before(w http.ResponseWriter, r *http.Request, v *feature.Visit) bool {
	if !v.Shut || !d.only {
		return false
	}
	if feature.ShowsNoPage(r) {
		reply.Problem(w, http.StatusForbidden, "Only those who were invited are let in. The waitlist is at "+Paths+d.list.Name()+".")
		return true
	}
	q := v.Setup.RequesterOf(r, v.Room, v.Now)
	if !feature.Unsafe(r) {
		q.CameFor(feature.AddressOf(r))
	}
	d.list.ServeDoor(w, r, q, v.Setup.DoorStatus(r))
	return true
}
