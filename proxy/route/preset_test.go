package route_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// exempted returns the preset by which a target is exempt, if all are in force.
func exempted(t *testing.T, target string) (by route.Preset) {
	for _, name := range route.Preset("").Choices() {
		rules, err := route.NewRules([]route.Preset{route.Preset(name)}, nil, nil)
		require.NoError(t, err)
		if _, ok := rules.Match(route.Request{Target: target, Method: http.MethodGet}); ok {
			assert.Empty(t, by, "%s is of two presets", target)
			by = route.Preset(name)
		}
	}
	return by
}

func TestPresetsExemptWhatNoPersonAsksFor(t *testing.T) {
	for target, want := range map[string]route.Preset{
		"/.well-known/acme-challenge/abc-DEF_123":     "well_known",
		"/.well-known/security.txt":                   "well_known",
		"/.well-known/apple-app-site-association?a=b": "well_known",
		"/.well-known/change-password":                "well_known",
		"/robots.txt":                                 "robots",
		"/ads.txt":                                    "robots",
		"/app-ads.txt":                                "robots",
		"/sitemap.xml":                                "robots",
		"/sitemap_index.xml":                          "robots",
		"/sitemap-products-2.xml.gz":                  "robots",
		"/health":                                     "health",
		"/healthz":                                    "health",
		"/livez":                                      "health",
		"/readyz":                                     "health",
		"/":                                           "",
		"/.well-known":                                "",
		"/.well-known-tickets":                        "",
		"/shop/.well-known/x":                         "",
		"/.well-known/../tickets":                     "",
		"/.well-known/..%2ftickets":                   "",
		"/.well-known//../../tickets":                 "",
		"/.well-known;/x":                             "",
		"/x/../robots.txt":                            "",
		"/Robots.txt":                                 "",
		"/robots.txt/tickets":                         "",
		"/tickets?/robots.txt":                        "",
		"/tickets%3f/robots.txt":                      "",
		"/sitemap/tickets.xml":                        "",
		"/sitemap.xml/tickets":                        "",
		"/sitemap/../tickets.xml":                     "",
		"/sitemap%2ftickets.xml":                      "",
		"/sitemap\\tickets.xml":                       "",
		"/sitemap.html":                               "",
		"/healthy":                                    "",
		"/healthz/x":                                  "",
		"*":                                           "",
		"http://shop.test/healthz":                    "health",
		"/sitemap" + string(make([]byte, 9000)) + ".xml": "",
	} {
		assert.Equal(t, want, exempted(t, target), target)
	}
}

func TestPresetsGoBesideTheRoomsOwnRules(t *testing.T) {
	own := []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{Path: "/own"}}}
	rules, err := route.NewRules([]route.Preset{"health", "robots"}, own, nil)
	require.NoError(t, err)
	for _, target := range []string{"/own", "/healthz", "/robots.txt"} {
		_, ok := rules.Match(route.Request{Target: target})
		assert.True(t, ok, target)
	}
	_, ok := rules.Match(route.Request{Target: "/.well-known/x"})
	assert.False(t, ok)
}

func TestVerifiedCrawlersAreExemptByARule(t *testing.T) {
	const google = "66.249.66.1"
	asked := 0
	rules, err := route.NewRules(nil, []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{PathPrefix: "/shop", VerifiedBot: true}}},
		func(q route.Request, addr netip.Addr) bool {
			asked++
			return q.Header.Get("User-Agent") == "Googlebot/2.1" && addr == netip.MustParseAddr(google)
		})
	require.NoError(t, err)
	match := func(target, userAgent, addr string) bool {
		_, ok := rules.Match(route.Request{Target: target, Addr: netip.MustParseAddr(addr), Header: http.Header{"User-Agent": {userAgent}}})
		return ok
	}
	assert.True(t, match("/shop/lamps", "Googlebot/2.1", google))
	assert.True(t, match("/shop/lamps", "Googlebot/2.1", "::ffff:"+google))
	assert.False(t, match("/shop/lamps", "Googlebot/2.1", "192.0.2.1"))
	assert.False(t, match("/shop/lamps", "Mozilla/5.0", google))
	before := asked
	assert.False(t, match("/cart", "Googlebot/2.1", google))
	assert.Equal(t, before, asked, "nobody is asked where another condition does not hold")
}
