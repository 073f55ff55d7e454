package feature

import (
	"crypto/rand"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/pages"
	"github.com/fairdoor-gate/fairdoor/queue"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// EndlessTicket is the ticket of a visitor in the endless line; the zero Ticket if they have none. A real ticket counts as one, and stays
// as it is, which own says: a link to what a rule flags would otherwise cost people their place.
func (v *Visit) EndlessTicket() (t queue.Ticket, own bool) {
	c := carriedIn(v.Sealed)
	if c.endless || c.ticket.State == queue.None {
		return c.ticket, false
	}
	return queue.Ticket{State: queue.Waiting, ID: c.ticket.ID, CameAt: c.ticket.Came(), LastCheckIn: c.ticket.LastCheckIn, RefreshInterval: c.ticket.RefreshInterval}, true
}

// EndlessPlace is how a visitor in the endless line stands.
func (v *Visit) EndlessPlace() queueroom.Decision {
	t, own := v.EndlessTicket()
	if t.State == queue.None {
		t = queue.Ticket{State: queue.Waiting, CameAt: queue.At(v.Now)}
		_, _ = rand.Read(t.ID[:]) // it never fails
	}
	d := EndlessAt(v.Room.Queue, v.Now, t)
	d.Issue = d.Issue && !own
	return d
}

// EndlessAt is the place of a ticket in the endless line: behind everybody who waits, whenever its visitor asks.
func EndlessAt(of *queueroom.Room, at time.Time, t queue.Ticket) queueroom.Decision {
	n, now := of.Numbers(), queue.At(at)
	d := queueroom.Decision{Outcome: queueroom.Queued, Ticket: t}
	if now >= t.Due() || t.LastCheckIn > now {
		d.Issue = true
		d.Ticket.LastCheckIn, d.Ticket.RefreshInterval = now, pages.Jittered(&n.Settings).Truncate(1e6)
	}
	d.Ticket.ArrivedAt = d.Ticket.LastCheckIn
	if n.Settings.Method.HasExactLine() {
		d.Place = queue.Place{Number: n.Line.Last + 1, Ahead: n.Waiting, Length: n.Waiting + 1}
	}
	return d
}
