package config

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/anteroom-gate/anteroom/proxy/route"
)

// bypass is the one action that rules have.
const bypass = "bypass_waiting_room"

func routeKeys() []key[Route] {
	return []key[Route]{
		{name: "host", read: aString(func(r *Route) *string { return &r.Host }, "a host", checkHost)},
		{name: "path", def: "/", read: aString(func(r *Route) *string { return &r.Path }, "a path", checkPath)},
	}
}

func ruleKeys() []key[Rule] {
	condition := func(name string, field func(*Match) *string, check func(string) string) key[Rule] {
		return key[Rule]{name: "match." + name, read: aString(func(r *Rule) *string { return field(&r.Match) }, "a string", check)}
	}
	return []key[Rule]{
		{name: "action", read: oneOf(func(r *Rule) *string { return &r.Action }, bypass)},
		{name: "description", read: aString(func(r *Rule) *string { return &r.Description }, "a string", anything)},
		condition("path", func(m *Match) *string { return &m.Path }, checkCondition(checkMatchPath)),
		condition("path_prefix", func(m *Match) *string { return &m.PathPrefix }, checkCondition(checkMatchPath)),
		condition("path_suffix", func(m *Match) *string { return &m.PathSuffix }, checkCondition(checkMatchSuffix)),
		condition("method", func(m *Match) *string { return &m.Method }, checkCondition(checkMethod)),
		{name: "match.cidr", read: readRuleNetworks},
		condition("header", func(m *Match) *string { return &m.Header }, checkCondition(checkHeader)),
		condition("cookie", func(m *Match) *string { return &m.Cookie }, checkCondition(checkCookie)),
	}
}

// readRuleNetworks takes a single network, too. No network at all would be a condition that looks given and is not.
func readRuleNetworks(d *decoder, v value, dst *Rule) bool {
	if tag := v.node.ShortTag(); tag == "!!str" {
		s, ok := d.str(v, "a network")
		if !ok {
			return false
		}
		p, problem := parsePrefix(s)
		if problem != "" {
			return d.problem(v, problem)
		}
		dst.Match.CIDR = append(dst.Match.CIDR, p)
		return true
	}
	prefixes, ok := d.prefixes(v)
	if ok && len(prefixes) == 0 {
		d.fault(v.Place, "the list is empty: take the line out, or name a network")
		return false
	}
	if ok {
		dst.Match.CIDR = prefixes
	}
	return ok
}

// checkCondition refuses the empty string: it would be a condition that looks given and is not.
func checkCondition(check func(string) string) func(string) string {
	return func(s string) string {
		if s == "" {
			return "is empty: take the line out, or say what to match"
		}
		return check(s)
	}
}

func checkMatchPath(s string) string {
	switch {
	case !strings.HasPrefix(s, "/"):
		return fmt.Sprintf("does not begin with a slash (did you mean %q?)", "/"+s)
	case strings.Contains(s, "*"):
		return "cannot be a pattern: there are path, path_prefix and path_suffix"
	default:
		return checkMatchSuffix(s)
	}
}

func checkMatchSuffix(s string) string {
	switch {
	case strings.Contains(s, "*"):
		return "cannot be a pattern" + starHint(s)
	case strings.ContainsAny(s, "?#"):
		return "holds a query or a fragment: only the path counts"
	}
	return ""
}

func starHint(s string) string {
	rest := strings.TrimLeft(s, "*")
	if rest == "" || strings.Contains(rest, "*") {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", rest)
}

// token is what methods, header names and cookie names are made of (RFC 9110, section 5.6.2).
var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func checkMethod(s string) string {
	if !token.MatchString(s) {
		return "is not an HTTP method such as GET"
	}
	if up := strings.ToUpper(s); up != s {
		return fmt.Sprintf("is not in capitals (did you mean %q?)", up)
	}
	return ""
}

func checkHeader(s string) string {
	name, val, _ := strings.Cut(s, ":")
	if !token.MatchString(name) || strings.ContainsAny(val, "\r\n\x00") {
		return `is not a header: expects "Name: value", or "Name" for any value`
	}
	return ""
}

func checkCookie(s string) string {
	name, val, _ := strings.Cut(s, "=")
	if !token.MatchString(name) || strings.ContainsAny(val, "\r\n\x00; ") {
		return `is not a cookie: expects "name=value", or "name" for any value`
	}
	return ""
}

// additional reads the routes of additional_routes. Their scopes say where each part was given.
func (r *room) additional() {
	for _, v := range r.dst.routes {
		var extra Route
		s, ok := element(r.decoder, routeKeys(), v, &extra, "a mapping with host and path")
		if !ok {
			continue
		}
		r.dst.AdditionalRoutes = append(r.dst.AdditionalRoutes, extra)
		if !s.given("host") && !s.given("path") {
			s.fault(v.Place, "has neither host nor path")
			continue
		}
		r.sameBraces(extra, s)
		if s.fine("host", "path") {
			r.guards(extra, v.Place)
		}
	}
}

// rules reads the room's rules.
func (r *room) rules() {
	for _, v := range r.dst.rules {
		if r.stopped {
			return
		}
		var rule Rule
		s, ok := element(r.decoder, ruleKeys(), v, &rule, "a rule: a mapping with action and match")
		if !ok {
			continue
		}
		if !s.given("action") {
			s.fault(s.place("action"), "is required: %s", bypass)
		}
		conditions := 0
		for _, k := range s.keys {
			if strings.HasPrefix(k.name, "match.") && s.given(k.name) {
				conditions++
			}
		}
		if conditions == 0 {
			s.fault(s.place("match"), "has no condition: a rule without one would exempt everything from the room")
		}
		if conditions == 1 && rule.Match.PathPrefix == "/" {
			s.warn(s.place("match.path_prefix"), "every path begins with /: the rule exempts everything from the room")
		}
		m := rule.Match
		for name, path := range map[string]string{"match.path": m.Path, "match.path_prefix": m.PathPrefix, "match.path_suffix": m.PathSuffix} {
			if braces(path) != "" {
				s.warn(s.place(name), "braces are no pattern in a rule: it matches paths that have them")
			}
		}
		for _, f := range route.CheckRules([]route.Rule{rule.ForGate()}) {
			if s.given(f.Key) && s.fine(f.Key) {
				s.fault(s.place(f.Key), "%s", f.Problem)
			}
		}
		r.dst.Rules = append(r.dst.Rules, rule)
	}
}

// element reads one mapping of a list. The misplaced are keys that belong elsewhere.
func element[T any](d *decoder, keys []key[T], v value, dst *T, want string, misplaced ...string) (*scope[T], bool) {
	s := newScope(d, keys, dst, v.Key)
	s.misplaced, s.belongs = misplaced, "at the top of the file"
	if !isMapping(v.node) {
		d.fault(v.Place, "expects %s, got %s", want, kindOf(v.node))
		return s, false
	}
	s.node = placed(v)
	s.walk(v.node, "")
	return s, true
}
