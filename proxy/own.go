package proxy

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/anteroom-gate/anteroom/queue"
)

// own answers requests for the gate's own paths.
func (g *Gate) own(w http.ResponseWriter, r *http.Request, s *setup) {
	switch {
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
	rooms := slices.Values([]*room(nil))
	if only, ok := s.roomOfPage(r); !ok {
		rooms = s.rooms
	} else if only != nil {
		rooms = slices.Values([]*room{only})
	}
	for room := range rooms {
		if t, _, err := room.ticket(r); err == nil && t.State == queue.Waiting {
			room.line.queue.Leave(now, t)
			room.count(left)
		}
	}
	w.Header()["Cache-Control"] = noStore
	w.WriteHeader(http.StatusNoContent)
}

// roomOfPage returns the room of the page that sent a request, by its referrer;
// nil if its family has none of that value. ok is false if no room guards it.
func (s *setup) roomOfPage(r *http.Request) (of *room, ok bool) {
	page, err := url.Parse(r.Referer())
	if err != nil || page.Host != r.Host {
		return nil, false
	}
	guard, ok := s.table.Match(page.Host, page.RequestURI())
	if !ok {
		return nil, false
	}
	if of = s.places[guard.Room]; of.family != nil {
		of = of.family.known(guard.Value)
	}
	return of, true
}
