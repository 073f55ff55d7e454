package passes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// RoomOptions are what a room's configuration says of passes. A room in which Admission is WithPass
// takes them in any case.
type RoomOptions struct {
	On bool `yaml:"passes" default:"false" outside:"no" usage:"take the links and codes by which operators let people in or ahead"`
}

// Take says whether a room takes passes.
func (o RoomOptions) Take(in *config.Room) bool { return o.On || in.Admission == config.WithPass }

// Faults implements [config.Checker].
func (o RoomOptions) Faults(in *config.Room) []config.Fault {
	if o.Take(in) && in.IsFamily() {
		return []config.Fault{{Keys: []string{"passes", "admission", "path"}, Problem: "a room for each value of its path takes no passes"}}
	}
	return nil
}

// Feature are the passes of all rooms of a gate.
type Feature struct {
	gate  feature.Gate
	known map[string]*Known // by the name of the room; they outlive configurations
}

// NewFeature returns the passes of a gate.
func NewFeature(g feature.Gate) *Feature { return &Feature{gate: g, known: map[string]*Known{}} }

// Part implements [feature.Feature].
func (f *Feature) Part(ctx context.Context, s *feature.Setup) (feature.Part, error) {
	if !config.OptionsOf[RoomOptions](&s.Config).Take(&s.Config) {
		return nil, nil
	}
	record, err := f.gate.Record(ctx)
	if err != nil {
		return nil, err
	}
	name, only := s.Config.Name, s.Config.Admission == config.WithPass
	if f.known[name] == nil {
		f.known[name] = &Known{}
	}
	r, err := New(
		Config{Room: name, Host: s.Config.Routes[0].Host, Only: only, Language: s.Config.Language, Identity: s.Identity, Keys: s.Keys, Cookie: s.Config.CookieAttributes},
		Options{Clock: f.gate.Now, Log: f.gate.Log(), Record: record.Passes(), Problem: f.gate.Problem, Enter: f.gate.Attempts().PerMinute},
		f.known[name])
	if err != nil {
		return nil, fmt.Errorf("passes: %w", err)
	}
	if err := r.Follow(ctx); err != nil && !errors.Is(err, waitlist.ErrAway) { // Run goes on where the record is away
		return nil, fmt.Errorf("passes: %w", err)
	}
	s.Restricted = s.Restricted || only
	return r, nil
}

// Of returns the passes of a room; nil if it takes none.
func (f *Feature) Of(room string) *Room {
	for s := range f.gate.Setups() {
		if s.Config.Name == room {
			return of(s)
		}
	}
	return nil
}

func of(s *feature.Setup) *Room {
	r, _ := feature.PartOf[*Room](s)
	return r
}

// Run implements [feature.Runner]: it learns each second which passes were revoked, and forgets old
// ones once an hour. What fails is logged once, until it works again.
func (f *Feature) Run(ctx context.Context) {
	failing, ticker := false, time.NewTicker(time.Second)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			err := f.follow(ctx, n%3600 == 0)
			if err != nil && !failing && ctx.Err() == nil {
				f.gate.Log().Error("the record of passes does not answer; what was revoked elsewhere is not known here", zap.Error(err))
			}
			failing = err != nil
		}
	}
}

// follow has all rooms learn which passes were revoked, and returns the last error.
func (f *Feature) follow(ctx context.Context, forget bool) (failed error) {
	defer f.gate.Survive("passes")
	for s := range f.gate.Setups() {
		r := of(s)
		if r == nil {
			continue
		}
		if err := r.Follow(ctx); err != nil {
			failed = err
		}
		if !forget {
			continue
		}
		if err := r.Forget(ctx); err != nil {
			failed = err
		}
	}
	return failed
}

// Paths implements [feature.Owner].
func (f *Feature) Paths() []feature.Path {
	name := strings.TrimPrefix(Path, feature.Paths)
	return []feature.Path{{Name: name, Serve: f.serve}, {Name: name + "/", Serve: f.serve}}
}

// serve answers a request for the path of a room's passes. They are on the hosts of their room
// alone. Without the name of a room, it is the only one that takes passes on the host.
func (f *Feature) serve(w http.ResponseWriter, r *http.Request) {
	var room *feature.Room
	s := f.asked(r)
	if s != nil {
		room = f.gate.Room(s.Config.Name) // nil while the configuration changes just now
	}
	switch {
	case room == nil:
		f.gate.Problem(w, r, http.StatusNotFound)
	case feature.Foreign(r):
		f.gate.Problem(w, r, http.StatusBadRequest)
	default:
		of(s).ServeHTTP(w, r, s.RequesterOf(r, room, f.gate.Now()))
	}
}

func (f *Feature) asked(r *http.Request) *feature.Setup {
	name, named := strings.CutPrefix(strings.TrimPrefix(r.URL.Path, Path), "/")
	var asked *feature.Setup
	for s := range f.gate.Setups() {
		if of(s) == nil || !s.IsOn(r.Host) || named && s.Config.Name != name {
			continue
		}
		if asked != nil {
			return nil // there are several
		}
		asked = s
	}
	return asked
}

// Recognise implements [feature.Recogniser]: it notes whether the visitor holds a pass. By it they
// are one visitor on all of their devices; a user whom the site names is one in any case, and stays
// that. Somebody who is in without it, or whose pass has ended, stays in as they are.
func (r *Room) Recognise(q *http.Request, v *feature.Visit) {
	holder, found := r.Holder(q.Header, v.Setup.Owns(q))
	found = found && r.BelongsTo(holder, v.Subject)
	switch isIn := v.Room.Queue.IsIn(v.Now, v.Ticket); {
	case found && v.Subject != (queue.ID{}):
		v.PassAhead = holder.Ahead
	case found && (!isIn || v.Ticket.ID == holder.ID):
		v.Subject, v.PassAhead = holder.ID, holder.Ahead
	case !found && !isIn && r.Only:
		v.Shut = true
	}
}

// PrefersSome implements [feature.Preferrer].
func (*Room) PrefersSome(queue.Method) bool { return true }

// Before implements [feature.Doorkeeper]: who has no pass in a room for their holders is asked for
// a code.
func (r *Room) Before(w http.ResponseWriter, q *http.Request, v *feature.Visit) bool {
	if !v.Shut || !r.Only {
		return false
	}
	if feature.ShowsNoPage(q) {
		reply.Problem(w, http.StatusForbidden, "Only those who have a pass are let in: a link, or a code for "+r.path()+".")
		return true
	}
	r.ServeDoor(w, q, v.Setup.RequesterOf(q, v.Room, v.Now), v.Setup.DoorStatus(q))
	return true
}
