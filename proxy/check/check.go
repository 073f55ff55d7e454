// Package check answers other proxies that ask whether requests of their visitors may pass: as the
// gate would answer those requests.
package check

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/requestid"
)

// checks is where another proxy asks about its visitors' requests, and answers them itself if they
// may pass. The path says by which protocol. The query says nothing: some proxies leave the
// visitor's own there.
const (
	name         = "check"
	checks       = feature.Paths + name
	nginxsChecks = checks + "/nginx"
	envoysChecks = checks + "/envoy" // before the target
)

// protocol is how a proxy takes the answer to a check.
type protocol uint8

// The protocols. Every proxy lets a request pass at 200.
const (
	forwarding protocol = iota // gives the visitor the answer, unless its status is of the class 2xx: Caddy, Traefik
	envoys                     // the same, and 5xx counts as a failure to check
	nginxs                     // knows 401 and 403, and gives the visitor nothing of the answer
)

// check is the writer of the answer to a check. The gate lets a request pass by it as it would send
// it to the origin; all that it writes itself refuses the request.
type check struct {
	http.ResponseWriter
	protocol protocol
	bodiless bool // a HEAD is asked about, by a request that is none: the answer has no body, and so no length of one
}

// Feature answers the checks of a gate.
type Feature struct {
	gate   feature.Gate
	warned atomic.Pointer[warnings]
}

// warnings are those of checks that cannot be answered; of each configuration anew.
type warnings struct{ strange, unclear feature.Once }

// NewFeature returns what answers the checks of a gate.
func NewFeature(g feature.Gate) *Feature { return &Feature{gate: g} }

// Part implements [feature.Feature]: a check is about any room.
func (*Feature) Part(context.Context, *feature.Setup) (feature.Part, error) { return nil, nil }

// Choose implements [feature.Chooser].
func (*Feature) Choose(context.Context, feature.Configuration) error { return nil }

// Use implements [feature.Chooser].
func (f *Feature) Use() { f.warned.Store(new(warnings)) }

// Paths implements [feature.Owner].
func (f *Feature) Paths() []feature.Path {
	return []feature.Path{{Name: name, Serve: f.serve}, {Name: name + "/", Serve: f.serve}}
}

// serve answers whether a visitor's request, which another proxy has, may pass: as the gate would
// answer that request.
func (f *Feature) serve(w http.ResponseWriter, r *http.Request) {
	if !f.gate.Trust().TrustsPeer(r) {
		f.warn(&f.warned.Load().strange, "a check was refused, as it came from an address that trusted_proxies does not have", r)
		f.gate.Problem(w, r, http.StatusForbidden)
		return
	}
	asked, by, ok := askedAbout(r)
	if !ok {
		f.warn(&f.warned.Load().unclear, "a check does not say which request it is about", r)
		f.gate.Problem(w, r, http.StatusBadRequest)
		return
	}
	f.gate.Serve(&check{w, by, asked.Method == http.MethodHead && r.Method != http.MethodHead}, asked)
}

// askedAbout returns the request that a check is about, and the protocol of the proxy that asks.
// What the proxy does not say the visitor may say: so each fact is read from one place only.
func askedAbout(r *http.Request) (asked *http.Request, by protocol, ok bool) {
	if target, is := strings.CutPrefix(r.RequestURI, envoysChecks); is {
		asked, ok = asIf(r, r.Method, r.Host, target)
		return asked, envoys, ok
	}
	switch r.URL.Path {
	case checks:
	case nginxsChecks:
		by = nginxs
	default:
		return nil, by, false
	}
	h := r.Header
	asked, ok = asIf(r, only(h["X-Forwarded-Method"], r.Method), only(h["X-Forwarded-Host"], r.Host), only(h["X-Forwarded-Uri"], ""))
	return asked, by, ok
}

// asIf returns a request as if its visitor had sent it here, with a method and a target, to a host.
func asIf(r *http.Request, method, host, target string) (asked *http.Request, ok bool) {
	u, err := url.ParseRequestURI(target)
	if err != nil || method == "" || host == "" || target[0] != '/' {
		return nil, false
	}
	asked = r.WithContext(r.Context())
	asked.Method, asked.Host, asked.URL, asked.RequestURI, asked.Header = method, host, u, target, r.Header.Clone()
	delete(asked.Header, "X-Forwarded-Method")
	delete(asked.Header, "X-Forwarded-Uri")
	return asked, true
}

// only is the value of a header that has one, and otherwise if it has none. Of several values
// nobody knows which is the proxy's.
func only(lines []string, otherwise string) string {
	switch len(lines) {
	case 0:
		return otherwise
	case 1:
		return lines[0]
	}
	return ""
}

// nobodyElses is the Vary of an answer that is for no other request.
var nobodyElses = []string{"*"}

// Pass implements [feature.Check]. An answer with a Cache-Control has it for the site's own answer,
// which takes the cookies to the visitor and may be private.
func (c *check) Pass(cookies []string, private bool) {
	h := c.Header()
	h["Vary"] = nobodyElses
	feature.AddCookies(h, cookies, private)
	c.ResponseWriter.WriteHeader(http.StatusOK)
}

// Refuses implements [feature.Check]: it answers a check of a proxy that can show its visitor
// nothing of the answer, if the visitor is not in. The proxy then gives the request to the gate
// itself, which may let them in. So the check lets nobody in, and gives nobody a place.
func (c *check) Refuses(r *http.Request, v *feature.Visit) bool {
	if c.protocol != nginxs || v.IsIn(r.Context()) {
		return false
	}
	c.WriteHeader(http.StatusUnauthorized)
	return true
}

// WriteHeader refuses the request that the check is about.
func (c *check) WriteHeader(status int) {
	switch {
	case c.protocol == nginxs:
		status = http.StatusUnauthorized
	case status < http.StatusMultipleChoices, c.protocol == envoys && status >= http.StatusInternalServerError:
		status = http.StatusTooManyRequests
	}
	if c.bodiless {
		delete(c.Header(), "Content-Length")
	}
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap has http.ResponseController find the writer's other methods.
func (c *check) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// warn logs what is wrong with the checks of another proxy, once. The visitor's query is left out:
// it may hold secrets.
func (f *Feature) warn(once *feature.Once, what string, r *http.Request) {
	if once.First(origin.Peer(r)) {
		f.gate.Log().Warn(what+"; others like it are not logged", requestid.Field(r), zap.String("from", r.RemoteAddr), zap.String("path", r.URL.Path))
	}
}
