package listen

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/anteroom-gate/anteroom/proxy/route"
)

// CheckAddress says what is wrong with an address to listen on, "" for nothing; it continues a sentence that begins with the address. It
// is host:port, the host being empty, an IP address or a name.
func CheckAddress(s string) string {
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
	if host != "" && !route.IsHost(host) {
		return "has a host that is neither an IP address nor a name"
	}
	return ""
}

// IsLoopback says whether only this machine can reach an address that is right.
func IsLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, err := netip.ParseAddr(host)
	return isLocalhost(host) || err == nil && ip.Unmap().IsLoopback()
}

// Clash says whether two addresses that are right cannot be listened on at once.
func Clash(a, b string) bool {
	hostA, portA, _ := net.SplitHostPort(a)
	hostB, portB, _ := net.SplitHostPort(b)
	if portA != portB || portA == "0" {
		return false
	}
	return anyAddress(hostA) || anyAddress(hostB) || strings.EqualFold(hostA, hostB) || IsLoopback(a) && IsLoopback(b)
}

func anyAddress(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}

// Reaches says whether an origin is an address of this machine that the gate listens on, as far as the names tell: each request
// would come back for ever.
func Reaches(origin, listen string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	host, port, _ := net.SplitHostPort(listen)
	originPort := u.Port()
	if originPort == "" {
		originPort = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if port == "0" || port != originPort {
		return false
	}
	own := net.JoinHostPort(u.Hostname(), originPort)
	named := isLocalhost(host) && isOneOfLocalhost(u.Hostname()) || isLocalhost(u.Hostname()) && isOneOfLocalhost(host)
	return strings.EqualFold(host, u.Hostname()) || named || IsLoopback(own) && anyAddress(host)
}

func isLocalhost(host string) bool { return strings.EqualFold(host, "localhost") }

// isOneOfLocalhost says whether a host is an address that localhost may stand for.
func isOneOfLocalhost(host string) bool { return host == "127.0.0.1" || host == "::1" }
