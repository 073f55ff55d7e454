package route

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// maxHostLen is the length of the longest name of a host, in bytes (RFC 1035,
// section 2.3.4).
const maxHostLen = 253

// ParseHost returns the canonical form of the host that a request names in its
// Host header, its absolute target or its :authority: in lower case, without port
// and trailing dot; an IPv6 address without its brackets and in its shortest form.
//
// ok is true for a name, an IPv4 address, or an IPv6 address in brackets, with at most one
// dot behind a name and at most one port. Servers read anything else in different ways:
// nginx reads "shop.test:80:90" as shop.test, and HAProxy reads "shop.test,x" as a list that
// begins with shop.test.
func ParseHost(host string) (name string, ok bool) {
	name, port := host, ""
	if end := strings.IndexByte(host, ']'); strings.HasPrefix(host, "[") && end > 0 {
		name, port = host[:end+1], host[end+1:]
	} else if colon := strings.IndexByte(host, ':'); colon >= 0 {
		name, port = host[:colon], host[colon:]
	}
	switch {
	case port != "" && !isPort(port):
		return "", false
	case strings.HasPrefix(name, "["):
		return parseIPv6(name)
	}
	name = strings.TrimSuffix(name, ".")
	return strings.ToLower(name), isHostName(name)
}

// isPort reports whether s, which follows a host, is a colon and a port.
func isPort(s string) bool {
	port, err := strconv.ParseUint(s[1:], 10, 16)
	return s[0] == ':' && len(s) <= len(":65535") && err == nil && port > 0
}

// parseIPv6 returns the address in the brackets. A zone belongs to one machine
// only, and net/http does not send it on.
func parseIPv6(host string) (text string, ok bool) {
	inside := strings.TrimSuffix(host[1:], "]")
	addr, err := netip.ParseAddr(inside)
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return "", false
	}
	var buf [64]byte // no address is longer
	if short := addr.AppendTo(buf[:0]); string(short) != inside {
		return string(short), true
	}
	return inside, true
}

// isHostName reports whether a name is letters, digits, - and _ with single dots in between,
// as IPv4 addresses are, too.
func isHostName(name string) bool {
	afterDot := true
	for i := range len(name) {
		switch c := name[i]; {
		case c == '.' && !afterDot:
			afterDot = true
			continue
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
		afterDot = false
	}
	return !afterDot && len(name) <= maxHostLen
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// parseConfigured is ParseHost for a configured host, where an IPv6 address needs no
// brackets.
func parseConfigured(host string) (name string, ok bool) {
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		host = "[" + host + "]"
	}
	return ParseHost(host)
}

// IsHost reports whether s is an IP address or looks like the name of a host.
func IsHost(s string) bool {
	_, ok := parseConfigured(s)
	return ok
}

// CheckHost returns what is wrong with a configured host, or ""; it continues a
// sentence that begins with the host. "" is every host.
func CheckHost(host string) string {
	if host == "" {
		return ""
	}
	if _, ok := parseConfigured(host); ok {
		return ""
	}
	switch {
	case strings.Contains(host, "*"):
		return `cannot be a pattern: name each host in additional_routes, or leave it "" for every host`
	case strings.Contains(host, "://"):
		_, rest, _ := strings.Cut(host, "://")
		return "is an URL: only the host is wanted" + hostHint(rest)
	case strings.Contains(host, "/"):
		return "holds a slash: the path has a key of its own" + hostHint(host)
	}
	return "is not a host; names that are not ASCII are written in their xn-- form"
}

func hostHint(rest string) string {
	host, _, _ := strings.Cut(rest, "/")
	if host == "" || CheckHost(host) != "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", host)
}
