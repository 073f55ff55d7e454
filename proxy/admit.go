package proxy

import (
	"context"
	"net/http"
	"strings"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/cookie"
	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
)

// passage is what has to be done to the answer to an admitted request.
type passage struct {
	gate      *Gate
	visitor   visitor
	ticket    queue.Ticket
	setCookie string   // "" for none
	excess    []string // Set-Cookie values to go with it
	hold      *hold    // of an answer that may be a connection that keeps a seat; nil for none
}

type passageKey struct{}

// pass sends a request on to an origin, without our cookies.
func (g *Gate) pass(w http.ResponseWriter, r *http.Request, to http.Handler) {
	cookie.Strip(r.Header)
	to.ServeHTTP(w, r)
}

// admit sends an admitted visitor's request on to the origin, and keeps their
// session active for as long as the answer takes.
func (g *Gate) admit(w http.ResponseWriter, r *http.Request, v visitor, d queueroom.Decision) {
	setCookie := ""
	if d.Issue || v.stale {
		setCookie = g.seal(v, d.Ticket)
	} else {
		v.room.jar.Remember(v.sealed)
	}
	h := g.hold(v, d.Ticket)
	defer h.end()
	seats := v.room.line.queue.Occupancy() == queue.ByConnection && connects(r)
	if setCookie != "" || v.room.cfg.Revoke || seats {
		p := &passage{gate: g, visitor: v, ticket: d.Ticket, setCookie: setCookie}
		if setCookie != "" {
			p.excess = v.excess(r)
		}
		if seats {
			p.hold = h
		}
		r = r.WithContext(context.WithValue(r.Context(), passageKey{}, p))
	}
	if seats {
		r = h.take(v.room.line, r)
	}
	g.pass(w, v.room.origin.Counted(r, d.Ticket.ID), v.room.origin)
}

// seal makes the Set-Cookie value of a ticket. It does not fail for tickets that
// the queue has made; if it should, the visitor goes without.
func (g *Gate) seal(v visitor, t queue.Ticket) string {
	value, err := v.room.seal(t, v.https)
	if err != nil {
		g.o.Log.Error("ticket not issued", zap.String("room", v.room.cfg.Name), zap.Error(err))
		return ""
	}
	return value
}

// setTicket has an answer of the gate's own set or delete the cookie, as the
// decision wants it.
func (g *Gate) setTicket(h http.Header, v visitor, d *queueroom.Decision) {
	switch {
	case d.Drop:
		h.Add("Set-Cookie", v.room.jar.DeleteCookie(v.https))
	case d.Ticket.State != queue.None && (d.Issue || v.stale):
		if value := g.seal(v, d.Ticket); value != "" {
			h.Add("Set-Cookie", value)
		}
	}
}

// The headers by which an origin commands the gate.
var commandHeaders = [...]string{"Anteroom-Command", "Cf-Waiting-Room-Command"}

// respond is the gate's look at every answer of an origin.
func (g *Gate) respond(resp *http.Response) {
	revoke := false
	for _, name := range commandHeaders {
		for _, command := range resp.Header[name] {
			revoke = revoke || strings.EqualFold(strings.TrimSpace(command), "revoke")
		}
		delete(resp.Header, name)
	}
	refuseLasting(resp)
	p, ok := resp.Request.Context().Value(passageKey{}).(*passage)
	if !ok {
		return
	}
	switch {
	case revoke && p.visitor.room.cfg.Revoke:
		p.revoke()
	case p.hold != nil && lasts(resp):
		p.hold.keep(resp.Request.Context())
	}
	p.mark(resp.Header)
}

// revoke ends the session that the answer belongs to.
func (p *passage) revoke() {
	v := p.visitor
	v.room.line.queue.Revoke(p.gate.o.Clock(), p.ticket)
	v.room.line.seats.cut(p.ticket.ID)
	v.room.count(revoked)
	p.setCookie = v.room.jar.DeleteCookie(v.https)
}

// mark adds the visitor's cookie to an answer, and keeps the answer out of
// shared caches: Set-Cookie alone does not (RFC 9111, section 7.3).
func (p *passage) mark(h http.Header) {
	if p.setCookie == "" {
		return
	}
	h.Add("Set-Cookie", p.setCookie)
	for _, value := range p.excess {
		h.Add("Set-Cookie", value)
	}
	keepFromCaches(h)
}

// originFailed answers a request that the origin left unanswered. An admitted
// visitor keeps their slot.
func (g *Gate) originFailed(w http.ResponseWriter, r *http.Request, status int) {
	languages := g.languages
	if p, ok := r.Context().Value(passageKey{}).(*passage); ok {
		p.mark(w.Header())
		languages = p.visitor.room.set.Languages
	}
	g.problem(w, r, status, languages)
}
