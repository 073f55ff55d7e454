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
	"github.com/fairdoor-gate/fairdoor/proxy/caches"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/requestid"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// passage is what the gate has to do to the origin's answer to an admitted request.
type passage struct {
	gate    *Gate
	visit   *feature.Visit // until ServeHTTP returns
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

// unanswered marks it in the same way once the origin has not answered. Until serve has answered
// instead it has the status.
const unanswered = "Fairdoor-Unanswered"

// pass sends a request on to an origin, without our cookies. With assertions, one goes along that
// says whether the visitor is in.
func (g *Gate) pass(w http.ResponseWriter, r *http.Request, to http.Handler, by *assertion.Room, in bool) {
	if c, ok := w.(feature.Check); ok {
		c.Pass(nil, false)
		return
	}
	requestid.Take(w.Header())
	to.ServeHTTP(w, outgoing(r, by, in, g.o.Log))
}

// outgoing returns the request as the origin gets it: without our cookies, and with an assertion if
// there are any.
func outgoing(r *http.Request, by *assertion.Room, in bool, log *zap.Logger) *http.Request {
	cookie.Strip(r.Header)
	if by == nil {
		return r
	}
	lines, err := by.Lines(in)
	if err != nil { // which a key that was derived does not do: the origin refuses the request
		log.Error("request not signed", requestid.Field(r), zap.Error(err))
		return r
	}
	return origin.WithField(r, assertion.Header, lines)
}

// forward sends an admitted visitor's request on to the origin, and keeps their
// session active for as long as the answer takes.
func (g *Gate) forward(w http.ResponseWriter, r *http.Request, v *feature.Visit, d *room.Decision) {
	private, spare := keepsPrivate(v), v.SparesTicket()
	if c, ok := w.(feature.Check); ok {
		var ticket []string
		if !spare {
			ticket = v.AppendTicket(nil, r, d) // an admission token is for an edge, which does not ask
		}
		c.Pass(ticket, private)
		return
	}
	cookies := v.AppendCookies(nil, r, d)
	h := newHold(g, v, d.Ticket)
	defer h.end()
	seats := v.Room.Queue.Occupancy() == queue.ByConnection && feature.Connects(r)
	if cookies != nil || v.Setup.Config.Commands.Has(config.Revoke) || seats || private {
		p := &passage{gate: g, visit: v, ticket: d.Ticket, cookies: cookies, private: private, spare: spare}
		if seats {
			p.hold = h
		}
		r = r.WithContext(context.WithValue(r.Context(), passageKey{}, p))
	}
	if seats {
		r = h.seated(&v.Room.Seats, r)
	}
	v.Decided = d.Ticket
	r = ask(r, v.Room, v.Setup, v)
	w.Header()[admitted] = nil
	requestid.Take(w.Header())
	known := v.Setup.Origin.Failing()
	g.serve(w, outgoing(r, v.Setup.Assertions, true, g.o.Log), v, d.Ticket.ID, v.Setup.Watchers)
	if _, failed := w.Header()[unanswered]; failed && !known {
		v.Setup.Log.Warn("a visitor was told that the origin did not answer", v.Setup.About(r, d.Ticket.ID))
	}
}

// serve has the origin answer a visitor with a ticket, while features watch. If it does not answer,
// the gate does.
func (g *Gate) serve(w http.ResponseWriter, r *http.Request, v *feature.Visit, ticket queue.ID, watchers []feature.Watcher) {
	if len(watchers) == 0 {
		v.Setup.Origin.ServeVisitor(w, r, ticket)
		if status := w.Header()[unanswered]; len(status) > 0 {
			g.answerInstead(w, r, v, ticket, status[0])
		}
		return
	}
	w, watch := watchers[0].Writer(w, r, v, ticket)
	if watch != nil {
		defer watch.End()
	}
	g.serve(w, r, v, ticket, watchers[1:])
}

// answerInstead answers an admitted visitor whose request the origin has left unanswered. They keep
// their slot, and the page that tells them so loads itself again.
func (g *Gate) answerInstead(w http.ResponseWriter, r *http.Request, v *feature.Visit, ticket queue.ID, text string) {
	status, _ := strconv.Atoi(text) // which originFailed has written
	h, again := w.Header(), tryAgain+rand.N(tryAgain)
	h[unanswered] = nil
	h["Retry-After"] = []string{strconv.Itoa(again)}
	if r.Method == http.MethodGet {
		h["Refresh"] = []string{feature.RefreshTo(again, r)}
	}
	g.problemFor(w, r, templates.SlotKept, status, v.Setup.Languages(), v.Setup.Pages.Support.CodeOf(ticket))
}

// keepsPrivate says whether shared caches may keep no answer to the visitor, who is in: they would
// serve it to people who are not.
func keepsPrivate(v *feature.Visit) bool {
	switch v.Setup.Config.Cache {
	case config.CachePrivate:
		return true
	case config.CacheOrigin:
		return false
	default:
		return v.Setup.Restricted || v.WouldWait()
	}
}

// ask has the features of a room add to a request on its way to the origin.
func ask(r *http.Request, of *feature.Room, s *feature.Setup, v *feature.Visit) *http.Request {
	for _, f := range s.Askers {
		r = f.Ask(r, of, v)
	}
	return r
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
	delete(resp.Header, admitted) // which are the gate's to say
	delete(resp.Header, unanswered)
	for _, f := range g.features {
		if f, ok := f.(feature.Listener); ok {
			f.Told(resp)
		}
	}
	refuseLasting(resp)
	requestid.Return(resp.Header, resp.Request)
	p, ok := resp.Request.Context().Value(passageKey{}).(*passage)
	if !ok {
		return
	}
	switch {
	case revoke && p.visit.Setup.Config.Commands.Has(config.Revoke):
		p.revoke(resp.Request)
	case p.hold != nil && lasts(resp):
		p.hold.keepSeat(resp.Request.Context())
	}
	if p.spare && !caches.ForbidStoring(resp.Header["Cache-Control"]) {
		p.cookies = nil
	}
	feature.AddCookies(resp.Header, p.cookies, p.private)
}

// revoke ends the session of the visitor whom the answer is for.
func (p *passage) revoke(r *http.Request) {
	v := p.visit
	v.Room.Revoke(p.gate.o.Clock(), p.ticket)
	p.cookies = v.AppendCookies(nil, r, &room.Decision{Drop: true})
}

// originFailed answers a request that the origin left unanswered. That of an admitted visitor is
// left to serve, which knows whose it is.
func (g *Gate) originFailed(w http.ResponseWriter, r *http.Request, status int) {
	languages, h := g.languages, w.Header()
	requestid.Return(h, r)
	if p, ok := r.Context().Value(passageKey{}).(*passage); ok {
		feature.AddCookies(h, p.cookies, p.private)
		languages = p.visit.Setup.Languages()
	}
	if _, ok := h[admitted]; ok && status >= http.StatusInternalServerError {
		h[unanswered] = []string{strconv.Itoa(status)}
		return
	}
	g.problem(w, r, status, languages)
}

// tryAgain is after how many seconds the page of a visitor whom the origin has not answered
// loads itself again at the soonest. At the latest it is twice as long, so that they do not
// all come at once.
const tryAgain = 5
