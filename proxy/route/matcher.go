package route

import (
	"crypto/subtle"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/anteroom-gate/anteroom/proxy/netset"
)

// matcher is a compiled rule.
type matcher struct {
	path, prefix, suffix []string // each as written and as decoded; empty when not given
	fileBegins           string   // how the path of a file at the top of the site begins: "/sitemap"; "" when not given
	method               string
	networks             netset.Set
	header, cookie       named
	verified             bool
}

// named is the condition on a header or a cookie.
type named struct {
	name     string // "" when not given
	value    string
	anyValue bool
}

func (n named) accepts(value string) bool {
	// The value may be a shared secret.
	return n.anyValue || subtle.ConstantTimeCompare([]byte(n.value), []byte(value)) == 1
}

func (m *matcher) readsPath() bool {
	return len(m.path)+len(m.prefix)+len(m.suffix)+len(m.fileBegins) > 0
}

// pathHolds reports whether the conditions on the path hold for every reading: for those in
// odd, or if there are none, for path alone.
func (m *matcher) pathHolds(path string, odd []string) bool {
	if odd == nil {
		return m.readingHolds(path)
	}
	for _, reading := range odd {
		if !m.readingHolds(reading) {
			return false
		}
	}
	return true
}

func (m *matcher) readingHolds(path string) bool {
	return anyHolds(m.path, path, equal) &&
		anyHolds(m.prefix, path, below) &&
		anyHolds(m.suffix, path, endsIn) &&
		(m.fileBegins == "" || begins(m.fileBegins, path))
}

func anyHolds(forms []string, path string, holds func(form, path string) bool) bool {
	for _, form := range forms {
		if holds(form, path) {
			return true
		}
	}
	return len(forms) == 0
}

func equal(form, path string) bool  { return path == form }
func endsIn(form, path string) bool { return strings.HasSuffix(path, form) }

func below(form, path string) bool {
	rest, found := strings.CutPrefix(path, form)
	return found && (rest == "" || rest[0] == '/' || strings.HasSuffix(form, "/"))
}

// begins reports whether a path begins so and has no segment more.
func begins(start, path string) bool {
	rest, found := strings.CutPrefix(path, start)
	return found && !strings.Contains(rest, "/")
}

// holds reports whether all conditions hold but those on the path, and that on the
// crawler.
func (m *matcher) holds(request *Request, addr netip.Addr) bool {
	return (m.method == "" || m.method == request.Method) &&
		m.addrHolds(addr) &&
		m.headerHolds(request.Header) &&
		m.cookieHolds(request.Header)
}

func (m *matcher) addrHolds(addr netip.Addr) bool {
	return m.networks.IsEmpty() || m.networks.Contains(addr)
}

func (m *matcher) headerHolds(header http.Header) bool {
	return m.header.name == "" || slices.ContainsFunc(header[m.header.name], m.header.accepts)
}

func (m *matcher) cookieHolds(header http.Header) bool {
	if m.cookie.name == "" {
		return true
	}
	for _, line := range header["Cookie"] {
		for more := true; more; {
			var cookie string
			cookie, line, more = strings.Cut(line, ";")
			name, value, _ := strings.Cut(strings.Trim(cookie, " \t"), "=")
			if name == m.cookie.name && m.cookie.accepts(value) {
				return true
			}
		}
	}
	return false
}
