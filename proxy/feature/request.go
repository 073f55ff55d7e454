package feature

import (
	"net/http"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/crawler"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// Paths begins the paths that the gate answers itself, on every host.
const Paths = "/.fairdoor/"

// IsOwn says whether a request is for one of the gate's own paths.
func IsOwn(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, Paths) && strings.HasPrefix(r.RequestURI, Paths)
}

// Speculative says whether a browser asks for a page that nobody may ever look at, to prefetch or
// to prerender it (https://wicg.github.io/nav-speculation/prefetch.html). Older browsers say so in
// Purpose.
func Speculative(r *http.Request) bool {
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

// Subresource says whether a browser asks for a part of a page, by the Sec-Fetch-Dest
// header (W3C Fetch Metadata). Every program can send that header, so that a request
// which may do more than read is taken for a visitor's all the same.
func Subresource(r *http.Request) bool {
	values := r.Header["Sec-Fetch-Dest"]
	if AsksForIcon(r) || AsksForRules(r) {
		return true
	}
	if len(values) == 0 {
		return false
	}
	switch values[0] {
	case "audio", "audioworklet", "font", "image", "json", "manifest", "paintworklet", "report", "script",
		"serviceworker", "sharedworker", "style", "track", "video", "worker", "xslt":
		return r.Method == http.MethodGet && r.ContentLength == 0 && !Connects(r)
	}
	return false
}

// AsksForIcon says whether a browser asks for the site's icon by itself.
func AsksForIcon(r *http.Request) bool { return r.URL.Path == "/favicon.ico" && reads(r) }

// AsksForRules says whether a crawler asks what it may look at (RFC 9309), by whatever name. A page in
// the place of the rules would allow everything.
func AsksForRules(r *http.Request) bool { return r.URL.Path == "/robots.txt" && reads(r) }

// reads says whether a request asks for no more than to be shown something.
func reads(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength == 0
}

// Connects says whether a request asks for a connection that lasts: a websocket, or a
// stream of events.
func Connects(r *http.Request) bool {
	return r.Header["Upgrade"] != nil || WantsEvents(r)
}

// WantsEvents says whether a request asks for a stream of events.
func WantsEvents(r *http.Request) bool {
	return strings.Contains(strings.ToLower(HeaderValue(r.Header["Accept"])), "text/event-stream")
}

// Preflight says whether the request is a CORS preflight, which browsers send by
// themselves. It has neither cookies nor a body, and nothing that would make an origin
// do more than answer it.
func Preflight(r *http.Request) bool {
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

// Probes says whether a request only asks about a page: nobody sees what they are told of a place
// in line.
func Probes(r *http.Request) bool {
	return r.Method == http.MethodHead || r.Method == http.MethodOptions
}

// Unsafe says whether the request is one that must not be asked again by itself later.
func Unsafe(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// Hidden says whether the visitor's page has said that it is in a background tab.
func Hidden(r *http.Request) bool {
	values := r.Header["Fairdoor-Visibility"]
	return len(values) > 0 && values[0] == "hidden"
}

// Foreign says whether a page of another site sent a request that may do more than read.
func Foreign(r *http.Request) bool { return new(http.CrossOriginProtection).Check(r) != nil }

// SentByAPage says whether a form in a browser has sent the request: its sender can be shown a
// page. What a script sends names no page.
func SentByAPage(r *http.Request) bool {
	return r.Method != http.MethodOptions && templates.WantsPage(HeaderValue(r.Header["Accept"]))
}

// WantsJSON says whether a request asks for JSON rather than for a page. Browsers say which
// requests are a script's (W3C Fetch Metadata).
func WantsJSON(r *http.Request) bool {
	to := r.Header["Sec-Fetch-Dest"]
	return templates.WantsJSON(HeaderValue(r.Header["Accept"]), len(to) == 1 && to[0] == "empty")
}

// HeaderValue returns the value of a header that may have several lines.
func HeaderValue(lines []string) string {
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return lines[0]
	}
	all := lines[0]
	for _, line := range lines[1:] {
		all += "," + line
	}
	return all
}

// Crawls says whether the request is a crawler's, which says so and has no ticket.
func (v *Visit) Crawls(r *http.Request) bool {
	return v.Ticket.State == queue.None && crawler.Declared(r.UserAgent())
}

// TakesNoPlace says whether the request gives nobody a place in line, and is no check-in.
func (v *Visit) TakesNoPlace(r *http.Request) bool {
	return Subresource(r) || Probes(r) || v.Crawls(r)
}

// ShowsNoPage says whether the sender of a request cannot be shown a page that is not the site's.
func ShowsNoPage(r *http.Request) bool {
	return Subresource(r) || Speculative(r) || Unsafe(r) && !SentByAPage(r)
}
