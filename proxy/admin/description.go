package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

// Description is what a room goes by, or what the rooms of a family start with.
type Description struct {
	Config     *config.Room // with its defaults; its Settings are not read
	Names      bool         // the site may say something of its visitors
	Options    any          // a struct of what the file has of features, tagged as settings are; nil for none
	Family     string       // the name of the family that it is a room of; "" for others
	CookieName string       // over http
	Language   string       // of the built-in page, where a visitor's is not known

	Now queue.Instant // by the store's clock

	// Configuration has the settings in force, and the overrides in them.
	Configuration queue.Configuration
}

// RoomJSON is a room's effective configuration, under the keys of the file.
type RoomJSON struct {
	Name             string      `json:"name"`
	Family           string      `json:"family,omitempty"` // that it is a room of
	Host             string      `json:"host"`
	Path             string      `json:"path"`
	AdditionalRoutes []routeJSON `json:"additional_routes"`
	Origin           string      `json:"origin"`
	CustomPage       bool        `json:"custom_page"`
	Language         string      `json:"default_template_language"`
	CookieName       string      `json:"cookie_name"` // over http; over https it may have a prefix
	Rules            []ruleJSON  `json:"rules"`
	Subject          subjectJSON `json:"subject"`
	MaxRooms         int         `json:"max_rooms,omitempty"` // of a family, as room_idle
	RoomIdle         string      `json:"room_idle,omitempty"`

	Origins    []string          `json:"origins"`
	HostHeader origin.HostHeader `json:"host_header"`

	// Overrides are the changes made while the gate ran, which are in the settings.
	Overrides    overrides.Changes           `json:"overrides"`
	OverriddenBy map[string]overrides.Author `json:"overridden_by"`
	// OverriddenByEvent are the settings that the event in force has of its own: what operators
	// change of them is in force afterwards.
	OverriddenByEvent []string `json:"overridden_by_event"`
	// NextPrequeue and NextStart are those of the event that begins next; null for none.
	NextPrequeue *time.Time `json:"next_event_prequeue_start_time"`
	NextStart    *time.Time `json:"next_event_start_time"`
	Version      int64      `json:"version"` // grows with every change, on whichever gate

	Settings queue.Settings `json:"-"` // those in force, which JSON has beside the rest
	Options  map[string]any `json:"-"` // by the keys of the file, which JSON has beside the rest, too
}

// MarshalJSON writes the room's settings and options beside the rest.
func (j RoomJSON) MarshalJSON() ([]byte, error) {
	type rest RoomJSON
	return joined(rest(j), j.Settings, j.Options)
}

// joined writes several objects as one that has the fields of all.
func joined(objects ...any) ([]byte, error) {
	all := []byte("{")
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		if fields := text[1 : len(text)-1]; len(fields) > 0 {
			all = append(append(all, fields...), ',')
		}
	}
	all[len(all)-1] = '}'
	return all, nil
}

// UnmarshalJSON reads what MarshalJSON writes, without the options.
func (j *RoomJSON) UnmarshalJSON(text []byte) error {
	type rest RoomJSON
	return errors.Join(json.Unmarshal(text, (*rest)(j)), json.Unmarshal(text, &j.Settings))
}

type routeJSON struct {
	Host string `json:"host"`
	Path string `json:"path"`
}

// subjectJSON is how the site names its users, without the keys.
type subjectJSON struct {
	Header string `json:"header"`
	Token  struct {
		Header   string `json:"header"`
		Cookie   string `json:"cookie"`
		Issuer   string `json:"issuer"`
		Audience string `json:"audience"`
	} `json:"token"`
	Label struct {
		Claim  string `json:"claim"`
		Header string `json:"header"`
	} `json:"label"`
}

type ruleJSON struct {
	Action      string         `json:"action"`
	Description string         `json:"description"`
	Match       conditionsJSON `json:"match"`
}

type conditionsJSON struct {
	Path       string   `json:"path,omitempty"`
	PathPrefix string   `json:"path_prefix,omitempty"`
	PathSuffix string   `json:"path_suffix,omitempty"`
	Method     string   `json:"method,omitempty"`
	CIDR       []string `json:"cidr,omitempty"`
	Header     string   `json:"header,omitempty"`
	Cookie     string   `json:"cookie,omitempty"`

	VerifiedBot bool   `json:"verified_bot,omitempty"`
	Query       string `json:"query,omitempty"`

	All []conditionsJSON `json:"all,omitempty"`
	Any []conditionsJSON `json:"any,omitempty"`
	Not []conditionsJSON `json:"not,omitempty"`
}

