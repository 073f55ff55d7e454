package proxy

import (
	"fmt"
	"net/http"
	"net/url"

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
	of, found := s.roomOfPage(r)
	// A visitor whose cookies cannot be read has no ticket that counts.
	visitors, _ := g.visitors(r, s, of, found)
	for _, v := range visitors {
		if v.ticket.State == queue.Waiting && !g.streams.goodbye(v.room, v.ticket.ID, v.now) {
			v.room.leave(v.now, v.ticket)
		}
	}
	w.Header()["Cache-Control"] = noStore
	w.WriteHeader(http.StatusNoContent)
}

// roomOfPage returns the room that guards the page that a request was sent from, as
// roomAt does.
func (s *setup) roomOfPage(r *http.Request) (of *room, found bool) {
	page, err := url.Parse(r.Referer())
	if err != nil || page.Host != r.Host {
		return nil, false
	}
	return s.roomAt(page.Host, page.RequestURI())
}

// visitors returns who sent a request about one room, or nobody if that room was found
// to be one that there is not. If no room was found that it is about, they are a
// visitor of each room whose ticket came along. It fails if the cookies cannot be read.
func (g *Gate) visitors(r *http.Request, s *setup, of *room, found bool) ([]visitor, error) {
	now := g.o.Clock()
	switch {
	case of != nil:
		v, err := of.visitor(r, of.setup.Load(), now, s.trust)
		return []visitor{v}, err
	case found:
		return nil, nil
	}
	cookies, err := cookie.ReadAll(r.Header)
	if err != nil {
		return nil, fmt.Errorf("looking for tickets: %w", err)
	}
	var all []visitor
	for _, name := range cookies.Names() {
		for room := range s.withCookie(name) {
			rs := room.setup.Load()
			sealed := rs.jar.ReadFrom(cookies)
			if t := ticketIn(sealed); t.State != queue.None {
				all = append(all, room.holder(r, rs, now, s.trust, t, sealed))
			}
		}
	}
	return all, nil
}
