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

func familyTable(t testing.TB) *route.Table {
	return newTable(t,
		room("rooms", "/room/{id}", "/chat/{id}/live"), room("lobby", "/room/lobby"), room("index", "/room"),
		route.Room{Name: "shops", Routes: []route.Route{{Host: "shops.test", Path: "/{shop}"}}})
}

func TestASegmentInBracesStandsForAnyOther(t *testing.T) {
	const rooms, lobby, index, shops = 0, 1, 2, 3
	for name, test := range map[string]struct {
		host, target string
		want         []route.Guard
	}{
		"the path itself":                      {"", "/room/a", []route.Guard{{Room: rooms, Value: "a"}}},
		"below it":                             {"", "/room/a-1_Z/x?y", []route.Guard{{Room: rooms, Value: "a-1_z"}}},
		"in another case":                      {"", "/ROOM/A", []route.Guard{{Room: rooms, Value: "a"}}},
		"with a slash":                         {"", "/room/a/", []route.Guard{{Room: rooms, Value: "a"}}},
		"a value of 64":                        {"", "/room/" + strings.Repeat("a", 64), []route.Guard{{Room: rooms, Value: strings.Repeat("a", 64)}}},
		"a value of 65 is none":                {"", "/room/" + strings.Repeat("a", 65), []route.Guard{{Room: rooms}}},
		"a value with a dot is none":           {"", "/room/a.b", []route.Guard{{Room: rooms}}},
		"a value of another script is none":    {"", "/room/caf%C3%A9", []route.Guard{{Room: rooms}}},
		"nor one that folds to a letter":       {"", "/room/\u0131", []route.Guard{{Room: rooms}}},
		"a room of its own goes before":        {"", "/room/lobby", []route.Guard{{Room: lobby}}},
		"with all below it":                    {"", "/room/Lobby/x", []route.Guard{{Room: lobby}}},
		"not by half a segment":                {"", "/room/lobby2", []route.Guard{{Room: rooms, Value: "lobby2"}}},
		"no value":                             {"", "/room", []route.Guard{{Room: index}}},
		"an empty value":                       {"", "/room/", []route.Guard{{Room: index}}},
		"another path of the same rooms":       {"", "/chat/a/live/x", []route.Guard{{Room: rooms, Value: "a"}}},
		"not half of it":                       {"", "/chat/a", nil},
		"nor what is beside it":                {"", "/chat/a/lively", nil},
		"at the root":                          {"shops.test", "/A", []route.Guard{{Room: shops, Value: "a"}}},
		"at the root of a host, before others": {"shops.test", "/room/a", []route.Guard{{Room: shops, Value: "room"}}},
		"the root itself":                      {"shops.test", "/", nil},
		"the asterisk":                         {"shops.test", "*", nil},

		"slashes between":                       {"", "/room//a", []route.Guard{{Room: index}, {Room: rooms, Value: "a"}}},
		"odd below":                             {"", "/room/a//x%20y;z", []route.Guard{{Room: rooms, Value: "a"}}},
		"two values, one of them encoded":       {"", "/room/%61", []route.Guard{{Room: rooms}, {Room: rooms, Value: "a"}}},
		"two values by a dot segment":           {"", "/room/a/../b", []route.Guard{{Room: rooms, Value: "a"}, {Room: rooms, Value: "b"}}},
		"two values by an encoded slash":        {"", "/room/a/..%2fb", []route.Guard{{Room: rooms, Value: "a"}, {Room: rooms, Value: "b"}}},
		"two values by letter case are one":     {"", "/room/a/../A", []route.Guard{{Room: rooms, Value: "a"}}},
		"a parameter is read or not":            {"", "/room/a;b", []route.Guard{{Room: rooms}, {Room: rooms, Value: "a"}}},
		"a value and the path without one":      {"", "/room/a/..", []route.Guard{{Room: rooms, Value: "a"}, {Room: index}}},
		"of what is ambiguous nothing is known": {"", "/room/%u0061", []route.Guard{{Room: lobby}, {Room: rooms}, {Room: index}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := familyTable(t).All(nil, test.host, test.target)
			assert.ElementsMatch(t, test.want, got)
			first, ok := familyTable(t).Match(test.host, test.target)
			assert.Equal(t, len(test.want) > 0, ok)
			assert.True(t, !ok || first == got[0])
		})
	}
}

func TestTheNameInBraces(t *testing.T) {
	assert.Equal(t, "id", route.Route{Path: "/room/{id}/live"}.Value())
	assert.Empty(t, route.Route{Path: "/room/%7Bid%7D"}.Value())
	assert.Empty(t, route.Route{}.Value())
}

// valueOf is the value that an origin has for /tickets/{id}, in lower case; ok
// is false if it serves something else.
func valueOf(path string) (value string, ok bool) {
	parts := strings.Split(path, "/")
	if len(parts) < 3 || parts[0] != "" || !strings.EqualFold(parts[1], "tickets") || parts[2] == "" {
		return "", false
	}
	return strings.ToLower(parts[2]), true
}

// checkValues wants the room of every value that an origin reads among those
// that guard a request: it is let in only if there is one alone.
func checkValues(t require.TestingT, table *route.Table, target string) {
	all := table.All(nil, "", target)
	for _, guard := range all {
		require.Regexp(t, `^[a-z0-9_-]{0,64}$`, guard.Value)
	}
	for _, o := range origins {
		served, ok := o.read(target)
		if !ok {
			continue
		}
		value, ok := valueOf(served)
		if !ok {
			continue
		}
		require.True(t, slices.ContainsFunc(all, func(g route.Guard) bool { return g.Value == "" || g.Value == value }),
			"%q is served as %q by %s, and is of the rooms %v", target, served, o.name, all)
	}
}

func TestRandomPathsAreGatedByTheRoomOfTheirValue(t *testing.T) {
	table := newTable(t, room("tickets", "/tickets/{id}"))
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 14).Draw(t, "pieces")
		checkValues(t, table, "/"+strings.Join(drawn, ""))
		checkValues(t, table, "/tickets/a"+strings.Join(drawn, ""))
	})
}

func FuzzValues(f *testing.F) {
	for _, spelling := range spellings {
		f.Add(spelling)
		f.Add("/tickets/a" + spelling)
	}
	table := newTable(f, room("tickets", "/tickets/{id}"))
	f.Fuzz(func(t *testing.T, target string) {
		if strings.HasPrefix(target, "/") && !strings.Contains(target, "?") {
			checkValues(t, table, target)
		}
	})
}
