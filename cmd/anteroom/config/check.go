package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// checkRoot checks the file's top as a whole, once all of its layers are read.
func checkRoot(root *scope[draft]) {
	settleToken(root)
	settleCookieKeys(root)
	settleCertificates(root)
	checkListeners(root)
	checkProxies(root)
	checkLoop(root)
	settleStateDir(root)
	checkShared(root)
}

// checkShared checks what gates that share a store must have in common: a key that one gate made for itself opens no other's tickets.
func checkShared(root *scope[draft]) {
	if root.fine("store", "cookie.keys", "cookie.keys_file") && root.dst.Store != "memory" && len(root.dst.Cookie.Keys) == 0 {
		root.fault(root.place("store"), "gates that share a store need the same keys: set cookie.keys or cookie.keys_file")
	}
}

// checkListeners checks the two addresses against each other, and the admin API's against its token.
func checkListeners(root *scope[draft]) {
	c := root.dst
	if root.fine("listen", "admin") && clash(c.Listen, c.Admin) {
		name := "admin"
		if !root.given(name) && root.given("listen") {
			name = "listen"
		}
		root.fault(root.place(name), "listen and admin cannot share the address: %s and %s", show(c.Listen), show(c.Admin))
	}
	if root.fine("admin", "admin_token", "admin_token_file") && !loopback(c.Admin) && c.AdminToken == "" {
		root.fault(root.place("admin"), "%s can be reached from other machines: that needs admin_token or admin_token_file", show(c.Admin))
	}
}

// checkProxies warns of networks that trust everybody.
func checkProxies(root *scope[draft]) {
	if slices.ContainsFunc(root.dst.TrustedProxies, func(p netip.Prefix) bool { return p.Bits() == 0 }) {
		root.warn(root.place("trusted_proxies"), "every visitor is believed, whatever address they claim to have")
	}
}

const circles = "is the address that this gate listens on: requests would go round in circles"

// checkLoop refuses the gate's own address as the default origin: each request would come back for ever.
func checkLoop(root *scope[draft]) {
	if root.fine("listen", "origin") && ownAddress(root.dst.Origin, root.dst.Listen) {
		root.fault(root.place("origin"), circles)
	}
}

// ownAddress says whether an origin is an address of this machine that the gate listens on, as far as the names tell.
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

// firsts remembers who used a name first.
type firsts map[string]*room

// taken says who has the name already; the first to ask has it from then on.
func (f firsts) taken(name string, r *room) (*room, bool) {
	first, ok := f[name]
	if !ok {
		f[name] = r
	}
	return first, ok
}

func (d *decoder) uniqueNames(rooms []*room) {
	seen := firsts{}
	for _, r := range rooms {
		if r.dst.Name == "" {
			continue
		}
		if first, ok := seen.taken(r.dst.Name, r); ok {
			d.fault(r.place("name"), "%s is the name of another room already, %s", show(r.dst.Name), where(first.place("name")))
		}
	}
}

// uniqueCookies compares the ends of the cookies' names: cookie_suffix, or else the room's name.
func (d *decoder) uniqueCookies(rooms []*room) {
	seen := firsts{}
	for _, r := range rooms {
		end, key := r.cookieEnd()
		if end == "" {
			continue
		}
		first, ok := seen.taken(end, r)
		if !ok {
			continue
		}
		_, firstKey := first.cookieEnd()
		if key == "name" && firstKey == "name" {
			continue // reported as a duplicate name
		}
		d.fault(r.place(key), "the cookie anteroom_%s belongs to %s already, %s", end, first.label(), where(first.place(firstKey)))
	}
}

// cookieEnd is what follows anteroom_ in the cookie's name, and the key that says so.
func (r *room) cookieEnd() (end, key string) {
	if r.dst.CookieSuffix != "" {
		return r.dst.CookieSuffix, "cookie_suffix"
	}
	return r.dst.Name, "name"
}

// uniqueRoutes compares all routes as requests are.
func (d *decoder) uniqueRoutes(rooms []*room) {
	seen := map[string]Place{}
	for _, r := range rooms {
		for _, guarded := range r.routes {
			key := guarded.ForGate().String()
			if first, ok := seen[key]; ok {
				d.fault(guarded.Place, "%s is guarded already, %s", describeRoute(key), where(first))
			} else {
				seen[key] = guarded.Place
			}
		}
	}
}

func describeRoute(canonical string) string {
	if strings.HasPrefix(canonical, "/") {
		return fmt.Sprintf("the path %s of every host", show(canonical))
	}
	return show(canonical)
}

// where points at the first of two that clash.
func where(p Place) string {
	if p.Line == 0 {
		return "by " + p.Source
	}
	return fmt.Sprintf("on line %d", p.Line)
}
