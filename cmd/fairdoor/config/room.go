package config

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/fairdoor-gate/fairdoor/cookie"
	roomconfig "github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// room is a room that is being checked, and the routes of it that are right.
type room struct {
	*value
	*Room
	routes []placedRoute
}

// placedRoute is a route and where it was written.
type placedRoute struct {
	Route
	Position
}

// describesRoom says whether variables and flags describe the room that the file does not have:
// always where there is no file.
func (v *value) describesRoom() bool { return v.Line == 0 || len(v.outsideOfRoom()) > 0 }

// outsideOfRoom is what variables and flags say of a room.
func (d *loader) outsideOfRoom() []*value {
	var values []*value
	room := &value{loader: d, overridable: true}
	for _, k := range roomKey.settings() {
		values = append(values, room.layers(k, nil)...)
	}
	return values
}

// checkRooms checks each room, and then all of them against each other.
func (v *value) checkRooms(c *Config) {
	listed := v.get("rooms")
	switch {
	case listed == nil:
		v.fault(v.where("rooms"), "is required: a gate needs a room")
		return
	case listed.wrong:
		return
	case len(listed.node.Content) == 0:
		v.fault(listed.Position, "the list is empty: a gate needs a room")
		return
	case len(listed.node.Content) > 1:
		for _, outside := range v.outsideOfRoom() {
			v.fault(Position{Source: outside.Source}, "is about one room, and %s has %d: set %s there", v.File, len(listed.node.Content), outside.of.Name)
		}
	}
	var rooms []*room
	for i, item := range listed.items {
		r := &room{value: item, Room: &c.Rooms[i]}
		if v.stopped {
			return
		}
		r.check(v, c)
		rooms = append(rooms, r)
	}
	v.unique(rooms)
}

// check checks a room by itself.
func (r *room) check(root *value, c *Config) {
	r.origin(root, c)
	if r.Line == 0 && !r.isGiven("name") {
		r.Name = "default"
	} else {
		r.required("name", "letters, digits, - and _")
	}
	r.required("total_active_users", "how many visitors may be active at once")
	r.required("new_users_per_minute", "how many visitors may be admitted in a minute")
	if r.valid("host", "path") {
		r.routes = append(r.routes, placedRoute{Route{Host: r.Host, Path: r.Path}, r.where("path", "host")})
	}
	r.additional()
	r.family()
	for i, s := range r.itemsOf("rules") {
		s.rule(&r.Rules[i])
	}
	r.limits()
	r.together()
	r.cookie(root)
	r.domain()
	r.subject(root, c, &r.Room.Subject)
	r.template()
	r.pictures()
	r.events()
	r.readFiles(roomKey, reflect.ValueOf(r.Room).Elem(), "")
	r.look()
	r.options()
}

// look checks what is behind the text of the page: the card, or else the background.
func (r *room) look() {
	switch {
	case r.Card == "" && r.Background != "" && r.valid("card"):
		if problem := templates.CheckPaper(r.Background); problem != "" {
			r.fault(r.where("background"), "%s %s; or say card, for another colour behind the text", show(r.Background), problem)
		}
	case r.Card != "" && r.Background == "":
		r.fault(r.where("card"), "is on a background: say background, too; or that alone")
	}
}

// options checks the options of features, by the features' own rules.
func (r *room) options() {
	in := &roomconfig.Room{Settings: r.Settings, Basics: r.Basics, Routes: []route.Route{{Host: r.Host, Path: r.Path}}}
	for _, o := range r.Features.Options() {
		c, ok := o.(roomconfig.Checker)
		if !ok {
			continue
		}
		for _, f := range c.Faults(in) {
			at := r.where(f.Keys...)
			if f.Missing != "" {
				at.Key = r.pathOf(f.Missing)
			}
			if r.valid(f.Keys...) {
				r.fault(at, "%s", f.Problem)
			}
		}
	}
}

// origin settles where the room's visitors go. A room's own origins are in the file, so a variable
// or a flag goes before them, if the room is the only one; of several rooms those keep their own.
func (r *room) origin(root *value, c *Config) {
	given, own := root.originGiven(), r.originGiven()
	switch {
	case own != nil && given != nil && given.layer > fromFile && len(root.get("rooms").items) > 1:
		r.warn(given.Position, "the room %q keeps the origin that the file gives it", r.Name)
	case own != nil && given != nil && given.layer > fromFile:
		own = nil
		delete(r.given, r.pathOf("origin"))
		delete(r.given, r.pathOf("origins"))
	}
	switch {
	case own != nil:
		r.severalOrigins(&r.Origin, r.Origins)
		r.circle(root, r.Origin, r.Origins, c.Listen)
	case given != nil:
		r.Origin, r.Origins = c.Origin, c.Origins
	case r.Line == 0:
		r.fault(Position{Source: "--origin"}, "is required: where accepted visitors go")
	default:
		r.fault(r.where("origin"), "is required: here, or at the top of the file for all rooms")
	}
	if !r.isGiven("host_header") {
		r.HostHeader = c.HostHeader
	}
}

