package proxy

import (
	"net/http"

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
// back. It is said to the room of the page that the beacon names as its referrer,
// or else to every room that the visitor has a ticket of.
func (g *Gate) leave(w http.ResponseWriter, r *http.Request, s *setup) {
	now, only := queue.At(g.o.Clock()), s.ofPage(r)
	for i, room := range s.rooms {
		if only >= 0 && i != only {
			continue
		}
		if t, _, err := room.ticket(r); err == nil && t.State == queue.Waiting {
			room.line.queue.Leave(now, t)
			room.count(left)
		}
	}
	w.Header()["Cache-Control"] = noStore
	w.WriteHeader(http.StatusNoContent)
}
