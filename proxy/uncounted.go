package proxy

import (
	"context"
	"net/http"
	"strings"

	"github.com/anteroom-gate/anteroom/proxy/origin"
)

// subresource says whether a browser asks for a part of a page, by the
// Sec-Fetch-Dest header (W3C Fetch Metadata). Whoever sends none, or another, is
// taken for a visitor, and so is whoever wants more than to read it: anyone can
// send any header.
func subresource(r *http.Request) bool {
	values := r.Header["Sec-Fetch-Dest"]
	if len(values) == 0 {
		return false
	}
	switch values[0] {
	case "audio", "audioworklet", "font", "image", "json", "manifest", "paintworklet", "report", "script",
		"serviceworker", "sharedworker", "style", "track", "video", "worker", "xslt":
		return r.Method == http.MethodGet && r.ContentLength == 0 && !connects(r)
	}
	return false
}

// preflight says whether the request is a CORS preflight, which browsers send on
// their own account: without cookies or a body, and with nothing that would make
// an origin do more than answer it.
func preflight(r *http.Request) bool {
	if r.Method != http.MethodOptions || len(r.Header["Origin"]) != 1 || len(r.Header["Access-Control-Request-Method"]) != 1 || r.ContentLength != 0 {
		return false
	}
	for name := range r.Header {
		switch name {
		case "Access-Control-Request-Method":
		case "Authorization", "Cookie", "Upgrade":
			return false
		default:
			// X-Http-Method-Override and its like.
			if strings.Contains(strings.ToLower(name), "method") {
				return false
			}
		}
	}
	return true
}

// passesBy sends on a request that needs no visitor: one that a rule exempts, any while
// the room is suspended, and a preflight. It says whether this was one.
func (g *Gate) passesBy(w http.ResponseWriter, r *http.Request, trust origin.Trust, by guard, rs *roomSetup) bool {
	switch {
	case by.suspended() || rs.exempts(r, trust):
		by.count(exempt)
		g.pass(w, r, rs.origin)
	case preflight(r):
		g.uncounted(w, r, trust, by, rs, rs.admitsNobody(by.settings()))
	default:
		return false
	}
	return true
}

type uncountedKey struct{}

// uncounted answers a request that takes neither a place nor a slot. It is sent on
// unless it is withheld, or its network has had its share of them.
func (g *Gate) uncounted(w http.ResponseWriter, r *http.Request, trust origin.Trust, by guard, rs *roomSetup, withhold bool) {
	from := g.networks.of(trust.ClientAddr(r))
	if withhold || !from.enter(g.o.Clock()) {
		by.count(withheld)
		retryLater(w.Header(), by.settings())
		g.writeProblem(w, r, http.StatusServiceUnavailable, g.problems.JSON(http.StatusServiceUnavailable), problemType)
		return
	}
	defer from.leave()
	by.count(exempt)
	g.pass(w, r.WithContext(context.WithValue(r.Context(), uncountedKey{}, true)), rs.origin)
}

// refuseLasting replaces an answer to an uncounted request that would go on, as
// only that to somebody who is in may.
func refuseLasting(resp *http.Response) {
	if resp.Request.Context().Value(uncountedKey{}) == nil || !lasts(resp) {
		return
	}
	_ = resp.Body.Close()
	resp.StatusCode, resp.Header, resp.Trailer = http.StatusServiceUnavailable, http.Header{"Cache-Control": noStore}, nil
	resp.Body, resp.ContentLength = http.NoBody, 0
}
