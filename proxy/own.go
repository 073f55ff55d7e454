package proxy

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// Names below feature.Paths.
const (
	sessionName   = "session" // where visitors ask how they stand: their check-ins there are visits
	loadTokenName = "load-token"
)

// LoadTokenPath is where a gate agrees to crowds of those who know a token: by its SHA-256.
const LoadTokenPath = feature.Paths + loadTokenName

// ownPaths returns the gate's own paths and those of its features.
func ownPaths(g *Gate) map[string]feature.Path {
	own := map[string]feature.Path{}
	for _, p := range []feature.Path{
		{Name: sessionName, Method: http.MethodGet, Serve: g.session},
		{Name: "events", Method: http.MethodGet, Serve: g.serveEvents},
		{Name: "leave", Method: http.MethodPost, Serve: g.leave},
		{Name: "wait.js", Method: http.MethodGet, Serve: serveWaitScript},
		{Name: "logo/", Method: http.MethodGet, Serve: g.servePicture},
		{Name: "health", Serve: health(g)},
		{Name: loadTokenName, Method: http.MethodGet, Serve: g.serveLoadToken},
	} {
		own[p.Name] = p
	}
	for f := range having[feature.Owner](g) {
		for _, p := range f.Paths() {
			own[p.Name] = p
		}
	}
	return own
}

// answerOwn answers requests for the gate's own paths.
func (g *Gate) answerOwn(w http.ResponseWriter, r *http.Request, s *setup) {
	name, below, deep := strings.Cut(strings.TrimPrefix(r.URL.Path, feature.Paths), "/")
	if deep {
		name += "/"
	}
	p, found := g.own[name]
	if name != sessionName {
		g.witnesses.aside(r)
	}
	switch {
	case !found, below == "" && deep:
		g.problem(w, r, http.StatusNotFound, g.languages)
	case p.Method == "":
		p.Serve(w, r)
	case s.allow(w, r, p.Method):
	case r.Method != p.Method:
		w.Header().Set("Allow", p.Method)
		g.problem(w, r, http.StatusMethodNotAllowed, g.languages)
	case feature.Foreign(r) && len(s.listing(r)) == 0:
		g.problem(w, r, http.StatusBadRequest, g.languages)
	default:
		p.Serve(w, r)
	}
}

// health says at the visitors' port whether they may be sent here, for balancers that can ask at no
// other, if the configuration has it do so.
func health(g *Gate) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Cache-Control"] = feature.NoStore
		switch {
		case !g.current.Load().cfg.PublicHealth:
			g.problem(w, r, http.StatusNotFound, g.languages)
		case g.draining.Load():
			g.problem(w, r, http.StatusServiceUnavailable, g.languages)
		default:
			reply.JSON(w, map[string]string{"status": "ok"})
		}
	}
}

// serveLoadToken says whose crowds the gate agrees to, if the configuration has any.
func (g *Gate) serveLoadToken(w http.ResponseWriter, r *http.Request) {
	hash := g.current.Load().cfg.LoadToken
	if hash == "" {
		g.problem(w, r, http.StatusNotFound, g.languages)
		return
	}
	w.Header()["Cache-Control"] = feature.NoStore
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, hash+"\n") // an error is the visitor's, who is gone
}

// anySiteUses is the header value of what the pages of every site may use.
var anySiteUses = []string{"cross-origin"}

// serveWaitScript serves the script by which the pages of a site, and of others, wait in place.
func serveWaitScript(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h["Access-Control-Allow-Origin"], h["Cross-Origin-Resource-Policy"] = feature.AnySite, anySiteUses
	feature.WriteScript(w, templates.WaitScript())
}

// leave takes the goodbye of a visitor's page. The visitor is not counted until they
// come back, unless another page of theirs is open. The goodbye is for the room that
// guards the page, or else for every room that the visitor has a ticket of. A page of
// another site says it to the rooms whose cors_origins list that site.
func (g *Gate) leave(w http.ResponseWriter, r *http.Request) {
	visitors, _ := g.current.Load().visitorsOfPage(r, g.o.Clock()) // cookies that cannot be read hold no ticket that counts
	if feature.Foreign(r) {
		visitors = slices.DeleteFunc(visitors, func(v *feature.Visit) bool { return !v.Setup.Lists(r.Header.Get("Origin")) })
	}
	for _, v := range visitors {
		switch {
		case v.Ticket.State != queue.Waiting, v.Room.Queue.HasMoved(v.Now, v.Ticket):
		case slices.ContainsFunc(v.Setup.Keepers, func(f feature.Keeper) bool { return f.Keeps(v) }):
		case g.events.Goodbye(forEvents(v.Room), v.Ticket.ID, v.Now): // another of their pages is open
		default:
			v.Room.Leave(v.Now, v.Ticket)
		}
	}
	shareAbout(visitors, w.Header(), r)
	w.Header()["Cache-Control"] = feature.NoStore
	w.WriteHeader(http.StatusNoContent)
}
