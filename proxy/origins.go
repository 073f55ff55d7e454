package proxy

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// siteOf returns where a room's visitors go, or those whom no room guards.
func (g *Gate) siteOf(s, old *setup, host origin.HostHeader, addresses []*url.URL) (feature.Site, error) {
	if addresses[0] == nil && s.cfg.Handler != nil {
		return &inside{gate: g, handler: s.cfg.Handler}, nil
	}
	return g.balancerOf(s, old, host, addresses)
}

// balancerOf returns what spreads requests over some origins, with the setup's proxies to them.
func (g *Gate) balancerOf(s, old *setup, host origin.HostHeader, addresses []*url.URL) (*origin.Balancer, error) {
	origins := make([]*origin.Origin, len(addresses))
	for i, u := range addresses {
		var err error
		if origins[i], err = g.originOf(s, old, u); err != nil {
			return nil, err
		}
	}
	return origin.NewBalancer(host, origins...), nil
}

// originOf returns the setup's proxy to the address. Rooms of one origin share its
// connections and its breaker.
func (g *Gate) originOf(s, old *setup, u *url.URL) (*origin.Origin, error) {
	if u == nil {
		return nil, errors.New("it has no origin")
	}
	key := originKey(u)
	if o, ok := s.origins[key]; ok {
		return o, nil
	}
	c := s.cfg
	if o, ok := old.origins[key]; ok && treatedAlike(&c, &old.cfg) {
		s.origins[key] = o
		return o, nil
	}
	var o *origin.Origin
	o, err := origin.New(origin.Config{
		URL: u, TrustedProxies: c.TrustedProxies, ResponseHeaderTimeout: c.OriginTimeout, Transport: c.Transport, Log: g.o.Log,
		ErrorHandler: g.originFailed,
		OnResponse:   g.respond,
		OnChange:     func(bool) { g.pause(o) },
		Metrics:      g.metrics.Origin(key),
	})
	if err != nil {
		return nil, err
	}
	s.origins[key] = o
	return o, nil
}

// treatedAlike reports whether two configurations treat an origin alike.
func treatedAlike(a, b *Config) bool {
	return a.OriginTimeout == b.OriginTimeout && a.Transport == b.Transport && slices.Equal(a.TrustedProxies, b.TrustedProxies)
}

// originKey is what an origin is known by; "" for a handler in this process.
func originKey(u *url.URL) string {
	if u == nil {
		return ""
	}
	return strings.TrimSuffix(u.String(), "/")
}

// pause holds back admissions to the rooms of an origin while the origin fails, and lets
// them go on when it answers. A nil origin stands for all origins.
func (g *Gate) pause(o *origin.Origin) {
	g.pausing.Lock()
	defer g.pausing.Unlock()
	s := g.current.Load()
	if s == nil {
		return
	}
	for r := range s.rooms {
		if of := r.Setup().Origin; o == nil || of.Has(o) {
			r.Queue.Pause(of.Failing())
		}
	}
}

// closeOrigins closes the setup's origins, except those that another setup has too.
func (s *setup) closeOrigins(except *setup) {
	for key, o := range s.origins {
		if except.origins[key] != o {
			o.Close()
		}
	}
}
