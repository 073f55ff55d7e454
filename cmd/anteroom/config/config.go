package config

import (
	"crypto"
	"net/netip"
	"time"

	"github.com/anteroom-gate/anteroom/proxy/route"
)

// Config is the whole configuration of a gate, complete and checked: defaults are filled in, files are read, variables expanded.
// It holds secrets (AdminToken, Cookie.Keys, the Secrets of tokens): do not print it.
type Config struct {
	// Listen is the address visitors connect to, host:port; default ":8080".
	Listen string
	// Admin is the address of the admin listener, host:port; default "127.0.0.1:9090".
	Admin string
	// AdminToken is the bearer token that the admin API asks for, "" for none. It is never "" when Admin is not a loopback address.
	AdminToken string
	// Store names where the queue's state lives: "memory", or the URL of a Redis, which may hold a password.
	Store string
	// StateDir is the directory of the journal and of the cookie key that the gate makes for itself. When none is given it is
	// $STATE_DIRECTORY (which systemd sets), or else anteroom/<listen address>-<hash> below $XDG_STATE_HOME or ~/.local/state,
	// the hash being over the absolute path of the configuration file, or over the origin where there is no file: two gates on
	// one machine never share it, and a gate that is started again finds it again.
	StateDir string
	// Origin is the default origin of rooms, scheme://host[:port]; "" where every room has its own.
	Origin string
	// TrustedProxies are the networks whose forwarding headers are believed, masked; nobody by default.
	TrustedProxies []netip.Prefix
	// Cookie holds the keys of the tickets.
	Cookie Cookie
	// TLS holds the certificates of the listener; without any it speaks plain HTTP.
	TLS TLS
	// Log says what is logged, and how.
	Log Log
	// OriginTimeout is how long an origin may take until its response header is there; default 60 s.
	OriginTimeout time.Duration
	// ProgressTimeout is how long a visitor's connection may stand still in mid-request or mid-response; default 30 s.
	ProgressTimeout time.Duration
	// DrainDelay is how long the gate goes on accepting connections after it has said that it is not ready, so that load balancers
	// notice; default 0.
	DrainDelay time.Duration
	// ShutdownGrace is how long requests may take to finish once the gate is told to stop; default 30 s.
	ShutdownGrace time.Duration
	// Rooms are the waiting rooms, at least one, in the order of the file.
	Rooms []Room
}

// Cookie holds what tickets are sealed with.
type Cookie struct {
	// Keys are the keys as text, from cookie.keys or the lines of cookie.keys_file: the first signs and encrypts, all decode.
	// Empty means that the gate makes its own and keeps it in its state directory.
	Keys []string
}

// TLS holds the certificates of the visitors' listener.
type TLS struct {
	// Certificates are chosen from by server name; the first is for everybody else.
	Certificates []Certificate
}

// Certificate is a pair of PEM files, which fit each other.
type Certificate struct {
	// Cert is the path of the certificate and its chain.
	Cert string
	// Key is the path of its private key.
	Key string
}

// Log says what is logged, and how.
type Log struct {
	// Level is the least serious level that is logged: debug, info (the default), warn or error.
	Level string
	// Format is json, console, or auto (the default): console on a terminal, json elsewhere.
	Format string
}

// Route is a host and a path that a room guards.
type Route struct {
	// Host is compared without letter case, port and trailing dot; "" is every host.
	Host string
	// Path covers its sub-paths by whole segments; default "/".
	Path string
}

// ForGate is the route as the gate takes it.
func (r Route) ForGate() route.Route { return route.Route{Host: r.Host, Path: r.Path} }

