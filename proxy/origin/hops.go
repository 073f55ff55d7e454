package origin

import (
	"iter"
	"net/netip"
	"strings"
)

// hop is one element of a forwarding header: who sent the request to the proxy that wrote it. The
// address is invalid where it is missing, hidden or unreadable.
type hop struct {
	addr  netip.Addr
	proto string // of Forwarded only
}

// addressHops yields the elements of X-Forwarded-For from the last to the first.
func addressHops(lines []string) iter.Seq[hop] {
	return func(yield func(hop) bool) {
		for i := len(lines) - 1; i >= 0; i-- {
			rest, more := lines[i], true
			for more {
				comma := strings.LastIndexByte(rest, ',')
				element := rest[comma+1:]
				if more = comma >= 0; more {
					rest = rest[:comma]
				}
				if !yield(hop{addr: nodeAddr(strings.TrimSpace(element))}) {
					return
				}
			}
		}
	}
}

// forwardedHops yields the elements of Forwarded (RFC 7239) from the last to the first. Its strings
// may be quoted and have commas in them: so a header that does not parse as a whole yields nothing.
func forwardedHops(lines []string) iter.Seq[hop] {
	return func(yield func(hop) bool) {
		hops, ok := parseForwarded(strings.Join(lines, ","))
		for i := len(hops) - 1; ok && i >= 0; i-- {
			if !yield(hops[i]) {
				return
			}
		}
	}
}

func parseForwarded(s string) (hops []hop, ok bool) {
	var at hop
	for {
		name, rest, found := strings.Cut(s, "=")
		if !found {
			return nil, false
		}
		value, rest, ok := parseValue(rest)
		if !ok {
			return nil, false
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "for":
			at.addr = nodeAddr(value)
		case "proto":
			at.proto = value
		}
		rest = strings.TrimLeft(rest, " \t")
		switch {
		case rest == "":
			return append(hops, at), true
		case rest[0] == ',':
			hops, at = append(hops, at), hop{}
		case rest[0] != ';':
			return nil, false
		}
		s = rest[1:]
	}
}

// parseValue reads a token or a quoted string from the beginning of s.
func parseValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		i := strings.IndexAny(s, ",; \t\"")
		if i < 0 {
			i = len(s)
		}
		return s[:i], s[i:], true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			i++
			if i == len(s) {
				return "", "", false
			}
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}

// nodeAddr is the address of a node as the forwarding headers write it: bare, in brackets, with or
// without a port. It is invalid for anything else ("unknown", "_hidden").
func nodeAddr(s string) netip.Addr {
	if a, err := netip.ParseAddr(s); err == nil {
		return plain(a)
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return plain(ap.Addr())
	}
	if len(s) > 2 && s[0] == '[' && s[len(s)-1] == ']' {
		if a, err := netip.ParseAddr(s[1 : len(s)-1]); err == nil {
			return plain(a)
		}
	}
	return netip.Addr{}
}
