// Package admin is the handler of a gate's admin listener: health, metrics, and the
// API for operators. It knows the gate as a [Gate] and its rooms as a [Room].
//
//	admin.go        the listener: which resources there are, and who may ask for them
//	health.go       /livez and /readyz
//	rooms.go        the rooms, and changes to them
//	description.go  what a room goes by, as JSON
//	status.go       how a room stands
//	table.go        how all rooms stand, as CSV
//	overview.go     what the dashboard shows
//	past.go         what it shows of the last hours
//	happening.go    what it shows of events, the origin's pace, and webhooks
//	pressure.go     whether the origin is slow, and the limits that are proposed
//	switches.go     changes that are made in the dashboard
//	login.go        who may use the dashboard
//	operator.go     the names of operators
//	document.go     the description of the API in OpenAPI
//	visitors.go     the visitors of a room
//	events.go       the events of a room, and the order of a draw
//	waitlists.go    the waitlists, and what all that is below them shares
//	entries.go      who is on a waitlist
//	points.go       what moves people up, as programs report it
//	feed.go         what happens to them
//	invites.go      releases now and by plan, and the referrals that wait for an operator
//	transfer.go     imports, exports, and the audit log
//	record.go       the record of a room's days
//	outbox.go       the mails that are kept while none are sent
//	webhooks.go     the webhooks, and tests of them
//	passes.go       the passes of a room
package admin

import (
	"iter"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
)

// Gate is what the handler knows of a gate.
type Gate interface {
	// Rooms returns the rooms that there are, those of families among them.
	Rooms() iter.Seq[Room]
	// Room returns the room of a name.
	Room(name string) (r Room, found bool)
	// Family describes what the rooms of a family start with.
	Family(name string) (d Description, found bool)
	// Waitlists returns the waitlists.
	Waitlists() iter.Seq[Waitlist]
	// Waitlist returns the waitlist of a name.
	Waitlist(name string) (l Waitlist, found bool)
	// Passes returns the passes of the room of a name, if it takes any.
	Passes(room string) (p Passes, found bool)
	// Webhooks says how the webhooks stand.
	Webhooks() []webhooks.Status
	// TryWebhooks sends a test to the webhook of a name, or to all if it is empty, and says to how
	// many.
	TryWebhooks(name string) int
	// RecordFailing reports whether the record of waitlists and passes does not answer.
	RecordFailing() bool
	// Draining reports whether the gate is about to stop.
	Draining() bool
}

// Config is what the handler is made of.
type Config struct {
	Gate    Gate
	Metrics http.Handler
	Record  Record
	Token   string // that the API asks for as a bearer token; "" for none
	Clock   func() time.Time
	Log     *zap.Logger
	Docs    http.Handler // the documentation, at /docs/; nil for none
}

// api answers the requests of operators.
type api struct {
	Config
	sessions *dashboard.Sessions
}

// New returns the handler: /livez, /readyz and /metrics for everyone who reaches it, and
// the dashboard and the API below /api/v1/, which ask for the token if there is one: the API
// as a bearer token or by the cookie of who has given it to the dashboard. Browsers'
// requests from other sites are refused; so are, without a token, requests for the
// dashboard, the API and the metrics by another name than localhost.
func New(c Config) http.Handler {
	a := &api{c, dashboard.NewSessions(c.Token, c.Clock)}
	mux, guarded := http.NewServeMux(), http.NewServeMux()
	for _, r := range append(a.resources(), a.pages()...) {
		guarded.HandleFunc(r.pattern, r.answer)
	}
	if a.Docs != nil {
		guarded.Handle("GET "+dashboard.DocsPath, a.Docs)
	}
	for _, r := range a.reportResources() {
		mux.Handle(r.pattern, a.wellNamed(r.answer))
	}
	for _, r := range a.openResources() {
		mux.HandleFunc(r.pattern, r.answer)
	}
	guarded.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if allowed := append(methodsOf(mux, r), methodsOf(guarded, r)...); allowed != nil {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			reply.Problem(w, http.StatusMethodNotAllowed, "This resource does not support the method.")
			return
		}
		reply.Problem(w, http.StatusNotFound, "There is no such resource. See /api/v1/rooms, /api/v1/waitlists and /api/v1/openapi.yaml.")
	})
	mux.Handle("GET "+dashboard.AssetPath, a.wellNamed(http.HandlerFunc(dashboard.ServeAsset)))
	mux.Handle("POST /login", a.wellNamed(http.HandlerFunc(a.logIn)))
	mux.Handle("/", a.wellNamed(a.authorised(guarded)))
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reply.Problem(w, http.StatusForbidden, "Requests from pages of other sites are refused.")
	}))
	return protection.Handler(mux)
}

