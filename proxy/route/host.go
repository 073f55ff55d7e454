package route

import (
	"net/netip"
	"strings"
)

// maxHostLen is the length of the longest host that can be configured, in
// bytes: a name has at most 253.
const maxHostLen = 256

// appendHost appends the canonical form of a host: ASCII letters in lower
// case, without port, one trailing dot and the brackets of an IPv6 address,
// which is written in its shortest form. Names of other scripts are compared
// as they come, which is in punycode.
func appendHost(dst []byte, host string) []byte {
	host = strings.TrimSuffix(withoutPort(host), ".")
	if strings.IndexByte(host, ':') >= 0 {
		if addr, err := netip.ParseAddr(host); err == nil {
			return addr.AppendTo(dst)
		}
	}
	for i := range len(host) {
		dst = append(dst, lower(host[i]))
	}
	return dst
}

func withoutPort(host string) string {
	if inside, found := strings.CutPrefix(host, "["); found {
		inside, _, _ = strings.Cut(inside, "]")
		return inside
	}
	name, port, found := strings.Cut(host, ":")
	if !found || strings.IndexByte(port, ':') >= 0 { // an IPv6 address without brackets
		return host
	}
	return name
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// checkHost returns what is wrong with a configured host, or "".
func checkHost(host string) string {
	switch {
	case host == "":
		return ""
	case strings.Contains(host, "*"):
		return "wildcards do not exist; leave the host out for every host"
	case strings.Contains(host, "://"):
		return "a host has no scheme; write it as shop.example"
	case strings.ContainsAny(host, "/?#\\@%"):
		return "a host is only a name, such as shop.example; a path goes to path"
	case strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "a host has no white space or control characters"
	case len(host) > maxHostLen, len(appendHost(nil, host)) == 0:
		return "this is no host; write it as shop.example"
	}
	return ""
}
