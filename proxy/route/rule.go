package route

import (
	"fmt"
	"net/http"
	"net/netip"
)

// BypassWaitingRoom is the one action that a rule can have: what it matches
// goes to the origin, past the room and uncounted.
const BypassWaitingRoom = "bypass_waiting_room"

// Rule exempts requests from a room.
type Rule struct {
	// Action is BypassWaitingRoom. Required.
	Action string

	// Description is for people.
	Description string

	// Match has the conditions that a request must meet: at least one, and all that are
	// given.
	Match Conditions
}

// Conditions are what a rule asks of a request. An empty one is not given. A condition on
// the path holds only if it holds for every reading of the path, and letter case counts:
// when in doubt, there is no exemption. So neither /static%2f..%2ftickets nor /st%61tic is
// below /static. A path such as "/café" can be given encoded or not, and fits requests that
// encode it as browsers do.
type Conditions struct {
	// Path is the whole path: "/healthz".
	Path string

	// PathPrefix is a path that covers itself and everything below it, by
	// whole segments: "/static" covers /static and /static/app.js and not
	// /static-admin; "/static/" does not cover /static either.
	PathPrefix string

	// PathSuffix is how the path ends, to the byte: ".js".
	PathSuffix string

	// Method is the request's method, in upper case as methods are.
	Method string

	// CIDR are prefixes or single addresses. The visitor's address must be in one of them.
	CIDR []string

	// Header is a header that the request has, "Name", or has with exactly this value,
	// "Name: value". Anyone can send any header: so keep the value secret, as a password.
	// For the same reason User-Agent is accepted only together with CIDR.
	Header string

	// Cookie is a cookie that the request has, "name", or has with exactly this value,
	// "name=value". Anyone can send any cookie, too.
	Cookie string

	// VerifiedBot asks that the request is a crawler's, which User-Agent names, and that
	// the visitor's address is known to be its operator's.
	VerifiedBot bool
}

// empty reports whether no condition is given.
func (c *Conditions) empty() bool {
	return c.Path == "" && c.PathPrefix == "" && c.PathSuffix == "" && c.Method == "" &&
		len(c.CIDR) == 0 && c.Header == "" && c.Cookie == "" && !c.VerifiedBot
}

// Request is what rules look at.
type Request struct {
	// Target is the request target as it came on the wire
	// (http.Request.RequestURI).
	Target string

	// Method is the request's method.
	Method string

	// Addr is the visitor's address. The zero Addr is in no prefix.
	Addr netip.Addr

	// Header is the request's header, read only.
	Header http.Header
}

// Rules are the compiled rules of a room. They are immutable and safe for
// concurrent use.
type Rules struct {
	rules     []matcher
	readsPath bool // whether any of them looks at the path
	verified  func(userAgent string, addr netip.Addr) bool
}

// NewRules compiles the presets and the rules of a room. The error is a Faults with all
// that is wrong. verified says whether an address is that of the crawler that a User-Agent
// names; it is asked last of all conditions. If it is nil, no crawler is verified.
func NewRules(presets []Preset, rules []Rule, verified func(userAgent string, addr netip.Addr) bool) (*Rules, error) {
	compiled, faults := compileRules(rules)
	if err := faults.err(); err != nil {
		return nil, fmt.Errorf("compiling rules: %w", err)
	}
	for _, preset := range presets {
		compiled = append(compiled, preset.compile()...)
	}
	if verified == nil {
		verified = func(string, netip.Addr) bool { return false }
	}
	r := &Rules{rules: compiled, verified: verified}
	for i := range compiled {
		r.readsPath = r.readsPath || compiled[i].readsPath()
	}
	return r, nil
}

// CheckRules returns all that is wrong with the rules.
func CheckRules(rules []Rule) Faults {
	_, faults := compileRules(rules)
	return faults
}

func compileRules(rules []Rule) ([]matcher, Faults) {
	var faults Faults
	compiled := make([]matcher, len(rules))
	for i, rule := range rules {
		compiled[i] = compile(rule, func(key, value, format string, args ...any) {
			faults.add(i, key, value, format, args...)
		})
	}
	return compiled, faults
}

// IsEmpty says whether there are no rules.
func (r *Rules) IsEmpty() bool { return len(r.rules) == 0 }

// Match returns the index of the first rule that exempts the request; those of the presets
// are behind the room's own. ok is false, and the index -1, when none does.
func (r *Rules) Match(request Request) (index int, ok bool) {
	if len(r.rules) == 0 {
		return -1, false
	}
	path, odd, known := "", []string(nil), true
	if r.readsPath {
		path, odd, known = read(request.Target)
	}
	addr := request.Addr.Unmap().WithZone("")
	for i := range r.rules {
		m := &r.rules[i]
		if m.readsPath() && (!known || !m.pathHolds(path, odd)) {
			continue
		}
		if m.holds(&request, addr) && (!m.verified || r.verified(request.Header.Get("User-Agent"), addr)) {
			return i, true
		}
	}
	return -1, false
}

// read returns the readings of a target's path: of a plain one the path alone,
// without allocating.
func read(target string) (path string, odd []string, ok bool) {
	path, ok = pathOf(target)
	if ok && !isPlain(path) {
		odd, ok = expand(path)
	}
	return path, odd, ok
}
