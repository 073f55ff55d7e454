package admin_test

import (
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/proxy/admin"
	"github.com/anteroom-gate/anteroom/proxy/config"
	"github.com/anteroom-gate/anteroom/proxy/overrides"
	"github.com/anteroom-gate/anteroom/proxy/route"
	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/memstore"
	"github.com/anteroom-gate/anteroom/queue/room"
)

var now = time.Date(2021, 5, 27, 15, 54, 10, 0, time.UTC)

// gate is a gate of the room shop and the family chat, which has no rooms, and of the waitlist beta, if there is one.
type gate struct {
	shop     *shop
	beta     *beta
	draining bool
}

func (g *gate) Rooms() iter.Seq[admin.Room] { return slices.Values([]admin.Room{g.shop}) }

func (g *gate) Room(name string) (admin.Room, bool) { return g.shop, name == "shop" }

func (g *gate) Family(name string) (admin.Description, bool) {
	return describe("chat", route.Route{Path: "/chat/{room}"}), name == "chat"
}

func (g *gate) Waitlists() iter.Seq[admin.Waitlist] { return slices.Values([]admin.Waitlist{g.beta}) }

func (g *gate) Waitlist(name string) (admin.Waitlist, bool) { return g.beta, name == "beta" }

func (g *gate) Draining() bool { return g.draining }

// shop is a room, and what the API has done with it.
type shop struct {
	*overrides.Room
	cut []queue.ID
}

func (s *shop) Describe() admin.Description {
	d := describe("shop", route.Route{Path: "/"})
	d.Configuration = s.Room.Queue().Configuration()
	return d
}

func (s *shop) Queue() admin.Queue { return s.Room.Queue() }

func (s *shop) Disconnect(id queue.ID) { s.cut = append(s.cut, id) }

func describe(name string, guarded route.Route) admin.Description {
	return admin.Description{Config: &config.Room{
		Name: name, Routes: []route.Route{guarded}, Origin: &url.URL{Scheme: "http", Host: "site.test"}, MaxRooms: 7, RoomIdle: time.Minute,
		Rules: []route.Rule{{Action: "bypass", Match: route.Conditions{Header: "X-Key: secret"}}, {Action: "bypass", Match: route.Conditions{Cookie: "key=secret"}}},
	}}
}

func newGate(t *testing.T) *gate {
	s := queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 10}
	r, err := overrides.Open(t.Context(), now, room.Config{Name: "shop", Settings: s, Store: memstore.New()}, zap.NewNop())
	require.NoError(t, err)
	_, err = r.Reload(t.Context(), now, s)
	require.NoError(t, err)
	return &gate{shop: &shop{Room: r}}
}

// ask asks the handler of a gate.
func ask(g *gate, method, target, body string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "localhost"
	g.handler().ServeHTTP(w, r)
	return w
}

func (g *gate) handler() http.Handler {
	return admin.New(admin.Config{Gate: g, Metrics: http.NotFoundHandler(), Clock: func() time.Time { return now }, Log: zap.NewNop()})
}

func TestRoomsAndFamiliesAreDescribedWithoutWhatTheirRulesKeepSecret(t *testing.T) {
	g := newGate(t)
	for _, path := range []string{"/api/v1/rooms", "/api/v1/rooms/shop", "/api/v1/rooms/chat"} {
		w := ask(g, http.MethodGet, path, "")
		assert.Equal(t, http.StatusOK, w.Code)
		assert.Contains(t, w.Body.String(), `"header": "X-Key: …"`)
		assert.Contains(t, w.Body.String(), `"cookie": "key=…"`)
		assert.NotContains(t, w.Body.String(), "secret")
		assert.Equal(t, path == "/api/v1/rooms/chat", strings.Contains(w.Body.String(), `"max_rooms": 7`), "a family has a number of rooms")
	}
}

func TestFamilyHasNothingThatOnlyARoomHas(t *testing.T) {
	g := newGate(t)
	for _, path := range []string{"/status", "/visitors", "/visitors/subject:ann"} {
		w := ask(g, http.MethodGet, "/api/v1/rooms/chat"+path, "")
		assert.Equal(t, http.StatusNotFound, w.Code)
		assert.Contains(t, w.Body.String(), "each is called chat.VALUE")
	}
	w := ask(g, http.MethodPatch, "/api/v1/rooms/chat", `{"queue_all": true}`)
	assert.Contains(t, w.Body.String(), "each is called chat.VALUE")
	assert.Contains(t, ask(g, http.MethodGet, "/api/v1/rooms/nowhere", "").Body.String(), "There is no room of this name")
}

func TestVisitorWhoIsRemovedIsDisconnected(t *testing.T) {
	g := newGate(t)
	d := g.shop.Room.Queue().Visit(t.Context(), now, room.Request{Subject: room.SubjectID("shop", "ann")})
	require.Equal(t, room.Admitted, d.Outcome)
	assert.Contains(t, ask(g, http.MethodGet, "/api/v1/rooms/shop/visitors/subject:ann", "").Body.String(), `"status": "active"`)
	assert.Equal(t, http.StatusNotFound, ask(g, http.MethodDelete, "/api/v1/rooms/shop/visitors/subject:ben", "").Code)
	assert.Empty(t, g.shop.cut)
	assert.Equal(t, http.StatusNoContent, ask(g, http.MethodDelete, "/api/v1/rooms/shop/visitors/"+d.Ticket.ID.String(), "").Code)
	assert.Equal(t, []queue.ID{d.Ticket.ID}, g.shop.cut)
	assert.Equal(t, http.StatusNotFound, ask(g, http.MethodGet, "/api/v1/rooms/shop/visitors/subject:ann", "").Code)
}

func TestGateThatDrainsIsLiveAndNotReady(t *testing.T) {
	g := newGate(t)
	assert.Equal(t, http.StatusOK, ask(g, http.MethodGet, "/readyz", "").Code)
	g.draining = true
	assert.Equal(t, http.StatusServiceUnavailable, ask(g, http.MethodGet, "/readyz", "").Code)
	assert.Equal(t, http.StatusOK, ask(g, http.MethodGet, "/livez", "").Code)
}
