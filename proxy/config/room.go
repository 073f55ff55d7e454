// Package config says what a room of a gate is made of.
package config

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/bind"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// Room is one room of a gate.
type Room struct {
	Name     string         // letters, digits, - and _
	Routes   []route.Route  // what it guards
	Rules    []route.Rule   // what passes it by, beside Presets, and what is in the endless line
	Origin   *url.URL       // where its visitors go
	Settings queue.Settings // limits and switches; suspended, everything passes and no ticket is issued
	Basics
	Page     *templates.Page    // nil for the built-in one
	Language string             // the built-in page's default; "" for en-US
	Identity templates.Identity // what the pages show of the site; its pictures are the gate's to fill in
	Logo     *templates.Picture // nil for none
	Hero     *templates.Picture // nil for none
	Subject  subject.Config     // how the site names its own users; its Room is this one

	// If the routes' paths have a segment in braces, this is a family: it has a room
	// for each value, whose name is Name.value. The metrics sum them up as Name.
	MaxRooms int           // at a time; default 100
	RoomIdle time.Duration // how long an empty room is kept that nobody asks for; default 10m

	Events event.List // of the file

	Origins    []*url.URL        // where its visitors go in turn, instead of Origin
	HostHeader origin.HostHeader // that the origin gets

	Options Options // what is said of features
}

// Basics are the options of a room that are no settings and no feature's, as the file has them. Their
// tags are those of [setting.Field]: from them come the file, flags, variables, the schema, GET of a
// room and the OpenAPI document.
type Basics struct {
	StatusCode int  `yaml:"queueing_status_code" default:"200" choices:"200,202,429,503" usage:"status of the answer to who waits"`
	JSON       bool `yaml:"json_response_enabled" default:"true" usage:"answer in JSON who asks for it"`
	// CORSOrigins are web origins, scheme://host[:port] in lower case, whose scripts may read what
	// the room answers itself; or "*" for all of them, without cookies.
	CORSOrigins []string `yaml:"cors_origins" is:"web origin" of:"origins such as [https://app.example.com]" usage:"sites whose scripts may read the room's own answers"`
	// CookieSuffix is "" for the room's name.
	CookieSuffix     string            `yaml:"cookie_suffix" is:"suffix" usage:"end of the cookie's name (default: the room's name)"`
	CookieAttributes cookie.Attributes `yaml:"cookie_attributes"`
	Commands         Commands          `yaml:"enabled_origin_commands" choices:"revoke,left" of:"commands such as [revoke]" usage:"commands that the origin may send"`
	// Presets are rules that have names.
	Presets   []route.Preset `yaml:"presets" of:"presets such as [well_known, robots, health]" usage:"what no person asks for, and is exempt from the room"`
	Admission Admission      `yaml:"admission" default:"open" outside:"no" usage:"who may enter: everybody, those who have accepted an invite of the room's waitlist, or those who have a pass"`
	Cache     Cache          `yaml:"cache" default:"auto" usage:"whether shared caches may keep answers to visitors who are in"`
	// HealthPath is "" for none. Rooms of one origin have the same.
	HealthPath string    `yaml:"health_path" is:"health path" usage:"path that the room's origins are asked for every second, and fail if they do not answer it well"`
	BindTicket bind.Mode `yaml:"bind_ticket" default:"off" usage:"to what tickets are bound: whoever brings one from elsewhere is a newcomer"`
}

// Commands are what an origin may send in a response header: Revoke, and those of features.
type Commands []string

// Revoke ends the session of the visitor who is answered.
const Revoke = "revoke"

// Has says whether the origin may send a command.
func (c Commands) Has(command string) bool { return slices.Contains(c, command) }

// Admission says who may enter a room.
type Admission string

// The choices.
const (
	Everybody Admission = "open"
	Invited   Admission = "invited" // those who have accepted an invite of the room's waitlist
	WithPass  Admission = "passes"  // those who have a pass
)

// Choices returns all of them.
func (Admission) Choices() []string {
	return []string{string(Everybody), string(Invited), string(WithPass)}
}

// Options are what is said of features: values of the types that the features call their options,
// one of a type at most. The tags of their fields, as [setting.Field] has them, say what the
// configuration's file has.
type Options []any

// With returns the options with those of one feature.
func (o Options) With(said any) Options {
	others := slices.DeleteFunc(slices.Clone(o), func(other any) bool { return reflect.TypeOf(other) == reflect.TypeOf(said) })
	return append(others, said)
}

// OptionsOf returns the options of a type; the zero value where nothing is said.
func OptionsOf[O any](r *Room) (said O) {
	for _, o := range r.Options {
		if o, ok := o.(O); ok {
			return o
		}
	}
	return said
}

// A Fault is something that is wrong with options by themselves, or in their room.
type Fault struct {
	Keys    []string // of the file, each of which is right by itself; the first that is given is where the fault is
	Missing string   // the key that has to be given, if the fault is that it is not
	Problem string
}

// A Checker is options that have rules of their own.
type Checker interface {
	// Faults are what is wrong with them in a room, of which only what is a setting, Admission and
	// the routes are there.
	Faults(in *Room) []Fault
}

// Parts are what is said of features beside rooms, by the features' names.
type Parts map[string]any

// With returns the parts with what is said of one feature; nil is nothing.
func (p Parts) With(feature string, said any) Parts {
	next := maps.Clone(p)
	if next == nil {
		next = Parts{}
	}
	if next[feature] = said; said == nil {
		delete(next, feature)
	}
	return next
}

// Cache says whether shared caches may keep the origin's answers to visitors who are in.
type Cache string

// The choices. An answer with a new ticket is never kept, and one that the origin calls immutable
// always may be.
const (
	CacheAuto    Cache = "auto"    // as the origin says, but not while the room queues
	CachePrivate Cache = "private" // never
	CacheOrigin  Cache = "origin"  // as the origin says
)

// Choices returns all of them.
func (Cache) Choices() []string {
	return []string{string(CacheAuto), string(CachePrivate), string(CacheOrigin)}
}

// Addresses are those of the room's origins.
func (r *Room) Addresses() []*url.URL { return Addresses(r.Origin, r.Origins) }

// Addresses are the several origins, or the one where there are none.
func Addresses(one *url.URL, several []*url.URL) []*url.URL {
	if len(several) > 0 {
		return several
	}
	return []*url.URL{one}
}

// OriginName is what an origin is known by; "" for a handler in this process.
func OriginName(u *url.URL) string {
	if u == nil {
		return ""
	}
	return strings.TrimSuffix(u.String(), "/")
}

// IsFamily says whether the configuration is of a room for each value.
func (r *Room) IsFamily() bool {
	return slices.ContainsFunc(r.Routes, func(r route.Route) bool { return r.Value() != "" })
}
