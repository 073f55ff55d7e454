package proxy

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/assertion"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/queue"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// passage is what the gate has to do to the origin's answer to an admitted request.
type passage struct {
	gate    *Gate
	visitor visitor
	ticket  queue.Ticket
	cookies []string // Set-Cookie values
	private bool     // no shared cache may keep the answer
	spare   bool     // nothing goes by the cookies: they go along only with an answer that no cache may store anyway
	hold    *hold    // of a request that asks for a connection that keeps its visitor in the room; nil for others
}

type passageKey struct{}

// admitted marks the header of an answer to an admitted visitor, whose request may have no
// passage. A field without values is never sent.
const admitted = "Fairdoor-Admitted"

// pass sends a request on to an origin, without our cookies. With assertions, one goes along that says whether the visitor is in.
func (g *Gate) pass(w http.ResponseWriter, r *http.Request, to http.Handler, by *assertion.Room, in bool) {
	if c, ok := w.(*check); ok {
		c.pass(nil, false)
		return
	}
	to.ServeHTTP(w, g.outgoing(r, by, in))
}

// outgoing returns the request as the origin gets it: without our cookies, and with an assertion if there are any.
func (g *Gate) outgoing(r *http.Request, by *assertion.Room, in bool) *http.Request {
	cookie.Strip(r.Header)
	if by == nil {
		return r
	}
	lines, err := by.Lines(in)
	if err != nil { // which a key that was derived does not do: the origin refuses the request
		g.o.Log.Error("request not signed", zap.Error(err))
		return r
	}
	return origin.WithAssertion(r, lines)
}

// forward sends an admitted visitor's request on to the origin, and keeps their
// session active for as long as the answer takes.
func (g *Gate) forward(w http.ResponseWriter, r *http.Request, v visitor, d queueroom.Decision) {
	private, spare := v.keepsPrivate(), v.sparesTicket()
	if c, ok := w.(*check); ok {
		var ticket []string
		if !spare {
			ticket = v.appendTicket(nil, r, &d) // an admission token is for an edge, which does not ask
		}
		c.pass(ticket, private)
		return
	}
	cookies := v.appendCookies(nil, r, &d)
	h := g.hold(v, d.Ticket)
	defer h.end()
	seats := v.room.queue.Occupancy() == queue.ByConnection && connects(r)
	if cookies != nil || v.setup.cfg.Revoke || seats || private {
		p := &passage{gate: g, visitor: v, ticket: d.Ticket, cookies: cookies, private: private, spare: spare}
		if seats {
			p.hold = h
		}
		r = r.WithContext(context.WithValue(r.Context(), passageKey{}, p))
	}
	if seats {
		r = h.seated(&v.room.seats, r)
	}
	r = g.hearing(r, v.room, v.setup)
	w.Header()[admitted] = nil
	w, m := g.measure(w, r, &v, d.Ticket.ID)
	defer m.end()
	v.setup.origin.ServeVisitor(w, g.outgoing(r, v.setup.assertions, true), d.Ticket.ID)
}

// The headers by which an origin commands the gate.
var commandHeaders = [...]string{"Fairdoor-Command", "Cf-Waiting-Room-Command"}

// respond does to an origin's answer what the gate has to do to it.
func (g *Gate) respond(resp *http.Response) {
	revoke := false
	for _, name := range commandHeaders {
		for _, command := range resp.Header[name] {
			revoke = revoke || strings.EqualFold(strings.TrimSpace(command), "revoke")
		}
		delete(resp.Header, name)
	}
	g.hearLeft(resp)
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
	if p.spare && !forbidsStoring(resp.Header["Cache-Control"]) {
		p.cookies = nil
	}
	mark(resp.Header, p.cookies, p.private)
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
// caches: Set-Cookie alone does not (RFC 9111, section 7.3). Without cookies it keeps a
// private answer out of shared caches, where they would serve it to people who wait.
func mark(h http.Header, cookies []string, private bool) {
	switch {
	case cookies != nil:
		h["Set-Cookie"] = append(h["Set-Cookie"], cookies...)
		keepFromCaches(h)
	case private:
		keepFromSharedCaches(h)
	}
}

// originFailed answers a request that the origin left unanswered. An admitted
// visitor keeps their slot, and the page that tells them so loads itself again.
func (g *Gate) originFailed(w http.ResponseWriter, r *http.Request, status int) {
	languages, kind, h := g.languages, templates.Plain, w.Header()
	if p, ok := r.Context().Value(passageKey{}).(*passage); ok {
		mark(h, p.cookies, p.private)
		languages = p.visitor.setup.set.Languages
	}
	if _, ok := h[admitted]; ok && status >= http.StatusInternalServerError {
		kind = templates.SlotKept
		again := tryAgain + rand.N(tryAgain)
		h["Retry-After"] = []string{strconv.Itoa(again)}
		if r.Method == http.MethodGet {
			h["Refresh"] = []string{refreshTo(again, r)}
		}
	}
	g.problemOf(w, r, kind, status, languages)
}

// tryAgain is after how many seconds the page of a visitor whom the origin has not answered
// loads itself again at the soonest. At the latest it is twice as long, so that they do not
// all come at once.
const tryAgain = 5
