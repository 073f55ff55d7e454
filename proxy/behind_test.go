package proxy_test

import (
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/queue"
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

// several has the first room have a second site, and starts both.
func several(t *testing.T, second *gatetest.Site) *gatetest.Fixture {
	t.Helper()
	f := gatetest.Start(t, gatetest.InRealTime, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Origins = []*url.URL{r.Origin, second.Address(t)}
		r.Settings.TotalActiveUsers, r.HostHeader = 5, origin.OwnHost
	}))
	f.Site.Will(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "first "+r.Host) })
	return f
}

func TestARoomOfSeveralOrigins(t *testing.T) {
	second := gatetest.NewSite(t)
	second.Will(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "second "+r.Host) })
	f := several(t, second)
	v, bodies := f.Visitor(), map[string]int{}
	for range 10 {
		bodies[v.Get("/").Body]++
	}
	of := func(s *gatetest.Site) string { return strings.TrimPrefix(s.URL, "http://") }
	assert.Equal(t, map[string]int{"first " + of(f.Site): 5, "second " + of(second): 5}, bodies)

	second.CloseClientConnections()
	second.Close()
	require.Eventually(t, func() bool {
		v.Get("/")
		status := f.API(http.MethodGet, "/api/v1/rooms/shop/status", "", nil)
		return strings.Contains(status.Body, `"failing": true`) && strings.Contains(status.Body, `"failing": false`)
	}, gatetest.Patience, 10*time.Millisecond, "the API tells which of them fails")
	for range 4 {
		assert.Equal(t, "first "+of(f.Site), v.Get("/").Body, "the other is asked")
	}
	assert.Equal(t, "first "+of(f.Site), f.Visitor().Get("/").Body, "and people are let in")
	f.Site.CloseClientConnections()
	f.Site.Close()
	require.Eventually(t, func() bool {
		v.Get("/")
		return !strings.Contains(f.API(http.MethodGet, "/api/v1/rooms/shop/status", "", nil).Body, `"failing": false`)
	}, gatetest.Patience, 10*time.Millisecond)
	require.Eventually(t, func() bool { return strings.Contains(f.Visitor().Get("/").Body, "cfWaitingRoom") }, gatetest.Patience, 10*time.Millisecond, "nobody is let in while none answers")
	assert.Contains(t, f.API(http.MethodGet, "/metrics", "", nil).Body, `fairdoor_origin_failing{origin="`+second.URL+`"} 1`)
}

func TestForwardingHeadersOfAddressesThatAreNotTrustedAreWarnedOfOnce(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	f := gatetest.Start(t, func(c *proxy.Config, o *proxy.Options) {
		o.Log = zap.New(core)
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("2001:db8::/32")}
	}, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 20 }))
	ask := func(from, header string) {
		r := browserRequest("a=b")
		r.RemoteAddr = from
		r.Header.Set(header, "203.0.113.9")
		f.Gate.ServeHTTP(&gatetest.Discard{Fields: http.Header{}}, r)
	}
	ask("10.0.0.7:1234", "X-Real-Name")
	ask("[2001:db8::1]:1234", "X-Forwarded-For")
	assert.Empty(t, logs.All(), "neither has anything to warn of")
	for range 3 {
		ask("198.51.100.1:1234", "Forwarded")
		ask("10.0.0.7:1234", "X-Forwarded-For")
		ask("10.0.0.8:1234", "X-Forwarded-For")
	}
	require.Len(t, logs.All(), 2, "one of a stranger, who may make headers up, and one of an address nearby")
	assert.Equal(t, map[string]any{"header": "Forwarded", "address": "198.51.100.1", "add": `trusted_proxies: ["2001:db8::/32", "198.51.100.1"]`}, logs.All()[0].ContextMap())
	assert.Equal(t, map[string]any{"header": "X-Forwarded-For", "address": "10.0.0.7", "add": `trusted_proxies: ["2001:db8::/32", "10.0.0.7"]`}, logs.All()[1].ContextMap())
}

func TestTheLineToAddIsOfTheFileThatListsTheTrustedProxies(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	f := gatetest.Start(t, func(c *proxy.Config, o *proxy.Options) {
		o.Log = zap.New(core)
		c.TrustedProxies, c.TrustedProxiesFile = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, "/etc/gate/balancers"
	})
	r := browserRequest("a=b")
	r.RemoteAddr = "10.0.0.7:1234"
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	f.Gate.ServeHTTP(&gatetest.Discard{Fields: http.Header{}}, r)
	require.Len(t, logs.All(), 1)
	assert.Contains(t, logs.All()[0].Message, "add this to /etc/gate/balancers")
	assert.Equal(t, "10.0.0.7", logs.All()[0].ContextMap()["add"])
}
