// Package outbound is how the gate asks hosts that others have named: only those of a list, and
// only at addresses where they may be.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Hosts are the hosts that may be asked. An entry is
//
//   - the name of a host, which is asked by https at public addresses; with *. before it, of all hosts below it;
//   - http:// and a name, which may be asked without TLS, too, and at any address if it is localhost;
//   - one of these with a port, :8443, at which alone it is asked;
//   - an address or a network (CIDR), at which hosts may be asked though it is private. A URL may name such an address, too.
type Hosts struct {
	names []name
	nets  []netip.Prefix
	dial  Dial // how they are reached; nil by the network
}

// Dial opens a connection, as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Over returns the hosts, to be reached by dial, which looks at no address.
func (h Hosts) Over(dial Dial) Hosts {
	h.dial = dial
	return h
}

// name is the name of a host in the list.
type name struct {
	host  string // in lower case; *.host for all hosts below
	port  string // at which it is asked alone; "" for any
	plain bool   // it may be asked by http
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
		n, ok := parseName(entry)
		if !ok {
			return h, fmt.Errorf("%q is no host, *.host, http://host, host:port, address or network", entry)
		}
		if addr, err := netip.ParseAddr(n.host); err == nil {
			h.nets = append(h.nets, netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()))
		}
		h.names = append(h.names, n)
	}
	return h, nil
}

// parseName reads an entry that is the name of a host. By http it may be an address, too.
func parseName(entry string) (n name, ok bool) {
	text, plain := strings.CutPrefix(strings.ToLower(entry), "http://")
	host, port, hasPort := strings.Cut(text, ":")
	if hasPort {
		number, err := strconv.ParseUint(port, 10, 16)
		if port = strconv.FormatUint(number, 10); err != nil || number == 0 {
			return n, false
		}
	}
	_, errAddr := netip.ParseAddr(host)
	bare := strings.TrimPrefix(host, "*.")
	return name{host, port, plain}, bare != "" && !strings.ContainsAny(bare, "/:@?#* ") && (plain || errAddr != nil)
}

// IsEmpty says whether the list has nothing.
func (h Hosts) IsEmpty() bool { return len(h.names)+len(h.nets) == 0 }

// Check says what is wrong with a URL; nil for nothing.
func (h Hosts) Check(u *url.URL) error {
	host := strings.ToLower(u.Hostname())
	addr, errAddr := netip.ParseAddr(host)
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || host == "" || u.User != nil:
		return errors.New("it is no https:// address of a host")
	case !h.has(u, anyName) && (errAddr != nil || !h.allows(addr)):
		return fmt.Errorf("the list of hosts does not have %s", u.Host)
	case u.Scheme == "http" && !h.has(u, mayBePlain):
		return fmt.Errorf("it needs https: the list of hosts does not have http://%s", u.Host)
	}
	return nil
}

// CheckStranger says what is wrong with a URL that a stranger has named; nil for nothing. By https
// it has the port 443, or one of the list.
func (h Hosts) CheckStranger(u *url.URL) error {
	if err := h.Check(u); err != nil {
		return err
	}
	if u.Scheme == "https" && portOf(u) != portOfTLS && !h.has(u, namesPort) {
		return fmt.Errorf("it needs the port %s: the list of hosts does not have %s", portOfTLS, u.Host)
	}
	return nil
}

// Together names the hosts that a URL's belongs to: all below a *.host of the list, or the host
// itself at its port.
func (h Hosts) Together(u *url.URL) string {
	for _, n := range h.names {
		if n.fits(u) && strings.HasPrefix(n.host, "*.") {
			return n.host
		}
	}
	return strings.ToLower(u.Hostname()) + ":" + portOf(u)
}

const portOfTLS = "443"

// portOf is the port of a URL.
func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	}
	return portOfTLS
}

// has says whether the list has the name of a URL's host, of those that are as asked.
func (h Hosts) has(u *url.URL, is func(name) bool) bool {
	return slices.ContainsFunc(h.names, func(n name) bool { return n.fits(u) && is(n) })
}

// What is asked of a name.
func anyName(name) bool      { return true }
func mayBePlain(n name) bool { return n.plain }
func namesPort(n name) bool  { return n.port != "" }

// fits says whether a URL's host and port are those of a name.
func (n name) fits(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	_, above, _ := strings.Cut(host, ".")
	below, ok := strings.CutPrefix(n.host, "*.")
	return (n.host == host || ok && (above == below || strings.HasSuffix(above, "."+below))) && (n.port == "" || n.port == portOf(u))
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

// control returns what refuses connections to addresses where the host may not be. It sees the
// address that is connected to, whatever a name meant before.
func (h Hosts) control(host string) func(_, address string, _ syscall.RawConn) error {
	local := strings.EqualFold(host, "localhost") && slices.ContainsFunc(h.names, func(n name) bool { return n.plain && n.host == "localhost" })
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

// Client returns a client that asks a host alone. It follows no redirects, and uses no proxy. Its
// transport is like the model, if there is one.
func (h Hosts) Client(model *http.Transport, host string) *http.Client {
	transport := &http.Transport{}
	if model != nil {
		transport = model.Clone()
	}
	dial := h.dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: patience, Control: h.control(host)}).DialContext
	}
	transport.Proxy, transport.DialContext, transport.ForceAttemptHTTP2 = nil, dial, true
	transport.MaxIdleConns, transport.IdleConnTimeout = 2, time.Minute
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
