package route

import (
	"crypto/subtle"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/netset"
)

// matcher is a compiled rule, or conditions that are a part of one.
type matcher struct {
	flags bool // the rule has the action EndlessLine

	path, prefix, suffix []string // each as written and as decoded; empty when not given
	fileBegins           string   // how the path of a file at the top of the site begins: "/sitemap"; "" when not given
	method               string
	networks             netset.Set
	header, cookie       named
	query                parameter
	verified             bool

	all, any, not []matcher
	reads         looksAt // of a whole rule
}

// looksAt is what conditions look at, with those in them.
type looksAt struct {
	path bool // the path, or the query behind it
	addr bool
}

// lookFor says what the conditions look at.
func (m *matcher) lookFor() looksAt {
	reads := looksAt{path: m.readsPath() || m.query.name != "", addr: !m.networks.IsEmpty()}
	for _, list := range [][]matcher{m.all, m.any, m.not} {
		for i := range list {
			inner := list[i].lookFor()
			reads.path, reads.addr = reads.path || inner.path, reads.addr || inner.addr
		}
	}
	return reads
}

// ask is one request that rules are asked about.
type ask struct {
	Request
	rules *Rules
	addr  netip.Addr // in its shortest form
	path  string     // as it came,
	odd   []string   // and all its readings, if it has another than itself
	known bool       // the readings are all that there are
}

// fits reports whether the rule holds: to exempt for every reading, to flag for one. An address
// that is not known neither exempts nor flags.
func (m *matcher) fits(a *ask) bool {
	switch {
	case m.flags && m.reads.addr && !a.addr.IsValid():
		return false
	case !m.reads.path || a.odd == nil || !a.known:
		return m.holds(a, a.path, m.flags)
	}
	for _, reading := range a.odd {
		if m.holds(a, reading, m.flags) == m.flags {
			return m.flags
		}
	}
	return !m.flags
}

// holds reports whether the conditions hold for a reading of the path. What is in doubt holds if
// doubt says so; below not, it is the other way round.
func (m *matcher) holds(a *ask, path string, doubt bool) bool {
	return m.pathHolds(a, path, doubt) &&
		m.methodHolds(&a.Request, doubt) &&
		m.addrHolds(a.addr, doubt) &&
		m.header.holds(a.Header, doubt, headerValues) &&
		m.cookie.holds(a.Header, doubt, cookieValues) &&
		m.query.holds(a, doubt) &&
		m.othersHold(a, path, doubt) &&
		(!m.verified || a.rules.isVerified(a.Request, a.addr))
}

// othersHold reports whether the conditions hold that are in these.
func (m *matcher) othersHold(a *ask, path string, doubt bool) bool {
	for i := range m.all {
		if !m.all[i].holds(a, path, doubt) {
			return false
		}
	}
	for i := range m.not {
		if m.not[i].holds(a, path, !doubt) {
			return false
		}
	}
	for i := range m.any {
		if m.any[i].holds(a, path, doubt) {
			return true
		}
	}
	return len(m.any) == 0
}

func (m *matcher) readsPath() bool {
	return len(m.path)+len(m.prefix)+len(m.suffix)+len(m.fileBegins) > 0
}

// pathHolds reports whether the conditions on the path hold for a reading. In doubt are the
// letter case, what lies below a path or a suffix, which programs take for arguments of
// what is there, and all of a path whose readings are not known.
func (m *matcher) pathHolds(a *ask, path string, doubt bool) bool {
	switch {
	case !m.readsPath():
		return true
	case !a.known:
		return doubt
	case doubt:
		path = fold(path)
		return anyHolds(m.path, path, mayBeAt) && anyHolds(m.prefix, path, mayBeBelow) && anyHolds(m.suffix, path, mayEndIn)
	}
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

// mayBeAt reports whether some server may serve a folded path as what is at the form.
func mayBeAt(form, path string) bool { return path == form || form != "/" && mayBeBelow(form, path) }

// mayBeBelow reports whether some server may serve a folded path as what is at the form or below
// it.
func mayBeBelow(form, path string) bool {
	return covers(strings.TrimSuffix(fold(form), "/"), path)
}

// mayEndIn reports whether some server may serve a folded path as what ends in the form.
func mayEndIn(form, path string) bool { return strings.Contains(path+"/", fold(form)+"/") }

// methodHolds reports whether the condition on the method holds. In doubt are the letter case, and
// a request with a header by which some servers take another method.
func (m *matcher) methodHolds(r *Request, doubt bool) bool {
	return m.method == "" || m.method == r.Method ||
		doubt && (strings.EqualFold(m.method, r.Method) || hasMethodHeader(r.Header))
}

// hasMethodHeader reports whether a request has X-HTTP-Method-Override or its like.
func hasMethodHeader(header http.Header) bool {
	for name := range header {
		if name != "Access-Control-Request-Method" && strings.Contains(strings.ToLower(name), "method") {
			return true
		}
	}
	return false
}

func (m *matcher) addrHolds(addr netip.Addr, doubt bool) bool {
	return m.networks.IsEmpty() || m.networks.Contains(addr) || doubt && !addr.IsValid()
}

// named is the condition on a header or a cookie.
type named struct {
	name     string // "" when not given
	value    string
	anyValue bool
}

// holds reports whether some value that belongs to the name, or in doubt may belong to it, is
// the right one.
func (n *named) holds(header http.Header, doubt bool, values func(n *named, header http.Header, doubt bool) bool) bool {
	return n.name == "" || values(n, header, doubt)
}

func (n *named) accepts(value string) bool {
	// The value may be a shared secret.
	return n.anyValue || subtle.ConstantTimeCompare([]byte(n.value), []byte(value)) == 1
}

// mayAccept reports whether some server may read a value as the right one.
func (n *named) mayAccept(value string) bool {
	return n.anyValue || looseValue(value) == looseValue(n.value)
}

// looseValue is a value as the same for all servers: decoded, cut at a NUL, without quotes and
// white space around it, and without letter case.
func looseValue(value string) string {
	value, _, _ = strings.Cut(decode(value, true), "\x00")
	return fold(strings.TrimFunc(value, func(r rune) bool { return isSpace(r) || r == '"' || r == '\'' }))
}

// headerValues looks for the value among those of a header. In doubt are other spellings of the
// name, and the elements of a list.
func headerValues(n *named, header http.Header, doubt bool) bool {
	if !doubt {
		return slices.ContainsFunc(header[n.name], n.accepts)
	}
	for name, lines := range header {
		if len(name) != len(n.name) || !strings.EqualFold(strings.ReplaceAll(name, "_", "-"), n.name) {
			continue
		}
		for _, line := range lines {
			if n.mayAccept(line) || slices.ContainsFunc(strings.Split(line, ","), n.mayAccept) {
				return true
			}
		}
	}
	return false
}

// cookieValues looks for the value among those of a cookie. In doubt is the letter case, and how
// the value is written.
func cookieValues(n *named, header http.Header, doubt bool) bool {
	for _, line := range header["Cookie"] {
		for more := true; more; {
			var cookie string
			cookie, line, more = strings.Cut(line, ";")
			name, value, _ := strings.Cut(strings.Trim(cookie, " \t"), "=")
			if name == n.name && n.accepts(value) ||
				doubt && strings.EqualFold(strings.Trim(name, " \t"), n.name) && n.mayAccept(value) {
				return true
			}
		}
	}
	return false
}
