package feature

import (
	"fmt"
	"net/http"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/bind"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// keptCookies is how many cookies of one family's rooms a visitor keeps.
const keptCookies = 24

// carried is what a cookie carries.
type carried struct {
	ticket  queue.Ticket // the zero Ticket if there is none that can be trusted
	bound   bind.Binding // to whom
	endless bool         // it is of somebody in the endless line, and no place
}

// A cookie carries the binary form of a ticket, which begins with its version. Before it may be
// a byte with extended and these flags, and the binding if the ticket is bound.
const (
	extended    = 0x80
	flagEndless = 0x10
	flagsOfBind = byte(bind.Both)
)

// carriedIn returns what a cookie holds.
func carriedIn(sealed cookie.Ticket) (c carried) {
	payload := sealed.Payload
	if len(payload) > 0 && payload[0]&extended != 0 {
		c.endless, c.bound.To = payload[0]&flagEndless != 0, bind.To(payload[0]&flagsOfBind)
		payload = payload[1:]
		if c.bound.To != bind.Off {
			if len(payload) < len(c.bound.Hash) {
				return carried{}
			}
			payload = payload[copy(c.bound.Hash[:], payload):]
		}
	}
	if len(payload) == 0 || c.ticket.UnmarshalBinary(payload) != nil {
		return carried{}
	}
	return c
}

// appendTo appends what carriedIn reads.
func (c *carried) appendTo(b []byte) ([]byte, error) {
	if c.endless || c.bound.To != bind.Off {
		head := extended | byte(c.bound.To)
		if c.endless {
			head |= flagEndless
		}
		b = append(b, head)
	}
	if c.bound.To != bind.Off {
		b = append(b, c.bound.Hash[:]...)
	}
	b, err := c.ticket.AppendBinary(b)
	if err != nil {
		return nil, fmt.Errorf("writing a ticket: %w", err)
	}
	return b, nil
}

// openTicket opens the ticket that the visitor has brought in a cookie: the zero Ticket if there is
// none that can be trusted, or it is another visitor's. It says whether the ticket should be bound,
// and is not.
func (v *Visit) openTicket(r *http.Request) (lacksBinding bool) {
	c, binder := carriedIn(v.Sealed), &v.Setup.Binder
	switch {
	case v.Sealed.Refused || v.Sealed.Payload != nil && c.ticket.State == queue.None:
		v.Room.Refuse(metrics.BadTicket)
	case c.endless:
		return false
	case c.ticket.State == queue.None:
	case !binder.Owns(c.bound, v.Sealed.Key, r, v.Setup.Trust):
		v.Room.Refuse(metrics.Elsewhere)
		return false
	}
	v.Ticket = c.ticket
	return c.ticket.State != queue.None && binder.Lacks(c.bound)
}

// Carries says whether a cookie carries a ticket, be it one of the endless line.
func Carries(sealed cookie.Ticket) bool { return carriedIn(sealed).ticket.State != queue.None }

// AppendCookies appends the Set-Cookie values that the queue's decision means for the
// answer to a visitor's request.
func (v *Visit) AppendCookies(to []string, r *http.Request, d *room.Decision) []string {
	return v.appendIssued(v.AppendTicket(to, r, d), r, d)
}

// appendIssued appends what features issue.
func (v *Visit) appendIssued(to []string, r *http.Request, d *room.Decision) []string {
	for _, f := range v.Setup.Issuers {
		to = f.Issue(to, r, v, d)
	}
	return to
}

// AppendTicket appends the ticket. Every ticket is issued here.
func (v *Visit) AppendTicket(to []string, r *http.Request, d *room.Decision) []string {
	jar := v.Setup.Jar
	switch {
	case d.Drop:
		jar.Forget(v.Sealed)
		return append(to, jar.DeleteCookie(v.HTTPS))
	case d.Ticket.State == queue.None:
		return to
	case !d.Issue && !v.Stale:
		if d.Outcome == room.Admitted {
			jar.Remember(v.Sealed, v.Room.Queue.Numbers().Active) // they will bring it again as it is
		}
		return to
	}
	jar.Forget(v.Sealed)
	value, err := v.Seal(&d.Ticket)
	if err != nil { // which the tickets of the queue do not do: the visitor goes without
		v.Setup.Log.Error("ticket not issued", v.Setup.About(r, d.Ticket.ID), zap.Error(err))
		return to
	}
	to = append(to, value)
	if v.Setup.Family != "" && !IsOwn(r) { // below /.fairdoor/ one answer may issue tickets of several of these rooms
		to = append(to, jar.Excess(r.Header, keptCookies, v.HTTPS)...)
	}
	return to
}

// SparesTicket says whether a newcomer's ticket may be left out, so that caches keep what the
// origin allows them to.
func (v *Visit) SparesTicket() bool {
	if v.Ticket.State != queue.None || v.Setup.Config.Commands.Has(config.Revoke) {
		return false
	}
	s := v.Room.Settings()
	return !s.GoesByTickets()
}

// SetCookies has an answer of the gate's own set the visitor's cookies.
func (v *Visit) SetCookies(h http.Header, r *http.Request, d *room.Decision) {
	if cookies := v.AppendCookies(h["Set-Cookie"], r, d); cookies != nil {
		h["Set-Cookie"] = cookies
	}
}

// SetIssued has an answer of the gate's own set the cookies that features issue, without the
// ticket.
func (v *Visit) SetIssued(h http.Header, r *http.Request, d *room.Decision) {
	if cookies := v.appendIssued(h["Set-Cookie"], r, d); cookies != nil {
		h["Set-Cookie"] = cookies
	}
}

// Seal returns the Set-Cookie value that carries a ticket of the visitor's.
func (v *Visit) Seal(t *queue.Ticket) (string, error) {
	var buf [96]byte
	c := carried{ticket: *t, bound: v.Bound, endless: v.Endless != nil}
	payload, err := c.appendTo(buf[:0])
	if err != nil {
		return "", err
	}
	return v.Setup.Jar.Seal(payload, v.HTTPS)
}