// originGiven is what was given for one origin or for several, the stronger of the two; nil for
// nothing.
func (v *value) originGiven() *value {
	one, several := v.get("origin"), v.get("origins")
	if several != nil && !several.wrong && v.layerOf("origins") == 0 {
		several = nil // an empty list
	}
	if one == nil || several != nil && several.layer > one.layer {
		return several
	}
	return one
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
	if !r.valid("path") || braces(r.Path) != "" {
		return
	}
	for _, name := range []string{"max_rooms", "room_idle"} {
		r.refuse(r.isGiven(name), name, "is about a room for each value: the path has no segment in braces, such as /room/{id}")
	}
}

// additional checks the routes of additional_routes.
func (r *room) additional() {
	for i, s := range r.itemsOf("additional_routes") {
		extra := r.AdditionalRoutes[i]
		if !s.isGiven("host", "path") {
			s.fault(s.Position, "has neither host nor path")
			continue
		}
		if r.valid("path") && s.valid("path") {
			s.sameBraces(extra.Path, r.Path)
		}
		if s.valid("host", "path") {
			r.routes = append(r.routes, placedRoute{extra, s.Position})
		}
	}
}

// sameBraces checks a further route's path against the room's first.
func (v *value) sameBraces(path, first string) {
	switch want := braces(first); {
	case braces(path) == want:
	case want == "":
		v.fault(v.where("path"), "%s has braces, and the room's own path, %s, has none", show(path), show(first))
	default:
		v.fault(v.where("path"), "%s does not tell which room: like the room's own path it needs a segment %s", show(path), want)
	}
}

// rule checks a rule, by what the gate says of it.
func (v *value) rule(rule *Rule) {
	v.filesOf(rule)
	for _, f := range route.CheckRules([]route.Rule{rule.ForGate()}) {
		switch found := v.get(f.Key); {
		case found == nil && f.Key != "action" && f.Key != "match", !v.valid(f.Key):
			// It was reported, or nothing was said.
		case v.hasCondition(f.Key) && f.Value == "" && found.node.Kind == yaml.MappingNode:
			// What it has is wrong, and was reported.
		case f.Value != "":
			found.problem(f.Problem)
		default:
			v.fault(v.where(f.Key), "%s", f.Problem)
		}
	}
	v.match(&rule.Match.Conditions)
}

// filesOf reads the lists of networks that are in files.
func (v *value) filesOf(rule *Rule) {
	m := &rule.Match
	v.cidr("match", &m.Conditions)
	for name, list := range map[string][]InnerMatch{"all": m.All, "any": m.Any, "not": m.Not} {
		for i := range list {
			at, inner := fmt.Sprintf("match.%s[%d]", name, i), &list[i]
			v.cidr(at, &inner.Conditions)
			for name, list := range map[string][]Conditions{"all": inner.All, "any": inner.Any, "not": inner.Not} {
				for i := range list {
					v.cidr(fmt.Sprintf("%s.%s[%d]", at, name, i), &list[i])
				}
			}
		}
	}
}

func (v *value) cidr(at string, c *Conditions) {
	c.CIDR = v.networks(at+".cidr", c.CIDR, &c.CIDRFile)
}

// conditions are how many keys of a mapping ask for something, or are wrong.
func (v *value) conditions(at string) int {
	given := 0
	for _, name := range ruleKey.child("match").names() {
		if v.asks(at + "." + name) {
			given++
		}
	}
	return given
}

// hasCondition says whether a mapping of conditions has one, maybe one that is wrong.
func (v *value) hasCondition(at string) bool { return v.conditions(at) > 0 }

// asks says whether a condition asks for something, or is wrong.
func (v *value) asks(name string) bool {
	given := v.get(name)
	return given != nil && (given.wrong || given.copied == nil || given.copied.Value != "" && given.copied.Value != "false" || given.copied.Content != nil)
}

