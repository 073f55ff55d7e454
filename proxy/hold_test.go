package proxy_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// underWay is an answer that goes on until it is ended.
type underWay struct {
	answer http.HandlerFunc
	open   func(t *testing.T, v *gatetest.Visitor) (end func())

	withoutRenewal bool
}

// stream opens the visitor's stream, of which the first line has arrived.
func stream(t *testing.T, v *gatetest.Visitor) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.Base+"/stream", nil)
	require.NoError(t, err)
	for name, value := range v.Cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := v.Client.Transport.RoundTrip(req)
	require.NoError(t, err)
	_, err = bufio.NewReader(resp.Body).ReadString('\n')
	require.NoError(t, err)
	return func() {
		cancel()
		resp.Body.Close()
	}
}

// drip answers with a line of the content type and goes silent.
func drip(contentType, length string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		if length != "" {
			w.Header().Set("Content-Length", length)
		}
		_, _ = io.WriteString(w, "data\n"+strings.Repeat("data", 4000)) // more than what is kept back of a download
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func socket(t *testing.T, v *gatetest.Visitor) (end func()) {
	header := http.Header{}
	for name, value := range v.Cookies {
		header.Add("Cookie", name+"="+value)
	}
	conn, resp, err := websocket.Dial(t.Context(), v.Base+"/stream", &websocket.DialOptions{HTTPHeader: header})
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
	require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte("hello")))
	_, text, err := conn.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "hello", string(text))
	return func() { _ = conn.CloseNow() }
}

func TestSessionStaysActiveWhileAnAnswerIsUnderWay(t *testing.T) {
	const session = time.Second
	for name, c := range map[string]underWay{
		"a websocket":                 {answer: gatetest.Echo, open: socket},
		"a websocket without renewal": {answer: gatetest.Echo, open: socket, withoutRenewal: true},
		"an event stream":             {answer: drip("text/event-stream", ""), open: stream},
		"a download":                  {answer: drip("application/zip", "1000000"), open: stream},
		"a download without renewal":  {answer: drip("application/zip", "1000000"), open: stream, withoutRenewal: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := gatetest.Start(t, gatetest.InRealTime, gatetest.Settings(func(s *queue.Settings) {
				s.SessionDuration, s.RefreshInterval, s.RefreshJitter, s.DisableSessionRenewal = session, time.Second, 0, c.withoutRenewal
			}))
			f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/stream" {
					c.answer(w, r)
					return
				}
				_, _ = io.WriteString(w, "in")
			})
			v := f.Visitor()
			require.True(t, v.Get("/").In())
			end := c.open(t, v)
			opened := time.Now()

			waiting := f.Visitor()
			for asked := range checkIns(t, time.Second) {
				if asked.Sub(opened) > 3*session {
					break
				}
				require.False(t, waiting.Get("/").In(), "the slot is taken")
			}
			assert.Equal(t, 1, f.Status("shop").Active)
			assert.Equal(t, !c.withoutRenewal, v.Twin().Get("/").In(), "the slot is kept, and a fixed session is over all the same")
			end()
			opened = time.Now()
			for range checkIns(t, time.Second) {
				if waiting.Get("/").In() {
					break
				}
				require.Less(t, time.Since(opened), gatetest.Patience, "the slot is free some time")
			}
		})
	}
}

// Whoever is let in by a ticket holds a slot, also for a gate that knows only what was written
// down. A gate that stands still, such as one on a paused machine, touches no sessions meanwhile.
// Its own timers stand still with it.
func TestAGateThatStoodStillHasNoMoreThanTheAnswersUnderWayAboveTheLimit(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers, s.NewUsersPerMinute, s.ConfirmWithin = 2, 100, 0 }))
	f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			drip("text/plain", "")(w, r)
			return
		}
		_, _ = io.WriteString(w, "in")
	})
	var ends []func()
	var had []*gatetest.Visitor
	for range 2 {
		v := f.Visitor()
		require.True(t, v.Get("/").In())
		ends, had = append(ends, stream(t, v)), append(had, v)
	}
	f.Pass(time.Hour)
	in := 0
	for range 6 {
		if f.Visitor().Get("/").In() {
			in++
		}
	}
	assert.Equal(t, 2, in, "the two answers that are under way are all that is above the limit")
	for i, v := range had {
		assert.False(t, v.Get("/").In(), "their visitors have no slot any more")
		ends[i]()
		assert.False(t, v.Get("/").In(), "nor does the end of the answer give one back")
	}
	assert.Equal(t, 2, f.Status("shop").InRoom)
}

func TestFixedSessionIsNotExtendedByAnAnswerNorARestart(t *testing.T) {
	t.Parallel()
	const session = 2 * time.Second
	dir := t.TempDir()
	gate := func(keys []cookie.Key) (*gatetest.Fixture, *memstore.Store) {
		store, err := memstore.Open(dir)
		require.NoError(t, err)
		return gatetest.Start(t, gatetest.InRealTime, func(c *proxy.Config, o *proxy.Options) {
			o.Store = store
			if keys != nil {
				c.Keys = keys
			}
			s := &c.Rooms[0].Settings
			s.SessionDuration, s.RefreshInterval, s.RefreshJitter, s.DisableSessionRenewal = session, time.Second, 0, true
		}), store
	}
	f, store := gate(nil)
	f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			drip("application/zip", "1000000")(w, r)
			return
		}
		_, _ = io.WriteString(w, "in")
	})
	v := f.Visitor()
	require.True(t, v.Get("/").In())
	admitted, end := time.Now(), stream(t, v)
	for asked := range checkIns(t, session/4) {
		in := v.Get("/").In()
		if time.Since(admitted) < session-10*time.Millisecond {
			require.True(t, in)
		}
		if asked.Sub(admitted) > session {
			require.False(t, in, "the download goes on, and the session does not")
		}
		if asked.Sub(admitted) > session+session/2 {
			break
		}
	}
	end()
	f.Public.Close()
	f.Close()
	require.NoError(t, store.Close())

	again, _ := gate(f.Config.Keys)
	v.Fixture, v.Base, v.Client = again, again.Public.URL, again.Visitor().Client
	newcomer := again.Visitor()
	for range checkIns(t, time.Second) {
		if newcomer.Get("/").In() {
			break
		}
		require.Less(t, time.Since(admitted), gatetest.Patience)
	}
	assert.False(t, v.Get("/").In(), "two of one")
}

// checkIns yields the times to check in, as a browser's timer does.
func checkIns(t *testing.T, every time.Duration) func(func(time.Time) bool) {
	return func(yield func(time.Time) bool) {
		ticker := time.NewTicker(every + 20*time.Millisecond)
		defer ticker.Stop()
		for yield(time.Now()) {
			select {
			case <-ticker.C:
			case <-t.Context().Done():
				return
			}
		}
	}
}

func TestWebsocketOfWhoWaitsIsNotOpened(t *testing.T) {
	f := gatetest.Start(t)
	f.Site.Will(gatetest.Echo)
	f.Visitor().Get("/")
	f.Pass(time.Second)
	f.Site.Requests()
	_, resp, err := websocket.Dial(t.Context(), f.Public.URL+"/stream", nil)
	require.Error(t, err)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Empty(t, f.Site.Requests())
}

func TestTicketTravelsWithTheAnswerToAWebsocket(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Settings.TotalActiveUsers = 2 }))
	f.Site.Will(gatetest.Echo)
	conn, resp, err := websocket.Dial(t.Context(), f.Public.URL+"/stream", nil)
	require.NoError(t, err)
	defer conn.CloseNow()
	assert.Len(t, resp.Cookies(), 1)
}
