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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
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
	f := gatetest.Start(t, around(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r)
		w.Header().Set("Cache-Control", "public")
		w.Header().Add("Set-Cookie", "own=1")
		_, _ = io.WriteString(w, "in")
	}), func(c *proxy.Config, _ *proxy.Options) { c.Rooms[0].Routes[0].Path = "/shop" })
	in, waits := f.Visitor(), f.Visitor()
	in.Cookies["other"] = "1"
	a := in.Get("/shop", gatetest.With("Fairdoor-Admitted", "yes"))
	assert.True(t, a.In())
	assert.Len(t, a.Header["Set-Cookie"], 2)
	assert.Equal(t, "private, no-store", a.Header.Get("Cache-Control"), "no cache keeps an answer with a ticket")
	assert.True(t, in.Get("/shop").In())
	f.Pass(2 * time.Second)
	assert.False(t, waits.Get("/shop").In())
	assert.True(t, waits.Get("/").In(), "no room guards it")
	require.Len(t, got, 3)
	assert.Empty(t, got[0].Header["Fairdoor-Admitted"], "the gate's own fields are nobody's")
	assert.NotContains(t, got[1].Header.Get("Cookie"), "fairdoor_")
	assert.Contains(t, got[1].Header.Get("Cookie"), "other=1")
}

func TestAHandlerCommandsTheGate(t *testing.T) {
	f := gatetest.Start(t, around(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/leave":
			w.Header().Set("Fairdoor-Command", "revoke")
			w.WriteHeader(http.StatusNoContent)
		case "/left":
			w.Header().Set("Fairdoor-Left", "37")
		default:
			_, _ = io.WriteString(w, "in")
		}
	}), gatetest.Room(func(r *proxy.RoomConfig) { r.Commands = config.Commands{config.Revoke, left.Command} }))
	in, waits := f.Visitor(), f.Visitor()
	require.True(t, in.Get("/").In())
	a := in.Get("/left")
	assert.Equal(t, http.StatusOK, a.Status)
	assert.Empty(t, a.Header["Fairdoor-Left"])
	f.Pass(2 * time.Second)
	assert.InEpsilon(t, 37, waits.Get("/", gatetest.AsJSON).Told("itemsLeft"), 0)
	a = in.Get("/leave")
	assert.Equal(t, http.StatusNoContent, a.Status)
	assert.Empty(t, a.Header["Fairdoor-Command"])
	assert.NotContains(t, in.Cookies, "fairdoor_shop")
	f.Pass(gatetest.Interval * 5 / 4) // which is more than its jitter
	assert.True(t, waits.Get("/").In(), "the slot is free")
}

func TestAHandlersStreamGoesOnAndIsForThoseWhoAreInOnly(t *testing.T) {
	f := gatetest.Start(t, around(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "data: 1\n\n")
	}))
	v := f.Visitor()
	a := v.Get("/")
	assert.Equal(t, "data: 1\n\n", a.Body)
	assert.Contains(t, a.SetCookies(), "fairdoor_shop")
	a = f.Visitor().Get("/x.js", gatetest.With("Sec-Fetch-Dest", "script"))
	assert.Equal(t, http.StatusServiceUnavailable, a.Status, "parts of pages may not last")
	assert.NotContains(t, a.Body, "data")
	assert.NotEqual(t, "text/event-stream", a.Header.Get("Content-Type"))
}

func TestAHandlersAnswerWithoutABodyIsRefusedAsOneWithABodyIs(t *testing.T) {
	f := gatetest.Start(t, around(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") }))
	assert.Equal(t, http.StatusServiceUnavailable, f.Visitor().Get("/x.js", gatetest.With("Sec-Fetch-Dest", "script")).Status)
	a := f.Visitor().Get("/")
	assert.Equal(t, http.StatusOK, a.Status)
	assert.Contains(t, a.SetCookies(), "fairdoor_shop")
}

func TestWhatAHandlerTellsTheGateIsNotInItsInformationalHeaders(t *testing.T) {
	f := gatetest.Start(t, around(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Fairdoor-Command", "revoke")
		h.Set("Fairdoor-Left", "37")
		h.Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "in")
	}), gatetest.Room(gatetest.RevokeEnabled))
	v, informed := f.Visitor(), make(chan textproto.MIMEHeader, 1)
	a := v.Get("/", func(r *http.Request) {
		*r = *r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
			Got1xxResponse: func(_ int, h textproto.MIMEHeader) error { informed <- h; return nil },
		}))
	})
	h := <-informed
	assert.Equal(t, "</style.css>; rel=preload", h.Get("Link"))
	assert.Empty(t, h["Fairdoor-Command"])
	assert.Empty(t, h["Fairdoor-Left"])
	assert.True(t, a.In())
	assert.Empty(t, a.Header["Fairdoor-Command"])
	assert.NotContains(t, v.Cookies, "fairdoor_shop", "the command counts")
}

func TestAHandlersWebsocketKeepsItsSeatAndIsCutWhenTheSeatIsLost(t *testing.T) {
	left := make(chan error, 1)
	f := gatetest.Start(t, manyGates, gatetest.Room(gatetest.ByConnection(15*time.Second)), gatetest.Room(func(r *proxy.RoomConfig) { r.Commands = config.Commands{config.Revoke} }), around(func(w http.ResponseWriter, r *http.Request) {
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
	in, waits := f.Visitor(), f.Visitor()
	require.True(t, in.Get("/").In())
	f.Pass(14 * time.Second)
	conn, answer, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(in.Base, "http")+"/socket",
		&websocket.DialOptions{HTTPHeader: http.Header{"Cookie": {"fairdoor_shop=" + in.Cookies["fairdoor_shop"]}}})
	require.NoError(t, err)
	defer conn.CloseNow()
	require.Equal(t, http.StatusSwitchingProtocols, answer.StatusCode)
	for range 12 {
		f.Pass(time.Second)
		require.False(t, waits.Get("/").In(), "the connection keeps the seat")
	}
	in.Get("/leave")
	select {
	case err := <-left:
		assert.Error(t, err, "the connection is cut")
	case <-time.After(gatetest.Patience):
		assert.Fail(t, "the connection stays")
	}
}

func TestTheAPITellsOfARoomAroundAHandler(t *testing.T) {
	f := gatetest.Start(t, around(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") }))
	type told struct {
		Origin     *string
		Origins    []string
		HostHeader string `json:"host_header"`
	}
	var rooms []told
	f.API(http.MethodGet, "/api/v1/rooms", "", &rooms)
	var one, changed told
	f.API(http.MethodGet, "/api/v1/rooms/shop", "", &one)
	a := f.API(http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 3}`, &changed)
	assert.Equal(t, http.StatusOK, a.Status)
	nowhere := ""
	want := told{Origin: &nowhere, Origins: []string{}, HostHeader: "visitor"}
	for _, got := range append(rooms, one, changed) {
		assert.Equal(t, want, got)
	}
	assert.Len(t, rooms, 1)
}
