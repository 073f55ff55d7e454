package proxy

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/queue"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// endless answers somebody in the endless line as those are answered who wait. The room does not
// know of them, and no store is asked: all that there is of them is in their cookie.
func (g *Gate) endless(w http.ResponseWriter, r *http.Request, v visitor) {
	v.room.Count(metrics.Endless)
	switch {
	case subresource(r) || speculative(r):
		g.withhold(w, r, v.room, v.setup)
		return
	case probes(r) || unsafe(r) && !sentByAPage(r) || v.crawls(r):
		g.busy(w, r, v)
		return
	}
	g.queued(w, r, v, v.endlessPlace())
}

// endlessTicket is the ticket of a visitor in the endless line; the zero Ticket if they have none. A real ticket counts as one, and stays
// as it is, which own says: a link to what a rule flags would otherwise cost people their place.
func (v *visitor) endlessTicket() (t queue.Ticket, own bool) {
	c := carriedIn(v.sealed)
	if c.endless || c.ticket.State == queue.None {
		return c.ticket, false
	}
	return queue.Ticket{State: queue.Waiting, ID: c.ticket.ID, CameAt: c.ticket.Came(), LastCheckIn: c.ticket.LastCheckIn, RefreshInterval: c.ticket.RefreshInterval}, true
}

// endlessPlace is how a visitor in the endless line stands.
func (v *visitor) endlessPlace() queueroom.Decision {
	t, own := v.endlessTicket()
	if t.State == queue.None {
		t = queue.Ticket{State: queue.Waiting, CameAt: queue.At(v.now)}
		_, _ = rand.Read(t.ID[:]) // it never fails
	}
	d := endlessAt(v.room.queue, v.now, t)
	d.Issue = d.Issue && !own
	return d
}

// endlessAt is the place of a ticket in the endless line: behind everybody who waits, whenever its visitor asks.
func endlessAt(of *queueroom.Room, at time.Time, t queue.Ticket) queueroom.Decision {
	n, now := of.Numbers(), queue.At(at)
	d := queueroom.Decision{Outcome: queueroom.Queued, Ticket: t}
	if now >= t.Due() || t.LastCheckIn > now {
		d.Issue = true
		d.Ticket.LastCheckIn, d.Ticket.RefreshInterval = now, jittered(&n.Settings).Truncate(1e6)
	}
	d.Ticket.ArrivedAt = d.Ticket.LastCheckIn
	if n.Settings.Method.HasExactLine() {
		d.Place = queue.Place{Number: n.Line.Last + 1, Ahead: n.Waiting, Length: n.Waiting + 1}
	}
	return d
}

// endlessEvents is a room as the event streams of those in its endless line know it.
type endlessEvents struct{ eventsRoom }

// Visit implements events.Room.
func (e endlessEvents) Visit(ctx context.Context, now time.Time, q queueroom.Request) queueroom.Decision {
	if e.room.removed.Load() || e.Suspended() {
		return e.eventsRoom.Visit(ctx, now, q)
	}
	return endlessAt(e.Room, now, q.Ticket)
}

// Turns implements events.Room: nobody's comes.
func (endlessEvents) Turns() queueroom.Turns { return queueroom.Turns{} }

// SoldOut implements events.Room: the line goes on.
func (endlessEvents) SoldOut() bool { return false }

// Leave implements events.Room: nobody is counted.
func (endlessEvents) Leave(time.Time, queue.Ticket) {}
