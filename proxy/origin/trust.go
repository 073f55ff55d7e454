package origin

import (
	"iter"
	"net/http"
	"net/netip"
	"strings"
)

// Trust knows whose forwarding headers are believed. The zero value believes nobody. It is immutable and is shared by
// the gate, which counts visitors by their address, and the origins.
type Trust struct {
	proxies []netip.Prefix
}

// NewTrust makes a Trust in the proxies of the given networks. IPv4 networks written as IPv4-mapped IPv6 are taken as
// IPv4.
func NewTrust(proxies []netip.Prefix) Trust {
	t := Trust{proxies: make([]netip.Prefix, 0, len(proxies))}
	for _, p := range proxies {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		t.proxies = append(t.proxies, p.Masked())
	}
	return t
}

// ClientAddr is the address of the visitor: of the peer, or, if the peer is a trusted proxy, the rightmost address that
// is not a trusted proxy's in X-Forwarded-For, or in Forwarded (RFC 7239) if there is no X-Forwarded-* header; never a
// mixture of both. An unreadable element ends the search at the proxy that passed it on. The address is invalid only if
// the peer's is, as on a Unix socket.
func (t Trust) ClientAddr(r *http.Request) netip.Addr {
	return t.visitor(r).addr
}

// Scheme is "http" or "https", as the visitor spoke it: what a trusted proxy says in X-Forwarded-Proto (the last value,
// which is the nearest proxy's) or in Forwarded, else what this connection speaks.
func (t Trust) Scheme(r *http.Request) string {
	if t.TrustsPeer(r) {
		said := last(r.Header["X-Forwarded-Proto"])
		if usesForwarded(r.Header) {
			said = t.visitor(r).proto
		}
		switch strings.ToLower(said) {
		case "https", "wss":
			return "https"
		case "http", "ws":
			return "http"
		}
	}
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// peer is the address of the other end of the connection.
func peer(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return plain(ap.Addr())
}

// plain is an address as networks are compared with it: IPv4 as IPv4, and without a zone.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

func (t Trust) trusts(a netip.Addr) bool {
	for _, p := range t.proxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// TrustsPeer reports whether a request comes straight from a trusted proxy.
func (t Trust) TrustsPeer(r *http.Request) bool {
	return len(t.proxies) > 0 && t.trusts(peer(r))
}

// visitor is the hop that names the visitor: the first, counted from here, that is no trusted proxy.
func (t Trust) visitor(r *http.Request) hop {
	at := hop{addr: peer(r)}
	if !t.trusts(at.addr) {
		return at
	}
	return t.follow(r, at)
}

// follow goes back from a trusted proxy along what it and those before it wrote down.
func (t Trust) follow(r *http.Request, at hop) hop {
	var hops iter.Seq[hop]
	if usesForwarded(r.Header) {
		hops = forwardedHops(r.Header["Forwarded"])
	} else {
		hops = addressHops(r.Header["X-Forwarded-For"])
	}
	for h := range hops {
		if !h.addr.IsValid() {
			break
		}
		at = h
		if !t.trusts(at.addr) {
			break
		}
	}
	return at
}

// usesForwarded tells which of the two families of forwarding headers a trusted proxy speaks. Many proxies set
// X-Forwarded-* and pass on a Forwarded that the visitor made up, so Forwarded counts only where it stands alone.
func usesForwarded(h http.Header) bool {
	return h["Forwarded"] != nil && h["X-Forwarded-For"] == nil && h["X-Forwarded-Proto"] == nil && h["X-Forwarded-Host"] == nil
}

// last is the last element of a list header.
func last(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	line := lines[len(lines)-1]
	return strings.TrimSpace(line[strings.LastIndexByte(line, ',')+1:])
}
