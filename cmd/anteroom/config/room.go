package config

import (
	"bytes"
	"reflect"
	"strings"
	"time"

	"github.com/anteroom-gate/anteroom/proxy/listen"
	"github.com/anteroom-gate/anteroom/proxy/route"
	"github.com/anteroom-gate/anteroom/queue"
)

// room is a room that is being checked, and the routes of it that are right.
type room struct {
	*section
	*Room
	routes []placedRoute
}

// placedRoute is a route and where it was written.
type placedRoute struct {
	Route
	Place
}

// maxRooms is the most rooms that one gate takes.
const maxRooms = 1000

// rooms are the rooms of the file, or else the one that variables and flags describe.
func (d *loader) rooms(root *section, c *Config) []*room {
	listed := root.isGiven("rooms")
	var outside []written
	for _, f := range roomField.leaves() {
		outside = append(outside, d.texts(f, f.path)...)
	}
	switch {
	case listed && !root.fine("rooms"):
		return nil
	case listed && len(d.at(d.given["rooms"]).node.Content) == 0:
		d.fault(root.where("rooms"), "the list is empty: a gate needs a room")
		return nil
	case !listed && root.place > 0 && len(outside) == 0:
		d.fault(root.where("rooms"), "is required: a gate needs a room")
		return nil
	case !listed:
		return d.roomFromOutside(c)
	}
	count := len(d.at(d.given["rooms"]).node.Content)
	if count > 1 {
		for _, v := range outside {
			d.fault(Place{Source: v.Source}, "is about one room, and %s has %d: set %s there", d.file, count, v.Key)
		}
	}
	var rooms []*room
	for i, s := range root.sections("rooms") {
		r := &room{section: s, Room: &c.Rooms[i]}
		r.fill(reflect.ValueOf(r.Room).Elem(), "")
		if count == 1 {
			d.outer(roomField.leaves(), r.path, r.Room)
		}
		rooms = append(rooms, r)
	}
	return rooms
}

// roomFromOutside is the room that only variables and flags describe.
func (d *loader) roomFromOutside(c *Config) []*room {
	c.Rooms = make([]Room, 1)
	r := &room{section: &section{loader: d, path: "rooms[0]"}, Room: &c.Rooms[0]}
	r.fill(reflect.ValueOf(r.Room).Elem(), "")
	r.Name = "default"
	d.noteKey(written{Place: Place{Source: "--name", Key: r.key("name")}})
	d.outer(roomField.leaves(), r.path, r.Room)
	return []*room{r}
}

// finishRooms checks each room, and then all of them against each other.
func (s *section) finishRooms(c *Config, rooms []*room) {
	for _, r := range rooms {
		if s.stopped {
			return
		}
		r.finish(s, c)
	}
	s.uniqueNames(rooms)
	s.uniqueCookies(rooms)
	s.uniqueRoutes(rooms)
}

// finish checks a room by itself, once all of its layers are read.
func (r *room) finish(root *section, c *Config) {
	r.origin(root, c)
	r.required("name", "letters, digits, - and _")
	r.required("total_active_users", "how many visitors may be active at once")
	r.required("new_users_per_minute", "how many visitors may be admitted in a minute")
	if r.fine("host", "path") {
		p := r.where("path")
		if !r.isGiven("path") && r.isGiven("host") {
			p = r.where("host")
		}
		r.routes = append(r.routes, placedRoute{Route{Host: r.Host, Path: r.Path}, p})
	}
	r.family()
	r.additional()
	r.rules()
	r.limits()
	r.cookie(root)
	r.subject(root, c, &r.Room.Subject)
	r.template()
}

// origin settles where the room's visitors go. A room's own origin is in the file, so a variable or a flag goes before it, if the
// room is the only one; of several rooms those keep their own.
func (r *room) origin(root *section, c *Config) {
	given := root.given["origin"]
	if root.from("origin") > fromFile && r.isGiven("origin") {
		if len(root.at(root.given["rooms"]).node.Content) > 1 {
			r.warn(root.where("origin"), "the room %q keeps the origin that the file gives it", r.Name)
			return
		}
		r.Origin, r.given[r.key("origin")] = c.Origin, given
	}
	switch {
	case r.isGiven("origin"):
		if r.fine("origin") && root.fine("listen") && listen.Reaches(r.Origin, c.Listen) {
			r.fault(r.where("origin"), circles)
		}
	case given > 0:
		r.Origin = c.Origin
	case r.place == 0:
		r.fault(Place{Source: "--origin"}, "is required: where accepted visitors go")
	default:
		r.fault(r.where("origin"), "is required: here, or at the top of the file for all rooms")
	}
}

// braces is the segment of a path that is in braces, "" for none.
func braces(path string) string {
	if value := (route.Route{Path: path}).Value(); value != "" {
		return "{" + value + "}"
	}
	return ""
}

// family checks what is said of a room for each value against its path.
func (r *room) family() {
	if !r.fine("path") || braces(r.Path) != "" {
		return
	}
	for _, name := range []string{"max_rooms", "room_idle"} {
		if r.isGiven(name) {
			r.fault(r.where(name), "is about a room for each value: the path has no segment in braces, such as /room/{id}")
		}
	}
}

// additional checks the routes of additional_routes.
func (r *room) additional() {
	for i, s := range r.sections("additional_routes") {
		extra, p := &r.AdditionalRoutes[i], r.at(s.place).Place
		s.fill(reflect.ValueOf(extra).Elem(), "")
		if !s.isGiven("host") && !s.isGiven("path") {
			s.fault(p, "has neither host nor path")
			continue
		}
		if r.fine("path") && s.fine("path") {
			r.sameBraces(*extra, s)
		}
		if s.fine("host", "path") {
			r.routes = append(r.routes, placedRoute{*extra, p})
		}
	}
}

