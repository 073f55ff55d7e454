package proxy

import (
	"context"
	"net/http"
	"slices"

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
	if v.ticket.State == queue.Waiting && !v.room.queue.Suspended() {
		d = v.room.queue.Visit(r.Context(), v.now, q)
		v.room.countDecision(d)
	}
	if d.Outcome != queueroom.Admitted {
		v.setCookies(h, r, &d)
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
	var visitors []visitor
	if name := r.URL.Query().Get("room"); name == "" {
		visitors, _ = g.visitorsOfPage(r, s) // cookies that cannot be read hold no ticket that counts
	} else {
		of := s.roomNamed(name)
		if of == nil {
			return visitor{}, http.StatusNotFound
		}
		visitors = g.listeningTo(r, s, of)
	}
	switch present := mostWaiting(visitors); len(present) {
	case 0:
		return visitor{}, http.StatusNoContent
	case 1:
		return present[0], http.StatusOK
	default:
		return visitor{}, http.StatusBadRequest
	}
}

// listeningTo returns who asks for the events of a room. A visitor without a ticket may
// wait, or be in, with another device.
func (g *Gate) listeningTo(r *http.Request, s *setup, of *room) []visitor {
	visitors, _ := g.visitorOf(r, s, of) // cookies that cannot be read hold no ticket that counts
	for i := range visitors {
		if v := &visitors[i]; v.ticket.State == queue.None && v.subject != (queue.ID{}) {
			v.ticket, _ = v.room.queue.Peek(r.Context(), v.now, v.request(false, false))
		}
	}
	return visitors
}

// mostWaiting returns those of the visitors who wait, or else those who are in.
func mostWaiting(visitors []visitor) []visitor {
	for _, state := range []queue.State{queue.Waiting, queue.Accepted} {
		of := slices.DeleteFunc(slices.Clone(visitors), func(v visitor) bool { return v.ticket.State != state })
		if len(of) > 0 {
			return of
		}
	}
	return nil
}
