package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// byConnection makes a room of one seat, which a websocket keeps.
func byConnection(grace time.Duration) func(*proxy.RoomConfig) {
	return func(r *proxy.RoomConfig) {
		r.Commands = config.Commands{config.Revoke}
		s := &r.Settings
		s.TotalActiveUsers, s.Method, s.Occupancy, s.LineGrace, s.RefreshInterval, s.RefreshJitter = 1, queue.Line, queue.ByConnection, grace, time.Second, 0
	}
}

// talking is a site with a websocket, that ends the session of who posts.
func talking(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost:
		w.Header().Set("Fairdoor-Command", "revoke")
	case r.URL.Path == "/stream":
		echo(w, r)
	default:
		_, _ = w.Write([]byte("in"))
	}
}

// manyGates has the room's store be one of several gates, which counts sessions
// for longer than they know.
func manyGates(_ *proxy.Config, o *proxy.Options) { o.Store = memstore.NewShared(2 * time.Second) }

func TestRequestsAloneKeepNoSeatByConnection(t *testing.T) {
	for name, store := range map[string]func(*proxy.Config, *proxy.Options){"one gate": func(*proxy.Config, *proxy.Options) {}, "many gates": manyGates} {
		t.Run(name, func(t *testing.T) {
			f := start(t, store, room(byConnection(15*time.Second)))
			f.site.will(func(w http.ResponseWriter, r *http.Request) {
				<-time.After(5 * time.Millisecond) // an answer takes its time
				talking(w, r)
			})
			seated, waiting := f.visitor(), f.visitor()
			require.True(t, seated.get("/").in())
			for range 14 {
				f.pass(time.Second)
				require.True(t, seated.get("/").in(), "there is time to connect")
				require.False(t, waiting.get("/").in())
			}
			f.pass(2 * time.Second)
			assert.True(t, waiting.get("/").in(), "the seat goes to the head of the line")
			assert.False(t, seated.get("/").in())
		})
	}
}

func TestWhoConnectsAgainInTheLastMomentOfTheGraceHasTheSeat(t *testing.T) {
	f := start(t, manyGates, room(byConnection(15*time.Second)))
	f.site.will(func(w http.ResponseWriter, r *http.Request) {
		f.clock.add(10 * time.Millisecond) // an answer takes its time
		talking(w, r)
	})
	seated, waiting := f.visitor(), f.visitor()
	require.True(t, seated.get("/").in())
	f.pass(14 * time.Second)
	require.False(t, waiting.get("/").in())
	socket(t, seated)
	for range 12 {
		f.pass(time.Second)
		require.False(t, waiting.get("/").in())
	}
	assert.Equal(t, 1, f.status("shop").Active)
}

func TestConnectionsThatTheSiteRefusesKeepNoSeat(t *testing.T) {
	for name, asks := range map[string]func(*http.Request){
		"a websocket": func(r *http.Request) {
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
		},
		"a stream of events": func(r *http.Request) { r.Header.Set("Accept", "text/event-stream") },
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, manyGates, room(byConnection(15*time.Second)))
			f.site.will(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/refused" {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				talking(w, r)
			})
			seated, waiting := f.visitor(), f.visitor()
			require.True(t, seated.get("/").in())
			for range 14 {
				require.False(t, waiting.get("/").in())
				seated.get("/refused", asks)
				f.pass(time.Second)
			}
			f.pass(2 * time.Second)
			assert.True(t, waiting.get("/").in(), "the seat goes to the head of the line")
		})
	}
}

func TestASeatIsKeptForTheGraceAfterItsConnection(t *testing.T) {
	t.Parallel()
	const grace = 3 * time.Second
	f := start(t, inRealTime, room(byConnection(grace)))
	f.site.will(talking)
	seated, waiting := f.visitor(), f.visitor()
	require.True(t, seated.get("/").in())
	first, second := socket(t, seated), socket(t, seated)
	opened := time.Now()
	for asked := range checkIns(t, time.Second) {
		require.False(t, waiting.get("/").in())
		if asked.Sub(opened) > grace+time.Second {
			break
		}
	}
	assert.Equal(t, 1, f.status("shop").Active, "two tabs are one occupant")
	first()
	second()
	require.True(t, seated.get("/").in(), "who is back soon is in")
	again := socket(t, seated)
	again()
	closed := time.Now()
	for asked := range checkIns(t, time.Second/2) {
		in := waiting.get("/").in()
		if left := time.Since(closed); in {
			assert.Greater(t, left, grace-time.Second/2)
			break
		}
		require.Less(t, asked.Sub(closed), grace+patience)
	}
	assert.False(t, seated.get("/").in())
}

func TestAnEndedSessionEndsItsConnections(t *testing.T) {
	for by, end := range map[string]func(f *fixture, seated *visitor){
		"the origin":   func(_ *fixture, seated *visitor) { seated.send(http.MethodPost, "/leave", nil) },
		"the operator": func(f *fixture, _ *visitor) { f.api(http.MethodDelete, visitors+"/"+f.people().Active[0].ID, "", nil) },
	} {
		t.Run("by "+by, func(t *testing.T) {
			f := start(t, room(byConnection(15*time.Second)))
			f.site.will(talking)
			seated, waiting := f.visitor(), f.visitor()
			require.True(t, seated.get("/").in())
			header := http.Header{}
			for name, value := range seated.cookies {
				header.Add("Cookie", name+"="+value)
			}
			conn, _, err := websocket.Dial(t.Context(), strings.Replace(seated.base, "http", "ws", 1)+"/stream", &websocket.DialOptions{HTTPHeader: header})
			require.NoError(t, err)
			defer conn.CloseNow()
			require.False(t, waiting.get("/").in())
			end(f, seated)
			_, _, err = conn.Read(t.Context())
			require.Error(t, err, "the connection is cut")
			require.Eventually(t, func() bool { return waiting.get("/").in() }, patience, 10*time.Millisecond)
		})
	}
}
