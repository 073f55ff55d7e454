// Package config says what a room of a gate is made of.
package config

import (
	"maps"
	"net/url"
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
	Name             string             // letters, digits, - and _
	Routes           []route.Route      // what it guards
	Presets          []route.Preset     // what passes it by: rules that have names,
	Rules            []route.Rule       // and those of the room's own
	Origin           *url.URL           // where its visitors go
	Settings         queue.Settings     // limits and switches; suspended, everything passes and no ticket is issued
	StatusCode       int                // of answers to those who wait; default 200
	JSON             bool               // answers in JSON to those who ask for it
	CORSOrigins      []string           // whose scripts may read the room's answers: as browsers name them, or "*" for all, without cookies
	Page             *templates.Page    // nil for the built-in one
	Language         string             // the built-in page's default; "" for en-US
	Identity         templates.Identity // what the pages show of the site; its Logo is the gate's to fill in
	Logo             *templates.Logo    // nil for none
	CookieSuffix     string             // "" for the room's name
	CookieAttributes cookie.Attributes  // of the ticket's cookie
	Revoke           bool               // the origin may end sessions
	Subject          subject.Config     // how the site names its own users; its Room is this one

	// If the routes' paths have a segment in braces, this is a family: it has a room
	// for each value, whose name is Name.value. The metrics sum them up as Name.
	MaxRooms int           // at a time; default 100
	RoomIdle time.Duration // how long an empty room is kept that nobody asks for; default 10m

	Events event.List // of the file

	Origins    []*url.URL        // where its visitors go in turn, instead of Origin
	HostHeader origin.HostHeader // that the origin gets
	Cache      Cache             // whether shared caches may keep what visitors are answered who are in; default CacheAuto

	BindTicket bind.Mode // to what tickets are bound; default bind.NotBound

	// Parts are what the room has of features. Their values are of the types that the features call their choices.
	Parts Parts
}

// Parts are what is said of features, by the features' names.
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

// Keys are what the file would say of the features, by its keys, without secrets.
func (p Parts) Keys() map[string]any {
	keys := map[string]any{}
	for _, said := range p {
		if said, ok := said.(interface{ Keys() map[string]any }); ok {
			maps.Copy(keys, said.Keys())
		}
	}
	return keys
}

// Cache says whether shared caches may keep the origin's answers to visitors who are in.
type Cache string

// The choices. An answer with a new ticket is never kept, and one that the origin calls immutable always may be.
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
