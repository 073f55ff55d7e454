package proxy

import (
	"net/http"
	"net/netip"
	"strings"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// noticeForwarding warns of a forwarding header from an address that is not trusted, once.
func (g *Gate) noticeForwarding(r *http.Request, s *setup) {
	header := "X-Forwarded-For"
	if r.Header[header] == nil {
		header = "Forwarded"
		if r.Header[header] == nil {
			return
		}
	}
	if g.untrusted.Done() || s.trust.TrustsPeer(r) {
		return
	}
	peer := origin.Peer(r)
	if !peer.IsValid() || !g.untrusted.First(peer) {
		return
	}
	hint := "if that is your proxy and no visitor, add this to "
	if feature.IsNear(peer) {
		hint = "if that is your proxy, add this to "
	}
	to, line := "the configuration", trustLine(s.cfg.TrustedProxies, peer)
	if s.cfg.TrustedProxiesFile != "" {
		to, line = s.cfg.TrustedProxiesFile, peer.String()
	}
	g.o.Log.Warn("forwarding headers are ignored, as they come from an address that is not in trusted_proxies; "+hint+to,
		zap.String("header", header), zap.Stringer("address", peer), zap.String("add", line))
}

// trustLine is the line of the configuration that trusts an address besides some networks.
func trustLine(trusted []netip.Prefix, addr netip.Addr) string {
	var list []string
	for _, n := range trusted {
		list = append(list, n.String())
	}
	line := strings.Join(append(list, addr.String()), ", ")
	if addr.Is6() || strings.Contains(line, ":") { // YAML reads colons in brackets as keys
		line = `"` + strings.ReplaceAll(line, ", ", `", "`) + `"`
	}
	return "trusted_proxies: [" + line + "]"
}