// sameBraces checks a further route's path against the room's first.
func (r *room) sameBraces(extra Route, s *section) {
	switch want := braces(r.Path); {
	case braces(extra.Path) == want:
	case want == "":
		s.fault(s.where("path"), "%s has braces, and the room's own path, %s, has none", show(extra.Path), show(r.Path))
	default:
		s.fault(s.where("path"), "%s does not tell which room: like the room's own path it needs a segment %s", show(extra.Path), want)
	}
}

// rules checks the room's rules, by those that the gate has for them.
func (r *room) rules() {
	for i, s := range r.sections("rules") {
		rule, conditions := &r.Rules[i], 0
		for _, name := range ruleField.child("match").names() {
			if name = "match." + name; s.isGiven(name) {
				conditions++
			}
		}
		for _, f := range route.CheckRules([]route.Rule{rule.ForGate()}) {
			switch given := s.given[s.key(f.Key)]; {
			case given == 0 && f.Key != "action", f.Key == "match" && conditions > 0, !s.fine(f.Key):
			case f.Value != "":
				s.problem(given, f.Problem)
			default:
				s.fault(s.where(f.Key), "%s", f.Problem)
			}
		}
		if conditions == 0 && !s.isGiven("match") {
			s.fault(s.where("match"), "has no condition: a rule without one would exempt everything from the room")
		}
		if conditions == 1 && rule.Match.PathPrefix == "/" {
			s.warn(s.where("match.path_prefix"), "every path begins with /: the rule exempts everything from the room")
		}
		for name, path := range map[string]string{"path": rule.Match.Path, "path_prefix": rule.Match.PathPrefix, "path_suffix": rule.Match.PathSuffix} {
			if braces(path) != "" {
				s.warn(s.where("match."+name), "braces are no pattern in a rule: it matches paths that have them")
			}
		}
	}
}

// limits checks the numbers against each other.
func (r *room) limits() {
	long := r.fine("session_duration", "occupancy") && r.SessionDuration > time.Minute && r.Occupancy == queue.BySession
	if long && r.fine("total_active_users", "new_users_per_minute") && r.isGiven("total_active_users") && r.NewUsersPerMinute > r.TotalActiveUsers {
		r.warn(r.where("new_users_per_minute"), "%d is more than total_active_users, which is %d: only short sessions make sense of it",
			r.NewUsersPerMinute, r.TotalActiveUsers)
	}
	if r.Suspended && r.QueueAll {
		r.warn(r.where("queue_all"), "has no effect while the room is suspended")
	}
	together := r.Settings.WithDefaults()
	if r.isGiven("line_dropout") {
		together.Method = queue.Line // what is said of a line has to be right for when the room has one
	}
	for _, f := range together.Misfits() {
		if !r.fine(f.Name, "refresh_interval") {
			continue
		}
		p := r.where(f.Name)
		if !r.isGiven(f.Name) && r.isGiven("refresh_interval") {
			p = r.where("refresh_interval")
			p.Key = r.key(f.Name)
		}
		r.fault(p, "%s %s", f.Value, f.Problem)
	}
}

// cookie checks the cookie's attributes against each other and against the hosts that it is for.
func (r *room) cookie(root *section) {
	a := r.CookieAttributes
	const sameSite, secure, domain = "cookie_attributes.samesite", "cookie_attributes.secure", "cookie_attributes.domain"
	if r.fine(sameSite, secure) && a.SameSite == "none" {
		tls := root.isGiven("tls.certificates") || root.isGiven("tls.cert")
		switch {
		case a.Secure == "never":
			r.fault(r.where(secure), "never does not go with samesite none: browsers refuse such a cookie")
		case a.Secure == "auto" && !tls && !root.isGiven("trusted_proxies"):
			r.warn(r.where(sameSite), "none needs https, and without tls or trusted_proxies the gate never sees any: the cookie will be lax")
		}
	}
	if !r.fine(domain) || a.Domain == "" {
		return
	}
	for _, guarded := range r.routes {
		host, _, _ := strings.Cut(guarded.Route.ForGate().String(), "/")
		if host != "" && host != strings.ToLower(a.Domain) && !strings.HasSuffix(host, "."+strings.ToLower(a.Domain)) {
			r.fault(r.where(domain), "%s is not part of %s: browsers refuse the cookie on the host %s", show(a.Domain), show(host), show(host))
			return
		}
	}
}

// template reads and checks the room's page.
func (r *room) template() {
	if !r.fine("template") || r.Template == "" {
		return
	}
	p := r.where("template")
	src, problem := r.read(r.Template)
	if problem != "" {
		r.fault(p, "%s", problem)
		return
	}
	r.TemplateSource = src
	if len(bytes.TrimSpace(src)) == 0 {
		r.warn(p, "%s is empty: who waits sees a blank page", r.Template)
	}
	if r.CheckTemplate == nil {
		return
	}
	for _, f := range r.CheckTemplate(r.Template, src) {
		if f.Line > 0 {
			r.fault(Place{Source: r.Template, Line: f.Line, Col: max(f.Col, 1), Key: p.Key}, "%s", f.Message)
		} else {
			r.fault(p, "%s: %s", r.Template, f.Message)
		}
	}
}
