package proxy

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/signature"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
)

// keysAt returns the keys that a site or an agent publishes at an address; nil for no address. The
// caller holds mu.
func (b *builder) keysAt(address string) (*subject.Published, error) {
	if known := b.gate.keys[address]; address == "" || known != nil {
		return known, nil
	}
	opened, err := subject.OpenPublished(b.gate.sync, address, func(err error) {
		b.gate.o.Log.Warn("published keys not fetched", zap.String("address", address), zap.Error(err))
	})
	if err != nil {
		return nil, fmt.Errorf("fetching published keys: %w", err)
	}
	b.gate.keys[address] = opened
	return opened, nil
}

// agents returns the keys of the agents whose signatures count. The caller holds mu.
func (b *builder) agents() (signature.Agents, error) {
	all := signature.Agents{}
	for host, address := range b.next.cfg.SignatureAgents {
		keys, err := b.keysAt(address)
		if err != nil {
			return nil, err
		}
		all[host] = keys.Ed25519
	}
	return all, nil
}

// verifiedBy returns what says whether a request is that of a known crawler: by the address, or by
// the signature of an agent. A signature is for a host: it counts only where a route names that.
// Else those whose own site an agent visits could send here what it signed for them.
func (g *Gate) verifiedBy(agents signature.Agents, routes []route.Route) func(route.Request, netip.Addr) bool {
	return func(q route.Request, addr netip.Addr) bool {
		return g.crawlers.Verified(q.Header.Get("User-Agent"), addr) ||
			agents.Verified(&signature.Request{Method: q.Method, Host: q.Host, Target: q.Target, Header: q.Header}, g.o.WallClock()) && route.Names(routes, q.Host)
	}
}

// closeKeys ends the fetching of keys that a configuration does not need.
func closeKeys(of map[string]*subject.Published, c *Config) {
	agents := slices.Collect(maps.Values(c.SignatureAgents))
	for address, keys := range of {
		if !slices.Contains(agents, address) && !slices.ContainsFunc(c.Rooms, func(r RoomConfig) bool { return r.Subject.JWKSURL == address }) {
			keys.Close()
			delete(of, address)
		}
	}
}
