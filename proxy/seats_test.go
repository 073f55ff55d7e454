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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// manyGates has the room's store be one of several gates, which counts sessions
// for longer than they know.
func manyGates(_ *proxy.Config, o *proxy.Options) { o.Store = memstore.NewShared(2 * time.Second) }

func TestRequestsAloneKeepNoSeatByConnection(t *testing.T) {
	for name, store := range map[string]func(*proxy.Config, *proxy.Options){"one gate": func(*proxy.Config, *proxy.Options) {}, "many gates": manyGates} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, store, gatetest.Room(gatetest.ByConnection(15*time.Second)))
			f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
				<-time.After(5 * time.Millisecond) // an answer takes its time
				gatetest.Talking(w, r)
			})
			seated, waiting := f.Visitor(), f.Visitor()
			require.True(t, seated.Get("/").In())
			for range 14 {
				f.Pass(time.Second)
				require.True(t, seated.Get("/").In(), "there is time to connect")
				require.False(t, waiting.Get("/").In())
			}
			f.Pass(2 * time.Second)
			assert.True(t, waiting.Get("/").In(), "the seat goes to the head of the line")
			assert.False(t, seated.Get("/").In())
		})
	}
}

func TestWhoConnectsAgainInTheLastMomentOfTheGraceHasTheSeat(t *testing.T) {
	f := gatetest.Start(t, manyGates, gatetest.Room(gatetest.ByConnection(15*time.Second)))
	f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
		f.Clock.Add(10 * time.Millisecond) // an answer takes its time
		gatetest.Talking(w, r)
	})
	seated, waiting := f.Visitor(), f.Visitor()
	require.True(t, seated.Get("/").In())
	f.Pass(14 * time.Second)
	require.False(t, waiting.Get("/").In())
	socket(t, seated)
	for range 12 {
		f.Pass(time.Second)
		require.False(t, waiting.Get("/").In())
	}
	assert.Equal(t, 1, f.Status("shop").Active)
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
			f := gatetest.Start(t, manyGates, gatetest.Room(gatetest.ByConnection(15*time.Second)))
			f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/refused" {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				gatetest.Talking(w, r)
			})
			seated, waiting := f.Visitor(), f.Visitor()
			require.True(t, seated.Get("/").In())
			for range 14 {
				require.False(t, waiting.Get("/").In())
				seated.Get("/refused", asks)
				f.Pass(time.Second)
			}
			f.Pass(2 * time.Second)
			assert.True(t, waiting.Get("/").In(), "the seat goes to the head of the line")
		})
	}
}

func TestASeatIsKeptForTheGraceAfterItsConnection(t *testing.T) {
	t.Parallel()
	const grace = 3 * time.Second
	f := gatetest.Start(t, gatetest.InRealTime, gatetest.Room(gatetest.ByConnection(grace)))
	f.Site.Will(gatetest.Talking)
	seated, waiting := f.Visitor(), f.Visitor()
	require.True(t, seated.Get("/").In())
	first, second := socket(t, seated), socket(t, seated)
	opened := time.Now()
	for asked := range checkIns(t, time.Second) {
		require.False(t, waiting.Get("/").In())
		if asked.Sub(opened) > grace+time.Second {
			break
		}
	}
	assert.Equal(t, 1, f.Status("shop").Active, "two tabs are one occupant")
	first()
	second()
	require.True(t, seated.Get("/").In(), "who is back soon is in")
	again := socket(t, seated)
	again()
	closed := time.Now()
	for asked := range checkIns(t, time.Second/2) {
		in := waiting.Get("/").In()
		if left := time.Since(closed); in {
			assert.Greater(t, left, grace-time.Second/2)
			break
		}
		require.Less(t, asked.Sub(closed), grace+gatetest.Patience)
	}
	assert.False(t, seated.Get("/").In())
}

func TestAnEndedSessionEndsItsConnections(t *testing.T) {
	for by, end := range map[string]func(f *gatetest.Fixture, seated *gatetest.Visitor){
		"the origin": func(_ *gatetest.Fixture, seated *gatetest.Visitor) { seated.Send(http.MethodPost, "/leave", nil) },
		"the operator": func(f *gatetest.Fixture, _ *gatetest.Visitor) {
			f.API(http.MethodDelete, visitors+"/"+peopleOf(f).Active[0].ID, "", nil)
		},
	} {
		t.Run("by "+by, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Room(gatetest.ByConnection(15*time.Second)))
			f.Site.Will(gatetest.Talking)
			seated, waiting := f.Visitor(), f.Visitor()
			require.True(t, seated.Get("/").In())
			header := http.Header{}
			for name, value := range seated.Cookies {
				header.Add("Cookie", name+"="+value)
			}
			conn, _, err := websocket.Dial(t.Context(), strings.Replace(seated.Base, "http", "ws", 1)+"/stream", &websocket.DialOptions{HTTPHeader: header})
			require.NoError(t, err)
			defer conn.CloseNow()
			require.False(t, waiting.Get("/").In())
			end(f, seated)
			_, _, err = conn.Read(t.Context())
			require.Error(t, err, "the connection is cut")
			require.Eventually(t, func() bool { return waiting.Get("/").In() }, gatetest.Patience, 10*time.Millisecond)
		})
	}
}
