package route

import (
	"fmt"
	"net/http"
	"net/netip"
)

// The actions of rules.
const (
	// BypassWaitingRoom sends what the rule matches to the origin, past the room and uncounted.
	BypassWaitingRoom = "bypass_waiting_room"

	// EndlessLine lets those whose requests the rule matches wait for ever, without a place.
	EndlessLine = "endless_line"
)

// Rule says what becomes of some requests for a room.
type Rule struct {
	// Action is BypassWaitingRoom or EndlessLine. Required.
	Action string

	// Description is for people.
	Description string

	// Match has the conditions that a request must meet: at least one, and all that are
	// given.
	Match Conditions
}

// Conditions are what a rule asks of a request: all of those that are given must hold. An
// empty one is not given.
//
// Different servers may read a request differently, so a condition may hold, or not, or be in
// doubt. A rule that exempts has to hold as a whole for every reading of the path, with
// whatever is in doubt taken against the exemption, also below Not. So neither
// /static%2f..%2ftickets nor /st%61tic is below /static, and neither /TICKETS nor
// //tickets is surely not below /tickets. A rule that flags holds if it does for some
// reading, with whatever is in doubt taken against the visitor. See the package's text on
// doubt. A path such as "/café" can be given encoded or not, and fits requests that encode it
// as browsers do.
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
	// the visitor's address is known to be its operator's; or that an agent that counts signed it.
	VerifiedBot bool

	// Query is a parameter of the query that the request has, "name", or has with exactly this
	// value, "name=value". Name and value are of letters, digits and - . _ ~ only, of which no
	// server makes anything else.
	Query string

	// All of these must hold, one at least of Any, and none of Not.
	All, Any, Not []Conditions
}

// empty reports whether no condition is given.
func (c *Conditions) empty() bool {
	return c.Path == "" && c.PathPrefix == "" && c.PathSuffix == "" && c.Method == "" &&
		len(c.CIDR) == 0 && c.Header == "" && c.Cookie == "" && !c.VerifiedBot && c.Query == "" &&
		len(c.All)+len(c.Any)+len(c.Not) == 0
}

// Request is what rules look at.
type Request struct {
	// Target is the request target as it came on the wire
	// (http.Request.RequestURI).
	Target string

	// Method is the request's method.
	Method string

	// Host is the host that the request is for.
	Host string

	// Addr is the visitor's address. The zero Addr is in no prefix.
	Addr netip.Addr

	// Header is the request's header, read only.
	Header http.Header
}

// Rules are the compiled rules of a room. They are immutable and safe for
// concurrent use.
type Rules struct {
	rules      []matcher
	readsPath  bool // whether any of them looks at the path or at the query
	flags      bool // whether any of them has the action EndlessLine
	isVerified func(Request, netip.Addr) bool
}

// NewRules compiles the presets and the rules of a room. The error is a Faults with all
// that is wrong. verified says whether a request from an address, in its shortest form, is
// that of a known crawler; it is asked last of all conditions. If it is nil, no crawler is verified.
func NewRules(presets []Preset, rules []Rule, verified func(Request, netip.Addr) bool) (*Rules, error) {
	compiled, faults := compileRules(rules)
	if err := faults.err(); err != nil {
		return nil, fmt.Errorf("compiling rules: %w", err)
	}
	for _, preset := range presets {
		compiled = append(compiled, preset.compile()...)
	}
	if verified == nil {
		verified = func(Request, netip.Addr) bool { return false }
	}
	r := &Rules{rules: compiled, isVerified: verified}
	for i := range compiled {
		compiled[i].reads = compiled[i].lookFor()
		r.readsPath = r.readsPath || compiled[i].reads.path
		r.flags = r.flags || compiled[i].flags
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

// Flag says whether any rule has the action EndlessLine.
func (r *Rules) Flag() bool { return r.flags }

// Action returns the action of the rule with an index that Match has returned.
func (r *Rules) Action(index int) string {
	if r.rules[index].flags {
		return EndlessLine
	}
	return BypassWaitingRoom
}

// Match returns the index of the first rule that fits the request; those of the presets
// are behind the room's own. ok is false, and the index -1, when none does.
func (r *Rules) Match(request Request) (index int, ok bool) {
	if len(r.rules) == 0 {
		return -1, false
	}
	a := ask{Request: request, rules: r, addr: request.Addr.Unmap().WithZone("")}
	if r.readsPath {
		a.path, a.odd, a.known = read(request.Target)
	}
	for i := range r.rules {
		if r.rules[i].fits(&a) {
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
