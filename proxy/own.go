package proxy

import (
	"iter"
	"net/http"
	"net/url"

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
	now := queue.At(g.o.Clock())
	for room := range s.ofPage(r) {
		if t, _, err := room.ticket(r); err == nil && t.State == queue.Waiting && !g.streams.goodbye(room.line, t.ID, now) {
			room.leave(now, t)
		}
	}
	w.Header()["Cache-Control"] = noStore
	w.WriteHeader(http.StatusNoContent)
}

func (r *room) leave(now queue.Instant, t queue.Ticket) {
	r.line.queue.Leave(now, t)
	r.count(left)
}

// meant returns the rooms that a request for one of the gate's own paths is about:
// the one that its query names, or those of ofPage. It is not ok if there is none
// of the name.
func (s *setup) meant(r *http.Request) (rooms iter.Seq[*room], ok bool) {
	name := r.URL.Query().Get("room")
	if name == "" {
		return s.ofPage(r), true
	}
	if of := s.called(name); of != nil && of.line != nil {
		return only(of), true
	}
	return nil, false
}

// ofPage returns the room of the page that sent a request, by its referrer, or
// else all rooms. A page of a family that has no room of its value has none.
func (s *setup) ofPage(r *http.Request) iter.Seq[*room] {
	page, err := url.Parse(r.Referer())
	if err != nil || page.Host != r.Host {
		return s.rooms
	}
	if of, ok := s.guarding(page.Host, page.RequestURI()); ok {
		return only(of)
	}
	return s.rooms
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

// only yields a room, and nothing for nil.
func only(r *room) iter.Seq[*room] {
	return func(yield func(*room) bool) {
		if r != nil {
			yield(r)
		}
	}
}
