package route

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Room says what a room guards.
type Room struct {
	// Name is the room's name, for what Faults say.
	Name string

	// Routes are what the room guards; at least one.
	Routes []Route
}

// Route is a part of a site.
type Route struct {
	// Host is the host, in any case, with or without a port, which does not
	// matter. Empty means every host for which no other route has a say.
	Host string

	// Path is what is guarded, with everything below it, by whole segments
	// and in any letter case. Empty means "/": all of the host.
	Path string
}

// Table finds the room that guards a request. It is immutable and safe for
// concurrent use.
type Table struct {
	hosts map[string][]entry // by canonical host: its routes and those of every host
	every []entry            // the routes of every host
}

// entry is a route of a host. In a list of entries the most specific is first.
type entry struct {
	host string // canonical
	path string // canonical: "" is all of the host
	room int
}

// New returns the table of the rooms. The error is a Faults that has all that
// is wrong.
func New(rooms []Room) (*Table, error) {
	if err := Check(rooms).err(); err != nil {
		return nil, fmt.Errorf("routing rooms: %w", err)
	}
	var entries []entry
	for i, room := range rooms {
		for _, route := range room.Routes {
			entries = append(entries, newEntry(route, i))
		}
	}
	slices.SortFunc(entries, compareEntries)
	t := &Table{hosts: map[string][]entry{}}
	for _, e := range entries {
		if e.host == "" {
			t.every = append(t.every, e)
		} else {
			t.hosts[e.host] = append(t.hosts[e.host], e)
		}
	}
	for host, own := range t.hosts {
		t.hosts[host] = reachable(slices.Concat(own, t.every))
	}
	return t, nil
}

// Check returns all that is wrong with the rooms: hosts and paths that are
// none, rooms without a route, and routes that two rooms, or one room twice,
// would have.
func Check(rooms []Room) Faults {
	var faults Faults
	taken := map[entry]string{} // by entry without room: who has it
	for i, room := range rooms {
		if len(room.Routes) == 0 {
			faults.add(i, "routes", "a room needs at least one route")
		}
		for j, route := range room.Routes {
			host, path := checkHost(route.Host), checkPath(route.Path)
			if host != "" {
				faults.add(i, fmt.Sprintf("routes[%d].host", j), "%s", host)
			}
			if path != "" {
				faults.add(i, fmt.Sprintf("routes[%d].path", j), "%s", path)
			}
			if host != "" || path != "" {
				continue
			}
			e := newEntry(route, 0)
			if owner, found := taken[e]; found {
				faults.add(i, fmt.Sprintf("routes[%d].path", j), "%s is already a route of room %q", e, owner)
				continue
			}
			taken[e] = room.Name
		}
	}
	return faults
}

func newEntry(route Route, room int) entry {
	return entry{
		host: string(appendHost(nil, route.Host)),
		path: roomPath(route.Path),
		room: room,
	}
}

// compareEntries puts the longer path first. Two paths of one length cannot
// cover the same reading; their order is fixed all the same, so that the
// answer never depends on the order of rooms.
func compareEntries(a, b entry) int {
	return cmp.Or(
		cmp.Compare(len(b.path), len(a.path)),
		strings.Compare(a.path, b.path),
	)
}

// reachable returns the entries up to the first that covers the whole host:
// whatever comes after it never has a say.
func reachable(entries []entry) []entry {
	for i, e := range entries {
		if e.path == "" {
			return entries[:i+1]
		}
	}
	return entries
}

// String returns the route as one would write it.
func (e entry) String() string {
	if e.path == "" {
		return e.host + "/"
	}
	return e.host + e.path
}

// Match returns the index of the room that guards a request, by its Host and
// its target as it came on the wire (http.Request.Host and RequestURI). ok is
// false, and the index -1, when no room does. Where rooms disagree over the
// readings of the path, it is the most specific of them; All names the rest.
func (t *Table) Match(host, target string) (index int, ok bool) {
	entries := t.entries(host)
	path, ok := pathOf(target)
	if ok && isPlain(path) {
		if i := first(entries, path); i < len(entries) {
			return entries[i].room, true
		}
		return -1, false
	}
	best := len(entries)
	for i := range hits(entries, path, ok) {
		best = min(best, i)
	}
	if best == len(entries) {
		return -1, false
	}
	return entries[best].room, true
}

// All appends the index of every room that guards some reading of the path,
// the most specific first; of an ambiguous target, those of all rooms of the
// host. The first is the one that Match returns. Whoever lets a request pass
// only if each of these rooms does, cannot be walked around by spelling.
func (t *Table) All(dst []int, host, target string) []int {
	entries := t.entries(host)
	path, ok := pathOf(target)
	if ok && isPlain(path) {
		if i := first(entries, path); i < len(entries) {
			dst = append(dst, entries[i].room)
		}
		return dst
	}
	hit := make([]bool, len(entries))
	for i := range hits(entries, path, ok) {
		hit[i] = true
	}
	start := len(dst)
	for i, e := range entries {
		if hit[i] && !slices.Contains(dst[start:], e.room) {
			dst = append(dst, e.room)
		}
	}
	return dst
}

// Knows says whether some route is for this very host, or for every host. An
// origin may answer a host that it does not know with the site of one that it
// does: where Knows is false, passing the request on would go around that
// site's room.
func (t *Table) Knows(host string) bool { return len(t.entries(host)) > 0 }

func (t *Table) entries(host string) []entry {
	var buf [maxHostLen]byte // a longer host is none that was configured, but its port may be what is long
	if own, found := t.hosts[string(appendHost(buf[:0], host))]; found {
		return own
	}
	return t.every
}
