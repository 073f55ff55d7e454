package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// openPasses gives the rooms of the setup their passes, where they take any.
func (g *Gate) openPasses(ctx context.Context, s *setup) error {
	for _, rs := range s.setups {
		if !rs.cfg.Passes && !rs.cfg.PassesOnly {
			continue
		}
		if err := g.openPassesOf(ctx, rs); err != nil {
			return fmt.Errorf("passes of room %q: %w", rs.cfg.Name, err)
		}
	}
	return nil
}

func (g *Gate) openPassesOf(ctx context.Context, rs *roomSetup) error {
	if rs.cfg.IsFamily() {
		return fmt.Errorf("it is a room for each value of its path, which has none")
	}
	if err := g.openRecord(ctx); err != nil {
		return err
	}
	name := rs.cfg.Name
	if g.revoked[name] == nil {
		g.revoked[name] = &passes.Known{}
	}
	var err error
	rs.passes, err = passes.New(
		passes.Config{Room: name, Only: rs.cfg.PassesOnly, Language: rs.cfg.Language, Identity: rs.identity, Keys: rs.keys, Cookie: rs.cfg.CookieAttributes},
		passes.Options{Clock: g.o.Clock, Log: g.o.Log, Record: g.record.Load().Passes(), Problem: g.problemPage, Enter: g.attempts.perMinute},
		g.revoked[name])
	if err != nil {
		return err
	}
	if err := rs.passes.Follow(ctx); !errors.Is(err, waitlist.ErrAway) {
		return err
	}
	return nil // keepPasses goes on
}

// keepPasses learns each second which passes were revoked, until the gate is closed, and forgets old ones once an hour. What fails is
// logged once, until it works again.
func (g *Gate) keepPasses() {
	failing, ticker := false, time.NewTicker(time.Second)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-g.sync.Done():
			return
		case <-ticker.C:
			err := g.followPasses(n%3600 == 0)
			if err != nil && !failing && g.sync.Err() == nil {
				g.o.Log.Error("the record of passes does not answer; what was revoked elsewhere is not known here", zap.Error(err))
			}
			failing = err != nil
		}
	}
}

// followPasses has all rooms learn which passes were revoked, and returns the last error.
func (g *Gate) followPasses(forget bool) (failed error) {
	defer g.survive("passes")
	for _, rs := range g.current.Load().setups {
		if rs.passes == nil {
			continue
		}
		if err := rs.passes.Follow(g.sync); err != nil {
			failed = err
		}
		if !forget {
			continue
		}
		if err := rs.passes.Forget(g.sync); err != nil {
			failed = err
		}
	}
	return failed
}

// passesAt returns the setup of the room that the path of a request has the passes of. They are on the hosts of their room alone. Without
// the name of a room, it is the only one that takes passes on the host.
func (s *setup) passesAt(r *http.Request) *roomSetup {
	rest, found := strings.CutPrefix(r.URL.Path, passes.Path)
	name, named := strings.CutPrefix(rest, "/")
	if !found || rest != "" && !named {
		return nil
	}
	var of *roomSetup
	for _, rs := range s.setups {
		if rs.passes == nil || !rs.isOn(r.Host) || named && rs.cfg.Name != name {
			continue
		}
		if of != nil {
			return nil // there are several
		}
		of = rs
	}
	return of
}

// servePasses answers a request for the path of a room's passes.
func (g *Gate) servePasses(w http.ResponseWriter, r *http.Request, s *setup, rs *roomSetup) {
	if foreign(r) {
		g.problem(w, r, http.StatusBadRequest, g.languages)
		return
	}
	rs.passes.ServeHTTP(w, r, g.passVisitor(r, s, rs))
}

// passVisitor returns who sent a request, as passes know them.
func (g *Gate) passVisitor(r *http.Request, s *setup, rs *roomSetup) passes.Visitor {
	return passes.Visitor{
		Addr: s.trust.ClientAddr(r), HTTPS: s.trust.Scheme(r) == "https", JSON: rs.cfg.JSON && wantsJSON(r),
		Message: s.roomNamed(rs.cfg.Name).settings().Message, Enter: rs.pathOn(r.Host),
		Bound: rs.binder.bind(r, s.trust).bytes(), Holds: func(bound []byte, key int) bool { return rs.binder.holdsBytes(bound, key, r, s.trust) },
	}
}

// asHolder notes whether the visitor holds a pass. By it they are one visitor on all of their devices; a user whom the site names is one
// in any case, and stays that. Somebody who is in without it, or whose pass has ended, stays in as they are.
func (v *visitor) asHolder(q *http.Request, trust origin.Trust) {
	if v.setup.passes == nil {
		return
	}
	binder := &v.setup.binder
	holder, found := v.setup.passes.Holder(q.Header, func(bound []byte, key int) bool { return binder.holdsBytes(bound, key, q, trust) })
	found = found && v.setup.passes.BelongsTo(holder, v.subject)
	switch isIn := v.room.queue.IsIn(v.now, v.ticket); {
	case found && v.subject != (queue.ID{}):
		v.ahead = holder.Ahead
	case found && (!isIn || v.ticket.ID == holder.ID):
		v.subject, v.ahead = holder.ID, holder.Ahead
	case !found && !isIn && v.setup.cfg.PassesOnly:
		v.uninvited = true
	}
}
