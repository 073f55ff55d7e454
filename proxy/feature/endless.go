package feature

import (
	"crypto/rand"
	"net/http"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// endlessLine is the endless line that takes in the sender of a request; nil for none.
func (s *Setup) endlessLine(r *http.Request) EndlessLine {
	for _, line := range s.EndlessLines {
		if line.Takes(r, s) {
			return line
		}
	}
	return nil
}

// RefusesPreflight says whether the site does not get the preflight of a request, of a room with
// the settings.
func (s *Setup) RefusesPreflight(r *http.Request, settings queue.Settings) bool {
	return s.endlessLine(r) != nil || s.AdmitsNobody(settings)
}

// EndlessTicket is the ticket of a visitor in the endless line; the zero Ticket if they have none.
// A real ticket counts as one, and stays as it is, which own says: a link to what a rule flags
// would otherwise cost people their place.
func (v *Visit) EndlessTicket() (t queue.Ticket, own bool) {
	c := carriedIn(v.Sealed)
	if c.endless || c.ticket.State == queue.None {
		return c.ticket, false
	}
	return queue.Ticket{State: queue.Waiting, ID: c.ticket.ID, CameAt: c.ticket.Came(), LastCheckIn: c.ticket.LastCheckIn, RefreshInterval: c.ticket.RefreshInterval}, true
}

// EndlessPlace is how a visitor in the endless line stands.
func (v *Visit) EndlessPlace() room.Decision {
	t, own := v.EndlessTicket()
	if t.State == queue.None {
		t = queue.Ticket{State: queue.Waiting, CameAt: queue.At(v.Now)}
		_, _ = rand.Read(t.ID[:]) // it never fails
	}
	d := v.Endless.At(v.Room.Queue, v.Now, t)
	d.Issue = d.Issue && !own
	return d
}
