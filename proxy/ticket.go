package proxy

import (
	"fmt"
	"net/http"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/queue"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// keptCookies is how many cookies of one family's rooms a visitor keeps.
const keptCookies = 24

// carried is what a cookie carries.
type carried struct {
	ticket  queue.Ticket // the zero Ticket if there is none that can be trusted
	bound   binding      // to whom
	endless bool         // it is of somebody in the endless line, and no place
}

// A cookie carries the binary form of a ticket, which begins with its version. Before it may be
// a byte with extended and these flags, and the binding if the ticket is bound.
const (
	extended    = 0x80
	flagEndless = 0x10
	flagsOfBind = byte(bindBoth)
)

// carriedIn returns what a cookie holds.
func carriedIn(sealed cookie.Ticket) (c carried) {
	payload := sealed.Payload
	if len(payload) > 0 && payload[0]&extended != 0 {
		c.endless, c.bound.to = payload[0]&flagEndless != 0, bindTo(payload[0]&flagsOfBind)
		payload = payload[1:]
		if c.bound.to != bindOff {
			if len(payload) < len(c.bound.hash) {
				return carried{}
			}
			payload = payload[copy(c.bound.hash[:], payload):]
		}
	}
	if len(payload) == 0 || c.ticket.UnmarshalBinary(payload) != nil {
		return carried{}
	}
	return c
}

// appendTo appends what carriedIn reads.
func (c *carried) appendTo(b []byte) ([]byte, error) {
	if c.endless || c.bound.to != bindOff {
		head := extended | byte(c.bound.to)
		if c.endless {
			head |= flagEndless
		}
		b = append(b, head)
	}
	if c.bound.to != bindOff {
		b = append(b, c.bound.hash[:]...)
	}
	b, err := c.ticket.AppendBinary(b)
	if err != nil {
		return nil, fmt.Errorf("writing a ticket: %w", err)
	}
	return b, nil
}

// ticketOf returns the ticket that a request has brought in a cookie, or the zero Ticket if there
// is none that can be trusted, or another visitor's. lacksBinding says that it should be bound, and is not.
func (r *room) ticketOf(q *http.Request, rs *roomSetup, trust origin.Trust, sealed cookie.Ticket) (t queue.Ticket, lacksBinding bool) {
	c := carriedIn(sealed)
	switch {
	case sealed.Refused || sealed.Payload != nil && c.ticket.State == queue.None:
		r.Refuse(metrics.BadTicket)
	case c.endless:
		return queue.Ticket{}, false
	case c.ticket.State == queue.None:
	case !rs.binder.holds(c.bound, sealed.Key, q, trust):
		r.Refuse(metrics.Elsewhere)
		return queue.Ticket{}, false
	}
	return c.ticket, c.ticket.State != queue.None && rs.binder.to&^c.bound.to != 0
}

// appendCookies appends the Set-Cookie values that the queue's decision means for the
// answer to a visitor's request.
func (v *visitor) appendCookies(to []string, r *http.Request, d *queueroom.Decision) []string {
	return v.appendAdmission(v.appendTicket(to, r, d), r, d)
}

// appendTicket appends the ticket. Every ticket is issued here.
func (v *visitor) appendTicket(to []string, r *http.Request, d *queueroom.Decision) []string {
	jar := v.setup.jar
	switch {
	case d.Drop:
		return append(to, jar.DeleteCookie(v.https))
	case d.Ticket.State == queue.None:
		return to
	case !d.Issue && !v.stale:
		if d.Outcome == queueroom.Admitted {
			jar.Remember(v.sealed) // they will bring it again as it is
		}
		return to
	}
	value, err := v.seal(&d.Ticket)
	if err != nil { // which the tickets of the queue do not do: the visitor goes without
		v.setup.log.Error("ticket not issued", zap.Error(err))
		return to
	}
	to = append(to, value)
	if v.setup.family != "" && !isOwn(r) { // below /.fairdoor/ one answer may issue tickets of several of these rooms
		to = append(to, jar.Excess(r.Header, keptCookies, v.https)...)
	}
	return to
}

// sparesTicket says whether a newcomer's ticket may be left out, so that caches keep what the origin allows them to.
func (v *visitor) sparesTicket() bool {
	if v.ticket.State != queue.None || v.setup.cfg.Revoke {
		return false
	}
	s := v.room.settings()
	return !s.GoesByTickets()
}

// setCookies has an answer of the gate's own set the visitor's cookies.
func (v *visitor) setCookies(h http.Header, r *http.Request, d *queueroom.Decision) {
	if cookies := v.appendCookies(h["Set-Cookie"], r, d); cookies != nil {
		h["Set-Cookie"] = cookies
	}
}

// seal returns the Set-Cookie value that carries a ticket of the visitor's.
func (v *visitor) seal(t *queue.Ticket) (string, error) {
	var buf [96]byte
	c := carried{ticket: *t, bound: v.bound, endless: v.flagged}
	payload, err := c.appendTo(buf[:0])
	if err != nil {
		return "", err
	}
	return v.setup.jar.Seal(payload, v.https)
}
