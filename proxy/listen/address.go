package listen

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// CheckAddress says what is wrong with an address to listen on, "" for nothing; it continues a
// sentence that begins with the address. An address is host:port. The host is empty, an IP address
// or a name.
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

// IsLoopback reports whether only this machine can reach an address. CheckAddress has accepted the
// address.
func IsLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	return isLoopback(host)
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return isLocalhost(host) || err == nil && ip.Unmap().IsLoopback()
}

// Clash reports whether nobody can listen on two addresses at once. CheckAddress has accepted both.
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

// Reaches reports whether an origin is an address of this machine on which the gate listens, as far
// as the names show it. Each request would come back to the gate for ever.
func Reaches(address, listen string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	originPort := u.Port()
	if originPort == "" {
		originPort = origin.DefaultPort(u.Scheme)
	}
	host, port, _ := net.SplitHostPort(listen)
	return port != "0" && port == originPort && reachesHost(u.Hostname(), host)
}

// reachesHost reports whether a host that is connected to may be one that is listened on.
func reachesHost(host, listened string) bool {
	switch {
	case anyAddress(listened) && isLoopback(host):
		return true
	case isLocalhost(listened) && isOneOfLocalhost(host), isLocalhost(host) && isOneOfLocalhost(listened):
		return true
	}
	return strings.EqualFold(host, listened)
}

func isLocalhost(host string) bool { return strings.EqualFold(host, "localhost") }

// isOneOfLocalhost reports whether a host is an address that localhost may stand for.
func isOneOfLocalhost(host string) bool { return host == "127.0.0.1" || host == "::1" }
