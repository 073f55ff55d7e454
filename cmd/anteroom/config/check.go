package config

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// checkRoot checks the file's top as a whole, once all of its layers are read.
func checkRoot(root *section, c *Config) {
	root.token(c)
	if _, inFile := root.either("cookie.keys", "cookie.keys_file", len(c.Cookie.Keys) > 0, c.Cookie.KeysFile != ""); inFile {
		c.Cookie.Keys = root.secretsOf("cookie.keys_file", c.Cookie.KeysFile)
	}
	c.AdminTokenFile, c.Cookie.KeysFile = "", ""
	root.certificates(&c.TLS)
	root.listeners(c)
	if slices.ContainsFunc(c.TrustedProxies, func(p netip.Prefix) bool { return p.Bits() == 0 }) {
		root.warn(root.where("trusted_proxies"), "every visitor is believed, whatever address they claim to have")
	}
	if root.fine("listen", "origin") && ownAddress(c.Origin, c.Listen) {
		root.fault(root.where("origin"), circles)
	}
	settleStateDir(root, c)
	// A key that one gate made for itself opens no other's tickets.
	if root.fine("store", "cookie.keys", "cookie.keys_file") && c.Store != "memory" && len(c.Cookie.Keys) == 0 {
		root.fault(root.where("store"), "gates that share a store need the same keys: set cookie.keys or cookie.keys_file")
	}
}

// listeners checks the two addresses against each other, and the admin API's against its token.
func (s *section) listeners(c *Config) {
	if s.fine("listen", "admin") && clash(c.Listen, c.Admin) {
		name := "admin"
		if !s.isGiven(name) && s.isGiven("listen") {
			name = "listen"
		}
		s.fault(s.where(name), "listen and admin cannot share the address: %s and %s", show(c.Listen), show(c.Admin))
	}
	if s.fine("admin", "admin_token", "admin_token_file") && !loopback(c.Admin) && c.AdminToken == "" {
		s.fault(s.where("admin"), "%s can be reached from other machines: that needs admin_token or admin_token_file", show(c.Admin))
	}
}

// loopback says whether only this machine can reach an address that is right.
func loopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, err := netip.ParseAddr(host)
	return isLocalhost(host) || err == nil && ip.Unmap().IsLoopback()
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

const circles = "is the address that this gate listens on: requests would go round in circles"

// ownAddress says whether an origin is an address of this machine that the gate listens on, as far as the names tell: each request
// would come back for ever.
func ownAddress(origin, listen string) bool {
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
	return strings.EqualFold(host, u.Hostname()) || named || loopback(own) && anyAddress(host)
}

func isLocalhost(host string) bool { return strings.EqualFold(host, "localhost") }

// isOneOfLocalhost says whether a host is an address that localhost may stand for.
func isOneOfLocalhost(host string) bool { return host == "127.0.0.1" || host == "::1" }
