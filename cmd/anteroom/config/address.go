package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// checkAddress wants host:port, the host being empty, an IP address or a name.
func checkAddress(s string) string {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		if _, err := strconv.ParseUint(s, 10, 16); err == nil {
			return fmt.Sprintf("is not host:port (did you mean %q?)", ":"+s)
		}
		return `is not host:port, such as ":8080", "127.0.0.1:8080" or "[::1]:8080"`
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "has no port between 0 and 65535"
	}
	if host == "" {
		return ""
	}
	if _, err := netip.ParseAddr(host); err != nil && !hostName.MatchString(host) {
		return "has a host that is neither an IP address nor a name"
	}
	return ""
}

// loopback says whether only this machine can reach an address that is right.
func loopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// clash says whether two addresses that are right cannot be listened on at once.
func clash(a, b string) bool {
	hostA, portA, _ := net.SplitHostPort(a)
	hostB, portB, _ := net.SplitHostPort(b)
	if portA != portB || portA == "0" {
		return false
	}
	return anyAddress(hostA) || anyAddress(hostB) || strings.EqualFold(hostA, hostB) || loopback(a) && loopback(b)
}

func anyAddress(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$`)

// canonicalHost is what hosts are compared by: lower-case, without port and trailing dot.
func canonicalHost(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// checkHost wants the name or the address of a host; "" is every host.
func checkHost(s string) string {
	if s == "" {
		return ""
	}
	if strings.Contains(s, "*") {
		return `cannot be a pattern: name each host in additional_routes, or leave it "" for every host`
	}
	if _, rest, found := strings.Cut(s, "://"); found {
		return "is an URL: only the host is wanted" + hostHint(rest)
	}
	if strings.Contains(s, "/") {
		return "holds a slash: the path has a key of its own" + hostHint(s)
	}
	bare := canonicalHost(s)
	if _, err := netip.ParseAddr(bare); err == nil {
		return ""
	}
	if !hostName.MatchString(bare) || len(bare) > 253 {
		return "is not a host; names that are not ASCII are written in their xn-- form"
	}
	return ""
}

func hostHint(rest string) string {
	host, _, _ := strings.Cut(rest, "/")
	if host == "" || checkHost(host) != "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", host)
}

// checkDomain wants a domain as cookies can have it.
func checkDomain(s string) string {
	if _, err := netip.ParseAddr(s); err == nil {
		return "is an address: browsers take only names as the domain of a cookie"
	}
	if strings.HasPrefix(s, ".") && hostName.MatchString(s[1:]) {
		return fmt.Sprintf("begins with a dot (did you mean %q?)", s[1:])
	}
	if !hostName.MatchString(s) || strings.HasSuffix(s, ".") {
		return "is not a domain such as example.com"
	}
	return ""
}

// checkPath wants a path that reads the same however it is cleaned.
func checkPath(s string) string {
	switch {
	case !strings.HasPrefix(s, "/"):
		if s != "" && checkPath("/"+s) == "" {
			return fmt.Sprintf("does not begin with a slash (did you mean %q?)", "/"+s)
		}
		return "does not begin with a slash"
	case strings.ContainsAny(s, "?#"):
		return "holds a query or a fragment: only the path counts"
	case strings.Contains(s, "*"):
		return "cannot be a pattern: a path covers everything below it as it is"
	case strings.ContainsAny(s, "\\"):
		return "holds a backslash: paths have slashes"
	case strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "holds white space or control characters"
	case len(s) > 4096:
		return "is too long: at most 4096 bytes"
	}
	for segment := range strings.SplitSeq(strings.Trim(s, "/"), "/") {
		if segment == "." || segment == ".." || segment == "" && strings.Trim(s, "/") != "" || strings.HasSuffix(s, "//") {
			return "has an empty, . or .. segment"
		}
	}
	return checkBraces(s)
}

var nameChars = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// checkName wants what can stand in the name of a cookie, a metric and a path.
func checkName(s string) string {
	switch {
	case s == "":
		return "is empty"
	case !nameChars.MatchString(s):
		return "may hold letters, digits, - and _ only"
	case len(s) > 64:
		return "is too long: at most 64 characters"
	}
	return ""
}

// anOrigin reads the URL of an origin, and keeps its scheme and host.
func anOrigin[T any](field func(*T) *string) reader[T] {
	return func(d *decoder, v value, dst *T) bool {
		s, ok := d.str(v, "an URL such as http://127.0.0.1:3000")
		if !ok {
			return false
		}
		u, problem := parseOrigin(s)
		if problem != "" {
			return d.problem(v, problem)
		}
		*field(dst) = strings.ToLower(u.Scheme + "://" + u.Host)
		return true
	}
}

// parseOrigin wants a scheme and a host with or without a port, and nothing else: requests go to the origin as they came.
func parseOrigin(s string) (*url.URL, string) {
	if s == "" {
		return nil, "is empty: expects an URL such as http://127.0.0.1:3000"
	}
	if !strings.Contains(s, "://") {
		hint := ""
		if _, problem := parseOrigin("http://" + s); problem == "" {
			hint = fmt.Sprintf(" (did you mean %q?)", "http://"+s)
		}
		return nil, "has no scheme" + hint
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, "is not an URL"
	case u.User != nil:
		return nil, "holds a user or a password: visitors bring their own"
	case !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https"):
		return nil, "has a scheme that is neither http nor https"
	case u.Hostname() == "":
		return nil, "has no host"
	case u.Path != "" && u.Path != "/", u.RawQuery != "", u.ForceQuery, u.Fragment != "", strings.Contains(s, "#"):
		return nil, "has a path, a query or a fragment: requests go to the origin under the path they came for"
	}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil && !hostName.MatchString(u.Hostname()) {
		return nil, "has a host that is neither an IP address nor a name"
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); strings.HasSuffix(u.Host, ":") || u.Port() != "" && (err != nil || n == 0) {
		return nil, "has no port between 1 and 65535"
	}
	return u, ""
}

// prefixes reads a list of networks, or a single one as a string.
func (d *decoder) prefixes(v value) ([]netip.Prefix, bool) {
	items, ok := d.items(v, "networks such as [10.0.0.0/8]")
	var prefixes []netip.Prefix
	for _, item := range items {
		s, fine := d.str(item, "a network such as 10.0.0.0/8")
		if fine {
			var p netip.Prefix
			var problem string
			if p, problem = parsePrefix(s); problem != "" {
				fine = d.problem(item, problem)
			}
			prefixes = append(prefixes, p)
		}
		ok = ok && fine
	}
	return prefixes, ok
}

// parsePrefix reads a network, or an address as a network of one.
func parsePrefix(s string) (netip.Prefix, string) {
	if ip, err := netip.ParseAddr(s); err == nil && ip.Zone() == "" {
		ip = ip.Unmap()
		return netip.PrefixFrom(ip, ip.BitLen()), ""
	}
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return p, "is not a network such as 10.0.0.0/8 or 2001:db8::/32"
	case p.Addr().Is4In6():
		return p, "is an IPv4 network in IPv6 clothes: write it as IPv4"
	case p != p.Masked():
		return p, fmt.Sprintf("has bits set beyond its mask (did you mean %q?)", p.Masked())
	}
	return p, ""
}
