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
	// and in any letter case. Empty means "/": all of the host. One segment may
	// be a name in braces, /room/{id}: it stands for any segment that is not
	// empty, and what is there is the Value of the Guard.
	Path string
}

// Value returns the name in the braces of the path, "" if it has none.
func (r Route) Value() string {
	_, name, _ := cutBraces(r.Path)
	return name
}

// String returns the route as routes are compared, so that those of two rooms
// differ: "shop.example/buy", "/room/{}" on every host.
func (r Route) String() string { return newEntry(r, 0).String() }

// Guard is a room that guards a request.
type Guard struct {
	// Room is its index, in the order the rooms were given.
	Room int

	// Value is what the path has where the room's has braces, in lower case:
	// letters, digits, - and _, at most 64. It is empty if there is something
	// else, or it is not known what, and if the room's path has no braces.
	Value string
}

// Table finds the room that guards a request. It is immutable and safe for
// concurrent use.
type Table struct {
	hosts map[string][]entry // by canonical host: its routes and those of every host
	every []entry            // the routes of every host
}

// entry is a route of a host. In a list of entries the most specific is first.
type entry struct {
	host  string // canonical
	path  string // canonical, up to the braces: "" is all of the host
	value int    // the segment that is in braces, counted from 1; 0 for none
	tail  string // what follows the braces, canonical
	room  int
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
// none, rooms without a route, routes that two rooms, or one room twice, would
// have, and rooms whose routes differ in the name in braces.
func Check(rooms []Room) Faults {
	var faults Faults
	taken := map[entry]string{} // by entry without room: who has it
	for i, room := range rooms {
		if len(room.Routes) == 0 {
			faults.add(i, "routes", "", "a room needs at least one route")
		}
		for j, route := range room.Routes {
			host, path := CheckHost(route.Host), ""
			if route.Path != "" {
				path = CheckPath(route.Path)
			}
			if host != "" {
				faults.add(i, fmt.Sprintf("routes[%d].host", j), route.Host, "%s", host)
			}
			if path != "" {
				faults.add(i, fmt.Sprintf("routes[%d].path", j), route.Path, "%s", path)
			}
			if host != "" || path != "" {
				continue
			}
			if name := room.Routes[0].Value(); route.Value() != name {
				faults.add(i, fmt.Sprintf("routes[%d].path", j), "", "every route of a room has the same name in braces, or none has")
			}
			e := newEntry(route, 0)
			if owner, found := taken[e]; found {
				faults.add(i, fmt.Sprintf("routes[%d].path", j), "", "%s is already a route of room %q", e, owner)
				continue
			}
			taken[e] = room.Name
		}
	}
	return faults
}

func newEntry(route Route, room int) entry {
	head, name, tail := cutBraces(route.Path)
	e := entry{
		path: roomPath(head),
		room: room,
	}
	e.host, _ = parseConfigured(route.Host)
	if name != "" {
		e.value, e.tail = strings.Count(e.path, "/")+1, roomPath(tail)
	}
	return e
}

// compareEntries puts the longer path first, braces counting for nothing, so
// that a room of its own goes before one among many. Of two paths of one length
// without braces only one can cover a reading; their order is fixed all the
// same, so that the answer never depends on the order of rooms.
func compareEntries(a, b entry) int {
	return cmp.Or(
		cmp.Compare(len(b.path), len(a.path)),
		strings.Compare(a.path, b.path),
		cmp.Compare(b.value, a.value),
		cmp.Compare(len(b.tail), len(a.tail)),
		strings.Compare(a.tail, b.tail),
	)
}

// covers says whether a reading is the entry's path or lies below it.
func (e *entry) covers(path string) bool {
	if !covers(e.path, path) {
		return false
	}
	if e.value == 0 {
		return true
	}
	value, below := e.segment(path)
	return value != "" && covers(e.tail, below)
}

// segment returns the segment that is in braces, and what follows it.
func (e *entry) segment(path string) (value, below string) {
	for range e.value {
		_, path, _ = strings.Cut(path, "/")
	}
	end := strings.IndexByte(path, '/')
	if end < 0 {
		end = len(path)
	}
	return path[:end], path[end:]
}

// guard returns the entry's room for a reading that it covers; "" if that is not
// known.
func (e *entry) guard(reading string) Guard {
	g := Guard{Room: e.room}
	if e.value == 0 {
		return g
	}
	if value, _ := e.segment(reading); isValue(value) {
		g.Value = strings.ToLower(value)
	}
	return g
}

// reachable returns the entries up to the first that covers the whole host:
// whatever comes after it never has a say.
func reachable(entries []entry) []entry {
	for i, e := range entries {
		if e.path == "" && e.value == 0 {
			return entries[:i+1]
		}
	}
	return entries
}

// String returns the route as one would write it.
func (e entry) String() string {
	switch {
	case e.value > 0:
		return e.host + e.path + "/{}" + e.tail
	case e.path == "":
		return e.host + "/"
	}
	return e.host + e.path
}

// Match returns the room that guards a request, by its Host and its target as it
// came on the wire (http.Request.Host and RequestURI). The host is one that
// ParseHost can read, or empty: a request with any other is to be refused. ok is false, and the index
// -1, when no room does. Where rooms disagree over the readings of the path, it is
// the most specific of them; All names the rest.
func (t *Table) Match(host, target string) (guard Guard, ok bool) {
	entries := t.entries(host)
	path, ok := pathOf(target)
	if i, known := only(entries, path); ok && known {
		if i < len(entries) {
			return entries[i].guard(path), true
		}
		return Guard{Room: -1}, false
	}
	best, reading := len(entries), ""
	for i, r := range hits(entries, path, ok) {
		if i < best {
			best, reading = i, r
		}
	}
	if best == len(entries) {
		return Guard{Room: -1}, false
	}
	return entries[best].guard(reading), true
}

// All appends every room that guards some reading of the path, the most specific
// first, one with braces once for each value that is read; of an ambiguous
// target, all rooms of the host. The first is the one that Match returns. Whoever
// lets a request pass only if each of these rooms does, cannot be walked around
// by spelling.
func (t *Table) All(dst []Guard, host, target string) []Guard {
	entries := t.entries(host)
	path, ok := pathOf(target)
	if i, known := only(entries, path); ok && known {
		if i < len(entries) {
			dst = append(dst, entries[i].guard(path))
		}
		return dst
	}
	hit := make([][]string, len(entries))
	for i, reading := range hits(entries, path, ok) {
		hit[i] = append(hit[i], reading)
	}
	start := len(dst)
	for i := range entries {
		for _, reading := range hit[i] {
			if g := entries[i].guard(reading); !slices.Contains(dst[start:], g) {
				dst = append(dst, g)
			}
		}
	}
	return dst
}

// Knows says whether some route is for this very host, or for every host. An
// origin may answer a host that it does not know with the site of one that it
// does: where Knows is false, passing the request on would go around that
// site's room.
func (t *Table) Knows(host string) bool { return len(t.entries(host)) > 0 }

// NamesHosts says whether some route is for a host of its own, so that what a
// request is about depends on the host that it names.
func (t *Table) NamesHosts() bool { return len(t.hosts) > 0 }

func (t *Table) entries(host string) []entry {
	name, _ := ParseHost(host)
	if own, found := t.hosts[name]; found {
		return own
	}
	return t.every
}
