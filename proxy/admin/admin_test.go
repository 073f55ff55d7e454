package admin_test

import (
	"context"
	"fmt"
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

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/admintest"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

var now = time.Date(2021, 5, 27, 15, 54, 10, 0, time.UTC)

// gate is a gate of the room shop and the family chat, which has no rooms.
type gate struct {
	t        *testing.T
	shop     *shop
	draining bool
	record   *record.Record
	log      *zap.Logger
	rooms    int // how often it lists the shop; default once

	operators []admin.Operator
}

func (g *gate) Rooms() iter.Seq[admin.Room] {
	return slices.Values(slices.Repeat([]admin.Room{g.shop}, max(g.rooms, 1)))
}

func (g *gate) Room(name string) (admin.Room, bool) { return g.shop, name == "shop" }

func (g *gate) Family(name string) (admin.Description, bool) {
	return describe("chat", route.Route{Path: "/chat/{room}"}), name == "chat"
}

func (g *gate) RecordFailing() bool { return false }

func (g *gate) Draining() bool { return g.draining }

// shop is a room, and what the API has done with it.
type shop struct {
	*overrides.Room
	cut     []queue.ID
	hangs   *hanging // its store, if that does not answer
	entries []string // that have come to this gate
}

func (s *shop) Describe() admin.Description {
	d := describe("shop", route.Route{Path: "/"})
	d.Configuration = s.Room.Queue().Configuration()
	return d
}

func (s *shop) Queue() admin.Queue {
	if s.hangs != nil {
		s.hangs.Queue = s.Room.Queue()
		return s.hangs
	}
	return s.Room.Queue()
}

// hanging is a queue whose store does not answer.
type hanging struct {
	admin.Queue
	known bool // the gate knows it
	asked int
}

func (h *hanging) StoreFailing() bool { return h.known }

func (h *hanging) Roster(ctx context.Context, _ ...queue.ID) (*queue.Roster, error) {
	h.asked++
	<-ctx.Done()
	return nil, ctx.Err()
}

func (s *shop) Order(d *event.Draw) (event.Order, error) {
	return event.NewOrder("shop", d, s.entries), nil
}

func (s *shop) OrderHeader(d *event.Draw) (event.Header, error) {
	return event.NewOrder("shop", d, s.entries).Header, nil
}

func (s *shop) Origins() []admin.Origin { return []admin.Origin{} }

func (s *shop) Disconnect(id queue.ID) { s.cut = append(s.cut, id) }

func describe(name string, guarded route.Route) admin.Description {
	return admin.Description{Names: true, Configuration: queue.Configuration{Settings: queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 10}}, Config: &config.Room{
		Name: name, Routes: []route.Route{guarded}, Subject: subject.Config{LabelHeader: "X-Name"}, Origin: &url.URL{Scheme: "http", Host: "site.test"}, MaxRooms: 7, RoomIdle: time.Minute,
		Rules: []route.Rule{{Action: "bypass", Match: route.Conditions{Header: "X-Key: secret"}}, {Action: "bypass", Match: route.Conditions{Cookie: "key=secret"}}},
	}}
}

func newGate(t *testing.T) *gate {
	s := queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 10}
	past := record.Open("", now, zap.NewNop())
	r, err := overrides.Open(t.Context(), now, overrides.Config{
		Config: room.Config{Name: "shop", Settings: s, Store: memstore.New()}, Log: zap.NewNop(),
		OnChange: func(c overrides.Change) { past.Note("shop", record.Change(c)) },
	})
	require.NoError(t, err)
	_, err = r.Reload(t.Context(), now, overrides.File{Settings: s})
	require.NoError(t, err)
	return &gate{t: t, log: zap.NewNop(), record: past, shop: &shop{Room: r}}
}

// ask asks the handler of a gate.
func ask(g *gate, method, target, body string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "localhost"
	g.handler().ServeHTTP(w, r)
	return w
}

// handler is the handler of the gate. What it answers is held to its document.
func (g *gate) handler() http.Handler {
	return admintest.Conform(g.t, g.handlerWith(""))
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

func TestAChangeIsCheckedBeforeAnybodyIsAskedAboutIt(t *testing.T) {
	g := newGate(t)
	refused := ask(g, http.MethodPost, "/api/v1/rooms/shop/check", `{"queue_ticket_ttl": "1s", "total_active_users": 7}`)
	assert.Equal(t, http.StatusUnprocessableEntity, refused.Code)
	assert.Equal(t, ask(g, http.MethodPatch, "/api/v1/rooms/shop", `{"queue_ticket_ttl": "1s", "total_active_users": 7}`).Body.String(), refused.Body.String())
	assert.Equal(t, http.StatusNoContent, ask(g, http.MethodPost, "/api/v1/rooms/shop/check", `{"total_active_users": 7}`).Code)
	assert.Equal(t, 1, g.shop.Room.Queue().Settings().TotalActiveUsers, "nothing is changed")
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

// Preview shows what it was asked for.
func (s *shop) Preview(_ time.Time, state, language, message string) (page []byte, policy string, found bool) {
	return []byte(state + ", " + language + ", " + message), "default-src 'none'", state == "" || state == "fifo"
}

// SupportCode is of the first letters of an id.
func (s *shop) SupportCode(short [8]byte) string { return fmt.Sprintf("%X-%X", short[:2], short[2:4]) }
