package proxy

import (
	"cmp"
	"errors"
	"net/url"
	"slices"

	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// siteOf returns where a room's visitors go, or those whom no room guards.
func (b *builder) siteOf(host origin.HostHeader, addresses []*url.URL, health origin.Health) (feature.Site, error) {
	if addresses[0] == nil && b.next.cfg.Handler != nil {
		return &inside{gate: b.gate, handler: b.next.cfg.Handler}, nil
	}
	return b.balancerOf(host, addresses, health)
}

// healthOf is what the origins of a room are asked for, under the name that visitors of the room
// come for, unless the origins get another.
func healthOf(r *config.Room) (h origin.Health) {
	if r.HealthPath == "" {
		return h
	}
	h.Path = r.HealthPath
	switch r.HostHeader {
	case "":
		for _, guarded := range r.Routes {
			h.Host = cmp.Or(h.Host, guarded.Host)
		}
	case origin.OwnHost:
	default:
		h.Host = string(r.HostHeader)
	}
	return h
}

// balancerOf returns what spreads requests over some origins, with the setup's proxies to them.
func (b *builder) balancerOf(host origin.HostHeader, addresses []*url.URL, health origin.Health) (*origin.Balancer, error) {
	origins := make([]*origin.Origin, len(addresses))
	for i, u := range addresses {
		var err error
		if origins[i], err = b.originOf(u, health); err != nil {
			return nil, err
		}
	}
	return origin.NewBalancer(host, origins...), nil
}

// originOf returns the setup's proxy to the address. Rooms of one origin share its
// connections and its breaker; the first of them says how its health is asked for.
func (b *builder) originOf(u *url.URL, health origin.Health) (*origin.Origin, error) {
	if u == nil {
		return nil, errors.New("it has no origin")
	}
	key := config.OriginName(u)
	if o, ok := b.next.origins[key]; ok {
		return o, nil
	}
	c := b.next.cfg
	if o, ok := b.old.origins[key]; ok && o.Health() == health && treatedAlike(&c, &b.old.cfg) {
		b.next.origins[key] = o
		return o, nil
	}
	var o *origin.Origin
	o, err := origin.New(origin.Config{
		URL: u, TrustedProxies: c.TrustedProxies, ResponseHeaderTimeout: c.OriginTimeout, Transport: c.Transport, Health: health, Log: b.gate.o.Log,
		ErrorHandler: b.gate.originFailed,
		OnResponse:   b.gate.respond,
		OnChange:     func(bool) { b.gate.pause(o) },
		Metrics:      b.gate.metrics.Origin(key),
	})
	if err != nil {
		return nil, err
	}
	b.next.origins[key] = o
	return o, nil
}

// treatedAlike reports whether two configurations treat an origin alike.
func treatedAlike(a, b *Config) bool {
	return a.OriginTimeout == b.OriginTimeout && a.Transport == b.Transport && slices.Equal(a.TrustedProxies, b.TrustedProxies)
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
