package proxy

import (
	"context"
	"net/http"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// subresource says whether a browser asks for a part of a page, by the Sec-Fetch-Dest
// header (W3C Fetch Metadata). Every program can send that header, so that a request
// which may do more than read is taken for a visitor's all the same.
func subresource(r *http.Request) bool {
	values := r.Header["Sec-Fetch-Dest"]
	if asksForIcon(r) {
		return true
	}
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

// preflight says whether the request is a CORS preflight, which browsers send by
// themselves. It has neither cookies nor a body, and nothing that would make an origin
// do more than answer it.
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

// passesBy says whether a request passes the room by, and if so answers it: a rule
// exempts it, or the room is suspended, or it is a preflight.
func (g *Gate) passesBy(w http.ResponseWriter, r *http.Request, trust origin.Trust, by guard, rs *roomSetup) bool {
	switch action := rs.action(r, trust); {
	case by.suspended() || action == route.BypassWaitingRoom:
		by.Count(metrics.Exempt)
		if of, ok := by.(*room); ok {
			r = g.hearing(r, of, rs)
		}
		g.pass(w, r, rs.origin, rs.assertions, false)
	case preflight(r):
		g.uncounted(w, r, trust, by, rs, action == route.EndlessLine || rs.admitsNobody(by.settings()))
	default:
		return false
	}
	return true
}

// The answers to a page whose browser does not send the cookie back: it cannot wait, or it
// is to be loaded again, because nobody has to wait any more.
var (
	cannotWait = []byte(`{"cfWaitingRoom":{"inWaitingRoom":false,"cookieMissing":true}}` + "\n")
	loadAgain  = []byte(`{"cfWaitingRoom":{"inWaitingRoom":false}}` + "\n")
)

// answerWithoutCookie answers a check-in of such a page, which takes no place.
func (g *Gate) answerWithoutCookie(w http.ResponseWriter, r *http.Request, v visitor) {
	body := loadAgain
	v.setup.answers(w.Header(), r)
	if v.wouldWait() {
		retryLater(w.Header(), v.room.settings())
		body = cannotWait
	}
	g.writeProblem(w, r, http.StatusOK, body, jsonType)
}

type uncountedKey struct{}

// uncounted answers a request that takes neither a place nor a slot. The origin gets it
// unless it is to be withheld, or its network has had its share of such requests.
func (g *Gate) uncounted(w http.ResponseWriter, r *http.Request, trust origin.Trust, by guard, rs *roomSetup, withhold bool) {
	from, ok := entry{}, false
	if !withhold {
		from, ok = g.networks.enter(trust.ClientAddr(r), g.o.Clock())
	}
	if !ok {
		g.spareWithheld(r, trust, by)
		g.withhold(w, r, by, rs)
		return
	}
	defer from.leave()
	by.Count(metrics.Exempt)
	g.pass(w, r.WithContext(context.WithValue(r.Context(), uncountedKey{}, true)), rs.origin, rs.assertions, false)
}

// withhold answers a request that takes neither a place nor a slot, and that the origin does not get now.
func (g *Gate) withhold(w http.ResponseWriter, r *http.Request, by guard, rs *roomSetup) {
	by.Count(metrics.Withheld)
	rs.answers(w.Header(), r)
	if asksForIcon(r) {
		rs.icon(w, r)
		return
	}
	retryLater(w.Header(), by.settings())
	g.writeProblem(w, r, http.StatusServiceUnavailable, g.problems.JSON(http.StatusServiceUnavailable), problemType)
}

// refuseLasting replaces an answer that goes on, if it is to an uncounted request. Only
// visitors who are in may have such an answer.
func refuseLasting(resp *http.Response) {
	if !lasts(resp) || resp.Request.Context().Value(uncountedKey{}) == nil {
		return
	}
	_ = resp.Body.Close()
	resp.StatusCode, resp.Header, resp.Trailer = http.StatusServiceUnavailable, http.Header{"Cache-Control": noStore}, nil
	resp.Body, resp.ContentLength = http.NoBody, 0
}
