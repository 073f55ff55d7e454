package proxy

import (
	"context"
	"net/http"
	"strings"

	"github.com/anteroom-gate/anteroom/cookie"
	"github.com/anteroom-gate/anteroom/proxy/metrics"
	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
)

// passage is what the gate has to do to the origin's answer to an admitted request.
type passage struct {
	gate    *Gate
	visitor visitor
	ticket  queue.Ticket
	cookies []string // Set-Cookie values
	hold    *hold    // of a request that asks for a connection that keeps its visitor in the room; nil for others
}

type passageKey struct{}

// pass sends a request on to an origin, without our cookies.
func (g *Gate) pass(w http.ResponseWriter, r *http.Request, to http.Handler) {
	cookie.Strip(r.Header)
	to.ServeHTTP(w, r)
}

// forward sends an admitted visitor's request on to the origin, and keeps their
// session active for as long as the answer takes.
func (g *Gate) forward(w http.ResponseWriter, r *http.Request, v visitor, d queueroom.Decision) {
	cookies := v.appendCookies(nil, r, &d)
	h := g.hold(v, d.Ticket)
	defer h.end()
	seats := v.room.queue.Occupancy() == queue.ByConnection && connects(r)
	if cookies != nil || v.setup.cfg.Revoke || seats {
		p := &passage{gate: g, visitor: v, ticket: d.Ticket, cookies: cookies}
		if seats {
			p.hold = h
		}
		r = r.WithContext(context.WithValue(r.Context(), passageKey{}, p))
	}
	if seats {
		r = h.seated(&v.room.seats, r)
	}
	g.pass(w, v.setup.origin.Counted(r, d.Ticket.ID), v.setup.origin)
}

// The headers by which an origin commands the gate.
var commandHeaders = [...]string{"Anteroom-Command", "Cf-Waiting-Room-Command"}

// respond does to an origin's answer what the gate has to do to it.
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
	case revoke && p.visitor.setup.cfg.Revoke:
		p.revoke(resp.Request)
	case p.hold != nil && lasts(resp):
		p.hold.keepSeat(resp.Request.Context())
	}
	p.mark(resp.Header)
}

// revoke ends the session of the visitor whom the answer is for.
func (p *passage) revoke(r *http.Request) {
	v := p.visitor
	v.room.queue.Revoke(p.gate.o.Clock(), p.ticket)
	v.room.seats.cut(p.ticket.ID)
	v.room.Count(metrics.Revoked)
	p.cookies = v.appendCookies(nil, r, &queueroom.Decision{Drop: true})
}

// mark adds the visitor's cookies to an answer, and keeps the answer out of
// shared caches: Set-Cookie alone does not (RFC 9111, section 7.3).
func (p *passage) mark(h http.Header) {
	if p.cookies == nil {
		return
	}
	h["Set-Cookie"] = append(h["Set-Cookie"], p.cookies...)
	keepFromCaches(h)
}

// originFailed answers a request that the origin left unanswered. An admitted
// visitor keeps their slot.
func (g *Gate) originFailed(w http.ResponseWriter, r *http.Request, status int) {
	languages := g.languages
	if p, ok := r.Context().Value(passageKey{}).(*passage); ok {
		p.mark(w.Header())
		languages = p.visitor.setup.set.Languages
	}
	g.problem(w, r, status, languages)
}
