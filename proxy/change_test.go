package proxy_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

func TestChangesUnderTrafficLoseNoRequest(t *testing.T) {
	f := gatetest.Start(t, gatetest.InRealTime, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 5 }))
	done := make(chan struct{})
	var visits sync.WaitGroup
	for i := range 8 {
		visits.Go(func() {
			v := f.Visitor()
			for {
				select {
				case <-done:
					return
				default:
				}
				a := v.Get(fmt.Sprintf("/%d", i), gatetest.AsJSON)
				assert.True(t, a.In() || a.Room != nil, "%d %s", a.Status, a.Body)
			}
		})
	}
	for i := range 20 {
		next := f.Config
		next.Rooms = append([]proxy.RoomConfig(nil), f.Config.Rooms...)
		next.Keys = append([]cookie.Key{gatetest.NewKey(t)}, f.Config.Keys...)
		next.OriginTimeout = time.Duration(i%2+1) * time.Minute // the origin is a new one each time
		if i%3 == 0 {
			next.Rooms = append(next.Rooms, f.Room("other", "/1"))
		}
		require.NoError(t, f.Configure(t.Context(), next))
		f.Config.Keys = next.Keys[:min(len(next.Keys), 4)]
		assert.Equal(t, http.StatusOK, f.Patch(fmt.Sprintf(`{"total_active_users": %d}`, i%4+1)).Status)
		f.Families()
		f.Status("shop")
	}
	close(done)
	visits.Wait()
}

func TestClosedGateLeavesNothingRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	f := &gatetest.Fixture{T: t, Site: &gatetest.Site{Server: gone}}
	g, err := proxy.New(t.Context(), proxy.Config{Keys: []cookie.Key{gatetest.NewKey(t)}, Rooms: []proxy.RoomConfig{f.Room("shop", "/")}},
		proxy.Options{Store: memstore.New()})
	require.NoError(t, err)
	cookies := ""
	for range 4 { // until the origin is a failing one, which is probed
		r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
		r.Header.Set("Cookie", cookies)
		g.ServeHTTP(w, r)
		assert.Equal(t, http.StatusBadGateway, w.Code)
		for _, c := range w.Result().Cookies() {
			cookies = c.Name + "=" + c.Value
		}
	}
	g.Close()
	goleak.VerifyNone(t, before)
}

// Two rooms change places again and again: each request is answered by the origin of its
// own host, though the room that guards the host may be another than a moment ago.
func TestEachRequestGoesByOneConfiguration(t *testing.T) {
	f := gatetest.Start(t, gatetest.InRealTime)
	sites := map[string]*gatetest.Site{"a.test": gatetest.NewSite(t), "b.test": gatetest.NewSite(t)}
	configured := func(names ...string) proxy.Config {
		c := f.Config
		c.Rooms = nil
		for i, host := range []string{"a.test", "b.test"} {
			r := f.Room(names[i], "/")
			r.Routes[0].Host, r.Origin, r.Settings.TotalActiveUsers = host, sites[host].Address(t), 1000
			c.Rooms = append(c.Rooms, r)
		}
		return c
	}
	require.NoError(t, f.Configure(t.Context(), configured("one", "two")))
	done := make(chan struct{})
	var visits sync.WaitGroup
	for host := range sites {
		for range 3 {
			visits.Go(func() {
				v := f.Visitor()
				v.Host = host
				for {
					select {
					case <-done:
						return
					default:
						assert.True(t, v.Get("/").In())
					}
				}
			})
		}
	}
	for range 100 {
		require.NoError(t, f.Configure(t.Context(), configured("two", "one")))
		require.NoError(t, f.Configure(t.Context(), configured("one", "two")))
	}
	close(done)
	visits.Wait()
	for host, s := range sites {
		for _, r := range s.Requests() {
			assert.Equal(t, host, r.Host)
		}
	}
}
