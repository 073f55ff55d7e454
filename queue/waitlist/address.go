package waitlist

import (
	"bufio"
	"fmt"
	"io"
	"net/mail"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// longestAddress is the most bytes of an address that mail can carry (RFC 5321, with erratum 1690
// of RFC 3696), and longestLocal of the part before the @.
const longestAddress, longestLocal = 254, 64

// Address is an e-mail address.
type Address struct {
	Typed   string // as its owner typed it: where mail goes
	Key     string // normalised: lower case, the domain in ASCII. There is one entry for each.
	Mailbox string // Key without tags and dots: addresses that may well be one person's share it
}

// ParseAddress reads one bare address. The error is ErrEmail.
func ParseAddress(text string) (Address, error) {
	typed := strings.TrimSpace(text)
	parsed, err := mail.ParseAddress(typed)
	if err != nil || parsed.Address != typed || len(typed) > longestAddress {
		return Address{}, ErrEmail
	}
	at := strings.LastIndexByte(typed, '@')
	local := strings.ToLower(norm.NFC.String(typed[:at]))
	domain, err := idna.Lookup.ToASCII(strings.TrimSuffix(typed[at+1:], "."))
	if err != nil || domain == "" || len(local) > longestLocal {
		return Address{}, ErrEmail
	}
	if isLocal(domain) {
		return Address{}, ErrEmail
	}
	a := Address{Typed: typed, Key: local + "@" + domain}
	a.Mailbox = a.alike()
	return a, nil
}

// alike is the key of the addresses that may well be one person's: the inbox without dots, which
// some mail servers ignore.
func (a Address) alike() string {
	inbox, _ := a.inbox()
	local, domain, _ := strings.Cut(inbox, "@")
	return strings.ReplaceAll(local, ".", "") + "@" + domain
}

// isLocal reports whether a domain is not one of the Internet's: mail to it would stay with our own
// mail server, or in its network.
func isLocal(domain string) bool {
	top := domain[strings.LastIndexByte(domain, '.')+1:]
	switch top {
	case domain, "localhost", "localdomain", "local", "internal", "invalid":
		return true
	}
	return strings.Trim(top, "0123456789") == "" // an IP address
}

// Domains is a list of domains. Each stands for its subdomains too.
type Domains map[string]struct{}

// ReadDomains reads a list with one domain a line. Empty lines and those that begin with # do not
// count.
func ReadDomains(r io.Reader) (Domains, error) {
	list, lines := Domains{}, bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		domain, err := idna.Lookup.ToASCII(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %q is not a domain", n, text)
		}
		list[domain] = struct{}{}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading domains: %w", err)
	}
	return list, nil
}

// Has reports whether the domain of an address is on the list.
func (d Domains) Has(key string) bool {
	_, domain, _ := strings.Cut(key, "@")
	for domain != "" {
		if _, ok := d[domain]; ok {
			return true
		}
		_, domain, _ = strings.Cut(domain, ".")
	}
	return false
}

// network is the part of an address that one subscriber or company has: 24 bits of IPv4, 48 of
// IPv6; "" if addr is not valid.
func network(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	bits := 48
	if addr.Is4() {
		bits = 24
	}
	prefix, err := addr.Prefix(bits)
	if err != nil || !addr.IsValid() {
		return ""
	}
	return prefix.String()
}
