package route_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// spellings of /tickets, or of something below it: each is served as that by
// at least one of the origins.
var spellings = []string{
	"/tickets", "/tickets/", "/tickets/buy", "/TICKETS", "/Tickets/Buy", "/tickets//buy",
	"//tickets", "///tickets", "/./tickets", "/././tickets", "/tickets/.", "/tickets/./buy",
	"/foo/../tickets", "/foo/bar/../../tickets", "/../tickets", "/../../tickets", "/foo/..//tickets",
	"/foo/..%2ftickets", "/foo/..%2Ftickets", "/foo%2f../tickets", "/foo%2f..%2ftickets", "/foo/%2e%2e/tickets",
	"/foo/.%2e/tickets", "/foo/%2E./tickets", "/%2e/tickets", "/%2e%2e/tickets", "/%2ftickets", "/%2f%2ftickets",
	"/%74ickets", "/t%69ckets", "/ticket%73", "/ticket%73/buy", "/%54ICKETS", "/%2574ickets", "/%25%37%34ickets",
	"/%252ftickets", "/foo/%252e%252e/tickets", "/foo%252f..%252ftickets", "/foo/..%252ftickets", "/%%37%34ickets",
	"/x;/../tickets", "/;/tickets", "/tickets;", "/tickets;v=1", "/tickets;v=1/buy", "/;a=b/tickets;c",
	"/foo/..;/tickets", "/foo/..;x=y/tickets", "/foo/.;/../tickets", "/foo;a/..;b/tickets;c",
	`/\tickets`, `/foo\..\tickets`, "/%5ctickets", "/%5Ctickets", "/foo%5c..%5ctickets", "/foo/..%5ctickets",
	"/foo/..%255ctickets", `/\/tickets`, `/./\tickets`, "/%255ctickets",
	"/tickets%00", "/tickets%00.css", "/tickets%23", "/tickets%23/static", "/tickets%3f", "/tickets%3fa=b", "/tickets#", "/tickets#/x",
	"//evil.test/tickets", `/\evil.test/tickets`, `//evil.test\tickets`, "///tickets/buy",
	"/foo%2fbar/%2e%2e/tickets", "/foo%2fbar/../tickets", "/a%2fb/%2E%2E/TICKETS",
	"/tickets//../home", "/tickets/x//../../home", "/home/../tickets/./buy/..",
	"/static/../tickets", "/static/..%2ftickets", "/static/..;/tickets", `/static\..\tickets`, "/static/%2e%2e/tickets",
	"/static%2f..%2ftickets", "/static/%252e%252e%252ftickets", "/static//..//../tickets", "/static/x/..;/..;/tickets",
	"/tickets%20", "/tickets.", "/tickets%09", "/tickets...", "/tickets%20.", "/tickets.%20.%20", "/tickets%2e", "/tickets%252e", "/tickets%2520", "/tickets%0a",
	"/tickets%0d%0a", "/tickets%1f", "/tickets%7f", "/tickets%C2%A0", "/tickets%E3%80%80", "/tickets%EF%BB%BF", "/tickets./buy", "/tickets%20/buy", "/TICKETS.",
	"/foo/..%20/tickets", "/foo/..%09/tickets", "/.%20/tickets", "/%20/tickets", "/.../tickets", `/foo\..%20\tickets`, "/tickets.;v=1", "/tickets%20;v=1", "/tickets%20%00",
	"/x/../tickets;/../y", "/static/../tickets;/../x", "/tickets./%E3%80%80", "/tickets/a/..%20/%E3%80%80", "/static/..%20/tickets", "/%zz/../tickets", "/%/../tickets/%", "/tickets%2fbuy", "/tickets%2f..%2ftickets",
}

func newTable(t testing.TB, rooms ...route.Room) *route.Table {
	t.Helper()
	table, err := route.New(rooms)
	require.NoError(t, err)
	return table
}

func room(name string, paths ...string) route.Room {
	r := route.Room{Name: name}
	for _, path := range paths {
		r.Routes = append(r.Routes, route.Route{Path: path})
	}
	return r
}

func newRules(t testing.TB, conditions ...route.Conditions) *route.Rules {
	t.Helper()
	var rules []route.Rule
	for _, c := range conditions {
		rules = append(rules, route.Rule{Action: route.BypassWaitingRoom, Match: c})
	}
	compiled, err := route.NewRules(nil, rules, nil)
	require.NoError(t, err)
	return compiled
}

