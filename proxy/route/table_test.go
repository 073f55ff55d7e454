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

func at(name, host, path string) route.Room {
	return route.Room{Name: name, Routes: []route.Route{{Host: host, Path: path}}}
}

func TestTheMostSpecificRoomGuards(t *testing.T) {
	rooms := []route.Room{
		at("every host", "", "/"),
		at("shop", "", "/shop"),
		at("sale", "", "/Shop/Sale/"),
		{Name: "vip", Routes: []route.Route{{Host: "VIP.test:8443", Path: "/lounge"}, {Host: "vip.test.", Path: "/bar"}, {Host: "::1", Path: ""}}},
		at("café", "", "/caf%C3%A9"),
	}
	for name, test := range map[string]struct{ host, target, want string }{
		"all of every host":                   {"a.test", "/", "every host"},
		"the path itself":                     {"a.test", "/shop", "shop"},
		"with a slash":                        {"a.test", "/shop/", "shop"},
		"below it":                            {"a.test", "/shop/x", "shop"},
		"with a query":                        {"a.test", "/shop?x", "shop"},
		"not beside it":                       {"a.test", "/shopping", "every host"},
		"the longer path":                     {"a.test", "/shop/sale/x", "sale"},
		"in another case":                     {"a.test", "/SHOP/sALE", "sale"},
		"not by half a segment":               {"a.test", "/shop/sales", "shop"},
		"the very host":                       {"vip.test", "/lounge", "vip"},
		"the host with a port":                {"vip.test:80", "/lounge/x", "vip"},
		"the host with a dot":                 {"vip.test.", "/lounge", "vip"},
		"the host with a dot and a port":      {"ViP.TEST.:443", "/bar", "vip"},
		"what the very host leaves to others": {"vip.test", "/shop", "shop"},
		"another host":                        {"vip.test.evil", "/lounge", "every host"},
		"no host":                             {"", "/lounge", "every host"},
		"an IPv6 address":                     {"[::1]:8080", "/shop", "vip"},
		"an IPv6 address, spelled out":        {"[0:0:0:0:0:0:0:1]", "/shop", "vip"},
		"another IPv6 address":                {"[::2]", "/", "every host"},
		"other scripts as they are":           {"a.test", "/café/x", "café"},
		"other scripts encoded":               {"a.test", "/caf%c3%a9", "café"},
		"other scripts in another case":       {"a.test", "/CAF%C3%89", "café"},
		"the asterisk":                        {"a.test", "*", "every host"},
		"absolute form":                       {"a.test", "http://a.test/shop/sale?x=1", "sale"},
		"absolute form without a path":        {"a.test", "https://a.test", "every host"},
		"the most specific of two readings":   {"a.test", "/shop/../about", "shop"},
		"and of two the other way round":      {"a.test", "/about/../shop", "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			for shift := range rooms {
				turned := slices.Concat(rooms[shift:], rooms[:shift])
				guard, ok := newTable(t, turned...).Match(test.host, test.target)
				require.True(t, ok)
				assert.Equal(t, test.want, turned[guard.Room].Name)
			}
		})
	}
}

// Browsers escape such paths, so that nobody could come to the room if the room
// around it had a say.
func TestARoomWhosePathHasToBeEscapedIsOneRoom(t *testing.T) {
	table := newTable(t, room("all", "/"), room("cafe", "/café"), room("spaced", "/our%20shop"))
	for target, want := range map[string]int{
		"/caf%C3%A9": 1, "/caf%c3%a9/x": 1, "/caf\xc3\xa9": 1, "/CAF%C3%89/a%20b": 1, "/our%20shop/%7Bx%7D": 2, "/caf%C3%A8": 0,
	} {
		assert.Equal(t, []route.Guard{{Room: want}}, table.All(nil, "shop.test", target), target)
	}
	for _, target := range []string{"/c%61f%C3%A9", "/caf%25C3%25A9", "/x/../caf%C3%A9"} {
		assert.Equal(t, []route.Guard{{Room: 1}, {Room: 0}}, table.All(nil, "shop.test", target), target)
	}
}

