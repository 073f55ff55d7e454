package route

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// maxHostLen is the length of the longest host that is looked up, in bytes: a name has at most 253.
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

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$`)

// IsHost says whether s is an IP address or what names of hosts look like.
func IsHost(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil || hostName.MatchString(s)
}

// CheckHost returns what is wrong with a configured host, or ""; it continues a sentence that begins with the host. "" is every host.
func CheckHost(host string) string {
	switch _, rest, isURL := strings.Cut(host, "://"); {
	case host == "":
		return ""
	case strings.Contains(host, "*"):
		return `cannot be a pattern: name each host in additional_routes, or leave it "" for every host`
	case isURL:
		return "is an URL: only the host is wanted" + hostHint(rest)
	case strings.Contains(host, "/"):
		return "holds a slash: the path has a key of its own" + hostHint(host)
	}
	if bare := string(appendHost(nil, host)); !IsHost(bare) || len(bare) > 253 {
		return "is not a host; names that are not ASCII are written in their xn-- form"
	}
	return ""
}

func hostHint(rest string) string {
	host, _, _ := strings.Cut(rest, "/")
	if host == "" || CheckHost(host) != "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", host)
}
