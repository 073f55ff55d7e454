package proxy

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"strings"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/proxy/route"
)

// maxPatch bounds the body of a PATCH, in bytes.
const maxPatch = 64 << 10

// Admin returns the handler of the admin listener: /livez, /readyz and /metrics
// for everyone who reaches it, and the API below /api/v1/, which asks for the
// bearer token if there is one. Browsers' requests from other sites are refused; so
// are, without a token, requests for the API and the metrics by another name than
// localhost.
func (g *Gate) Admin() http.Handler {
	mux, api := http.NewServeMux(), http.NewServeMux()
	api.HandleFunc("GET /api/v1/rooms", g.getRooms)
	api.HandleFunc(roomPattern, g.withRoom(g.getRoom))
	api.HandleFunc("PATCH /api/v1/rooms/{room}", g.withRoom(g.patchRoom))
	api.HandleFunc("GET /api/v1/rooms/{room}/status", g.withRoom(g.getStatus))
	api.HandleFunc("GET /api/v1/rooms/{room}/visitors", g.withRoom(g.getVisitors))
	api.HandleFunc("GET /api/v1/rooms/{room}/visitors/{id}", g.withVisitor(g.getVisitor))
	api.HandleFunc("PATCH /api/v1/rooms/{room}/visitors/{id}", g.withVisitor(g.patchVisitor))
	api.HandleFunc("DELETE /api/v1/rooms/{room}/visitors/{id}", g.withVisitor(g.deleteVisitor))
	api.HandleFunc("POST /api/v1/rooms/{room}/visitors/{id}/renew", g.withVisitor(g.renewVisitor))
	api.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if allowed := append(methodsOf(mux, r), methodsOf(api, r)...); allowed != nil {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			refuse(w, http.StatusMethodNotAllowed, "This resource does not support the method.")
			return
		}
		refuse(w, http.StatusNotFound, "There is no such resource. See /api/v1/rooms.")
	})

	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]string{"status": "ok"}) })
	mux.HandleFunc("GET /readyz", g.getReady)
	mux.Handle("GET /metrics", g.wellNamed(g.metrics.Handler()))
	mux.Handle("/", g.wellNamed(g.authorised(api)))
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusForbidden, "Requests from pages of other sites are refused.")
	}))
	return protection.Handler(mux)
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
func (g *Gate) wellNamed(next http.Handler) http.Handler {
	if g.o.AdminToken != "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocalOrAddress(r.Host) {
			refuse(w, http.StatusMisdirectedRequest, "Without an admin token the API and the metrics answer to localhost and to addresses, not to names.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// authorised asks for the bearer token, if there is one.
func (g *Gate) authorised(next http.Handler) http.Handler {
	if g.o.AdminToken == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(token), []byte(g.o.AdminToken)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "Send the admin token: Authorization: Bearer ….")
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

// getReady says whether new visitors may be sent here. A store that does not
// answer is told, and is no reason to send them elsewhere: who is in is served,
// and the other gates have the same store.
func (g *Gate) getReady(w http.ResponseWriter, _ *http.Request) {
	if g.draining.Load() {
		refuse(w, http.StatusServiceUnavailable, "The gate is about to stop.")
		return
	}
	failing := map[string]string{}
	for r := range g.current.Load().rooms {
		if r.queue.StoreFailing() {
			failing[r.queue.Name()] = r.queue.Settings().OnStoreError.String()
		}
	}
	if len(failing) > 0 {
		reply(w, map[string]any{"status": "degraded", "detail": "The store does not answer. By room, who is let in meanwhile:", "rooms": failing})
		return
	}
	reply(w, map[string]string{"status": "ok"})
}

func (g *Gate) getRooms(w http.ResponseWriter, _ *http.Request) {
	rooms := []roomJSON{}
	for r := range g.current.Load().rooms {
		rooms = append(rooms, r.describe())
	}
	reply(w, rooms)
}

// withRoom finds the room that the path names.
func (g *Gate) withRoom(next func(http.ResponseWriter, *http.Request, *room)) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		name, s := q.PathValue("room"), g.current.Load()
		if r := s.roomNamed(name); r != nil {
			next(w, q, r)
			return
		}
		switch f := s.familyNamed(name); {
		case f == nil:
			refuse(w, http.StatusNotFound, "There is no room of this name. See /api/v1/rooms.")
		case q.Pattern == roomPattern:
			reply(w, f.describe())
		default:
			refuse(w, http.StatusNotFound, "There is a room for each value of the path, and none of this name: each is called "+name+".VALUE. See /api/v1/rooms.")
		}
	}
}

// roomPattern is the resource of a room, and of what a family's rooms start with.
const roomPattern = "GET /api/v1/rooms/{room}"

func (g *Gate) getRoom(w http.ResponseWriter, _ *http.Request, r *room) { reply(w, r.describe()) }

// isJSON says whether the lines of a Content-Type header name JSON, or there are
// none: browsers ask first before they send a PATCH to another site in any case.
func isJSON(lines []string) bool {
	if len(lines) == 0 {
		return true
	}
	kind, _, err := mime.ParseMediaType(lines[0])
	return err == nil && (kind == "application/json" || kind == "application/merge-patch+json")
}

// readPatch reads the body of a change; if it cannot, it has answered instead.
func readPatch(w http.ResponseWriter, q *http.Request) (patch []byte, ok bool) {
	if !isJSON(q.Header["Content-Type"]) {
		refuse(w, http.StatusUnsupportedMediaType, "Send the changes as application/json.")
		return nil, false
	}
	patch, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxPatch))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, "The body could not be read.")
		return nil, false
	}
	return patch, true
}

func (g *Gate) patchRoom(w http.ResponseWriter, q *http.Request, r *room) {
	patch, ok := readPatch(w, q)
	if !ok {
		return
	}
	r.markAsked(g.o.Clock())
	err := r.change(q.Context(), g.o.Clock(), patch, q.RemoteAddr)
	faults := new(faultsError)
	switch {
	case err == nil:
		g.o.Log.Info("room changed", zap.String("room", r.queue.Name()), zap.ByteString("changes", patch), zap.String("by", q.RemoteAddr))
		reply(w, r.describe())
	case errors.Is(err, errNoObject):
		refuse(w, http.StatusBadRequest, "The body is not a JSON object.")
	case errors.As(err, &faults):
		refuse(w, http.StatusUnprocessableEntity, "Nothing was changed.", faults.lines...)
	default:
		g.o.Log.Error("room not changed", zap.String("room", r.queue.Name()), zap.Error(err))
		refuse(w, http.StatusServiceUnavailable, "The store does not answer. It may make the change all the same: look before you ask again.")
	}
}

func reply(w http.ResponseWriter, value any) { send(w, http.StatusOK, "application/json", value) }

// refuse answers with problem+json (RFC 9457); faults are all that is wrong with
// what was sent.
func refuse(w http.ResponseWriter, status int, detail string, faults ...string) {
	send(w, status, "application/problem+json", struct {
		Title  string   `json:"title"`
		Status int      `json:"status"`
		Detail string   `json:"detail"`
		Errors []string `json:"errors,omitempty"`
	}{http.StatusText(status), status, strings.TrimSuffix(detail+" "+strings.Join(faults, "; "), " "), faults})
}

func send(w http.ResponseWriter, status int, contentType string, value any) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	// Whoever does not read the answer has gone.
	_ = encoder.Encode(value)
}