func TestAllNamesEveryRoomThatAReadingIsIn(t *testing.T) {
	table := newTable(t, at("all", "", "/"), room("busy", "/checkout", "/basket"), at("quiet", "", "/about"), at("host", "b.test", "/about"))
	for name, test := range map[string]struct {
		host, target string
		want         []int
	}{
		"one room":                      {"a.test", "/checkout/x", []int{1}},
		"one room, oddly spelled":       {"a.test", "/checkout//x%20y", []int{1}},
		"two rooms":                     {"a.test", "/about/..%2fcheckout", []int{1, 2}},
		"three rooms":                   {"a.test", "/about/..%2fcheckout%3f/..%2f..%2fhome", []int{1, 2, 0}},
		"a room once, whatever route":   {"a.test", "/basket/..%2fcheckout", []int{1}},
		"the very host first":           {"b.test", "/about/..%2fcheckout", []int{3, 1}},
		"parameters":                    {"a.test", "/about;v=1/us;jsessionid=A", []int{2}},
		"parameters beside the room":    {"a.test", "/aboutus;v=1", []int{0}},
		"what parameters hide":          {"a.test", "/about/..;/checkout", []int{2, 1, 0}},
		"what is in parameters":         {"a.test", "/about;%2f..%2fcheckout", []int{2, 1, 0}},
		"none that has no say":          {"b.test", "/about", []int{3}},
		"the whole host for everything": {"a.test", "/x", []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			got := table.All([]route.Guard{{Room: 9}}, test.host, test.target)
			assert.Equal(t, 9, got[0].Room)
			var rooms []int
			for _, guard := range got[1:] {
				rooms = append(rooms, guard.Room)
			}
			assert.ElementsMatch(t, test.want, rooms)
			first, _ := table.Match(test.host, test.target)
			assert.Equal(t, first, got[1])
		})
	}
	family := newTable(t, room("room", "/room/{id}"), room("lobby", "/room/lobby"), room("all", "/"))
	for target, want := range map[string][]route.Guard{
		"/room/;x":       {{Room: 0}, {Room: 2}},
		"/room/lobby;x":  {{Room: 1}, {Room: 0}},
		"/other;x/lobby": {{Room: 2}},
	} {
		assert.ElementsMatch(t, want, family.All(nil, "a.test", target), target)
	}
	assert.Empty(t, newTable(t, room("a", "/a")).All(nil, "", "/b"))
	assert.Empty(t, newTable(t, room("a", "/a")).All(nil, "", "/b//c"))
}

func TestKnows(t *testing.T) {
	table := newTable(t, at("a", "a.test", "/"), at("b", "b.test", "/x"))
	assert.True(t, table.Knows("A.test:80"))
	assert.True(t, table.Knows("b.test"))
	assert.False(t, table.Knows("c.test"))
	assert.False(t, table.Knows(""))
	assert.True(t, table.NamesHosts())
	assert.False(t, newTable(t, room("all", "/x")).NamesHosts())
	assert.True(t, newTable(t, room("all", "/x")).Knows("c.test"))
	_, ok := table.Match("c.test", "/%2f%u002f")
	assert.False(t, ok)
}