// match warns of conditions that do not mean what they look like.
func (v *value) match(m *Conditions) {
	v.doubt(v.conditions("match") == 1 && m.PathPrefix == "/", "match.path_prefix", "every path begins with /: the rule is about everything in the room")
	for name, path := range map[string]string{"path": m.Path, "path_prefix": m.PathPrefix, "path_suffix": m.PathSuffix} {
		v.doubt(braces(path) != "", "match."+name, "braces are no pattern in a rule: it matches paths that have them")
	}
}

// limits warns of numbers and switches that are hardly meant.
func (r *room) limits() {
	limited := r.isGiven("total_active_users") && r.valid("total_active_users", "new_users_per_minute", "session_duration", "occupancy")
	long := r.SessionDuration > time.Minute && r.Occupancy == queue.BySession
	r.doubt(limited && long && r.NewUsersPerMinute > r.TotalActiveUsers, "new_users_per_minute",
		"%d is more than total_active_users, which is %d: only short sessions make sense of it", r.NewUsersPerMinute, r.TotalActiveUsers)
	r.doubt(r.Suspended && r.QueueAll, "queue_all", "has no effect while the room is suspended")
}

// together checks the settings against each other, by the queue's own rules.
func (r *room) together() {
	settings := r.Settings.WithDefaults()
	if r.isGiven("line_dropout") {
		settings.Method = queue.Line // what is said of a line has to be right for when the room has one
	}
	for _, f := range append(settings.Misfits(), r.BindTicket.Misfits(settings)...) {
		if !r.valid(f.Name, "refresh_interval") {
			continue
		}
		p := r.where(f.Name, "refresh_interval")
		p.Key = r.pathOf(f.Name)
		r.fault(p, "%s %s", f.Value, f.Problem)
	}
}

// cookie checks the cookie's attributes against each other.
func (r *room) cookie(root *value) {
	const sameSite, secure = "cookie_attributes.samesite", "cookie_attributes.secure"
	anywhere := r.valid(sameSite, secure) && r.CookieAttributes.SameSite == cookie.SameSiteNone
	https := root.isGiven("tls.certificates", "tls.cert", "tls.acme.domains", "trusted_proxies", "trusted_proxies_file")
	r.refuse(anywhere && r.CookieAttributes.Secure == cookie.SecureNever, secure, "never does not go with samesite none: browsers refuse such a cookie")
	r.doubt(anywhere && r.CookieAttributes.Secure == cookie.SecureAuto && !https, sameSite,
		"none needs https, and without tls or trusted_proxies the gate never sees any: the cookie will be lax")
}

// domain checks the cookie's domain against the hosts that it is for.
func (r *room) domain() {
	const domain = "cookie_attributes.domain"
	own := r.CookieAttributes.Domain
	if !r.valid(domain) || own == "" {
		return
	}
	for _, guarded := range r.routes {
		host, _, _ := strings.Cut(guarded.ForGate().String(), "/")
		if host != "" && !strings.HasSuffix("."+host, "."+strings.ToLower(own)) {
			r.fault(r.where(domain), "%s is not part of %s: browsers refuse the cookie on the host %s", show(own), show(host), show(host))
			return
		}
	}
}

// pictures reads and checks the pictures of the site.
func (r *room) pictures() {
	r.LogoSource, r.HeroSource = r.picture("logo", r.Logo), r.picture("hero", r.Hero)
}

// picture reads and checks the picture that a key names; nil for none.
func (r *room) picture(key, path string) *templates.Picture {
	if r.layerOf(key) == 0 || path == "" {
		return nil
	}
	src, ok := r.get(key).read(path)
	if !ok {
		return nil
	}
	p, err := templates.NewPicture(src)
	if err != nil {
		r.get(key).reject("%s %v", path, err)
	}
	return p
}

// template reads and checks the room's page.
func (r *room) template() {
	if r.layerOf("template") == 0 {
		return
	}
	src, ok := r.get("template").read(r.Template)
	if !ok {
		return
	}
	r.TemplateSource = src
	r.doubt(len(bytes.TrimSpace(src)) == 0, "template", "%s is empty: who waits sees a blank page", r.Template)
	if r.CheckTemplate == nil {
		return
	}
	r.checkPage(r.Template, src)
}

// checkPage has the page checked that the key template names.
func (v *value) checkPage(path string, src []byte) {
	for _, f := range v.CheckTemplate(path, src) {
		tell := v.fault
		if f.Harmless {
			tell = v.warn
		}
		if f.Line > 0 {
			tell(Position{Source: path, Line: f.Line, Col: max(f.Col, 1), Key: v.pathOf("template")}, "%s", f.Message)
		} else {
			tell(v.where("template"), "%s: %s", path, f.Message)
		}
	}
}
