package proxy

import (
	"context"
	"net/http"
	"strings"

	"github.com/anteroom-gate/anteroom/proxy/origin"
	"github.com/anteroom-gate/anteroom/queue"
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

// closed says whether nobody new may enter the room, whoever they are.
func (r *room) closed() bool {
	s := r.settings()
	return s.QueueAll || s.Method == queue.Reject || r.origin.Failing()
}

// queueing says whether somebody new would have to wait.
func (r *room) queueing() bool { return r.line.queue.Numbers().Queueing() || r.closed() }

type uncountedKey struct{}

// uncounted answers a request that takes neither a place nor a slot. It is sent on
// unless the room holds it, or its network has had its share of them.
func (g *Gate) uncounted(w http.ResponseWriter, r *http.Request, room *room, trust origin.Trust, held bool) {
	from := g.networks.of(trust.ClientAddr(r))
	if held || !from.enter(g.o.Clock()) {
		room.count(withheld)
		room.retryLater(w.Header())
		g.writeProblem(w, r, http.StatusServiceUnavailable, g.problems.JSON(http.StatusServiceUnavailable), problemType)
		return
	}
	defer from.leave()
	room.count(exempt)
	g.pass(w, r.WithContext(context.WithValue(r.Context(), uncountedKey{}, true)), room.origin)
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