// Room is one waiting room.
type Room struct {
	// Name identifies the room: letters, digits, - and _, unique; at most 64 characters.
	Name string
	// Host and Path are the room's first route; defaults "" (every host) and "/". A segment of the path in braces, as in /room/{id},
	// makes it a room for each value.
	Host, Path string
	// AdditionalRoutes are more routes of the same room.
	AdditionalRoutes []Route
	// MaxRooms is how many values may have a room at a time; at least 1, default 100. It matters where the path has braces.
	MaxRooms int
	// RoomIdle is how long a value's room is kept that is empty and that nobody asks for; 1 s to 24 h, default 10 m. It matters
	// where the path has braces.
	RoomIdle time.Duration
	// Origin is where accepted visitors go, scheme://host[:port]; default is Config.Origin. Never "".
	Origin string
	// TotalActiveUsers is how many visitors may be active at once; at least 1.
	TotalActiveUsers int
	// NewUsersPerMinute is how many visitors may be admitted in a minute; at least 1.
	NewUsersPerMinute int
	// SessionDuration is how long an active visitor stays so after the last request; 1 s to 24 h, default 5 m.
	SessionDuration time.Duration
	// DisableSessionRenewal makes sessions end SessionDuration after admission, whatever is requested.
	DisableSessionRenewal bool
	// Method is fifo (the default), random, line, passthrough or reject.
	Method string
	// QueueAll holds every new visitor.
	QueueAll bool
	// Suspended switches the room off: everything passes to the origin.
	Suspended bool
	// QueueingStatusCode is the status of the answer to those who wait: 200 (the default), 202, 429 or 503.
	QueueingStatusCode int
	// JSONResponseEnabled lets visitors ask for JSON instead of the page; default true.
	JSONResponseEnabled bool
	// RefreshInterval is the time between two check-ins of a waiting visitor; at least 1 s, default 20 s.
	RefreshInterval time.Duration
	// RefreshJitter is the fraction of RefreshInterval, 0 to 0.5, by which each check-in is moved at random; default 0.15.
	RefreshJitter float64
	// Bucket is what arrival times are rounded down to; at least 1 s, default 1 m.
	Bucket time.Duration
	// Pacing says when a minute's allowance is released while people wait: auto (the default), minute, even or random.
	Pacing string
	// QueueTicketTTL is how long a place can be left and come back to; at least two of the longest refresh intervals, default 5 m.
	QueueTicketTTL time.Duration
	// LineDropout is how long a place in an exact line lasts without a check-in; longer than a refresh interval, default 0: three
	// intervals, at least 60 s.
	LineDropout time.Duration
	// Occupancy is what keeps a visitor in the room: session (the default) or connection.
	Occupancy string
	// LineGrace is how long a seat is kept whose connection has closed, with occupancy connection; at least 3 s, default 15 s.
	LineGrace time.Duration
	// Template is the path of a Mustache file for the page, resolved; "" is the built-in page.
	Template string
	// TemplateSource is what Template held when it was checked; nil for the built-in page.
	TemplateSource []byte
	// DefaultTemplateLanguage is the language of the built-in page for visitors who ask for none of its languages; default en-US.
	DefaultTemplateLanguage string
	// CookieSuffix replaces the room's name in the name of its cookie; default "".
	CookieSuffix string
	// CookieAttributes are the attributes of the room's cookie.
	CookieAttributes CookieAttributes
	// EnabledOriginCommands are the commands that the origin may send in a response header: none, or revoke.
	EnabledOriginCommands []string
	// Rules say which requests are exempt from the room.
	Rules []Rule
	// Subject says how the site names its own users to the room.
	Subject Subject
	// OnStoreError says what becomes of new visitors while the store cannot be reached: hold (the default), share or open.
	OnStoreError string
}

// Subject says how the site names its own users. The zero Subject names nobody.
type Subject struct {
	// Header is set by trusted proxies; "" for none.
	Header string
	// Token is signed by the site, and goes before Header.
	Token Token
}

// Token says where signed tokens are and what they have to be. There are keys if there is a place.
type Token struct {
	// Header and Cookie are the names of the one or the other; both "" for none.
	Header, Cookie string
	// Secrets sign with HS256; each has at least 32 characters.
	Secrets []string
	// PublicKeys check ES256, RS256 or EdDSA, as their kind is.
	PublicKeys []crypto.PublicKey
	// Issuer and Audience have to be named by tokens; "" for any.
	Issuer, Audience string
}

// CookieAttributes are the attributes of a room's cookie.
type CookieAttributes struct {
	// SameSite is auto (the default: none over https, lax over http), lax, none or strict.
	SameSite string
	// Secure is auto (the default: over https), always or never.
	Secure string
	// Domain is the cookie's domain, "" (the default) for the host that was asked.
	Domain string
}

// Rule exempts requests from a room.
type Rule struct {
	// Action is bypass_waiting_room.
	Action string
	// Description is a note for humans.
	Description string
	// Match says which requests the rule is about.
	Match Match
}

// ForGate is the rule as the gate takes it.
func (r Rule) ForGate() route.Rule {
	rule := route.Rule{Action: r.Action, Description: r.Description, Match: route.Conditions{
		Path: r.Match.Path, PathPrefix: r.Match.PathPrefix, PathSuffix: r.Match.PathSuffix,
		Method: r.Match.Method, Header: r.Match.Header, Cookie: r.Match.Cookie,
	}}
	for _, prefix := range r.Match.CIDR {
		rule.Match.CIDR = append(rule.Match.CIDR, prefix.String())
	}
	return rule
}

// Match holds the conditions of a rule. At least one is given, and all that are given must hold.
type Match struct {
	// Path, PathPrefix and PathSuffix compare the path; the first two begin with a slash. "" is no condition.
	Path, PathPrefix, PathSuffix string
	// Method is an HTTP method, in capitals.
	Method string
	// CIDR are networks of which one must hold the visitor's address, masked.
	CIDR []netip.Prefix
	// Header is "Name: value", or "Name" for any value.
	Header string
	// Cookie is "name=value", or "name" for any value.
	Cookie string
}
