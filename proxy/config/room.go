// Package config says what a room of a gate is made of.
package config

import (
	"net/url"
	"slices"
	"time"

	"github.com/anteroom-gate/anteroom/cookie"
	"github.com/anteroom-gate/anteroom/proxy/route"
	"github.com/anteroom-gate/anteroom/proxy/subject"
	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/event"
	"github.com/anteroom-gate/anteroom/templates"
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
}

// IsFamily says whether the configuration is of a room for each value.
func (r *Room) IsFamily() bool {
	return slices.ContainsFunc(r.Routes, func(r route.Route) bool { return r.Value() != "" })
}
