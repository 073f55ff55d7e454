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
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

func TestChangesUnderTrafficLoseNoRequest(t *testing.T) {
	f := start(t, inRealTime, settings(func(s *queue.Settings) { s.TotalActiveUsers = 5 }))
	done := make(chan struct{})
	var visits sync.WaitGroup
	for i := range 8 {
		visits.Go(func() {
			v := f.visitor()
			for {
				select {
				case <-done:
					return
				default:
				}
				a := v.get(fmt.Sprintf("/%d", i), asJSON)
				assert.True(t, a.in() || a.room != nil, "%d %s", a.status, a.body)
			}
		})
	}
	for i := range 20 {
		next := f.config
		next.Rooms = append([]proxy.RoomConfig(nil), f.config.Rooms...)
		next.Keys = append([]cookie.Key{newKey(t)}, f.config.Keys...)
		next.OriginTimeout = time.Duration(i%2+1) * time.Minute // the origin is a new one each time
		if i%3 == 0 {
			next.Rooms = append(next.Rooms, f.room("other", "/1"))
		}
		require.NoError(t, f.Configure(t.Context(), next))
		f.config.Keys = next.Keys[:min(len(next.Keys), 4)]
		assert.Equal(t, http.StatusOK, f.patch(fmt.Sprintf(`{"total_active_users": %d}`, i%4+1)).status)
		f.metrics()
		f.status("shop")
	}
	close(done)
	visits.Wait()
}

func TestClosedGateLeavesNothingRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	f := &fixture{t: t, site: &site{Server: gone}}
	g, err := proxy.New(t.Context(), proxy.Config{Keys: []cookie.Key{newKey(t)}, Rooms: []proxy.RoomConfig{f.room("shop", "/")}},
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
	f := start(t, inRealTime)
	sites := map[string]*site{"a.test": newSite(t), "b.test": newSite(t)}
	configured := func(names ...string) proxy.Config {
		c := f.config
		c.Rooms = nil
		for i, host := range []string{"a.test", "b.test"} {
			r := f.room(names[i], "/")
			r.Routes[0].Host, r.Origin, r.Settings.TotalActiveUsers = host, sites[host].url(t), 1000
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
				v := f.visitor()
				v.host = host
				for {
					select {
					case <-done:
						return
					default:
						assert.True(t, v.get("/").in())
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
		for _, r := range s.requests() {
			assert.Equal(t, host, r.Host)
		}
	}
}