// json is the description as the API tells it.
func (d Description) json() RoomJSON {
	c, o := d.Config, overrides.Of(d.Configuration)
	j := RoomJSON{
		Name: c.Name, Family: d.Family,
		CustomPage: c.Page != nil, Language: d.Language, CookieName: d.CookieName,
		Rules: describeRules(c.Rules), Subject: describeSubject(&c.Subject),
		OverriddenByEvent: append([]string{}, o.OverriddenByEvent(d.Configuration.Settings.Event)...),
		Overrides:         o.Changes, OverriddenBy: o.By, Version: d.Configuration.Version,
		Settings: d.Configuration.Settings,
	}
	j.Settings.Fleeting = false // of the store alone
	j.Settings = byOperators(j.Settings)
	if e := o.Events.Next(d.Now.Time()); e != nil {
		j.NextStart = &e.Start
		if !e.Prequeue.IsZero() {
			j.NextPrequeue = &e.Prequeue
		}
	}
	j.Host, j.Path, j.AdditionalRoutes = describeRoutes(c.Routes)
	j.Origin, j.Origins = describeOrigins(c.Addresses())
	j.HostHeader = cmp.Or(c.HostHeader, origin.VisitorsHost)
	j.Options = describeOptions(reflect.ValueOf(c.Basics))
	if d.Options != nil {
		maps.Copy(j.Options, describeOptions(reflect.ValueOf(d.Options)))
	}
	if c.IsFamily() {
		j.MaxRooms, j.RoomIdle = c.MaxRooms, setting.FormatDuration(c.RoomIdle)
	}
	if j.Overrides == nil {
		j.Overrides, j.OverriddenBy = overrides.Changes{}, map[string]overrides.Author{}
	}
	return j
}

// describeOptions is what the file has, or would have, for the options of a struct, by its keys and
// without secrets.
func describeOptions(s reflect.Value) map[string]any {
	keys := map[string]any{}
	for _, f := range setting.Fields(s.Type()) {
		v := f.Of(s)
		switch {
		case f.Tag.Get("outside") == "env" || f.Tag.Get("into") != "": // a secret, or the file that it is in
		case v.Kind() == reflect.Struct:
			keys[f.Name] = describeOptions(v)
		case v.Kind() == reflect.Slice && v.Len() == 0:
			keys[f.Name] = []string{}
		case v.IsZero() && f.Default != "" && v.Kind() != reflect.Bool:
			v, _ = f.Parse(f.Default)
			keys[f.Name] = v.Interface()
		default:
			keys[f.Name] = v.Interface()
		}
	}
	return keys
}

// byOperators returns settings without the hold of a prequeue, and what else is no operator's.
func byOperators(s queue.Settings) queue.Settings {
	s.QueueAll, s.Event, s.ClosesFrom = s.HeldByOperators(), queue.ActiveEvent{}, 0
	return s
}

// describeRoutes tells the first of the routes apart from the others.
func describeRoutes(routes []route.Route) (host, path string, additional []routeJSON) {
	additional = []routeJSON{}
	for i, r := range routes {
		if i == 0 {
			host, path = r.Host, r.Path
		} else {
			additional = append(additional, routeJSON(r))
		}
	}
	return host, path, additional
}

// describeOrigins tells the first of the origins, and all of them. A gate around a handler has
// none.
func describeOrigins(addresses []*url.URL) (first string, all []string) {
	all = []string{}
	for _, u := range addresses {
		if u != nil {
			all = append(all, u.String())
		}
	}
	if len(all) > 0 {
		first = all[0]
	}
	return first, all
}

func describeSubject(c *subject.Config) (j subjectJSON) {
	j.Header = c.Header
	j.Token.Header, j.Token.Cookie, j.Token.Issuer, j.Token.Audience = c.TokenHeader, c.TokenCookie, c.Issuer, c.Audience
	j.Label.Claim, j.Label.Header = c.LabelClaim, c.LabelHeader
	return j
}

func describeRules(rules []route.Rule) []ruleJSON {
	described := make([]ruleJSON, len(rules))
	for i, r := range rules {
		described[i] = ruleJSON{Action: r.Action, Description: r.Description, Match: describeConditions(r.Match)}
	}
	return described
}

// describeConditions tells what a rule asks without the values of headers, cookies and parameters,
// which are as good as passwords.
func describeConditions(c route.Conditions) conditionsJSON {
	return conditionsJSON{
		Path: c.Path, PathPrefix: c.PathPrefix, PathSuffix: c.PathSuffix, Method: c.Method, CIDR: c.CIDR, VerifiedBot: c.VerifiedBot,
		Header: nameOnly(c.Header, ":", ": …"), Cookie: nameOnly(c.Cookie, "=", "=…"), Query: nameOnly(c.Query, "=", "=…"),
		All: describeAll(c.All), Any: describeAll(c.Any), Not: describeAll(c.Not),
	}
}

func describeAll(list []route.Conditions) []conditionsJSON {
	var described []conditionsJSON
	for _, c := range list {
		described = append(described, describeConditions(c))
	}
	return described
}

// nameOnly is a name with its value hidden, if it has one.
func nameOnly(text, between, hidden string) string {
	name, _, found := strings.Cut(text, between)
	if !found {
		return text
	}
	return name + hidden
}
