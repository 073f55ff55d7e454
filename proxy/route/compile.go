package route

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/fairdoor-gate/fairdoor/proxy/netset"
)

// report reports a fault of the rule that is compiled.
type report func(key, value, format string, args ...any)

func compile(rule Rule, fault report) matcher {
	switch rule.Action {
	case BypassWaitingRoom, EndlessLine:
	case "":
		fault("action", "", "is required: %s or %s", BypassWaitingRoom, EndlessLine)
	default:
		fault("action", rule.Action, "is no action; there are %s and %s", BypassWaitingRoom, EndlessLine)
	}
	c := compiler{flags: rule.Action == EndlessLine, fault: fault}
	m := c.compile("match", &rule.Match, false)
	m.flags = c.flags
	return m
}

// compiler compiles the conditions of one rule.
type compiler struct {
	flags bool
	fault report
}

// compile compiles conditions and those in them. hasCIDR says that they count for some
// networks only.
func (to compiler) compile(at string, c *Conditions, hasCIDR bool) matcher {
	if c.empty() {
		to.fault(at, "", "has no condition: without one it would be about everything")
	}
	hasCIDR = hasCIDR || len(c.CIDR) > 0
	return matcher{
		path:     compilePath(at+".path", c.Path, to.fault),
		prefix:   compilePath(at+".path_prefix", c.PathPrefix, to.fault),
		suffix:   compileSuffix(at+".path_suffix", c.PathSuffix, to.fault),
		method:   compileMethod(at+".method", c.Method, to.fault),
		networks: compileCIDR(at+".cidr", c.CIDR, to.fault),
		header:   compileHeader(at+".header", c.Header, hasCIDR || to.flags, to.fault),
		cookie:   compileCookie(at+".cookie", c.Cookie, to.fault),
		query:    compileQuery(at+".query", c.Query, to.fault),
		verified: c.VerifiedBot,
		all:      to.each(at+".all", c.All, hasCIDR),
		any:      to.each(at+".any", c.Any, hasCIDR),
		not:      to.each(at+".not", c.Not, hasCIDR),
	}
}

func (to compiler) each(at string, list []Conditions, hasCIDR bool) []matcher {
	var compiled []matcher
	for i := range list {
		compiled = append(compiled, to.compile(fmt.Sprintf("%s[%d]", at, i), &list[i], hasCIDR))
	}
	return compiled
}

func compilePath(key, path string, fault report) []string {
	if path == "" {
		return nil
	}
	problem := checkPath(path)
	if strings.Contains(path, "*") && path[0] == '/' {
		problem = "cannot be a pattern: there are path, path_prefix and path_suffix"
	}
	if problem != "" {
		fault(key, path, "%s", problem)
	}
	return pathForms(path)
}

func compileSuffix(key, suffix string, fault report) []string {
	if suffix == "" {
		return nil
	}
	// There is always something before a suffix, which makes a path of it.
	problem := checkPath("/-" + suffix)
	if strings.Contains(suffix, "*") {
		problem = "cannot be a pattern" + starHint(suffix)
	}
	if problem != "" {
		fault(key, suffix, "%s", problem)
	}
	return pathForms(suffix)
}

func starHint(suffix string) string {
	rest := strings.TrimLeft(suffix, "*")
	if rest == "" || strings.Contains(rest, "*") {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", rest)
}

// pathForms returns the readings that a request for a configured path has: the path as it
// is written, as it is decoded, and as a browser encodes it.
func pathForms(path string) []string {
	forms := []string{path}
	decoded := decode(path, true)
	for _, form := range []string{decoded, encode(decoded)} {
		if form != forms[0] && form != forms[len(forms)-1] {
			forms = append(forms, form)
		}
	}
	return forms
}

// encode escapes what cannot be in the path of a URL.
func encode(path string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; plainByte(c) || c == '/' {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

func compileMethod(key, method string, fault report) string {
	switch {
	case method != "" && !isToken(method):
		fault(key, method, "is not an HTTP method such as GET")
	case method != strings.ToUpper(method):
		fault(key, method, "is not in capitals (did you mean %q?)", strings.ToUpper(method))
	}
	return method
}

func compileCIDR(key string, texts []string, fault report) netset.Set {
	var networks []netip.Prefix
	for i, text := range texts {
		network, ok := parsePrefix(text)
		if !ok {
			fault(key+"["+strconv.Itoa(i)+"]", text, "is neither an address nor a prefix such as 192.0.2.0/24")
			continue
		}
		networks = append(networks, network)
	}
	return netset.New(networks)
}

// parsePrefix reads a prefix or a single address.
func parsePrefix(text string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), addr.Zone() == ""
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix, err == nil
}

func compileHeader(key, text string, mayNameAgent bool, fault report) named {
	if text == "" {
		return named{}
	}
	name, value, found := strings.Cut(text, ":")
	name = http.CanonicalHeaderKey(strings.TrimSpace(name))
	switch {
	case !isToken(name):
		fault(key, "", `%q is not the name of a header: expects "Name: value", or "Name" for any value`, name)
	case strings.ContainsAny(value, "\r\n\x00"):
		fault(key, "", "the value of a header is one line")
	case name == "Host":
		fault(key, "", "rules do not match the host; a room's host does")
	case name == "Cookie":
		fault(key, "", "cookies are matched with cookie")
	case name == "User-Agent" && !mayNameAgent:
		fault(key, "", "anyone can send any User-Agent; match cidr besides")
	}
	return named{name: name, value: strings.TrimSpace(value), anyValue: !found}
}

func compileCookie(key, text string, fault report) named {
	if text == "" {
		return named{}
	}
	name, value, found := strings.Cut(text, "=")
	switch {
	case !isToken(name):
		fault(key, "", `%q is not the name of a cookie: expects "name=value", or "name" for any value`, name)
	case strings.ContainsFunc(value, notCookieValue):
		fault(key, "", "the value of a cookie has no white space, semicolons or control characters")
	}
	return named{name: name, value: value, anyValue: !found}
}

func notCookieValue(r rune) bool { return r <= ' ' || r == ';' || r == 0x7f }

// isToken reports whether s is a token (RFC 9110, section 5.6.2), as methods and the
// names of headers and cookies are.
func isToken(s string) bool { return httpguts.ValidHeaderFieldName(s) }
