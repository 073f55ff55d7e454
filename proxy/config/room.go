// Package config says what a room of a gate is made of.
package config

import (
	"net/url"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
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

	// If there is a waitlist of the room, its guests are those who have accepted an invite.
	Invited       bool  // only guests are let in
	GuestPriority int16 // of guests in an exact line; default 0

	// If the routes' paths have a segment in braces, this is a family: it has a room
	// for each value, whose name is Name.value. The metrics sum them up as Name.
	MaxRooms int           // at a time; default 100
	RoomIdle time.Duration // how long an empty room is kept that nobody asks for; default 10m

	Events event.List // of the file
	Left   bool       // the origin may tell how much is left

	Origins    []*url.URL        // where its visitors go in turn, instead of Origin
	HostHeader origin.HostHeader // that the origin gets
	Cache      Cache             // whether shared caches may keep what visitors are answered who are in; default CacheAuto

	BindTicket Bind             // to what tickets are bound; default BindOff
	Challenge  challenge.Config // that visitors pass before they get a place; the zero Config is none

	Passes     bool // links and codes are taken that operators have made
	PassesOnly bool // so are they, and nobody else is let in

	CallBack bool // visitors may leave, and be told by web push when it is their turn; not for a family
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

// Bind is to what the tickets of a room are bound. Somebody else who brings one is a newcomer.
type Bind string

// To what tickets are bound.
const (
	BindOff       Bind = "off"
	BindNetwork   Bind = "network"    // an IPv4 /24 or an IPv6 /64
	BindUserAgent Bind = "user_agent" // the User-Agent header, to the byte
	BindBoth      Bind = "both"
)

// Choices returns the names of all of them.
func (Bind) Choices() []string {
	return []string{string(BindOff), string(BindNetwork), string(BindUserAgent), string(BindBoth)}
}

// Misfits returns what is wrong with settings of a room whose tickets are bound so: nothing binds an admission token.
func (b Bind) Misfits(s queue.Settings) []queue.SettingFault {
	if s.EdgeAdmission == 0 || b == "" || b == BindOff {
		return nil
	}
	return []queue.SettingFault{{
		Name: "edge_admission", Value: setting.FormatDuration(s.EdgeAdmission),
		Problem: "does not go with bind_ticket " + string(b) + ": an edge lets in whoever brings the admission token",
	}}
}

// IsFamily says whether the configuration is of a room for each value.
func (r *Room) IsFamily() bool {
	return slices.ContainsFunc(r.Routes, func(r route.Route) bool { return r.Value() != "" })
}
