package proxy

import (
	"context"
	"net/http"

	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
)

var eventStream = []string{"text/event-stream"}

// events answers with the events of a visitor who waits (WHATWG HTML, "Server-sent
// events"), as the package's documentation lists them. To open the stream is a
// visit like any other. 204 has an EventSource give up: of those who do not wait,
// and of one visitor's streams beyond maxStreams.
func (g *Gate) events(w http.ResponseWriter, r *http.Request, s *setup) {
	var e *stream
	aside(func() { e = g.openStream(w, r, s) })
	if e != nil {
		defer g.closed(r.Context(), e)
		e.run(r.Context())
	}
}

// openStream begins a stream, or answers the request and returns nil.
func (g *Gate) openStream(w http.ResponseWriter, r *http.Request, s *setup) *stream {
	v, status := g.listening(r, s)
	h := w.Header()
	if status != http.StatusOK {
		g.noStream(w, r, status)
		return nil
	}
	q := v.request(false, false)
	q.Aside = true // the page comes for what is told here
	d := queueroom.Decision{Outcome: queueroom.Admitted, Ticket: v.ticket}
	if v.ticket.State == queue.Waiting && !v.room.line.queue.Suspended() {
		d = v.room.line.queue.Visit(r.Context(), v.now, q)
		v.room.note(d)
	}
	if d.Outcome != queueroom.Admitted {
		g.setTicket(h, v, &d)
	}
	q.Ticket = d.Ticket
	e := newStream(g, w, v, q)
	if !g.streams.add(e, v.now) {
		g.noStream(w, r, http.StatusNoContent)
		return nil
	}
	begun := false
	defer func() { // also after a panic
		if !begun {
			g.streams.remove(e, v.now)
		}
	}()
	h["Cache-Control"], h["Content-Type"], h["X-Content-Type-Options"] = noStore, eventStream, noSniff
	h["X-Accel-Buffering"] = []string{"no"}
	w.WriteHeader(http.StatusOK)
	e.begin(v.now, &d)
	begun = true
	return e
}

// closed takes a stream out that has ended. If its page was closed, and that was the
// last of its visitor, the goodbye counts that was said just before.
func (g *Gate) closed(ctx context.Context, e *stream) {
	now := g.o.Clock()
	if g.streams.remove(e, now) && ctx.Err() != nil {
		e.room.leave(now, e.request.Ticket)
	}
}

func (g *Gate) noStream(w http.ResponseWriter, r *http.Request, status int) {
	if status != http.StatusNoContent {
		g.writeProblem(w, r, status, g.problems.JSON(status), problemType)
		return
	}
	w.Header()["Cache-Control"] = noStore
	w.WriteHeader(status)
}

// aside runs f on a goroutine of its own, and waits for it. The stack that a
// goroutine has needed once it keeps for long, and those of streams are many.
func aside(f func()) {
	var failure any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { failure = recover() }()
		f()
	}()
	<-done
	if failure != nil {
		panic(failure)
	}
}

// listening returns who asks for events: of the room that the request or the page
// that it comes from names, or else of the only one in which they wait, or are
// in. The status is not 200 if there is none such.
func (g *Gate) listening(r *http.Request, s *setup) (visitor, int) {
	of, told := s.ofPage(r)
	if name := r.URL.Query().Get("room"); name != "" {
		if of = s.called(name); of == nil || of.line == nil {
			return visitor{}, http.StatusNotFound
		}
	}
	// Whose cookies cannot be read has none that counts.
	visitors, err := g.visitors(r, s, of, told)
	var found []visitor
	for _, v := range visitors {
		if err == nil && v.ticket.State == queue.None && v.subject != (queue.ID{}) && r.URL.Query().Get("room") != "" {
			// They may wait, or be in, with another device.
			v.ticket, _ = v.room.line.queue.Peek(r.Context(), v.now, v.request(false, false))
		}
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
