package proxy

import (
	"context"
	"crypto/x509"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/accesslog"
	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/crawler"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/traces"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// Config is what a gate is made of.
type Config struct {
	Rooms []RoomConfig // at least one

	// Origin is where requests go that no room guards; without it they are
	// answered with 421, or 404 if the host is one of a room's.
	Origin *url.URL

	// Handler is the site itself, where it is in this process: whatever has no Origin,
	// in a room or outside, goes there. Its answers may have all that an origin's may
	// have, such as commands. A handler that takes over a connection (http.Hijacker)
	// keeps its visitor's slot until it returns.
	Handler http.Handler

	// Parts are what is said of features beside what rooms have of them, by the features' names.
	Parts config.Parts

	TrustedProxies []netip.Prefix // whose forwarding headers are believed; nobody by default
	// TrustedProxiesFile is the file that lists them, for warnings; "" for none.
	TrustedProxiesFile string
	// SignatureAgents are the agents whose signed requests count as those of verified crawlers: where
	// each publishes its keys, by its host in lower case; see package signature.
	SignatureAgents map[string]string
	File            string           // that operators change for what the dashboard does not; "" for none
	Operators       []admin.Operator // who have tokens of their own for the admin handler's API
	Keys            []cookie.Key     // of the tickets; the first seals, all open
	OriginTimeout   time.Duration    // until an origin's response header; default 60s
	Transport       origin.Transport // to origins; default direct

	LoadToken    string // served at LoadTokenPath; "" for nothing
	PublicHealth bool   // visitors are told, too, whether the gate takes them: at /.fairdoor/health

	SignRequests bool // to origins, which can tell by it that they come through the gate

	Origins    []*url.URL        // where requests go in turn that no room guards, instead of Origin
	HostHeader origin.HostHeader // that these requests have
}

// RoomConfig is one room of a gate.
type RoomConfig = config.Room

// Options are what a gate works with, and keeps when it is configured anew.
type Options struct {
	Store queue.Store      // required; outlives the gate
	Clock func() time.Time // default: the time of the start plus what has passed since, so that it never jumps
	Log   *zap.Logger      // default: none

	// WallClock is what other machines go by, when they judge what the gate has signed; default
	// Clock, or time.Now without one.
	WallClock func() time.Time

	// Uint64 is the source of ids and jitter; default math/rand/v2's.
	Uint64 func() uint64

	// Wait is how those wait who wait for the store or for others who do: see the Wait of package
	// room's Config. The default waits in real time.
	Wait func(ready <-chan struct{}, atMost time.Duration)

	// Turn is called for each goroutine that the gate starts, and the goroutine first calls what it
	// returns: so a test in virtual time has those that begin at one moment go on one after the
	// other. The default does nothing.
	Turn func() (take func())

	// SyncInterval is how often each room syncs with the store; default 100 ms,
	// which suits a store in the same process.
	SyncInterval time.Duration

	// Gather is how long claims of people who wait are collected for one call to
	// the store; default none, which suits a store in the same process.
	Gather time.Duration

	// Slack is how much longer the store counts a session than its room asks for;
	// default none, which suits a store in the same process.
	Slack time.Duration

	// Record opens the record of the waitlists, when the first is configured. The gate closes
	// it. Without it there can be no waitlists.
	Record func(context.Context) (*waitlist.Store, error)

	// History is the record of the rooms' days; the gate closes it. Default one in memory.
	History *record.Record

	// Resolver is asked whose the addresses of crawlers are, if a rule has a room know;
	// default net.DefaultResolver.
	Resolver crawler.Resolver

	// StateDir is where the entries of shuffled prequeues are kept, and where deliveries of
	// webhooks wait, and visitors who are to be called, so that a restart goes on with them;
	// without it both are in memory.
	StateDir string

	// AdminToken, if set, is asked for by the admin handler's API as a bearer
	// token.
	AdminToken string

	// Docs, if set, is what the admin handler serves at /docs/: the documentation.
	Docs http.Handler

	// AccessLog is a log of requests; none without where to write it.
	AccessLog accesslog.Config

	// Admissions is how long it is kept in StateDir what became of each visitor; default not at all.
	Admissions time.Duration

	// Traces make the spans of requests; default none.
	Traces *traces.Tracer

	// Certificates are those of the listeners before the gate, for warnings of their ends; default
	// none.
	Certificates func() []*x509.Certificate

	// Refused says whether the configuration, as it is now, was refused by the program around the gate;
	// default never.
	Refused func() bool

	// Metrics are what the program around the gate tells Prometheus.
	Metrics metrics.Source

	features func(feature.Gate, *Options) []feature.Feature // what rooms may have; all by default
}

func (o Options) withDefaults() Options {
	if o.WallClock == nil && o.Clock == nil {
		o.WallClock = time.Now
	}
	if o.WallClock == nil {
		o.WallClock = o.Clock
	}
	if o.Clock == nil {
		started := time.Now()
		o.Clock = func() time.Time { return started.Add(time.Since(started)) }
	}
	if o.Uint64 == nil {
		o.Uint64 = rand.Uint64
	}
	if o.Turn == nil {
		o.Turn = func() func() { return func() {} }
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.History == nil {
		o.History = record.Open("", o.Clock(), o.Log)
	}
	if o.features == nil {
		o.features = newFeatures
	}
	if o.SyncInterval == 0 {
		o.SyncInterval = 100 * time.Millisecond
	}
	return o
}

// routes returns the routes of all rooms, as the table wants them.
func (c Config) routes() []route.Room {
	rooms := make([]route.Room, len(c.Rooms))
	for i, r := range c.Rooms {
		rooms[i] = route.Room{Name: r.Name, Routes: slices.Clone(r.Routes)}
	}
	return rooms
}
