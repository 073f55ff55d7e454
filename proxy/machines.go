package proxy

import (
	"context"
	"net/http"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/crawler"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// speculative says whether a browser asks for a page that nobody may ever look at, to prefetch or to prerender it
// (https://wicg.github.io/nav-speculation/prefetch.html). Older browsers say so in Purpose.
func speculative(r *http.Request) bool {
	for _, name := range [...]string{"Sec-Purpose", "Purpose"} {
		for _, value := range r.Header[name] {
			purpose, _, _ := strings.Cut(value, ";") // "prefetch;prerender"
			switch strings.ToLower(strings.TrimSpace(purpose)) {
			case "prefetch", "prerender":
				return true
			}
		}
	}
	return false
}

// probes says whether a request only asks about a page: nobody sees what they are told of a place in line.
func probes(r *http.Request) bool {
	return r.Method == http.MethodHead || r.Method == http.MethodOptions
}

// crawls says whether the request is a crawler's, which says so and has no ticket.
func (v *visitor) crawls(r *http.Request) bool {
	return v.ticket.State == queue.None && crawler.Declared(r.UserAgent())
}

// takesNoPlace says whether the request gives nobody a place in line, and is no check-in.
func (v *visitor) takesNoPlace(r *http.Request) bool {
	return subresource(r) || probes(r) || v.crawls(r)
}

// isIn says whether the visitor has brought the ticket of a session that lasts.
func (v *visitor) isIn(ctx context.Context) bool {
	if v.ticket.State != queue.Accepted {
		return false
	}
	t, _ := v.room.queue.Peek(ctx, v.now, v.request(false, true))
	return t.State == queue.Accepted
}

// headBack answers HEAD of somebody who would have to wait, as GET is answered, without a place and its cookie.
func (g *Gate) headBack(w http.ResponseWriter, r *http.Request, v visitor) {
	h, rs := w.Header(), v.setup
	h["Cache-Control"], h["X-Content-Type-Options"], h["Content-Type"] = noStore, noSniff, jsonType
	vary(h)
	if language := rs.language(r); language != "" {
		h["Content-Type"] = htmlType
		if templates.AcceptsGzip(headerValue(r.Header["Accept-Encoding"])) {
			h["Content-Encoding"] = gzipped
		}
	}
	leaveBody(h, r)
	w.WriteHeader(rs.cfg.StatusCode)
}