func TestEverySpellingThatSomeOriginServesIsGated(t *testing.T) {
	require.GreaterOrEqual(t, len(spellings), 60)
	table := newTable(t, room("tickets", "/tickets"))
	for _, spelling := range spellings {
		t.Run(spelling, func(t *testing.T) {
			served := slices.ContainsFunc(origins, func(o origin) bool {
				path, ok := o.read(spelling)
				return ok && serves(path, "/tickets")
			})
			assert.True(t, served, "no origin serves this as /tickets: it tests nothing")
			_, gated := table.Match("shop.test", spelling)
			assert.True(t, gated)
			_, gated = table.Match("shop.test", "http://shop.test"+spelling+"?x=/static")
			assert.True(t, gated, "in absolute form")
		})
	}
}

func TestNoSpellingIsBypassedAsSomethingElse(t *testing.T) {
	rules := newRules(t,
		route.Conditions{PathPrefix: "/static"},
		route.Conditions{PathPrefix: "/static/"},
		route.Conditions{PathPrefix: "/foo"},
		route.Conditions{Path: "/home"},
		route.Conditions{PathSuffix: ".css"},
		route.Conditions{PathSuffix: "/static"},
	)
	for _, spelling := range spellings {
		i, bypassed := rules.Match(route.Request{Target: spelling})
		assert.False(t, bypassed, "%s by rule %d", spelling, i)
	}
}

func TestPathsThatNoOriginServesAsTheRoomAreNotGated(t *testing.T) {
	table := newTable(t, room("tickets", "/tickets"))
	for _, target := range []string{
		"/", "", "*", "/ticket", "/ticketshop", "/tickets-old", "/home/tickets", "/home?/tickets", "/home?x=/../tickets",
		"/static/app.js", "/a%20b", "/caf%C3%A9", "/%zz", "/x;tickets", "http://tickets/home", "http://shop.test", "/a:b@c,d=e",
		"/home/%2e/x", "/home//x",
	} {
		guard, gated := table.Match("shop.test", target)
		assert.False(t, gated, target)
		assert.Equal(t, -1, guard.Room, target)
	}
}

func TestReadingsOfAPath(t *testing.T) {
	for target, want := range map[string][]string{
		"/plain/Path.html?x=%2f": {"/plain/Path.html"},
		"":                       {"/"},
		"*":                      {"/"},
		"http://a.test":          {"/"},
		"http://a.test?x":        {"/"},
		"http://a.test/x/y":      {"/x/y"},
		"/...":                   {"/...", "/"},
		"/.well-known/x":         {"/.well-known/x"},
		"/x.":                    {"/x.", "/x"},
		"/x./.y":                 {"/x./.y", "/x/.y"},
		"/x/. ":                  {"/x/. ", "/x/.", "/x/"},
		"/x%20":                  {"/x ", "/x"},
		"/x%09/y%0a":             {"/x%09/y%0a", "/x\t/y\n", "/x/y"},
		"/x%20.%20":              {"/x . ", "/x .", "/x"},
		"/x y":                   {"/x y"},
		"/x/.":                   {"/x/.", "/x/"},
		"/x//y":                  {"/x//y", "/x/y"},
		"//x/y":                  {"//x/y", "/x/y", "/y"},
		"/a%20b":                 {"/a b"},
		"/caf%C3%A9":             {"/café"},
		"/caf%25C3%25A9":         {"/caf%25C3%25A9", "/caf%C3%A9", "/café"},
		"/a%2fb":                 {"/a%2fb", "/a/b"},
		"/a%252fb":               {"/a%252fb", "/a%2fb", "/a/b"},
		"/%zz%4":                 {"/%zz%4"},
		"/a;b/c;d":               {"/a;b/c;d", "/a/c", "/a"},
		`/a\b`:                   {`/a\b`, "/a/b"},
		"/a%00b":                 {"/a%00b", "/a\x00b", "/a"},
		"/a%23b":                 {"/a%23b", "/a#b", "/a"},
		"/a%3fb":                 {"/a%3fb", "/a?b", "/a"},
		"/a/../b":                {"/a/../b", "/b"},
	} {
		got, ok := route.Readings(target)
		assert.True(t, ok, target)
		assert.ElementsMatch(t, want, got, target)
		assert.Equal(t, want[0], got[0], target)
	}
}

