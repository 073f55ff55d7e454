package gatetest

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/bind"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge/challengetest"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/left"
	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// Naming has the site name its users to the first room.
var Naming = Room(func(r *proxy.RoomConfig) {
	r.Subject = subject.Config{Header: "X-User-Id", TokenHeader: "Authorization", Secrets: [][]byte{TokenSecret}}
})

// As names the user in the proxy's header.
func As(user string) func(*http.Request) { return With("X-User-Id", user) }

// Bound binds the first room's tickets. The tests say in a header where they come from.
func Bound(to bind.Mode) func(*proxy.Config, *proxy.Options) {
	return func(c *proxy.Config, o *proxy.Options) {
		TrustingLoopback(c, o)
		c.Rooms[0].BindTicket = to
	}
}

// At has a request come from an address, through a trusted proxy.
func At(addr string) func(*http.Request) { return With("X-Forwarded-For", addr) }

// OverHTTPS has a request come by https, through a trusted proxy.
var OverHTTPS = With("X-Forwarded-Proto", "https")

// RevokeEnabled lets the site end sessions.
func RevokeEnabled(r *proxy.RoomConfig) { r.Commands = config.Commands{config.Revoke} }

// TakingPasses has the first room take passes.
func TakingPasses(t *testing.T) func(*proxy.Config, *proxy.Options) {
	name := filepath.Join(t.TempDir(), "passes.db")
	return func(c *proxy.Config, o *proxy.Options) {
		c.Rooms[0].Options = c.Rooms[0].Options.With(passes.RoomOptions{On: true})
		o.Record = func(ctx context.Context) (*waitlist.Store, error) { return waitlist.Open(ctx, name) }
	}
}

// PassesOnly lets in nobody else.
var PassesOnly = Room(func(r *proxy.RoomConfig) { r.Admission = config.WithPass })

// AdmissionCookie is the name of the cookie with an admission token, of the room called shop.
const AdmissionCookie = "fairdoor_admission_shop"

// Signing signs requests to the origin.
func Signing(c *proxy.Config, _ *proxy.Options) { c.SignRequests = true }

// AdmittingAtEdges gives out admission tokens.
var AdmittingAtEdges = Settings(func(s *queue.Settings) { s.EdgeAdmission = EdgeAdmission })

// ByConnection makes a room of one seat, which a websocket keeps.
func ByConnection(grace time.Duration) func(*proxy.RoomConfig) {
	return func(r *proxy.RoomConfig) {
		r.Commands = config.Commands{config.Revoke}
		s := &r.Settings
		s.TotalActiveUsers, s.Method, s.Occupancy, s.LineGrace, s.RefreshInterval, s.RefreshJitter = 1, queue.Line, queue.ByConnection, grace, time.Second, 0
	}
}

// Flagging has a rule flag whoever says that they are a bot.
var Flagging = Room(func(r *proxy.RoomConfig) {
	r.Rules = []route.Rule{{Action: route.EndlessLine, Match: route.Conditions{Header: "X-Bot"}}}
})

// AsBot marks a request as one of a bot, in a room that is Flagging.
var AsBot = With("X-Bot", "1")

// Challenging has the first room's visitors pass a provider's challenge.
func Challenging(p *challengetest.Provider, changes ...func(*challenge.Config)) func(*proxy.Config, *proxy.Options) {
	return Room(func(r *proxy.RoomConfig) {
		c := p.Config()
		for _, change := range changes {
			change(&c)
		}
		r.Options = r.Options.With(c)
	})
}

// LeftEnabled has the site tell how much is left.
func LeftEnabled(r *proxy.RoomConfig) { r.Commands = append(r.Commands, left.Command) }

// Closes has a room close when nothing is left.
func Closes(s *queue.Settings) { s.OnSoldOut = queue.CloseToAll }

// AsPrefetch marks a request as one of a browser that prefetches.
var AsPrefetch = With("Sec-Purpose", "prefetch")

// Family starts the gate with one slot in each of the rooms /room/{id}, called
// chat, beside a room called lobby.
func Family(changes ...func(*proxy.RoomConfig)) func(*proxy.Config, *proxy.Options) {
	return func(c *proxy.Config, _ *proxy.Options) {
		lobby := c.Rooms[0]
		lobby.Name, lobby.Routes = "lobby", []route.Route{{Path: "/room/lobby"}}
		r := &c.Rooms[0]
		r.Name, r.Routes = "chat", []route.Route{{Path: "/room/{id}"}}
		for _, change := range changes {
			change(r)
		}
		c.Rooms = append(c.Rooms, lobby)
		c.Origin = r.Origin
	}
}

// EdgeAdmission is for how long an admission token lasts.
const EdgeAdmission = 30 * time.Second

// TokenSecret signs what the site says of its users.
var TokenSecret = []byte(strings.Repeat("s", 32))