func TestCheckFindsEveryFaultOfTheRooms(t *testing.T) {
	rooms := []route.Room{
		{Name: "none"},
		room("bad", "shop", "/a*", "/a?b", "/a;b", `/a\b`, "/a%23b", "/a/../b", "/a//b", "/a%2525", "/a%00", "/%u0041", "/a%2fb"),
		{Name: "hosts", Routes: []route.Route{
			{Host: "http://a.test"}, {Host: "*.a.test"}, {Host: "a.test/x"}, {Host: "a b"}, {Host: ":80"}, {Host: strings.Repeat("a", 300)}, {Host: "u@a.test"},
			{Host: "bücher.test"}, {Host: "a.test:80:90"}, {Host: "fe80::1%eth0"},
		}},
		{Name: "first", Routes: []route.Route{{Host: "Shop.test.", Path: "/Sale/"}, {Host: "shop.test:80", Path: "/sale"}}},
		{Name: "second", Routes: []route.Route{{Host: "shop.test", Path: "/s%61le"}, {}, {Path: "/"}}},
		room("braces", "/room-{id}", "/{}", "/{a}{b}", "/{a}/{b}", "/{a", "/a}", "/{a.b}", "/{a}x", "/%7Bid%7D", "/"),
		room("names", "/x/{id}", "/y", "/z/{key}", "/z/{id}/w"),
		room("same", "/x/{key}"),
		{Name: "good", Routes: []route.Route{{Host: "shop.test", Path: "/100%25/caf\u00e9/a:b"}}},
	}
	faults := route.Check(rooms)
	var keys []string
	for _, fault := range faults {
		keys = append(keys, rooms[fault.Index].Name+" "+fault.Key)
		assert.NotEmpty(t, fault.Problem)
	}
	assert.Equal(t, []string{
		"none routes",
		"bad routes[0].path", "bad routes[1].path", "bad routes[2].path", "bad routes[3].path", "bad routes[4].path", "bad routes[5].path",
		"bad routes[6].path", "bad routes[7].path", "bad routes[8].path", "bad routes[9].path", "bad routes[10].path", "bad routes[11].path",
		"hosts routes[0].host", "hosts routes[1].host", "hosts routes[2].host", "hosts routes[3].host", "hosts routes[4].host",
		"hosts routes[5].host", "hosts routes[6].host", "hosts routes[7].host", "hosts routes[8].host", "hosts routes[9].host",
		"first routes[1].path", "second routes[0].path", "second routes[2].path",
		"braces routes[0].path", "braces routes[1].path", "braces routes[2].path", "braces routes[3].path", "braces routes[4].path",
		"braces routes[5].path", "braces routes[6].path", "braces routes[7].path", "braces routes[9].path",
		"names routes[1].path", "names routes[2].path",
		"same routes[0].path",
	}, keys)

	_, err := route.New(rooms)
	var all route.Faults
	require.ErrorAs(t, err, &all)
	assert.Equal(t, faults, all)
	assert.ErrorContains(t, err, `4: routes[0].path: shop.test/sale is already a route of room "first"`)
	assert.ErrorContains(t, err, `7: routes[0].path: /x/{} is already a route of room "names"`)
	assert.ErrorContains(t, err, `4: routes[2].path: / is already a route of room "second"`)
}

func TestATableOfNoRoomsGuardsNothing(t *testing.T) {
	table := newTable(t)
	_, ok := table.Match("a.test", "/")
	assert.False(t, ok)
	_, ok = table.Match("a.test", "/%u0041")
	assert.False(t, ok)
}

// The order in which rooms are given never matters.
func TestTheAnswerDoesNotDependOnTheOrderOfRooms(t *testing.T) {
	rooms := []route.Room{
		room("a", "/a"), room("b", "/b"), room("ab", "/a/b"), at("h", "h.test", "/a"), at("all", "h.test", "/"),
		room("each", "/{x}"), room("each a", "/a/{x}"), room("each b", "/{x}/b"),
	}
	table := newTable(t, rooms...)
	rapid.Check(t, func(t *rapid.T) {
		turned := rapid.Permutation(rooms).Draw(t, "rooms")
		other, err := route.New(turned)
		require.NoError(t, err)
		host := rapid.SampledFrom([]string{"h.test", "x.test"}).Draw(t, "host")
		drawn := rapid.SliceOfN(rapid.SampledFrom([]string{"/", "a", "b", "..", "%2f", ";", "%252f", `\`, "%u0041"}), 0, 9).Draw(t, "pieces")
		target := "/" + strings.Join(drawn, "")

		i, ok1 := table.Match(host, target)
		j, ok2 := other.Match(host, target)
		require.Equal(t, ok1, ok2)
		if ok1 {
			require.Equal(t, rooms[i.Room].Name, turned[j.Room].Name)
			require.Equal(t, i.Value, j.Value)
		}
	})
}
