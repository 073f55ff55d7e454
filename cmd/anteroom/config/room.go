package config

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/anteroom-gate/anteroom/proxy/route"
)

// room is a room that is being read: its scope, and the routes of it that are right.
type room struct {
	*scope[roomDraft]
	routes []placedRoute
}

// placedRoute is a route and where it was written.
type placedRoute struct {
	Route
	Place
}

func isMapping(n *yaml.Node) bool { return n.Kind == yaml.MappingNode }

// maxRooms is the most rooms that one gate takes.
const maxRooms = 1000

// placed is the node that a value's missing keys are reported at.
func placed(v value) *yaml.Node { return &yaml.Node{Line: v.Line, Column: v.Col} }

// loadRooms reads every room of the file, or else the one that variables and flags describe.
func (d *decoder) loadRooms(root *scope[draft]) []*room {
	listed := root.dst.rooms
	outside := d.roomSettings()
	switch {
	case !root.good["rooms"] && root.given("rooms"):
		return nil
	case root.given("rooms") && len(listed) == 0:
		d.fault(root.got["rooms"].Place, "the list is empty: a gate needs a room")
		return nil
	case !root.given("rooms") && root.node != nil && len(outside) == 0:
		d.fault(root.place("rooms"), "is required: a gate needs a room")
		return nil
	case !root.given("rooms"):
		return []*room{d.roomFromOutside()}
	}
	if len(listed) > maxRooms {
		d.fault(root.got["rooms"].Place, "there are %d rooms: at most %d", len(listed), maxRooms)
		return nil
	}
	if len(listed) > 1 {
		for _, v := range outside {
			d.fault(Place{Source: v.Source}, "is about one room, and %s has %d: set %s there", d.file, len(listed), v.Key)
		}
	}
	var rooms []*room
	for _, v := range listed {
		if d.stopped {
			break
		}
		r := &room{}
		var ok bool
		if r.scope, ok = element(d, roomKeys(), v, new(roomDraft), "a room: a mapping with name, total_active_users and more", rootNames()...); !ok {
			continue
		}
		if len(listed) == 1 {
			r.outer()
		}
		rooms = append(rooms, r)
	}
	return rooms
}

// roomSettings are the variables and flags of a room that are set, the first of each key.
func (d *decoder) roomSettings() []value {
	var values []value
	for _, k := range roomKeys() {
		values = append(values, outer(d.Options, k, k.name)...)
	}
	return values
}

func (d *decoder) roomFromOutside() *room {
	r := &room{scope: newScope(d, roomKeys(), &roomDraft{Room: Room{Name: "default"}}, "")}
	r.got["name"], r.good["name"] = value{Place: Place{Source: "--name"}}, true
	r.outer()
	return r
}

// finish checks a room by itself, once all of its layers are read.
func (r *room) finish(root *scope[draft]) {
	r.origin(root)
	r.required("name", "letters, digits, - and _")
	r.required("total_active_users", "how many visitors may be active at once")
	r.required("new_users_per_minute", "how many visitors may be admitted in a minute")
	if r.fine("host", "path") {
		p := r.place("path")
		if !r.given("path") && r.given("host") {
			p = r.place("host")
		}
		r.guards(Route{Host: r.dst.Host, Path: r.dst.Path}, p)
	}
	r.family()
	r.additional()
	r.rules()
	r.limits()
	r.cookie(root)
	r.subject(root)
	r.template()
}

// guards adds a route whose host and path are right by themselves, if the gate can guard it.
func (r *room) guards(guarded Route, p Place) {
	faults := route.Check([]route.Room{{Routes: []route.Route{guarded.ForGate()}}})
	for _, f := range faults {
		r.fault(p, "%s", f.Problem)
	}
	if len(faults) == 0 {
		r.routes = append(r.routes, placedRoute{Route: guarded, Place: p})
	}
}

func (r *room) required(name, what string) {
	if !r.given(name) {
		r.fault(r.place(name), "is required: %s", what)
	}
}

// origin settles where the room's visitors go. A room's own origin is in the file, so a variable or a flag goes before it, if the
// room is the only one; of several rooms those keep their own.
func (r *room) origin(root *scope[draft]) {
	def, given := root.got["origin"]
	if given && def.from > fromFile && r.given("origin") {
		if len(root.dst.rooms) > 1 {
			r.warn(def.Place, "the room %q keeps the origin that the file gives it", r.dst.Name)
			return
		}
		r.dst.Origin, r.got["origin"], r.good["origin"] = root.dst.Origin, def, root.good["origin"]
	}
	switch {
	case r.given("origin"):
		if r.fine("origin") && root.fine("listen") && ownAddress(r.dst.Origin, root.dst.Listen) {
			r.fault(r.place("origin"), circles)
		}
	case given:
		r.dst.Origin = root.dst.Origin
	case r.node == nil:
		r.fault(Place{Source: "--origin"}, "is required: where accepted visitors go")
	default:
		r.fault(r.place("origin"), "is required: here, or at the top of the file for all rooms")
	}
}

