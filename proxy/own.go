package proxy

import (
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/anteroom-gate/anteroom/cookie"
	"github.com/anteroom-gate/anteroom/queue"
)

// own answers requests for the gate's own paths.
func (g *Gate) own(w http.ResponseWriter, r *http.Request, s *setup) {
	method, answer := http.MethodGet, g.events
	switch r.URL.Path {
	case ownPaths + "events":
	case ownPaths + "session":
		answer = g.session
	case ownPaths + "leave":
		method, answer = http.MethodPost, g.leave
	default:
		g.problem(w, r, http.StatusNotFound, g.languages)
		return
	}
	switch {
	case r.Method != method:
		w.Header().Set("Allow", method)
		g.problem(w, r, http.StatusMethodNotAllowed, g.languages)
	case new(http.CrossOriginProtection).Check(r) != nil:
		g.problem(w, r, http.StatusBadRequest, g.languages)
	default:
		answer(w, r, s)
	}
}

// leave is the goodbye of a visitor's page: they are not counted until they come
// back, unless another page of theirs is open. It is said to the room of the page that
// the beacon names as its referrer, or else to every room that the visitor has a
// ticket of.
func (g *Gate) leave(w http.ResponseWriter, r *http.Request, s *setup) {
	of, told := s.ofPage(r)
	// Whose cookies cannot be read has none that counts.
	visitors, _ := g.visitors(r, s, of, told)
	for _, v := range visitors {
		if v.ticket.State == queue.Waiting && !g.streams.goodbye(v.room.line, v.ticket.ID, v.now) {
			v.room.leave(v.now, v.ticket)
		}
	}
	w.Header()["Cache-Control"] = noStore
	w.WriteHeader(http.StatusNoContent)
}

func (r *room) leave(now time.Time, t queue.Ticket) {
	r.line.queue.Leave(now, t)
	r.count(left)
}

// ofPage returns the room of the page that sent a request, nil if there is none such,
// and whether the request tells of a page of a room's at all.
func (s *setup) ofPage(r *http.Request) (of *room, told bool) {
	page, err := url.Parse(r.Referer())
	if err != nil || page.Host != r.Host {
		return nil, false
	}
	return s.guarding(page.Host, page.RequestURI())
}

// visitors returns who sent a request: the visitor of the room that it has told of,
// whatever they bring, or else of each whose ticket came along. It fails if the cookies
// cannot be read.
func (g *Gate) visitors(r *http.Request, s *setup, of *room, told bool) ([]visitor, error) {
	now := g.o.Clock()
	switch {
	case of != nil:
		v, err := of.visitor(r, now, s.trust)
		return []visitor{v}, err
	case told:
		return nil, nil
	}
	cookies, err := cookie.ReadAll(r.Header)
	if err != nil {
		return nil, fmt.Errorf("looking for tickets: %w", err)
	}
	var all []visitor
	for _, name := range cookies.Names() {
		for room := range s.withCookie(name) {
			sealed := room.jar.ReadFrom(cookies)
			if t := unsealed(sealed); t.State != queue.None {
				all = append(all, room.holder(r, now, s.trust, t, sealed))
			}
		}
	}
	return all, nil
}

// withCookie yields the rooms that there are whose cookie has the bare name.
func (s *setup) withCookie(name string) iter.Seq[*room] {
	return func(yield func(*room) bool) {
		for _, place := range s.byCookie[name] {
			if place.family == nil && !yield(place) {
				return
			}
		}
		for i := range min(len(name), s.longest+1) {
			if name[i] != '.' {
				continue
			}
			for _, place := range s.byCookie[name[:i]] {
				if place.family == nil {
					continue
				}
				if one := place.family.known(name[i+1:]); one != nil && !yield(one) {
					return
				}
			}
		}
	}
}

// guarding returns the room that guards a path; nil if its family has none of that
// value. It is not ok if none guards it.
func (s *setup) guarding(host, path string) (of *room, ok bool) {
	guard, ok := s.table.Match(host, path)
	if !ok {
		return nil, false
	}
	if of = s.places[guard.Room]; of.family != nil {
		of = of.family.known(guard.Value)
	}
	return of, true
}
