package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// list is a waitlist, and what it does by itself.
type list struct {
	*guests.Waitlist
	stop context.CancelFunc // ends it; nil while it does nothing. Written with the gate's mu held
}

// listSetup is a waitlist, the setup that it gets, and that of the room that it belongs to.
type listSetup struct {
	*list
	setup *guests.Setup
	room  *roomSetup
}

// openLists gives the setup its waitlists, those that there are or new ones.
func (g *Gate) openLists(ctx context.Context, s *setup) error {
	for _, c := range s.cfg.Waitlists {
		if err := g.openList(ctx, s, c); err != nil {
			return fmt.Errorf("waitlist %q: %w", c.Name, err)
		}
	}
	for _, rs := range s.setups {
		if rs.cfg.Invited && rs.guests == nil {
			return fmt.Errorf("room %q lets in those who were invited, and has no waitlist", rs.cfg.Name)
		}
	}
	return nil
}

func (g *Gate) openList(ctx context.Context, s *setup, c guests.Config) error {
	rs := s.setupNamed(c.Room)
	switch {
	case rs == nil || rs.cfg.IsFamily():
		return fmt.Errorf("there is no room %q that can have a waitlist", c.Room)
	case rs.guests != nil:
		return fmt.Errorf("the room %q has another one", c.Room)
	}
	o := guests.Options{Clock: g.o.Clock, Log: g.o.Log, Counters: g.metrics.Waitlist(c.Name), Problem: g.problemPage, Survive: g.survive, Wait: g.o.Wait}
	next, err := guests.NewSetup(c, guests.Site{
		Identity: rs.identity, Language: rs.cfg.Language, Keys: rs.keys, Cookie: rs.cfg.CookieAttributes,
		Challenge: rs.challenge, Prove: func(ctx context.Context, answer string, addr netip.Addr) (proven, later bool) {
			return g.prove(ctx, rs, answer, addr)
		},
		Frames: slices.DeleteFunc(slices.Clone(rs.cfg.CORSOrigins), func(site string) bool { return site == "*" }),
	}, o)
	if err != nil {
		return err
	}
	l := g.lists[c.Name]
	if l == nil {
		o.Enter = newNetworks().perMinute
		if l, err = g.newList(ctx, next, o); err != nil {
			return err
		}
		g.lists[c.Name] = l
	}
	rs.guests, s.lists[c.Name] = l.Waitlist, listSetup{l, next, rs}
	return nil
}

// openRecord opens the record of waitlists and passes, if it is not open.
func (g *Gate) openRecord(ctx context.Context) error {
	if g.record.Load() != nil {
		return nil
	}
	if g.o.Record == nil {
		return errors.New("a gate needs a record for waitlists and passes")
	}
	record, err := g.o.Record(ctx)
	if err != nil {
		return err
	}
	g.record.Store(record)
	if record.Failing() {
		g.o.Log.Error("the record of waitlists and passes does not answer: rooms are served without it until it does")
	}
	return nil
}

// recordFailing reports whether the record of waitlists and passes does not answer.
func (g *Gate) recordFailing() bool {
	record := g.record.Load()
	return record != nil && record.Failing()
}

// newList opens a waitlist in the record.
func (g *Gate) newList(ctx context.Context, first *guests.Setup, o guests.Options) (*list, error) {
	if err := g.openRecord(ctx); err != nil {
		return nil, err
	}
	l, err := guests.Open(ctx, g.record.Load(), first, o)
	return &list{Waitlist: l}, err
}

// closeRecord closes the record of the waitlists, once nothing writes any more.
func (g *Gate) closeRecord() {
	record := g.record.Load()
	if record == nil {
		return
	}
	if err := record.Close(); err != nil {
		g.o.Log.Error("closing the record of the waitlists failed", zap.Error(err))
	}
}

// runLists has the waitlists that are configured now do what they do by themselves, and ends it for the others.
func (g *Gate) runLists() {
	var now map[string]listSetup
	if s := g.current.Load(); s != nil {
		now = s.lists
	}
	for name, l := range g.lists {
		_, configured := now[name]
		switch {
		case configured && l.stop == nil:
			var ctx context.Context
			ctx, l.stop = context.WithCancel(g.sync)
			g.tasks.Go(func() { l.Sweep(ctx) })
			g.tasks.Go(func() { l.Send(ctx) })
		case !configured && l.stop != nil:
			l.stop()
			l.stop = nil
		}
	}
}

// waitlists yields the waitlists in the order of the configuration.
func (s *setup) waitlists(yield func(*list) bool) {
	for _, c := range s.cfg.Waitlists {
		if !yield(s.lists[c.Name].list) {
			return
		}
	}
}

