package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/events"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// eventsRoom is a room as its event streams know it.
type eventsRoom struct {
	*room.Room
	room *feature.Room
}

func forEvents(r *feature.Room) eventsRoom { return eventsRoom{r.Queue, r} }

// Visit implements events.Room.
func (e eventsRoom) Visit(ctx context.Context, now time.Time, q room.Request) room.Decision {
	switch {
	case e.room.Removed.Load():
		return room.Decision{Outcome: room.Rejected, Ticket: q.Ticket}
	case e.Suspended():
		return room.Decision{Outcome: room.Admitted, Ticket: q.Ticket}
	}
	q.Ahead = e.room.Ahead(now, &q.Ticket, q.Ahead)
	d := e.Room.Visit(ctx, now, q)
	e.room.Decided(feature.Sight{At: now, Brought: q.Ticket.ID, Ahead: q.Ahead != queue.NotAhead || q.Priority > 0, What: metrics.ResultOf(d), Decision: d})
	return d
}

// Place implements events.Room.
func (e eventsRoom) Place(now time.Time, d *room.Decision) (place json.RawMessage, far bool) {
	return waitingJSON(e.room.Setup(), e.Room, now, d)
}

// Leave implements events.Room.
func (e eventsRoom) Leave(now time.Time, t queue.Ticket) { e.room.Leave(now, t) }

// endlessEvents is a room as the event streams of those in its endless line know it.
type endlessEvents struct {
	eventsRoom
	line feature.EndlessLine
}

// Visit implements events.Room.
func (e endlessEvents) Visit(ctx context.Context, now time.Time, q room.Request) room.Decision {
	if e.room.Removed.Load() || e.Suspended() {
		return e.eventsRoom.Visit(ctx, now, q)
	}
	return e.line.At(e.Room, now, q.Ticket)
}

// Turns implements events.Room: nobody's comes.
func (endlessEvents) Turns() room.Turns { return room.Turns{} }

// SoldOut implements events.Room: the line goes on.
func (endlessEvents) SoldOut() bool { return false }

// Leave implements events.Room: nobody is counted.
func (endlessEvents) Leave(time.Time, queue.Ticket) {}

// detach implements events.Detach.
func detach(w http.ResponseWriter, r *http.Request, serve func(events.Line)) bool {
	return listen.Detach(w, r, func(d *listen.Detached) { serve(d) })
}

// serveEvents answers with the events of a visitor who waits; see package events.
func (g *Gate) serveEvents(w http.ResponseWriter, r *http.Request) {
	g.events.Serve(w, r, func() (events.Listener, bool) { return g.listener(w, r) })
}

// listener returns who opens a stream, which is a visit like any other; or answers the
// request.
func (g *Gate) listener(w http.ResponseWriter, r *http.Request) (l events.Listener, found bool) {
	v, status := g.current.Load().listening(r, g.o.Clock())
	switch status {
	case http.StatusOK:
		v.Setup.Share(w.Header(), r)
	case http.StatusNoContent:
		events.Refuse(w)
		return l, false
	default:
		feature.WriteProblem(w, r, status, g.problems.JSON(status), feature.ProblemType)
		return l, false
	}
	if v.Endless != nil {
		d := v.EndlessPlace()
		v.SetCookies(w.Header(), r, &d)
		return events.Listener{Room: endlessEvents{forEvents(v.Room), v.Endless}, Now: v.Now, Request: room.Request{Ticket: d.Ticket}, Decision: d}, true
	}
	q := v.Request(false, false)
	q.Ask.By, q.Ahead = room.Question, v.PassAhead // operators may change their mind while the stream is open
	of, d := forEvents(v.Room), room.Decision{Outcome: room.Admitted, Ticket: v.Ticket}
	if v.Ticket.State == queue.Waiting {
		d = of.Visit(r.Context(), v.Now, q)
	}
	if d.Outcome != room.Admitted {
		v.SetCookies(w.Header(), r, &d)
	}
	q.Ticket = d.Ticket
	return events.Listener{Room: of, Now: v.Now, Request: q, Decision: d}, true
}

// mostWaiting returns those of the visitors who wait, or else those who are in.
func mostWaiting(visitors []*feature.Visit) []*feature.Visit {
	for _, state := range []queue.State{queue.Waiting, queue.Accepted} {
		of := slices.DeleteFunc(slices.Clone(visitors), func(v *feature.Visit) bool { return listensAs(v) != state })
		if len(of) > 0 {
			return of
		}
	}
	return nil
}

// listensAs is as what a visitor may ask for events: who waits, or who is in.
func listensAs(v *feature.Visit) queue.State {
	switch {
	case v.Shut:
		return queue.None
	case v.Endless != nil:
		t, _ := v.EndlessTicket()
		return t.State
	}
	return v.Ticket.State
}