// limits checks the numbers against each other.
func (r *room) limits() {
	long := r.fine("session_duration", "occupancy") && r.dst.SessionDuration > time.Minute && r.dst.Occupancy == "session"
	if long && r.fine("total_active_users", "new_users_per_minute") && r.given("total_active_users") &&
		r.dst.NewUsersPerMinute > r.dst.TotalActiveUsers {
		r.warn(r.place("new_users_per_minute"), "%d is more than total_active_users, which is %d: only short sessions make sense of it",
			r.dst.NewUsersPerMinute, r.dst.TotalActiveUsers)
	}
	if r.dst.Suspended && r.dst.QueueAll {
		r.warn(r.place("queue_all"), "has no effect while the room is suspended")
	}
	if r.given("line_dropout") && r.fine("line_dropout", "refresh_interval") && r.dst.LineDropout <= r.dst.RefreshInterval*9/8+time.Second {
		r.fault(r.place("line_dropout"), "%s is too short: longer than a refresh interval, which is %s, with some to spare for the way",
			short(r.dst.LineDropout), short(r.dst.RefreshInterval))
	}
	if !r.fine("queue_ticket_ttl", "refresh_interval") {
		return
	}
	least := 2 * r.dst.RefreshInterval
	if r.dst.QueueTicketTTL >= least {
		return
	}
	p := r.place("queue_ticket_ttl")
	if !r.given("queue_ticket_ttl") && r.given("refresh_interval") {
		p = r.place("refresh_interval")
		p.Key = r.key("queue_ticket_ttl")
	}
	r.fault(p, "%s is too short: at least two refresh intervals, %s", short(r.dst.QueueTicketTTL), short(least))
}

// cookie checks the cookie's attributes against each other and against the hosts that it is for.
func (r *room) cookie(root *scope[draft]) {
	a := r.dst.CookieAttributes
	const sameSite, secure, domain = "cookie_attributes.samesite", "cookie_attributes.secure", "cookie_attributes.domain"
	if r.fine(sameSite, secure) && a.SameSite == "none" {
		tls := root.given("tls.certificates") || root.given("tls.cert")
		switch {
		case a.Secure == "never":
			r.fault(r.place(secure), "never does not go with samesite none: browsers refuse such a cookie")
		case a.Secure == "auto" && !tls && !root.given("trusted_proxies"):
			r.warn(r.place(sameSite), "none needs https, and without tls or trusted_proxies the gate never sees any: "+
				"the cookie will be lax")
		}
	}
	if !r.fine(domain) || a.Domain == "" {
		return
	}
	for _, guarded := range r.routes {
		host := canonicalHost(guarded.Host)
		if host != "" && host != strings.ToLower(a.Domain) && !strings.HasSuffix(host, "."+strings.ToLower(a.Domain)) {
			r.fault(r.place(domain), "%s is not part of %s: browsers refuse the cookie on the host %s", show(a.Domain), show(host), show(host))
			return
		}
	}
}

// template reads and checks the room's page.
func (r *room) template() {
	if !r.fine("template") || r.dst.Template == "" {
		return
	}
	p := r.place("template")
	src, problem := r.read(r.dst.Template)
	if problem != "" {
		r.fault(p, "%s", problem)
		return
	}
	r.dst.TemplateSource = src
	if len(bytes.TrimSpace(src)) == 0 {
		r.warn(p, "%s is empty: who waits sees a blank page", r.dst.Template)
	}
	if r.CheckTemplate == nil {
		return
	}
	for _, f := range r.CheckTemplate(r.dst.Template, src) {
		if f.Line > 0 {
			r.fault(Place{Source: r.dst.Template, Line: f.Line, Col: max(f.Col, 1), Key: p.Key}, "%s", f.Message)
		} else {
			r.fault(p, "%s: %s", r.dst.Template, f.Message)
		}
	}
}

// label names a room in a message about another.
func (r *room) label() string {
	if r.dst.Name == "" {
		return "another room"
	}
	return fmt.Sprintf("room %q", r.dst.Name)
}
