// Package admin is the handler of a gate's admin listener: health, metrics, and the
// API for operators. It knows the gate as a [Gate] and its rooms as a [Room].
//
//	admin.go        the listener: which resources there are, and who may ask for them
//	health.go       /livez and /readyz
//	rooms.go        the rooms, and changes to them
//	description.go  what a room goes by, as JSON
//	status.go       how a room stands
//	visitors.go     the visitors of a room
//	waitlists.go    the waitlists, and what all that is below them shares
//	entries.go      who is on a waitlist
//	invites.go      releases now and by plan, and the referrals that wait for an operator
//	transfer.go     imports, exports, and the audit log
//	outbox.go       the mails that are kept while none are sent
package admin

import (
	"crypto/subtle"
	"iter"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/proxy/reply"
	"github.com/anteroom-gate/anteroom/proxy/route"
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
	// Draining reports whether the gate is about to stop.
	Draining() bool
}

// Config is what the handler is made of.
type Config struct {
	Gate    Gate
	Metrics http.Handler
	Token   string // that the API asks for as a bearer token; "" for none
	Clock   func() time.Time
	Log     *zap.Logger
}

// api answers the requests of operators.
type api struct{ Config }

// New returns the handler: /livez, /readyz and /metrics for everyone who reaches it,
// and the API below /api/v1/, which asks for the bearer token if there is one.
// Browsers' requests from other sites are refused; so are, without a token, requests
// for the API and the metrics by another name than localhost.
func New(c Config) http.Handler {
	a := &api{c}
	mux, resources := http.NewServeMux(), a.resources()
	resources.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if allowed := append(methodsOf(mux, r), methodsOf(resources, r)...); allowed != nil {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			reply.Problem(w, http.StatusMethodNotAllowed, "This resource does not support the method.")
			return
		}
		reply.Problem(w, http.StatusNotFound, "There is no such resource. See /api/v1/rooms and /api/v1/waitlists.")
	})
	mux.HandleFunc("GET /livez", getLive)
	mux.HandleFunc("GET /readyz", a.getReady)
	mux.Handle("GET /metrics", a.wellNamed(c.Metrics))
	mux.Handle("/", a.wellNamed(a.authorised(resources)))
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reply.Problem(w, http.StatusForbidden, "Requests from pages of other sites are refused.")
	}))
	return protection.Handler(mux)
}

// resources are those below /api/v1/.
func (a *api) resources() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/rooms", a.getRooms)
	mux.HandleFunc("GET /api/v1/rooms/{room}", a.getRoom)
	mux.HandleFunc("PATCH /api/v1/rooms/{room}", a.withRoom(a.patchRoom))
	mux.HandleFunc("GET /api/v1/rooms/{room}/status", a.withRoom(a.getStatus))
	mux.HandleFunc("GET /api/v1/rooms/{room}/visitors", a.withRoom(a.getVisitors))
	mux.HandleFunc("GET /api/v1/rooms/{room}/visitors/{id}", a.withVisitor(a.getVisitor))
	mux.HandleFunc("PATCH /api/v1/rooms/{room}/visitors/{id}", a.withVisitor(a.patchVisitor))
	mux.HandleFunc("DELETE /api/v1/rooms/{room}/visitors/{id}", a.withVisitor(a.deleteVisitor))
	mux.HandleFunc("POST /api/v1/rooms/{room}/visitors/{id}/renew", a.withVisitor(a.renewVisitor))
	a.waitlistResources(mux)
	return mux
}

// methodsOf returns the methods that the resource r asks for supports; nil if
// there is no such resource.
func methodsOf(mux *http.ServeMux, r *http.Request) []string {
	var methods []string
	r = r.Clone(r.Context())
	for _, r.Method = range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete} {
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

// authorised asks for the bearer token, if there is one.
func (a *api) authorised(next http.Handler) http.Handler {
	if a.Token == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(token), []byte(a.Token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			reply.Problem(w, http.StatusUnauthorized, "Send the admin token: Authorization: Bearer ….")
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
