package origin

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// Forward prepares the headers out of a request for the origin; in is the request as it came.
//
// It always removes the gate's own fields (Fairdoor-*, Cf-Waiting-Room-*), and every forwarding
// field that is spelled with underscores: many origins read X_Forwarded_For as X-Forwarded-For, and
// no proxy writes it so.
//
// If the peer is not a trusted proxy, Forward removes all forwarding fields, and sets
// X-Forwarded-For, -Host and -Proto to what this gate has seen. It does not set X-Real-Ip:
// X-Forwarded-For has the same.
//
// If the peer is a trusted proxy, the forwarding fields pass. Forward appends the peer to
// X-Forwarded-For, and sets X-Forwarded-Host and -Proto if they are missing. If the proxy uses
// Forwarded instead, Forward appends the peer there and makes X-Forwarded-* from it. It removes a
// Forwarded next to X-Forwarded-*, because only one of them counts.
func (t Trust) Forward(out http.Header, in *http.Request) {
	trusted := t.TrustsPeer(in)
	clean(out, trusted)
	ours := make([]string, 3) // one allocation for three fields
	ours[0] = remoteHost(in)
	ours[1] = in.Host
	ours[2] = t.Scheme(in)
	if trusted {
		t.join(out, in, ours)
	}
	delete(out, "X-Forwarded-For")
	if ours[0] != "" {
		out["X-Forwarded-For"] = ours[0:1:1]
	}
	out["X-Forwarded-Host"] = ours[1:2:2]
	out["X-Forwarded-Proto"] = ours[2:3:3]
}

// join adds what this gate has seen to what a trusted proxy says of the visitor.
func (t Trust) join(out http.Header, in *http.Request, ours []string) {
	if host := in.Header["X-Forwarded-Host"]; len(host) > 0 {
		ours[1] = strings.Join(host, ", ")
	}
	if proto := in.Header["X-Forwarded-Proto"]; len(proto) > 0 {
		ours[2] = strings.Join(proto, ", ")
	}
	self := ours[0]
	delete(out, "Forwarded")
	if !usesForwarded(in.Header) {
		ours[0] = strings.Join(append(slices.Clip(in.Header["X-Forwarded-For"]), self), ", ")
		return
	}
	if visitor := t.ClientAddr(in); visitor != Peer(in) {
		ours[0] = visitor.String() + ", " + self
	}
	if strings.Contains(self, ":") {
		self = `"[` + self + `]"`
	}
	out["Forwarded"] = []string{strings.Join(in.Header["Forwarded"], ", ") + ", for=" + self}
}

// remoteHost is the peer's address as text, cut from RemoteAddr where that is possible.
func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	host, _, _ = strings.Cut(host, "%") // a zone means nothing beyond this machine
	return host
}

// clean removes from h what may not reach the origin.
func clean(h http.Header, trusted bool) {
	for name := range h {
		switch fieldKind(name) {
		case gates:
			delete(h, name)
		case forwarding:
			if !trusted || strings.IndexByte(name, '_') >= 0 {
				delete(h, name)
			}
		default:
		}
	}
}

// RemoveOwn removes the gate's own fields from the header of a request, as Forward does.
func RemoveOwn(h http.Header) {
	for name := range h {
		if fieldKind(name) == gates {
			delete(h, name)
		}
	}
}

// kind is how the gate treats a request field.
type kind uint8

const (
	ordinary   kind = iota // passes
	gates                  // is the gate's own, or for the way from the visitor to the gate only
	forwarding             // says who the visitor is or what they asked for, which only a proxy may say
)

// forwardingFields are the forwarding fields beside Forwarded-* and X-Forwarded-*, X-Original-* and
// X-Rewrite-*, in lower case, with dashes.
var forwardingFields = map[string]bool{
	"cf-connecting-ip": true, "cf-connecting-ipv6": true, "cf-connecting-o2o": true, "cf-pseudo-ipv4": true,
	"cf-visitor": true, "client-ip": true, "fastly-client-ip": true, "fastly-ssl": true, "fly-client-ip": true,
	"fly-forwarded-proto": true, "front-end-https": true, "proxy": true, "proxy-client-ip": true,
	"true-client-ip": true, "wl-proxy-client-ip": true, "x-appengine-user-ip": true, "x-azure-clientip": true,
	"x-azure-socketip": true, "x-client-ip": true, "x-cluster-client-ip": true, "x-envoy-external-address": true,
	"x-host": true, "x-http-destinationurl": true, "x-http-host-override": true, "x-originating-ip": true,
	"x-proxyuser-ip": true, "x-real-ip": true, "x-remote-addr": true, "x-remote-ip": true, "x-scheme": true,
	"x-url-scheme": true,
}

// fieldKind returns the kind of a field by its name. Letter case does not count, and an underscore
// is a dash.
func fieldKind(name string) kind {
	if !suspect(name) {
		return ordinary
	}
	var buf [32]byte // longer than every name above
	n := copy(buf[:], name)
	for i, c := range buf[:n] {
		if c == '_' {
			buf[i] = '-'
		} else if 'A' <= c && c <= 'Z' {
			buf[i] = c | 0x20
		}
	}
	plain := string(buf[:n])
	switch {
	case plain == "http2-settings", strings.HasPrefix(plain, "fairdoor-"), strings.HasPrefix(plain, "cf-waiting-room-"):
		return gates
	case plain == "forwarded", strings.HasPrefix(plain, "x-forwarded"), strings.HasPrefix(plain, "x-original-"),
		strings.HasPrefix(plain, "x-rewrite-"), forwardingFields[plain]:
		return forwarding
	}
	return ordinary
}

// suspect reports whether a field may be of another kind than ordinary, by its first two letters.
// Hardly any field that a browser sends may.
func suspect(name string) bool {
	if len(name) < 2 {
		return false
	}
	switch [2]byte{name[0] | 0x20, name[1] | 0x20} {
	case [2]byte{'x', '-'}, [2]byte{'x', '_' | 0x20}, [2]byte{'c', 'f'}, [2]byte{'c', 'l'}, [2]byte{'a', 'n'},
		[2]byte{'f', 'o'}, [2]byte{'f', 'a'}, [2]byte{'f', 'l'}, [2]byte{'f', 'r'}, [2]byte{'t', 'r'},
		[2]byte{'p', 'r'}, [2]byte{'h', 't'}, [2]byte{'w', 'l'}:
		return true
	}
	return false
}
