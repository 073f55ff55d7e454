package feature

import (
	"context"
	"iter"
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/assertion"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/networks"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// AttemptsPerMinute is how many codes, and links to places, one network may try in a minute.
const AttemptsPerMinute = 10

// Gate is what features may ask of the gate that they serve.
type Gate interface {
	Now() time.Time                                          // by the gate's clock, which never jumps
	Context() context.Context                                // ends when the gate closes
	Wait() func(ready <-chan struct{}, atMost time.Duration) // how features wait; nil for real time
	Log() *zap.Logger
	Metrics() *metrics.Metrics
	StateDir(name string) string // a directory that lasts; "" for none
	Survive(doing string)        // deferred, ends a panic in what the feature does by itself
	Go(task func())              // the gate waits for it when it closes

	// Record is that of waitlists and passes, which is opened if it is not open.
	Record(ctx context.Context) (*waitlist.Store, error)
	// RecordFailing says whether it is open and does not answer.
	RecordFailing() bool

	// Hooks sends what webhooks are told.
	Hooks() *webhooks.Sender

	// Signer signs what other programs are to believe the gate.
	Signer() *assertion.Signer

	// Room is the room of a name; nil for none. The name of a family's room is the family's name, a
	// dot and the room's value.
	Room(name string) *Room
	// OpenRoom is Room, but has a family make its room of the name if there is none.
	OpenRoom(ctx context.Context, name string) (*Room, error)
	Rooms
	// Setups are those of the configuration at work, in its order; of a family, not of its rooms.
	Setups() iter.Seq[*Setup]

	// Groups are the rooms of the configuration at work, in its order.
	Groups() iter.Seq[Group]

	// Trust is whose forwarding headers the configuration at work believes.
	Trust() origin.Trust
	// Requesters are who may have sent a request that is no visit, as visitors of rooms: of those that
	// it asks about, and of that of its page.
	Requesters(r *http.Request) []*Visit

	// Attempts are those of a network at codes and links.
	Attempts() *networks.Bounds
	// Enter says whether something may be done for an address that is not counted. If it may, the
	// caller calls leave at its end.
	Enter(addr netip.Addr) (leave func(), ok bool)

	// Serve answers a request as if its sender had sent it here.
	Serve(w http.ResponseWriter, r *http.Request)
	// Problem answers with the gate's page, or JSON, for a status.
	Problem(w http.ResponseWriter, r *http.Request, status int)
	// Allow answers the preflight of a request for one of the gate's own paths with some methods,
	// and says whether it has.
	Allow(w http.ResponseWriter, r *http.Request, methods string) bool
	// Stand is how a visitor stands, as JSON has it.
	Stand(v *Visit, d *room.Decision) any
	// Visit has a room's queue decide about a visitor who is not there, and counts the decision.
	Visit(ctx context.Context, now time.Time, of *Room, q room.Request) room.Decision
}

// Configuration is what a gate is configured with, beside its rooms' own.
type Configuration interface {
	// Setup is that of the room or family of a name; nil for none.
	Setup(name string) *Setup
	// Options are those of a feature that are about no single room; nil for none.
	Options(feature string) any
}
