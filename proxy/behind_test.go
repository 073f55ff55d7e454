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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/queue"
)

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
