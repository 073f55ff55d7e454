package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/callback"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// sessions is where visitors ask how they stand. Their check-ins there are visits.
const sessions = ownPaths + "session"

// own answers requests for the gate's own paths.
func (g *Gate) own(w http.ResponseWriter, r *http.Request, s *setup) {
	if isCheck(r) {
		g.check(w, r, s)
		return
	}
	if r.URL.Path != sessions {
		g.spareAside(r, s)
	}
	if l, ok := s.listAt(r); ok {
		g.serveList(w, r, s, l)
		return
	}
	if rs := s.passesAt(r); rs != nil {
		g.servePasses(w, r, s, rs)
		return
	}
	method, answer := http.MethodGet, g.serveEvents
	switch r.URL.Path {
	case ownPaths + "events":
	case sessions:
		answer = g.session
	case ownPaths + "move":
		g.move(w, r, s)
		return
	case ownPaths + "call-back":
		g.callBack(w, r, s)
		return
	case ownPaths + "call.js":
		answer = g.callWorker
	case ownPaths + "wait.js":
		answer = g.waitScript
	case ownPaths + "jwks.json":
		answer = g.jwks
	case ownPaths + "jwks.pem":
		answer = g.pemKeys
	case ownPaths + "leave":
		method, answer = http.MethodPost, g.leave
	case challenge.Path:
		method, answer = http.MethodPost, g.takeAnswer
	default:
		if logo := s.logo(r.URL.Path); logo != nil {
			answer = logo.serve
			break
		}
		g.problem(w, r, http.StatusNotFound, g.languages)
		return
	}
	switch {
	case s.allow(w, r, method):
	case r.Method != method:
		w.Header().Set("Allow", method)
		g.problem(w, r, http.StatusMethodNotAllowed, g.languages)
	case foreign(r) && len(s.listing(r)) == 0:
		g.problem(w, r, http.StatusBadRequest, g.languages)
	default:
		answer(w, r, s)
	}
}

// Header values of the script that waits.
var (
	scriptType  = []string{"text/javascript; charset=utf-8"}
	forAnHour   = []string{"public, max-age=3600"}
	anySiteUses = []string{"cross-origin"}
)

// waitScript serves the script by which the pages of a site, and of others, wait in place.
func (g *Gate) waitScript(w http.ResponseWriter, _ *http.Request, _ *setup) {
	h, script := w.Header(), templates.WaitScript()
	h["Content-Type"], h["Cache-Control"], h["X-Content-Type-Options"] = scriptType, forAnHour, noSniff
	h["Access-Control-Allow-Origin"], h["Cross-Origin-Resource-Policy"] = anySite, anySiteUses
	h["Content-Length"] = []string{strconv.Itoa(len(script))}
	_, _ = io.WriteString(w, script)
}

// foreign says whether a page of another site sent a request that may do more than read.
func foreign(r *http.Request) bool { return new(http.CrossOriginProtection).Check(r) != nil }

// leave takes the goodbye of a visitor's page. The visitor is not counted until they
// come back, unless another page of theirs is open. The goodbye is for the room that
// guards the page, or else for every room that the visitor has a ticket of. A page of
// another site says it to the rooms whose cors_origins list that site.
func (g *Gate) leave(w http.ResponseWriter, r *http.Request, s *setup) {
	visitors, _ := g.visitorsOfPage(r, s) // cookies that cannot be read hold no ticket that counts
	if foreign(r) {
		visitors = slices.DeleteFunc(visitors, func(v visitor) bool { return !v.setup.lists(r.Header.Get("Origin")) })
	}
	for _, v := range visitors {
		switch {
		case v.ticket.State != queue.Waiting, v.room.queue.HasMoved(v.now, v.ticket):
		case g.calls.Has(callback.VisitorOf(v.setup.cfg.Name, v.ticket.ID)): // who is called need not stay
		case g.events.Goodbye(v.room.forEvents(), v.ticket.ID, v.now): // another of their pages is open
		default:
			v.room.leave(v.now, v.ticket)
		}
	}
	shareAbout(visitors, w.Header(), r)
	w.Header()["Cache-Control"] = noStore
	w.WriteHeader(http.StatusNoContent)
}

// visitorsOfPage returns who sent a request from a page: the visitor of the room that
// guards the page, which the Referer header names, or nobody if the room's family does
// not have it now. A request that names no such page is from a visitor of each room
// whose ticket came along. It fails if the cookies cannot be read.
func (g *Gate) visitorsOfPage(r *http.Request, s *setup) ([]visitor, error) {
	page, err := url.Parse(r.Referer())
	if err == nil && page.Host == r.Host {
		if of, found := s.roomAt(page.Host, page.RequestURI()); found {
			return g.visitorOf(r, s, of)
		}
	}
	return g.ticketHolders(r, s)
}

// visitorOf returns who sent a request about a room; nobody if there is none. It fails
// if the cookies cannot be read.
func (g *Gate) visitorOf(r *http.Request, s *setup, of *room) ([]visitor, error) {
	if of == nil {
		return nil, nil
	}
	v, err := of.visitor(r, of.setup.Load(), g.o.Clock(), s.trust)
	if err != nil {
		return nil, err
	}
	return []visitor{v}, nil
}

// ticketHolders returns who sent a request, as a visitor of each room whose ticket came
// along. It fails if the cookies cannot be read.
func (g *Gate) ticketHolders(r *http.Request, s *setup) ([]visitor, error) {
	cookies, err := cookie.ReadAll(r.Header)
	if err != nil {
		return nil, fmt.Errorf("looking for tickets: %w", err)
	}
	now := g.o.Clock()
	var all []visitor
	for _, name := range cookies.Names() {
		for room := range s.withCookie(name) {
			rs := room.setup.Load()
			sealed := rs.jar.ReadFrom(cookies)
			if carriedIn(sealed).ticket.State == queue.None {
				continue
			}
			if v := room.holder(r, rs, now, s.trust, sealed); v.ticket.State != queue.None || v.flagged {
				all = append(all, v)
			}
		}
	}
	return all, nil
}