// openResources are those that ask for no token.
func (a *api) openResources() []resource {
	return []resource{
		{"GET /livez", getLive},
		{"GET /readyz", a.getReady},
		{"GET /metrics", func(w http.ResponseWriter, q *http.Request) { a.wellNamed(a.Metrics).ServeHTTP(w, q) }},
	}
}

// resource is something that the API answers for: a method and a path, in the form of
// [http.ServeMux], and what answers.
type resource struct {
	pattern string
	answer  http.HandlerFunc
}

// resources are those of the API, which is documented in openapi.yaml.
func (a *api) resources() []resource {
	const one = "/api/v1/rooms/{room}"
	return append([]resource{
		{"GET /api/v1/openapi.yaml", getDocument},
		{"GET /api/v1/rooms", a.getRooms},
		{"GET /api/v1/rooms.csv", a.getTable},
		{"GET " + one, a.getRoom},
		{"PATCH " + one, a.withRoom(a.patchRoom)},
		{"GET " + one + "/status", a.withRoom(a.getStatus)},
		{"GET " + one + "/visitors", a.withRoom(a.getVisitors)},
		{"GET " + one + "/visitors/{id}", a.withVisitor(a.getVisitor)},
		{"PATCH " + one + "/visitors/{id}", a.withVisitor(a.patchVisitor)},
		{"DELETE " + one + "/visitors/{id}", a.withVisitor(a.deleteVisitor)},
		{"POST " + one + "/visitors/{id}/renew", a.withVisitor(a.renewVisitor)},
		{"GET " + one + "/passes", a.withPasses(a.getPasses)},
		{"POST " + one + "/passes", a.withPasses(a.postPasses)},
		{"DELETE " + one + "/passes/{pass}", patient(a.withPasses(a.deletePasses))},
		{"GET " + one + "/record", a.getRecord},
		{"GET " + one + "/proposal", a.withRoom(a.getProposal)},
		{"GET /api/v1/webhooks", a.getWebhooks},
		{"POST /api/v1/webhooks/test", a.testWebhooks},
	}, append(a.eventResources(), a.waitlistResources()...)...)
}

// methodsOf returns the methods that the resource r asks for supports; nil if
// there is no such resource.
func methodsOf(mux *http.ServeMux, r *http.Request) []string {
	var methods []string
	r = r.Clone(r.Context())
	for _, r.Method = range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if _, pattern := mux.Handler(r); pattern != "/" {
			methods = append(methods, r.Method)
		}
	}
	return methods
}

// wellNamed refuses other names than localhost where there is no bearer token, and
// the listener is for this machine only: a page of another site could give itself a
// name that leads here (DNS rebinding), and read what it is answered.
func (a *api) wellNamed(next http.Handler) http.Handler {
	if a.Token != "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocalOrAddress(r.Host) {
			reply.Problem(w, http.StatusMisdirectedRequest, "Without an admin token the API and the metrics answer to localhost and to addresses, not to names.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLocalOrAddress says whether a Host header is localhost or an IP address.
func isLocalOrAddress(host string) bool {
	name, ok := route.ParseHost(host)
	_, err := netip.ParseAddr(name)
	return ok && (name == "localhost" || err == nil)
}
