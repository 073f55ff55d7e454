package origin

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
)

// HostHeader says which Host an origin is asked for: that of the visitor's request (""), the
// origin's own address ([OwnHost]), or the host that it names.
type HostHeader string

// OwnHost is the HostHeader of origins that are asked for the host and port of their own address.
// VisitorsHost is what "" is called in configurations.
const (
	OwnHost      HostHeader = "origin"
	VisitorsHost HostHeader = "visitor"
)

// of returns the Host for a request that came for the host asked.
func (h HostHeader) of(asked string, o *Origin) string {
	switch h {
	case "":
		return asked
	case OwnHost:
		return o.cfg.URL.Host
	default:
		return string(h)
	}
}

// Balancer spreads requests over one origin or several: each gets every n-th, and one that fails
// gets none while another answers. A request that an origin leaves unanswered is asked of no other.
// The origins are not the balancer's: other balancers may have them, too.
type Balancer struct {
	origins []*Origin
	host    HostHeader
	turn    atomic.Uint64
}

// NewBalancer makes a balancer over the origins, of which there is at least one.
func NewBalancer(host HostHeader, origins ...*Origin) *Balancer {
	return &Balancer{origins: slices.Clone(origins), host: host}
}

// ServeHTTP passes r to the origin whose turn it is.
func (b *Balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o := b.next()
	o.ServeHTTP(w, b.named(r, o))
}

// ServeVisitor does the same for an admitted visitor, whose requests show whether an origin fails:
// see [Origin.Counted].
func (b *Balancer) ServeVisitor(w http.ResponseWriter, r *http.Request, visitor [16]byte) {
	o := b.next()
	o.ServeHTTP(w, o.Counted(b.named(r, o), visitor))
}

// next is the origin whose turn it is.
func (b *Balancer) next() *Origin {
	n := uint64(len(b.origins))
	if n == 1 {
		return b.origins[0]
	}
	turn := b.turn.Add(1)
	for i := range n {
		if o := b.origins[(turn+i)%n]; !o.Failing() {
			return o
		}
	}
	return b.origins[turn%n]
}

type hostKey struct{}

// named returns the request with the Host that the origin is asked for, which rewrite gives it.
func (b *Balancer) named(r *http.Request, o *Origin) *http.Request {
	if b.host == "" {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), hostKey{}, b.host.of(r.Host, o)))
}

// hostFor is the Host that the origin gets with a visitor's request.
func hostFor(r *http.Request) string {
	if host, ok := r.Context().Value(hostKey{}).(string); ok {
		return host
	}
	return r.Host
}

// Failing reports whether all the origins fail.
func (b *Balancer) Failing() bool {
	for _, o := range b.origins {
		if !o.Failing() {
			return false
		}
	}
	return true
}

// Has reports whether an origin is one of the balancer's.
func (b *Balancer) Has(o *Origin) bool { return slices.Contains(b.origins, o) }

// Origins returns the origins, in their order.
func (b *Balancer) Origins() []*Origin { return slices.Clone(b.origins) }

// Wanted tells each of the origins the host that a waiting visitor asks for: see [Origin.Wanted].
func (b *Balancer) Wanted(host string) {
	for _, o := range b.origins {
		o.Wanted(b.host.of(host, o))
	}
}
