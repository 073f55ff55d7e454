package proxy_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/left"
)

// around puts the gate around a handler in place of an origin.
func around(h http.HandlerFunc) func(*proxy.Config, *proxy.Options) {
	return func(c *proxy.Config, _ *proxy.Options) {
		c.Rooms[0].Origin, c.Handler = nil, h
	}
}

func TestAHandlerInTheSameProcessIsGuardedAsAnOriginIs(t *testing.T) {
	var got []*http.Request
	f := start(t, around(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r)
		w.Header().Set("Cache-Control", "public")
		w.Header().Add("Set-Cookie", "own=1")
		_, _ = io.WriteString(w, "in")
	}), func(c *proxy.Config, _ *proxy.Options) { c.Rooms[0].Routes[0].Path = "/shop" })
	in, waits := f.visitor(), f.visitor()
	in.cookies["other"] = "1"
	a := in.get("/shop", with("Fairdoor-Admitted", "yes"))
	assert.True(t, a.in())
	assert.Len(t, a.header["Set-Cookie"], 2)
	assert.Equal(t, "private, no-store", a.header.Get("Cache-Control"), "no cache keeps an answer with a ticket")
	assert.True(t, in.get("/shop").in())
	f.pass(2 * time.Second)
	assert.False(t, waits.get("/shop").in())
	assert.True(t, waits.get("/").in(), "no room guards it")
	require.Len(t, got, 3)
	assert.Empty(t, got[0].Header["Fairdoor-Admitted"], "the gate's own fields are nobody's")
	assert.NotContains(t, got[1].Header.Get("Cookie"), "fairdoor_")
	assert.Contains(t, got[1].Header.Get("Cookie"), "other=1")
}

func TestAHandlerCommandsTheGate(t *testing.T) {
	f := start(t, around(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/leave":
			w.Header().Set("Fairdoor-Command", "revoke")
			w.WriteHeader(http.StatusNoContent)
		case "/left":
			w.Header().Set("Fairdoor-Left", "37")
		default:
			_, _ = io.WriteString(w, "in")
		}
	}), room(func(r *proxy.RoomConfig) { r.Commands = config.Commands{config.Revoke, left.Command} }))
	in, waits := f.visitor(), f.visitor()
	require.True(t, in.get("/").in())
	a := in.get("/left")
	assert.Equal(t, http.StatusOK, a.status)
	assert.Empty(t, a.header["Fairdoor-Left"])
	f.pass(2 * time.Second)
	assert.InEpsilon(t, 37, waits.get("/", asJSON).told("itemsLeft"), 0)
	a = in.get("/leave")
	assert.Equal(t, http.StatusNoContent, a.status)
	assert.Empty(t, a.header["Fairdoor-Command"])
	assert.NotContains(t, in.cookies, "fairdoor_shop")
	f.pass(interval * 5 / 4) // which is more than its jitter
	assert.True(t, waits.get("/").in(), "the slot is free")
}

func TestAHandlersStreamGoesOnAndIsForThoseWhoAreInOnly(t *testing.T) {
	f := start(t, around(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "data: 1\n\n")
	}))
	v := f.visitor()
	a := v.get("/")
	assert.Equal(t, "data: 1\n\n", a.body)
	assert.Contains(t, a.setCookies(), "fairdoor_shop")
	a = f.visitor().get("/x.js", with("Sec-Fetch-Dest", "script"))
	assert.Equal(t, http.StatusServiceUnavailable, a.status, "parts of pages may not last")
	assert.NotContains(t, a.body, "data")
	assert.NotEqual(t, "text/event-stream", a.header.Get("Content-Type"))
}

func TestAHandlersAnswerWithoutABodyIsRefusedAsOneWithABodyIs(t *testing.T) {
	f := start(t, around(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") }))
	assert.Equal(t, http.StatusServiceUnavailable, f.visitor().get("/x.js", with("Sec-Fetch-Dest", "script")).status)
	a := f.visitor().get("/")
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.setCookies(), "fairdoor_shop")
}

func TestWhatAHandlerTellsTheGateIsNotInItsInformationalHeaders(t *testing.T) {
	f := start(t, around(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Fairdoor-Command", "revoke")
		h.Set("Fairdoor-Left", "37")
		h.Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "in")
	}), room(revokeEnabled))
	v, informed := f.visitor(), make(chan textproto.MIMEHeader, 1)
	a := v.get("/", func(r *http.Request) {
		*r = *r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
			Got1xxResponse: func(_ int, h textproto.MIMEHeader) error { informed <- h; return nil },
		}))
	})
	h := <-informed
	assert.Equal(t, "</style.css>; rel=preload", h.Get("Link"))
	assert.Empty(t, h["Fairdoor-Command"])
	assert.Empty(t, h["Fairdoor-Left"])
	assert.True(t, a.in())
	assert.Empty(t, a.header["Fairdoor-Command"])
	assert.NotContains(t, v.cookies, "fairdoor_shop", "the command counts")
}

func TestAHandlersWebsocketKeepsItsSeatAndIsCutWhenTheSeatIsLost(t *testing.T) {
	left := make(chan error, 1)
	f := start(t, manyGates, room(byConnection(15*time.Second)), room(func(r *proxy.RoomConfig) { r.Commands = config.Commands{config.Revoke} }), around(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/socket":
			conn, err := websocket.Accept(w, r, nil)
			if err == nil {
				_, _, err = conn.Read(context.WithoutCancel(r.Context()))
			}
			left <- err
		case "/leave":
			w.Header().Set("Fairdoor-Command", "revoke")
		default:
			_, _ = io.WriteString(w, "in")
		}
	}))
	in, waits := f.visitor(), f.visitor()
	require.True(t, in.get("/").in())
	f.pass(14 * time.Second)
	conn, answer, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(in.base, "http")+"/socket",
		&websocket.DialOptions{HTTPHeader: http.Header{"Cookie": {"fairdoor_shop=" + in.cookies["fairdoor_shop"]}}})
	require.NoError(t, err)
	defer conn.CloseNow()
	require.Equal(t, http.StatusSwitchingProtocols, answer.StatusCode)
	for range 12 {
		f.pass(time.Second)
		require.False(t, waits.get("/").in(), "the connection keeps the seat")
	}
	in.get("/leave")
	select {
	case err := <-left:
		assert.Error(t, err, "the connection is cut")
	case <-time.After(patience):
		assert.Fail(t, "the connection stays")
	}
}

func TestTheAPITellsOfARoomAroundAHandler(t *testing.T) {
	f := start(t, around(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") }))
	type told struct {
		Origin     *string
		Origins    []string
		HostHeader string `json:"host_header"`
	}
	var rooms []told
	f.api(http.MethodGet, "/api/v1/rooms", "", &rooms)
	var one, changed told
	f.api(http.MethodGet, "/api/v1/rooms/shop", "", &one)
	a := f.api(http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 3}`, &changed)
	assert.Equal(t, http.StatusOK, a.status)
	nowhere := ""
	want := told{Origin: &nowhere, Origins: []string{}, HostHeader: "visitor"}
	for _, got := range append(rooms, one, changed) {
		assert.Equal(t, want, got)
	}
	assert.Len(t, rooms, 1)
}
