// Package admin is the handler of a gate's admin listener: health, metrics, and the
// API for operators. It knows the gate as a [Gate] and its rooms as a [Room]. What features
// have of it is a [Part] of each.
//
//	admin.go        the listener: which resources there are, and who may ask for them
//	part.go         what features bring, and what they may ask
//	health.go       /livez and /readyz
//	rooms.go        the rooms, and changes to them
//	description.go  what a room goes by, as JSON
//	status.go       how a room stands
//	table.go        how all rooms stand, as CSV
//	overview.go     the dashboard: the page of all rooms
//	now.go          the pages of a room
//	message.go      what those who wait are told, with the page that they see
//	preview.go      that page in the states that it can have
//	past.go         what they show of the last hours
//	happening.go    what they show of events, and the origin's pace
//	pressure.go     whether the origin is slow, and the limits that are proposed
//	switches.go     changes that are made in the dashboard
//	planning.go     events that are planned in the dashboard
//	notices.go      what was just done, as the next page says it
//	forecast.go     what a change does to the line
//	login.go        who may use the dashboard
//	operator.go     the names of operators
//	document.go     the description of the API in OpenAPI
//	visitors.go     the visitors of a room
//	find.go         visitors by their support code or name, and who is put ahead
//	visitor.go      the pages of one visitor
//	events.go       the events of a room, and the order of a draw
//	profiles.go     what the process spends its time and memory on
//	record.go       the record of a room's days
package admin

import (
	"iter"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// Gate is what the handler knows of a gate.
type Gate interface {
	// Rooms returns the rooms that there are, those of families among them.
	Rooms() iter.Seq[Room]
	// Room returns the room of a name.
	Room(name string) (r Room, found bool)
	// Family describes what the rooms of a family start with.
	Family(name string) (d Description, found bool)
	// RecordFailing reports whether the record of waitlists and passes does not answer.
	RecordFailing() bool
	// Draining reports whether the gate is about to stop.
	Draining() bool
}

// Config is what the handler is made of.
type Config struct {
	Gate    Gate
	Parts   []func(API) Part // those of the features
	Metrics http.Handler
	Record  Record
	Token   string // that the API asks for as a bearer token, or for that of an operator; "" for none
	Clock   func() time.Time
	Log     *zap.Logger
	Docs    http.Handler // the documentation, at /docs/; nil for none
	Refused func() bool  // whether the configuration as it is now was refused; nil for never

	File func() string // the configuration's, as operators know it; nil, or "", for none

	Operators func() []Operator // those who have a token of their own; nil for none
}

// api answers the requests of operators.
type api struct {
	Config
	sessions *dashboard.Sessions
	notices  notices
	parts    []Part
	document []byte
}

// Handler answers the requests of the admin listener.
type Handler struct {
	http.Handler
	Document  []byte     // describes the resources, in OpenAPI
	Resources []Resource // those that it describes
}

// New returns the handler: /livez, /readyz and /metrics for everyone who reaches it, and
// the dashboard and the API below /api/v1/, which ask for the token if there is one: the API
// as a bearer token or by the cookie of who has given it to the dashboard. Browsers'
// requests from other sites are refused; so are, without a token, requests for the
// dashboard, the API and the metrics by another name than localhost.
func New(c Config) *Handler {
	a := &api{Config: c, notices: notices{kept: map[string]*dashboard.Done{}}}
	a.sessions = dashboard.NewSessions(a.tokens, c.Clock)
	for _, part := range c.Parts {
		a.parts = append(a.parts, part(API{a}))
	}
	a.document = compose(a.parts)
	mux, guarded := http.NewServeMux(), http.NewServeMux()
	resources := a.resources()
	for _, r := range slices.Concat(resources, a.pages(), a.profiles()) {
		switch {
		case r.Open:
			mux.HandleFunc(r.Pattern, r.Answer)
		case r.Keyed:
			mux.Handle(r.Pattern, a.wellNamed(r.Answer))
		default:
			guarded.HandleFunc(r.Pattern, r.Answer)
		}
	}
	if a.Docs != nil {
		guarded.Handle("GET "+dashboard.DocsPath, a.Docs)
	}
	guarded.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if allowed := append(methodsOf(mux, r), methodsOf(guarded, r)...); allowed != nil {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			reply.Problem(w, http.StatusMethodNotAllowed, "This resource does not support the method.")
			return
		}
		if isPage(r) {
			a.problem(w, r, http.StatusNotFound, "The dashboard has no such page.")
			return
		}
		reply.Problem(w, http.StatusNotFound, "There is no such resource. See "+a.beginnings()+" and /api/v1/openapi.yaml.")
	})
	mux.Handle("GET "+dashboard.AssetPath, a.wellNamed(http.HandlerFunc(dashboard.ServeAsset)))
	mux.Handle("POST /login", a.wellNamed(http.HandlerFunc(a.logIn)))
	mux.Handle("/", a.wellNamed(a.authorised(guarded)))
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reply.Problem(w, http.StatusForbidden, "Requests from pages of other sites are refused.")
	}))
	return &Handler{protection.Handler(mux), a.document, resources}
}

// resources are those of the API, which is documented in openapi.yaml, and those of features.
func (a *api) resources() []Resource {
	const one = "/api/v1/rooms/{room}"
	all := append([]Resource{
		{Pattern: "GET /livez", Answer: getLive, Open: true},
		{Pattern: "GET /readyz", Answer: a.getReady, Open: true},
		{Pattern: "GET /metrics", Answer: func(w http.ResponseWriter, r *http.Request) { a.wellNamed(a.Metrics).ServeHTTP(w, r) }, Open: true},
		{Pattern: "GET /api/v1/openapi.yaml", Answer: a.getDocument},
		{Pattern: "GET /api/v1/rooms", Answer: a.getRooms},
		{Pattern: "GET /api/v1/rooms.csv", Answer: a.getTable},
		{Pattern: "GET " + one, Answer: a.getRoom},
		{Pattern: "PATCH " + one, Answer: a.withRoom(a.patchRoom)},
		{Pattern: "POST " + one + "/check", Answer: a.withRoom(a.checkPatch)},
		{Pattern: "GET " + one + "/status", Answer: a.withRoom(a.getStatus)},
		{Pattern: "GET " + one + "/visitors", Answer: a.withRoom(a.getVisitors)},
		{Pattern: "GET " + one + "/visitors/{id}", Answer: a.withVisitor(a.getVisitor)},
		{Pattern: "PATCH " + one + "/visitors/{id}", Answer: a.withVisitor(a.patchVisitor)},
		{Pattern: "DELETE " + one + "/visitors/{id}", Answer: a.withVisitor(a.deleteVisitor)},
		{Pattern: "POST " + one + "/visitors/{id}/renew", Answer: a.withVisitor(a.renewVisitor)},
		{Pattern: "PUT " + one + "/visitors/{id}/ahead", Answer: a.putAhead(true)},
		{Pattern: "DELETE " + one + "/visitors/{id}/ahead", Answer: a.putAhead(false)},
		{Pattern: "GET /api/v1/visitors", Answer: a.getFound},
		{Pattern: "GET " + one + "/record", Answer: a.getRecord},
		{Pattern: "GET " + one + "/proposal", Answer: a.withRoom(a.getProposal)},
	}, a.eventResources()...)
	for _, part := range a.parts {
		all = append(all, part.Resources...)
	}
	return all
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
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.asks() && !isLocalOrAddress(r.Host) {
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