// setupNamed returns the setup of a room or family by its name; nil for none.
func (s *setup) setupNamed(name string) *roomSetup {
	for _, rs := range s.setups {
		if rs.cfg.Name == name {
			return rs
		}
	}
	return nil
}

// listAt returns the waitlist that the path of a request is of. It is on the hosts of its room alone: on others the site may name
// other users alike.
func (s *setup) listAt(r *http.Request) (l listSetup, found bool) {
	name, found := strings.CutPrefix(r.URL.Path, guests.Paths)
	if !found {
		return l, false
	}
	name, _, _ = strings.Cut(name, "/")
	l, found = s.lists[name]
	return l, found && l.room.isOn(r.Host)
}

// serveList answers a request for a path of a waitlist. Pages of other sites may send forms to it if the room's cors_origins list
// them.
func (g *Gate) serveList(w http.ResponseWriter, r *http.Request, s *setup, l listSetup) {
	l.room.share(w.Header(), r)
	switch {
	case s.allow(w, r, guests.Methods):
	case foreign(r) && !l.room.lists(r.Header.Get("Origin")):
		g.problem(w, r, http.StatusBadRequest, g.languages)
	default:
		l.ServeHTTP(w, r, g.guest(r, s, l.room))
	}
}

// problemPage answers with the gate's page for a status, in the sender's language.
func (g *Gate) problemPage(w http.ResponseWriter, r *http.Request, status int) {
	g.problem(w, r, status, g.languages)
}

// guest returns who sent a request, as waitlists know them.
func (g *Gate) guest(r *http.Request, s *setup, rs *roomSetup) guests.Visitor {
	claim, _ := rs.subjects.Read(r, s.trust, g.o.Clock()) // a token that does not count names nobody
	return guests.Visitor{
		UserID: claim.Subject, Addr: s.trust.ClientAddr(r), HTTPS: s.trust.Scheme(r) == "https", JSON: rs.cfg.JSON && wantsJSON(r),
		Message: s.roomNamed(rs.cfg.Name).settings().Message, Enter: rs.pathOn(r.Host),
		Bound: rs.binder.bind(r, s.trust).bytes(), Holds: func(bound []byte, key int) bool { return rs.binder.holdsBytes(bound, key, r, s.trust) },
	}
}

// asGuest notes whether the visitor is a guest of their room, if that makes a difference. By an invite they are one visitor on all
// of their devices. Somebody who is in without it stays in as they are.
func (v *visitor) asGuest(q *http.Request, user string, trust origin.Trust) {
	c := &v.setup.cfg
	if v.setup.guests == nil || !c.Invited && c.GuestPriority == 0 {
		return
	}
	binder := &v.setup.binder
	sender := guests.Sender{Header: q.Header, UserID: user, Holds: func(bound []byte, key int) bool { return binder.holdsBytes(bound, key, q, trust) }}
	person, found := v.setup.guests.Guest(sender)
	if !found && c.Invited {
		person, found = v.setup.guests.FindGuest(q.Context(), sender)
	}
	if !found {
		v.uninvited = c.Invited
		return
	}
	v.priority = max(v.priority, c.GuestPriority)
	if id := queueroom.SubjectID(c.Name, person); v.ticket.ID == id || !v.room.queue.IsIn(v.now, v.ticket) {
		v.subject = id
	}
}

// uninvited answers somebody who may not join. Where a pass is asked for, a page asks for its code; else it is the page on which they can
// sign up, or has their place on the waitlist.
func (g *Gate) uninvited(w http.ResponseWriter, r *http.Request, s *setup, v visitor) {
	rs := v.setup
	v.room.Count(metrics.Uninvited)
	rs.answers(w.Header(), r)
	leaveBody(w.Header(), r)
	status := rs.cfg.StatusCode
	if unsafe(r) {
		status = http.StatusForbidden
	}
	asksForPass := rs.passes != nil && rs.cfg.PassesOnly
	switch noPage := subresource(r) || speculative(r) || unsafe(r) && !sentByAPage(r); {
	case noPage && asksForPass:
		reply.Problem(w, http.StatusForbidden, "Only those who have a pass are let in: a link, or a code for "+passes.Path+"/"+rs.cfg.Name+".")
	case noPage:
		reply.Problem(w, http.StatusForbidden, "Only those who were invited are let in. The waitlist is at "+guests.Paths+rs.guests.Name()+".")
	case asksForPass:
		rs.passes.ServeDoor(w, r, g.passVisitor(r, s, rs), status)
	default:
		rs.guests.ServeDoor(w, r, g.guest(r, s, rs), status)
	}
}
