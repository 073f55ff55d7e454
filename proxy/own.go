package proxy

import (
	"net/http"
	"net/url"

	"github.com/anteroom-gate/anteroom/queue"
)

// own answers requests for the gate's own paths.
func (g *Gate) own(w http.ResponseWriter, r *http.Request, s *setup) {
	switch {
	case r.URL.Path == ownPaths+"session" && unsafe(r):
		w.Header().Set("Allow", "GET, HEAD")
		g.problem(w, r, http.StatusMethodNotAllowed, g.languages)
	case r.URL.Path == ownPaths+"session":
		g.session(w, r, s)
	case r.URL.Path != ownPaths+"leave":
		g.problem(w, r, http.StatusNotFound, g.languages)
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		g.problem(w, r, http.StatusMethodNotAllowed, g.languages)
	case new(http.CrossOriginProtection).Check(r) != nil:
		g.problem(w, r, http.StatusBadRequest, g.languages)
	default:
		g.leave(w, r, s)
	}
}

// leave is the goodbye of a visitor's page: they are not counted until they come
// back. It is said to the room of the page that the beacon names as its referrer,
// or else to every room that the visitor has a ticket of.
func (g *Gate) leave(w http.ResponseWriter, r *http.Request, s *setup) {
	now := queue.At(g.o.Clock())
	only := -1
	if page, err := url.Parse(r.Referer()); err == nil && page.Host == r.Host {
		if i, ok := s.table.Match(page.Host, page.RequestURI()); ok {
			only = i
		}
	}
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
