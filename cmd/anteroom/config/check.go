package config

import (
	"net/netip"
	"slices"

	"github.com/anteroom-gate/anteroom/proxy/listen"
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
	if root.fine("listen", "origin") && listen.Reaches(c.Origin, c.Listen) {
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
	if s.fine("listen", "admin") && listen.Clash(c.Listen, c.Admin) {
		name := "admin"
		if !s.isGiven(name) && s.isGiven("listen") {
			name = "listen"
		}
		s.fault(s.where(name), "listen and admin cannot share the address: %s and %s", show(c.Listen), show(c.Admin))
	}
	if s.fine("admin", "admin_token", "admin_token_file") && !listen.IsLoopback(c.Admin) && c.AdminToken == "" {
		s.fault(s.where("admin"), "%s can be reached from other machines: that needs admin_token or admin_token_file", show(c.Admin))
	}
}

const circles = "is the address that this gate listens on: requests would go round in circles"
