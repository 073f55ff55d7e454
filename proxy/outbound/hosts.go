// Package outbound is how the gate asks hosts that others have named: only those of a list, and only at addresses where they may be.
package outbound

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Hosts are the hosts that may be asked. An entry is
//
//   - the name of a host, which is asked by https at public addresses; with *. before it, of all hosts below it;
//   - http:// and a name, which may be asked without TLS, too, and at any address if it is localhost;
//   - an address or a network (CIDR), at which hosts may be asked though it is private. A URL may name such an address, too.
type Hosts struct {
	names []string // in lower case; *.name for all hosts below
	plain []string // those of them that may be asked by http
	nets  []netip.Prefix
}

// ParseHosts reads a list of hosts.
func ParseHosts(list []string) (h Hosts, err error) {
	for _, entry := range list {
		if addr, err := netip.ParseAddr(entry); err == nil {
			h.nets = append(h.nets, netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()))
			continue
		}
		if network, err := netip.ParsePrefix(entry); err == nil {
			h.nets = append(h.nets, network.Masked())
			continue
		}
		name, plain := strings.CutPrefix(strings.ToLower(entry), "http://")
		if addr, err := netip.ParseAddr(name); plain && err == nil {
			h.nets = append(h.nets, netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()))
		}
		if strings.TrimPrefix(name, "*.") == "" || strings.ContainsAny(strings.TrimPrefix(name, "*."), "/:@?#* ") {
			return h, fmt.Errorf("%q is no host, *.host, http://host, address or network", entry)
		}
		h.names = append(h.names, name)
		if plain {
			h.plain = append(h.plain, name)
		}
	}
	return h, nil
}

// IsEmpty says whether the list has nothing.
func (h Hosts) IsEmpty() bool { return len(h.names)+len(h.nets) == 0 }

// Check says what is wrong with a URL; nil for nothing.
func (h Hosts) Check(u *url.URL) error {
	name := strings.ToLower(u.Hostname())
	addr, errAddr := netip.ParseAddr(name)
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || name == "" || u.User != nil:
		return errors.New("it is no https:// address of a host")
	case !has(h.names, name) && (errAddr != nil || !h.allows(addr)):
		return fmt.Errorf("the list of hosts does not have %s", name)
	case u.Scheme == "http" && !has(h.plain, name):
		return fmt.Errorf("it needs https: the list of hosts does not have http://%s", name)
	}
	return nil
}

// has says whether a list of names has that of a host.
func has(names []string, host string) bool {
	_, above, _ := strings.Cut(host, ".")
	return slices.ContainsFunc(names, func(name string) bool {
		below, ok := strings.CutPrefix(name, "*.")
		return name == host || ok && (above == below || strings.HasSuffix(above, "."+below))
	})
}

// allows says whether an address is in the list.
func (h Hosts) allows(addr netip.Addr) bool {
	return slices.ContainsFunc(h.nets, func(n netip.Prefix) bool { return n.Contains(addr.Unmap()) })
}

// errAddress is that of a connection to an address where no host may be.
var errAddress = errors.New("the address is not a public one, and the list of hosts does not have it")

// special are networks that are not public, beside those that netip knows.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
}

// public says whether everybody may reach an address.
func public(addr netip.Addr) bool {
	return addr.IsGlobalUnicast() && !addr.IsPrivate() && !slices.ContainsFunc(special, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// control returns what refuses connections to addresses where the host may not be. It sees the address that is connected to, whatever
// a name meant before.
func (h Hosts) control(host string) func(_, address string, _ syscall.RawConn) error {
	local := strings.EqualFold(host, "localhost") && slices.Contains(h.plain, "localhost")
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return errAddress
		}
		if addr := to.Addr().Unmap(); public(addr) || h.allows(addr) || local && addr.IsLoopback() {
			return nil
		}
		return errAddress
	}
}

// patience is how long a host may take to accept a connection.
const patience = 10 * time.Second

// Client returns a client that asks a host alone. It follows no redirects, and uses no proxy. Its transport is like the model, if
// there is one.
func (h Hosts) Client(model *http.Transport, host string) *http.Client {
	transport := &http.Transport{}
	if model != nil {
		transport = model.Clone()
	}
	dialer := &net.Dialer{Timeout: patience, Control: h.control(host)}
	transport.Proxy, transport.DialContext, transport.ForceAttemptHTTP2 = nil, dialer.DialContext, true
	transport.MaxIdleConns, transport.IdleConnTimeout = 2, time.Minute
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
