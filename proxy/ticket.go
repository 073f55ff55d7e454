package proxy

import (
	"fmt"
	"net/http"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/cookie"
	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
)

// keptCookies is how many cookies of one family's rooms a visitor keeps.
const keptCookies = 24

// ticketIn returns the ticket that a cookie holds, or the zero Ticket if there is none
// that can be trusted.
func ticketIn(sealed cookie.Ticket) queue.Ticket {
	var t queue.Ticket
	if sealed.Payload == nil || t.UnmarshalBinary(sealed.Payload) != nil {
		return queue.Ticket{}
	}
	return t
}

// appendCookies appends the Set-Cookie values that the queue's decision means for the
// answer to a visitor's request. Every ticket is issued here.
func (v *visitor) appendCookies(to []string, r *http.Request, d *queueroom.Decision) []string {
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
	value, err := seal(jar, d.Ticket, v.https)
	if err != nil { // which the tickets of the queue do not do: the visitor goes without
		v.setup.log.Error("ticket not issued", zap.Error(err))
		return to
	}
	to = append(to, value)
	if v.setup.family != "" && !isOwn(r) { // below /.anteroom/ one answer may issue tickets of several of these rooms
		to = append(to, jar.Excess(r.Header, keptCookies, v.https)...)
	}
	return to
}

// setCookies has an answer of the gate's own set the visitor's cookies.
func (v *visitor) setCookies(h http.Header, r *http.Request, d *queueroom.Decision) {
	if cookies := v.appendCookies(h["Set-Cookie"], r, d); cookies != nil {
		h["Set-Cookie"] = cookies
	}
}

// seal returns the Set-Cookie value that carries the ticket.
func seal(jar *cookie.Jar, t queue.Ticket, https bool) (string, error) {
	var buf [64]byte
	payload, err := t.AppendBinary(buf[:0])
	if err != nil {
		return "", fmt.Errorf("writing a ticket: %w", err)
	}
	return jar.Seal(payload, https)
}
