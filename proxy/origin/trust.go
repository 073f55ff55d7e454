package origin

import (
	"iter"
	"net/http"
	"net/netip"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/netset"
)

// Trust knows the proxies whose forwarding headers count. The zero value trusts nobody. It is
// immutable. The gate, which counts visitors by their address, shares it with the origins.
type Trust struct {
	proxies netset.Set
}

// NewTrust makes a Trust in the proxies of the given networks. It takes an IPv4-mapped IPv6 network
// for the IPv4 network.
func NewTrust(proxies []netip.Prefix) Trust { return Trust{proxies: netset.New(proxies)} }

// ClientAddr is the address of the visitor. That is the peer's address, unless the peer is a
// trusted proxy. Then it is the rightmost address in X-Forwarded-For that is not a trusted proxy's;
// or in Forwarded (RFC 7239), if there is no X-Forwarded-* header. An unreadable element ends the
// search at the proxy that passed it on. The address is invalid only if the peer's is, as on a Unix
// socket.
func (t Trust) ClientAddr(r *http.Request) netip.Addr {
	return t.visitor(r).addr
}

// Scheme is "http" or "https", as the visitor used it. A trusted proxy says so in
// X-Forwarded-Proto, whose last value is the nearest proxy's, or in Forwarded. Else it is the
// scheme of this connection.
func (t Trust) Scheme(r *http.Request) string {
	if t.TrustsPeer(r) {
		proto := last(r.Header["X-Forwarded-Proto"])
		if usesForwarded(r.Header) {
			proto = t.visitor(r).proto
		}
		switch strings.ToLower(proto) {
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

// Peer is the address of the other end of the connection. It is invalid where that has none, as on
// a Unix socket.
func Peer(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return plain(ap.Addr())
}

// plain is an address in the form in which it is compared with networks: IPv4 as IPv4, and without
// a zone.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

func (t Trust) trusts(a netip.Addr) bool { return t.proxies.Contains(a) }

// TrustsPeer reports whether a request comes straight from a trusted proxy.
func (t Trust) TrustsPeer(r *http.Request) bool {
	return !t.proxies.IsEmpty() && t.trusts(Peer(r))
}

// visitor is the hop that names the visitor: the first one, counted from here, that is not a
// trusted proxy.
func (t Trust) visitor(r *http.Request) hop {
	at := hop{addr: Peer(r)}
	if !t.trusts(at.addr) {
		return at
	}
	return t.follow(r, at)
}

// follow goes back from a trusted proxy along the hops that it and the proxies before it have
// written down.
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

// usesForwarded reports whether a trusted proxy uses Forwarded, not X-Forwarded-*. Many proxies set
// X-Forwarded-* and pass on a Forwarded that the visitor has made up: so Forwarded counts only
// where it is alone.
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
