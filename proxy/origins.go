package proxy

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/anteroom-gate/anteroom/proxy/origin"
)

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
	if o, ok := old.origins[key]; ok && c.OriginTimeout == old.cfg.OriginTimeout && slices.Equal(c.TrustedProxies, old.cfg.TrustedProxies) {
		s.origins[key] = o
		return o, nil
	}
	var o *origin.Origin
	o, err := origin.New(origin.Config{
		URL: u, TrustedProxies: c.TrustedProxies, ResponseHeaderTimeout: c.OriginTimeout, Log: g.o.Log,
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

// originKey is what an origin is known by.
func originKey(u *url.URL) string { return strings.TrimSuffix(u.String(), "/") }

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
		if of := r.setup.Load().origin; o == nil || of == o {
			r.queue.Pause(of.Failing())
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
