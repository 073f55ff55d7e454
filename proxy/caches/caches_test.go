package caches_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
)

func TestSharedCachesKeepNothingOfARoomThatQueues(t *testing.T) {
	for name, c := range map[string]struct {
		cache                   config.Cache
		origin, queueing, empty http.Header
	}{
		"the origin says nothing": {"", http.Header{}, http.Header{"Cache-Control": {"private"}}, http.Header{"Cache-Control": nil}},
		"the origin lets everybody keep it": {"auto", http.Header{"Cache-Control": {"public, max-age=60, s-maxage=600", "stale-if-error=5"}, "X-Accel-Expires": {"60"}},
			http.Header{"Cache-Control": {"private, max-age=60, stale-if-error=5"}, "X-Accel-Expires": {"0"}},
			http.Header{"Cache-Control": {"public, max-age=60, s-maxage=600", "stale-if-error=5"}, "X-Accel-Expires": {"60"}}},
		"the origin says private of a field": {"", http.Header{"Cache-Control": {`private="x, y", max-age=5`}}, http.Header{"Cache-Control": {"private, max-age=5"}}, http.Header{"Cache-Control": {`private="x, y", max-age=5`}}},
		"the origin has a word with CDNs":    {"", http.Header{"Cdn-Cache-Control": {"max-age=9"}}, http.Header{"Cache-Control": {"private"}, "Cdn-Cache-Control": {"no-store"}}, http.Header{"Cdn-Cache-Control": {"max-age=9"}}},
		"the origin says stricter":           {"", http.Header{"Cache-Control": {"no-store"}}, http.Header{"Cache-Control": {"no-store"}}, http.Header{"Cache-Control": {"no-store"}}},
		"a file with a name of its own": {"private", http.Header{"Cache-Control": {"public, max-age=31536000, immutable"}},
			http.Header{"Cache-Control": {"public, max-age=31536000, immutable"}}, http.Header{"Cache-Control": {"public, max-age=31536000, immutable"}}},
		"always":          {"private", http.Header{"Cache-Control": {"public, max-age=60"}}, http.Header{"Cache-Control": {"private, max-age=60"}}, http.Header{"Cache-Control": {"private, max-age=60"}}},
		"as the site has": {"origin", http.Header{"Cache-Control": {"public, max-age=60"}}, http.Header{"Cache-Control": {"public, max-age=60"}}, http.Header{"Cache-Control": {"public, max-age=60"}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Cache, r.Settings.TotalActiveUsers = c.cache, 2 }))
			f.Site.Will(func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range c.origin {
					w.Header()[name] = values
				}
			})
			v := f.Visitor()
			v.Get("/")
			f.Pass(time.Second)
			a := v.Get("/")
			require.Empty(t, a.SetCookies(), "no ticket goes with it")
			for name, values := range c.empty {
				assert.Equal(t, values, a.Header[name], "with a slot to spare: %s", name)
			}
			f.Visitor().Get("/")
			f.Pass(time.Second)
			f.Waits()
			a = v.Get("/")
			require.Empty(t, a.SetCookies())
			for name, values := range c.queueing {
				assert.Equal(t, values, a.Header[name], "while somebody waits: %s", name)
			}
		})
	}
}

func TestSharedCachesKeepNothingWhileNobodyNewIsLetIn(t *testing.T) {
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) { c.Rooms[0].Settings.QueueAll = true })
	v := f.Visitor()
	f.Patch(`{"queue_all": false}`)
	v.Get("/")
	f.Patch(`{"queue_all": true}`)
	f.Pass(time.Second)
	a := v.Get("/")
	require.True(t, a.In())
	assert.Equal(t, "private", a.Header.Get("Cache-Control"), "nobody new is let in, whether somebody waits or not")
}
