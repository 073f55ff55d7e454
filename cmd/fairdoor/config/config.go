package config

import (
	"crypto"
	"net/netip"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy"
	roomconfig "github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// Config is the whole configuration of a gate, complete and checked: defaults are filled in, files
// are read, variables expanded. It holds secrets (AdminToken, Operators, Cookie.Keys, the Keys of tokens): do
// not print it.
//
// The tags of the fields are what the file, the environment, the flags and the schema are made of:
// yaml, default, min, max, choices and usage as [setting.Field] has them; is names the form of a
// text, or of a list's elements, and of what a list is a list; outside says where else than in the
// file it can be set ("no", "env" for secrets, "only" for what the file does not know; without it
// everywhere); and into names the key for which the file that is named has the value, or a value on
// each line: the one is read, and then "", or the other.
type Config struct {
	File string `yaml:"-"` // that it was read from; "" for none

	Listen string `yaml:"listen" default:":8080" is:"address" usage:"address visitors connect to"`
	Admin  string `yaml:"admin" default:"127.0.0.1:9090" is:"address" usage:"address of the admin API"`
	// AdminToken is the bearer token that the admin API asks for, "" for none. Where Admin is not a
	// loopback address, there is one, or one of Operators.
	AdminToken     string `yaml:"admin_token" is:"token" outside:"env" usage:"token that the admin API asks for"`
	AdminTokenFile string `yaml:"admin_token_file" is:"file" into:"admin_token" usage:"file with the token that the admin API asks for"`
	// Operators have tokens of their own: each is a name, operator or viewer, and a token. None by
	// default.
	Operators     []string `yaml:"operators" is:"operator" of:"operators" outside:"no" usage:"who has a token of their own: a name, operator or viewer, and the token"`
	OperatorsFile string   `yaml:"operators_file" is:"file" into:"operators" usage:"file with those who have a token of their own, one a line"`
	// Store names where the queue's state lives: "memory", or the URL of a Redis, which may hold a
	// password.
	Store string `yaml:"store" default:"memory" is:"store" usage:"where the queue's state lives: memory, or the URL of a Redis that several gates share"`
	// StateDir is the directory of the journal and of the cookie key that the gate makes for
	// itself. When none is given it is $STATE_DIRECTORY (which systemd sets), or else
	// fairdoor/<listen address>-<hash> below $XDG_STATE_HOME or ~/.local/state, the hash being over
	// the absolute path of the configuration file, or over the origin where there is no file: two
	// gates on one machine never share it, and a gate that is started again finds it again.
	StateDir string `yaml:"state_dir" is:"dir" usage:"directory for what has to survive a restart (default: one of its own)"`
	// Database is where waitlists and passes are kept: the path of an SQLite file, resolved, or the
	// URL of a PostgreSQL, which may hold a password; "" is waitlists.db in StateDir.
	Database string `yaml:"database" is:"database" usage:"where waitlists and passes are kept: a file, or the URL of a PostgreSQL that several gates share (default: a file in state_dir)"`
	// Origin is the default origin of rooms, scheme://host[:port]; "" where every room has its own.
	Origin string `yaml:"origin" is:"url" usage:"origin that accepted visitors are sent to"`
	// TrustedProxies are the networks whose forwarding headers are believed, masked; nobody by
	// default.
	TrustedProxies []netip.Prefix `yaml:"trusted_proxies" is:"network" of:"networks such as [10.0.0.0/8]" usage:"networks whose forwarding headers are believed, as CIDRs"`
	// TrustedProxiesFile is where TrustedProxies are from; "" once they are read if they are from
	// elsewhere.
	TrustedProxiesFile string `yaml:"trusted_proxies_file" is:"file" usage:"file with the networks whose forwarding headers are believed, one a line"`
	Cookie             Cookie `yaml:"cookie"`
	// TLS holds the certificates of the listener; without any it speaks plain HTTP.
	TLS             TLS           `yaml:"tls"`
	Log             Log           `yaml:"log"`
	AccessLog       AccessLog     `yaml:"access_log"`
	AdmissionsLog   time.Duration `yaml:"admissions_log" default:"0s" min:"0s" max:"8784h" usage:"time that it is kept in state_dir what became of each visitor (0s: not at all)"`
	OriginTimeout   time.Duration `yaml:"origin_timeout" default:"60s" min:"1ms" max:"24h" usage:"time an origin has until its response begins"`
	ProgressTimeout time.Duration `yaml:"progress_timeout" default:"30s" min:"1ms" max:"24h" usage:"time a visitor's connection may stand still"`
	DrainDelay      time.Duration `yaml:"drain_delay" default:"0s" min:"0s" max:"24h" usage:"time load balancers have to notice that the gate is stopping"`
	ShutdownGrace   time.Duration `yaml:"shutdown_grace" default:"30s" min:"0s" max:"24h" usage:"time requests have to finish at the end"`
	// Rooms are the waiting rooms, at least one, in the order of the file.
	Rooms []Room `yaml:"rooms" is:"a room: a mapping with name, total_active_users and more" of:"rooms" usage:"the waiting rooms"`
	// Waitlists are the guest lists of rooms, one a room at most, in the order of the file.
	Waitlists []Waitlist `yaml:"waitlists" is:"a waitlist: a mapping with name, room and more" of:"waitlists" usage:"the guest lists of rooms"`

	// WebhookHosts are the hosts that webhooks may be at; see outbound.Hosts.
	WebhookHosts []string `yaml:"webhook_hosts" is:"webhook host" of:"hosts such as [hooks.example.com]" outside:"no" usage:"hosts that webhooks may be at"`
	// Webhooks are the programs that are told what happens to rooms, in the order of the file.
	Webhooks []Webhook `yaml:"webhooks" is:"a webhook: a mapping with url, secret and more" of:"webhooks" usage:"programs that are told what happens to rooms"`

	// SignatureAgents are the hosts of the agents whose signed requests are those of verified bots;
	// nobody by default.
	SignatureAgents []string `yaml:"signature_agents" is:"certified name" of:"names such as [chatgpt.com]" usage:"hosts of agents whose signatures (Web Bot Auth) verified_bot counts"`

	PublicHealth bool `yaml:"public_health" default:"false" usage:"answer health checks at /.fairdoor/health on the visitors' port, too"`
	// LoadToken is in lower case, or "".
	LoadToken    string `yaml:"load_token" is:"token hash" usage:"SHA-256 of the token of those who may send crowds at the gate by fairdoor load, as sha256sum prints it"`
	SignRequests bool   `yaml:"sign_requests" default:"false" usage:"sign every request to the origins, so that they can tell what comes through the gate"`
	// Origins are those of rooms that have none of their own, if there are several; Origin is then
	// the first.
	Origins []string `yaml:"origins" is:"url" of:"origins such as [http://10.0.0.1:3000, http://10.0.0.2:3000]" usage:"several origins, which are asked in turn (instead of one)"`
	H2C     bool     `yaml:"h2c" default:"false" usage:"speak HTTP/2 without TLS to visitors who begin with it, as gRPC does"`
	// HostHeader is "" for the visitor's, origin.OwnHost, or a host.
	HostHeader string `yaml:"host_header" is:"host header" usage:"Host that origins get: origin for their own address, or a name (default: the host that the visitor asked for)"`
	Transport  string `yaml:"transport" default:"direct" choices:"direct,standard" usage:"how requests are carried to origins by HTTP/1.1; standard is net/http's transport, and takes more processor time"`
	// ProxyProtocol are the networks whose connections begin with a header of the PROXY protocol,
	// masked; none by default.
	ProxyProtocol []netip.Prefix `yaml:"proxy_protocol" is:"network" of:"networks such as [10.0.0.7/32]" usage:"networks whose connections begin with a header of the PROXY protocol, as CIDRs"`
	// PushHosts are the hosts that push services may be at; see outbound.Hosts. None are those of
	// the known browsers.
	PushHosts []string `yaml:"push_hosts" is:"webhook host" of:"hosts such as [fcm.googleapis.com]" outside:"no" usage:"hosts that push services may be at (default: those of Chrome, Edge, Firefox and Safari)"`

	// NetworkFiles are the files that hold lists of networks, resolved, each once.
	NetworkFiles []string `yaml:"-"`
}

// Webhook is a program that is told what happens to rooms.
type Webhook struct {
	// Name is unique; "" is the host of the URL.
	Name string `yaml:"name" is:"suffix" usage:"name of the webhook (default: the host of its url)"`
	URL  string `yaml:"url" is:"webhook" usage:"address that events are posted to"`
	// Events is empty for all but those of waitlists.
	Events []string `yaml:"events" choices:"queueing_began,queueing_ended,limit_reached,store_lost,store_back,sold_out,reopened,hold_began,hold_ended,event_prequeueing,event_started,event_ended,origin_failing,origin_back,slowed,not_slowed,changed,record_lost,record_back,certificate_ending,waitlist_joined,waitlist_confirmed,waitlist_invited,waitlist_accepted,waitlist_expired,waitlist_put_back,waitlist_moved_up,waitlist_left,waitlist_removed" of:"events such as [queueing_began]" usage:"events that it is told of (default: all but those of waitlists)"`
	// Rooms is empty for all of them.
	Rooms  []string `yaml:"rooms" is:"room of a webhook" of:"names of rooms" usage:"rooms that it is told of (default: all)"`
	Secret string   `yaml:"secret" is:"signing secret" outside:"env" usage:"secret that signs what is posted"`
	// SecretFile is "" once it is read.
	SecretFile string `yaml:"secret_file" is:"file" into:"secret" usage:"file with the secret that signs what is posted"`
}

// Waitlist is the guest list of a room.
type Waitlist struct {
	// Name identifies the waitlist: letters, digits, - and _, unique; at most 64 characters.
	Name string `yaml:"name" is:"name" usage:"name of the waitlist"`
	// Room is the name of a room that is no family.
	Room              string `yaml:"room" is:"name" usage:"room that the waitlist belongs to"`
	waitlist.Settings `yaml:",inline"`
	// Actions are what people can do to move up, in the order of the file.
	Actions []Action `yaml:"actions" is:"an action: a mapping with name, points and more" of:"actions" usage:"what people can do to move up, as the site reports it"`
	// DisposableDomainsFile is "" once it is read.
	DisposableDomainsFile string `yaml:"disposable_domains_file" is:"file" usage:"file with the domains of throw-away addresses, one a line"`
	SignUpsPerNetwork     int    `yaml:"sign_ups_per_network" default:"60" min:"0" max:"1000000" usage:"sign-ups a minute of one network, an IPv4 /24 or an IPv6 /56, and four times as many of an IPv6 /48; 0 is unlimited"`
	// URL is the address of the site, scheme://host[:port], with which links begin; "" is the one
	// that was asked, and in mails Listen.
	URL string `yaml:"url" is:"url" usage:"address of the site, with which links begin"`
	// MailTemplates is the path of a directory, resolved; "" is the built-in mails.
	MailTemplates string `yaml:"mail_templates" is:"dir" usage:"directory with Mustache files for mails"`
	// SMTP sends the mails. Without a Host they are kept for the admin API.
	SMTP SMTP `yaml:"smtp"`
}

// Action is what people can do to move up on a waitlist.
type Action struct {
	// Name is unique in the waitlist: letters, digits, - and _; at most 64 characters.
	Name   string `yaml:"name" is:"name" usage:"name by which the action is reported"`
	Title  string `yaml:"title" is:"title" usage:"name that people are shown (default: the name)"`
	Points int    `yaml:"points" default:"1" min:"1" max:"1000" usage:"priority that doing it once is worth"`
	Most   int    `yaml:"most" default:"0" min:"0" max:"1000" usage:"most priority that it can earn somebody; 0 is actions_max"`
	// Keys are empty where operators alone report the action.
	Keys []string `yaml:"keys" is:"program's key" of:"keys" outside:"env" usage:"keys of the programs that may report it, besides operators"`
}

// SMTP says how mails are sent. There is a From if there is a Host.
type SMTP struct {
	Host     string `yaml:"host" is:"host" usage:"server that takes the mails"`
	Port     int    `yaml:"port" default:"0" min:"0" max:"65535" usage:"port of the server; 0 is 587, or 465 with tls implicit, or 25 with tls none"`
	TLS      string `yaml:"tls" default:"starttls" choices:"starttls,implicit,none" usage:"encryption"`
	Username string `yaml:"username" usage:"name to log in with (default: none)"`
	Password string `yaml:"password" is:"password" outside:"env" usage:"password to log in with"`
	// PasswordFile is "" once it is read.
	PasswordFile string `yaml:"password_file" is:"file" into:"password" usage:"file with the password to log in with"`
	From         string `yaml:"from" is:"mail address" usage:"sender of the mails"`
	ReplyTo      string `yaml:"reply_to" is:"mail address" usage:"address that answers go to (default: the sender's)"`
}

// Cookie holds what tickets are sealed with.
type Cookie struct {
	// Keys are the keys as text, from cookie.keys or the lines of cookie.keys_file: the first signs
	// and encrypts, all decode. Empty means that the gate makes its own and keeps it in its state
	// directory.
	Keys     []string `yaml:"keys" is:"key" of:"keys" outside:"env" usage:"keys of the cookies; the first seals, all open"`
	KeysFile string   `yaml:"keys_file" is:"file" into:"keys" usage:"file with the keys of the cookies, one a line"`
}

// TLS holds the certificates of the visitors' listener.
type TLS struct {
	// Certificates are chosen from by server name; the first is for everybody else.
	Certificates []Certificate `yaml:"certificates" is:"a mapping with cert and key" of:"mappings with cert and key" usage:"certificates and their keys, as PEM files"`
	// Cert and Key are the one certificate that variables and flags name. It is in Certificates,
	// too, and then alone.
	Cert string `yaml:"cert" is:"file" outside:"only" usage:"certificate of the listener, a PEM file"`
	Key  string `yaml:"key" is:"file" outside:"only" usage:"private key of --tls-cert, a PEM file"`

	// ACME gets certificates from an authority, besides those that are files.
	ACME ACME `yaml:"acme"`
	// Redirect is the address on which requests by plain HTTP are sent to https; "" for none.
	Redirect string `yaml:"redirect" is:"further address" usage:"address on which plain HTTP is redirected to https, such as :80 (default: none)"`
}

// Enabled says whether visitors connect by TLS.
func (t *TLS) Enabled() bool { return len(t.Certificates) > 0 || len(t.ACME.Domains) > 0 }

// ACME says how certificates come from an authority (RFC 8555). Without Domains none do.
type ACME struct {
	Domains []string `yaml:"domains" is:"certified name" of:"names such as [shop.example.com]" usage:"names that get certificates by ACME"`
	Agree   bool     `yaml:"agree" default:"false" usage:"whether you agree to the terms of the certificate authority, which ACME needs"`
	// Email may be "".
	Email     string `yaml:"email" is:"account address" usage:"address to which the certificate authority may write"`
	Directory string `yaml:"directory" default:"https://acme-v02.api.letsencrypt.org/directory" is:"directory" usage:"address of the certificate authority's ACME directory"`
	// RootsFile is "" for the system's roots.
	RootsFile string `yaml:"roots_file" is:"file" usage:"PEM file with the certificates that the directory's own is checked against (default: the system's)"`
	// Roots is what RootsFile held when it was checked; nil for the system's roots.
	Roots []byte `yaml:"-"`
	// Storage is "" for acme in Config.StateDir, which only a gate that is alone may use.
	Storage string `yaml:"storage" is:"dir" usage:"directory for certificates that several gates share (default: acme in state_dir, for a gate that is alone)"`
}

// Certificate is a pair of PEM files, which fit each other.
type Certificate struct {
	Cert string `yaml:"cert" is:"file"`
	Key  string `yaml:"key" is:"file"`
}

// Log says what is logged, and how.
type Log struct {
	Level string `yaml:"level" default:"info" choices:"debug,info,warn,error" usage:"least serious level that is logged"`
	// Format is json, console, or auto: console on a terminal, json elsewhere.
	Format string `yaml:"format" default:"auto" choices:"auto,json,console" usage:"format of the log"`
}

// Stdout is the AccessLog.To of those who have a program that takes the lines.
const Stdout = "stdout"

// AccessLog says what is written of requests. Without To nothing is.
type AccessLog struct {
	// To is stdout, or the path of a file, resolved; "" for none.
	To     string  `yaml:"to" is:"log file" usage:"where a line about each request is written: stdout, or a file (default: nowhere)"`
	Format string  `yaml:"format" default:"json" choices:"json,combined" usage:"format of the access log"`
	Sample float64 `yaml:"sample" default:"1" min:"0.000001" max:"1" usage:"part of the requests that are written, such as 0.01"`
}

// Route is a host and a path that a room guards.
type Route struct {
	// Host is compared without letter case, port and trailing dot; "" is every host.
	Host string `yaml:"host" is:"host"`
	// Path covers its sub-paths by whole segments.
	Path string `yaml:"path" default:"/" is:"path"`
}

// ForGate is the route as the gate takes it.
func (r Route) ForGate() route.Route { return route.Route{Host: r.Host, Path: r.Path} }

// Room is one waiting room.
type Room struct {
	// Name identifies the room: letters, digits, - and _, unique; at most 64 characters.
	Name             string        `yaml:"name" is:"name" usage:"name of the room (default \"default\" without a file)"`
	Host             string        `yaml:"host" is:"host" usage:"host that the room guards (default: every host)"`
	Path             string        `yaml:"path" default:"/" is:"path" usage:"path that the room guards, with all below it; /room/{id} is a room for each id"`
	AdditionalRoutes []Route       `yaml:"additional_routes" is:"a mapping with host and path" of:"mappings with host and path" usage:"more hosts and paths of the same room"`
	MaxRooms         int           `yaml:"max_rooms" default:"100" min:"1" max:"10000" usage:"rooms at a time where the path has a segment in braces"`
	RoomIdle         time.Duration `yaml:"room_idle" default:"10m" min:"1s" max:"24h" usage:"time that an empty one of those is kept"`
	// Origin is where accepted visitors go, scheme://host[:port]; default is Config.Origin. Never
	// "".
	Origin            string `yaml:"origin" is:"url" outside:"no" usage:"origin of the room"`
	queue.Settings    `yaml:",inline"`
	roomconfig.Basics `yaml:",inline"`
	// Template is the path of a Mustache file for the page, resolved; "" is the built-in page.
	Template string `yaml:"template" is:"file" usage:"Mustache file of the page (default: the built-in page)"`
	// TemplateSource is what Template held when it was checked; nil for the built-in page.
	TemplateSource []byte `yaml:"-"`
	// SiteName, Logo, Hero, Accent and HelpURL are what the page shows of the site; each may be "".
	// Logo and Hero are the paths of pictures; HeroAlt is what the latter shows.
	SiteName string `yaml:"site_name" is:"title" usage:"name of the site, on the page"`
	Logo     string `yaml:"logo" is:"file" usage:"picture of the site, on the page: PNG, JPEG, GIF, WebP or SVG"`
	Hero     string `yaml:"hero" is:"file" usage:"wide picture at the head of the page: PNG, JPEG, GIF, WebP or SVG"`
	HeroAlt  string `yaml:"hero_alt" is:"title" usage:"what the hero shows, for those who do not see it (default: nothing that they would miss)"`
	Accent   string `yaml:"accent" is:"colour" usage:"colour of the site, on the page"`
	// Background, Card and Font are the look of the page; see [templates.Identity].
	Background string `yaml:"background" is:"colour" usage:"colour of the page, by day and by night"`
	Card       string `yaml:"card" is:"paper" usage:"colour behind the text of the page, if it is not the background"`
	Font       string `yaml:"font" is:"font" usage:"fonts of the page, of those that visitors have"`
	HelpURL    string `yaml:"help_url" is:"link" usage:"address of help, on the page"`
	// LogoSource and HeroSource are the pictures that Logo and Hero held when they were checked; nil
	// for none.
	LogoSource              *templates.Picture `yaml:"-"`
	HeroSource              *templates.Picture `yaml:"-"`
	DefaultTemplateLanguage Language           `yaml:"default_template_language" default:"en-US" usage:"language of the page where none is asked for"`
	// Rules say which requests are exempt from the room, as Presets do.
	Rules   []Rule  `yaml:"rules" is:"a rule: a mapping with action and match" of:"rules" usage:"requests that are exempt from the room"`
	Subject Subject `yaml:"subject"`

	// Events are planned for the room, in the order of the file. Planned has them as the gate takes
	// them.
	Events  []Event    `yaml:"events" is:"an event: a mapping with name, event_start_time, event_end_time and more" of:"events" usage:"what is planned for a time, with settings of its own"`
	Planned event.List `yaml:"-"`

	// Origins are the room's, if there are several; Origin is then the first. Default is
	// Config.Origins where the room has no Origin.
	Origins []string `yaml:"origins" is:"url" outside:"no" of:"origins such as [http://10.0.0.1:3000, http://10.0.0.2:3000]" usage:"several origins of the room, which are asked in turn (instead of one)"`
	// HostHeader is as Config.HostHeader, which is the default.
	HostHeader string `yaml:"host_header" is:"host header" outside:"no" usage:"Host that the room's origins get (default: that of the gate)"`

	// Features are the options of features.
	Features proxy.RoomOptions `yaml:",inline"`
}

// Event is something that is planned for a room.
type Event struct {
	// Name identifies the event in its room: letters, digits, - and _; at most 64 characters.
	Name        string `yaml:"name" is:"name" usage:"name of the event"`
	Description string `yaml:"description" usage:"note for humans"`
	// Timezone is the zone of those times that have no offset.
	Timezone  string `yaml:"timezone" is:"zone" usage:"IANA zone of the times without an offset, such as Europe/Oslo"`
	Start     string `yaml:"event_start_time" is:"time" usage:"when the event starts"`
	End       string `yaml:"event_end_time" is:"time" usage:"when the event ends, at least a minute after its start"`
	Prequeue  string `yaml:"prequeue_start_time" is:"time" usage:"from when everyone new is held, at least five minutes before the start (default: no prequeue)"`
	Shuffle   bool   `yaml:"shuffle_at_event_start" default:"false" usage:"give those who come in the prequeue a random order"`
	Suspended bool   `yaml:"suspended" default:"false" usage:"ignore the event"`
	// Template is the path of a Mustache file for the page, resolved; "" is the room's page.
	Template string `yaml:"template" is:"file" usage:"Mustache file of the page in the event (default: the room's page)"`

	// These are in force in the event. What is not given stays as the room has it.
	TotalActiveUsers      int           `yaml:"total_active_users" min:"1" usage:"visitors that may be active at once in the event (default: the room's)"`
	NewUsersPerMinute     int           `yaml:"new_users_per_minute" min:"1" usage:"visitors that may be admitted in a minute in the event (default: the room's)"`
	Method                queue.Method  `yaml:"queueing_method" usage:"who gets a free slot in the event (default: the room's)"`
	SessionDuration       time.Duration `yaml:"session_duration" min:"1s" max:"24h" usage:"time a visitor stays active after the last request in the event (default: the room's)"`
	DisableSessionRenewal bool          `yaml:"disable_session_renewal" usage:"end sessions session_duration after admission in the event (default: the room's)"`
}

// Subject says how the site names its own users. The zero Subject names nobody.
type Subject struct {
	// Header is set by trusted proxies; "" for none.
	Header string `yaml:"header" is:"header" usage:"header in which a trusted proxy names the site's user"`
	// Token is signed by the site, and goes before Header.
	Token Token `yaml:"token"`
	// Label is what is known of a user.
	Label Label `yaml:"label"`
}

// Label says where the site tells what is known of a user; both "" for nowhere.
type Label struct {
	// Claim is one of the token's.
	Claim string `yaml:"claim" usage:"claim of the token with the name that operators are shown, or any JSON"`
	// Header is set by trusted proxies.
	Header string `yaml:"header" is:"header" usage:"header in which a trusted proxy says the name that operators are shown"`
}

// Token says where signed tokens are and what they have to be. There are keys if there is a place.
type Token struct {
	// Header and Cookie are the names of the one or the other; both "" for none.
	Header string `yaml:"header" is:"header" usage:"header with a token in which the site names its user"`
	Cookie string `yaml:"cookie" is:"cookie" usage:"cookie with a token in which the site names its user"`
	// Secrets sign with HS256; each has at least 32 characters. KeysFile is "" once it is read.
	Secrets  []string `yaml:"keys" is:"secret" of:"secrets" outside:"env" usage:"secrets that tokens are signed with (HS256)"`
	KeysFile string   `yaml:"keys_file" is:"file" usage:"file with the secrets that tokens are signed with, one a line"`
	// PublicKeys check ES256, RS256 or EdDSA, as their kind is. PublicKeysFile is "" once it is
	// read.
	PublicKeys     []crypto.PublicKey `yaml:"-"`
	PublicKeysFile string             `yaml:"public_keys_file" is:"file" usage:"PEM file with the public keys of those who sign tokens"`
	// JWKSURL is where the site publishes its public keys (RFC 7517); "" for nowhere.
	JWKSURL string `yaml:"jwks_url" is:"service" outside:"no" usage:"address at which those who sign tokens publish their keys (JWKS)"`
	// Issuer and Audience have to be named by tokens; "" for any.
	Issuer   string `yaml:"issuer" usage:"issuer that tokens have to name (default: any)"`
	Audience string `yaml:"audience" usage:"audience that tokens have to name (default: any)"`
}

// Rule says what becomes of some requests for a room.
type Rule struct {
	// Action is bypass_waiting_room or endless_line.
	Action string `yaml:"action" choices:"bypass_waiting_room,endless_line"`
	// Description is a note for humans.
	Description string `yaml:"description"`
	// Match says which requests the rule is about.
	Match Match `yaml:"match"`
}

// ForGate is the rule as the gate takes it.
func (r Rule) ForGate() route.Rule {
	return route.Rule{Action: r.Action, Description: r.Description, Match: r.Match.forGate()}
}

// Match holds the conditions of a rule. At least one is given, and all that are given must hold.
type Match struct {
	Conditions `yaml:",inline"`
	// All of these must hold, one at least of Any, and none of Not.
	All []InnerMatch `yaml:"all" is:"a mapping of conditions" single:"a condition" of:"mappings of conditions"`
	Any []InnerMatch `yaml:"any" is:"a mapping of conditions" single:"a condition" of:"mappings of conditions"`
	Not []InnerMatch `yaml:"not" is:"a mapping of conditions" single:"a condition" of:"mappings of conditions"`
}

func (m Match) forGate() route.Conditions {
	c := m.Conditions.forGate()
	c.All, c.Any, c.Not = forGate(m.All), forGate(m.Any), forGate(m.Not)
	return c
}

// InnerMatch holds conditions that are in a Match. There are none deeper than those in them: any
// rule can be written so.
type InnerMatch struct {
	Conditions `yaml:",inline"`
	All        []Conditions `yaml:"all" is:"a mapping of conditions" single:"a condition" of:"mappings of conditions"`
	Any        []Conditions `yaml:"any" is:"a mapping of conditions" single:"a condition" of:"mappings of conditions"`
	Not        []Conditions `yaml:"not" is:"a mapping of conditions" single:"a condition" of:"mappings of conditions"`
}

func (m InnerMatch) forGate() route.Conditions {
	c := m.Conditions.forGate()
	c.All, c.Any, c.Not = forGate(m.All), forGate(m.Any), forGate(m.Not)
	return c
}

// forGate are conditions in a list as the gate takes them.
func forGate[M interface{ forGate() route.Conditions }](list []M) []route.Conditions {
	var all []route.Conditions
	for _, m := range list {
		all = append(all, m.forGate())
	}
	return all
}

// Conditions are what a rule asks of a request, of which those that are given must hold.
type Conditions struct {
	// Path, PathPrefix and PathSuffix compare the path; the first two begin with a slash. "" is no
	// condition.
	Path       string `yaml:"path" is:"condition"`
	PathPrefix string `yaml:"path_prefix" is:"condition"`
	PathSuffix string `yaml:"path_suffix" is:"condition"`
	Method     string `yaml:"method" is:"condition"`
	// CIDR are networks of which one must hold the visitor's address, masked.
	CIDR []netip.Prefix `yaml:"cidr" is:"network" single:"a network" of:"networks such as [10.0.0.0/8]"`
	// CIDRFile is "" once it is read.
	CIDRFile string `yaml:"cidr_file" is:"file"`
	// Header is "Name: value", or "Name" for any value.
	Header string `yaml:"header" is:"condition"`
	// Cookie is "name=value", or "name" for any value.
	Cookie string `yaml:"cookie" is:"condition"`
	// VerifiedBot is a crawler at an address of its operator's. False is no condition.
	VerifiedBot bool `yaml:"verified_bot"`
	// Query is "name=value" of a parameter, or "name" for any value.
	Query string `yaml:"query" is:"condition"`
}

func (c Conditions) forGate() route.Conditions {
	to := route.Conditions{
		Path: c.Path, PathPrefix: c.PathPrefix, PathSuffix: c.PathSuffix, Method: c.Method, Header: c.Header, Cookie: c.Cookie,
		VerifiedBot: c.VerifiedBot, Query: c.Query,
	}
	for _, prefix := range c.CIDR {
		to.CIDR = append(to.CIDR, prefix.String())
	}
	return to
}
