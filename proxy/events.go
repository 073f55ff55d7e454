package proxy

import (
	"net/http"

	"github.com/anteroom-gate/anteroom/queue"
)

var eventStream = []string{"text/event-stream"}

// events answers with the events of a visitor who waits (WHATWG HTML, "Server-sent
// events"), as the package's documentation lists them. To open the stream is a
// visit like any other. 204 has an EventSource give up: of those who do not wait,
// and of one visitor's streams beyond maxStreams.
func (g *Gate) events(w http.ResponseWriter, r *http.Request, s *setup) {
	v, status := g.listening(r, s)
	h := w.Header()
	switch status {
	case http.StatusOK:
	case http.StatusNoContent:
		h["Cache-Control"] = noStore
		w.WriteHeader(status)
		return
	default:
		g.writeProblem(w, r, status, g.problems.JSON(status), problemType)
		return
	}

	q := queue.Request{Ticket: v.ticket}
	d := queue.Decision{Outcome: queue.Admitted, Ticket: v.ticket}
	if v.ticket.State == queue.Waiting && !v.room.line.queue.Suspended() {
		d = v.room.line.queue.Visit(r.Context(), v.now, q)
		v.room.note(d)
	}
	if d.Drop {
		h["Set-Cookie"] = []string{v.room.jar.DeleteCookie(v.https)}
	} else if d.Issue || v.stale {
		if sealed := g.seal(v, d.Ticket); sealed != "" {
			h["Set-Cookie"] = []string{sealed}
		}
	}
	q.Ticket = d.Ticket
	e := newStream(g, w, v, q)
	if !g.streams.add(e, v.now) {
		h["Cache-Control"] = noStore
		w.WriteHeader(http.StatusNoContent)
		return
	}
	defer g.streams.remove(e)
	h["Cache-Control"], h["Content-Type"], h["X-Content-Type-Options"] = noStore, eventStream, noSniff
	h["X-Accel-Buffering"] = []string{"no"}
	w.WriteHeader(http.StatusOK)
	e.run(r.Context(), d)
}

// listening returns who asks for events: of the room that the request or the page
// that it comes from names, or else of the only one in which they wait, or are
// in. The status is not 200 if there is none such.
func (g *Gate) listening(r *http.Request, s *setup) (visitor, int) {
	rooms, ok := s.meant(r)
	if !ok {
		return visitor{}, http.StatusNotFound
	}
	var found []visitor
	for room := range rooms {
		v, err := room.visitor(r, queue.At(g.o.Clock()), s.trust)
		switch {
		case err != nil || v.ticket.State == queue.None:
		case len(found) == 0 || found[0].ticket.State == v.ticket.State:
			found = append(found, v)
		case v.ticket.State == queue.Waiting:
			found = []visitor{v}
		}
	}
	switch len(found) {
	case 0:
		return visitor{}, http.StatusNoContent
	case 1:
		return found[0], http.StatusOK
	default:
		return visitor{}, http.StatusBadRequest
	}
}