func TestAmbiguousTargets(t *testing.T) {
	table := newTable(t, room("tickets", "/tickets"), room("shop", "/shop"), route.Room{
		Name: "other", Routes: []route.Route{{Host: "other.test", Path: "/other"}},
	})
	rules := newRules(t, route.Conditions{PathPrefix: "/"})
	for name, target := range map[string]string{
		"longer than 8 KiB":             "/" + strings.Repeat("a", 8<<10),
		"too many readings":             `/a;%2f/..//b%00c%23d\%5c%252f%253be/../%252e%252e/%3f`,
		"too many long readings":        "/" + strings.Repeat("a%2f;//%5cb/./", 500),
		"an escape of UTF-16":           "/%u0074ickets",
		"the same, encoded":             "/%25u0074ickets",
		"an overlong slash":             "/x%c0%af..%c0%aftickets",
		"an overlong slash of three":    "/x%e0%80%aftickets",
		"an overlong slash of four":     "/x%f0%80%80%aftickets",
		"a target of the CONNECT kind":  "shop.test:443",
		"a scheme without a host":       "http:/tickets",
		"an opaque target":              "mailto:tickets",
		"a target without a slash":      "tickets",
		"a scheme that is part of path": "x/y://z/tickets",
	} {
		t.Run(name, func(t *testing.T) {
			_, ok := route.Readings(target)
			assert.False(t, ok)
			guard, gated := table.Match("shop.test", target)
			assert.True(t, gated)
			assert.Equal(t, 0, guard.Room, "the room with the longest path")
			assert.Equal(t, []route.Guard{{Room: 0}, {Room: 1}}, table.All(nil, "shop.test", target))
			assert.Equal(t, []route.Guard{{Room: 2}, {Room: 0}, {Room: 1}}, table.All(nil, "other.test", target))
			_, bypassed := rules.Match(route.Request{Target: target})
			assert.False(t, bypassed)
		})
	}
}

// pieces of which random paths are made.
var pieces = []string{
	"/", "/", "/", "//", "tickets", "TICKETS", "ticke", "ts", "static", "a", ".", "..", "/../", "/./", ";", ";x=1", `\`,
	"%2f", "%2F", "%5c", "%2e", "%2E%2e", "%252e", "%252f", "%255c", "%74", "%54", "%2574", "%25", "%", "%3b", "%00", "%23", "%3f",
	"#", "%zz", "é", "%C3%A9", "\u212a", "%20", "%2520", "%09", "..%20", "%E3%80%80",
}

func checkAgainstOrigins(t require.TestingT, table *route.Table, rules *route.Rules, target string) {
	_, gated := table.Match("", target)
	_, bypassed := rules.Match(route.Request{Target: target})
	for _, o := range origins {
		served, ok := o.read(target)
		if !ok || !serves(served, "/tickets") {
			continue
		}
		require.True(t, gated, "%q is served as %q by %s", target, served, o.name)
		require.False(t, bypassed, "%q is served as %q by %s", target, served, o.name)
	}
}

func TestRandomPathsAreGatedWhereAnyOriginServesThem(t *testing.T) {
	table := newTable(t, room("tickets", "/tickets"))
	rules := newRules(t, route.Conditions{PathPrefix: "/static"}, route.Conditions{PathPrefix: "/a"}, route.Conditions{Path: "/"})
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 14).Draw(t, "pieces")
		checkAgainstOrigins(t, table, rules, "/"+strings.Join(drawn, ""))
	})
}

// What the fast path takes for plain is so: spelled with an escape, which
// sends it the long way round, it reads no differently.
func TestPlainPathsHaveOneReadingTheLongWayRoundToo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := "/" + rapid.StringMatching(`[A-Za-z0-9_.~!$&'()*+,=:@/-]{0,20}`).Draw(t, "path")
		short, ok := route.Readings(path + "x")
		require.True(t, ok)
		long, ok := route.Readings(path + "%78")
		require.True(t, ok)
		if len(short) == 1 {
			require.Equal(t, []string{path + "%78", path + "x"}, long)
		} else {
			require.Subset(t, long, short)
		}
	})
}

func FuzzReadings(f *testing.F) {
	for _, spelling := range spellings {
		f.Add(spelling)
	}
	table := newTable(f, room("tickets", "/tickets"))
	rules := newRules(f, route.Conditions{PathPrefix: "/static"}, route.Conditions{PathSuffix: ".js"}, route.Conditions{Path: "/"})
	f.Fuzz(func(t *testing.T, target string) {
		readings, ok := route.Readings(target)
		assert.LessOrEqual(t, len(readings), 64)
		for i, reading := range readings {
			require.True(t, strings.HasPrefix(reading, "/"), "%q", reading)
			require.NotContains(t, readings[:i], reading)
		}
		if ok && strings.HasPrefix(target, "/") && !strings.ContainsAny(target, "?%") {
			require.Equal(t, target, readings[0])
		}
		if strings.HasPrefix(target, "/") && !strings.Contains(target, "?") {
			checkAgainstOrigins(t, table, rules, target)
		}
		guard, gated := table.Match("shop.test", target)
		all := table.All(nil, "shop.test", target)
		require.Equal(t, gated, len(all) > 0)
		require.True(t, !gated || all[0] == guard)
	})
}
