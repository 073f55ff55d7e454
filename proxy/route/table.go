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
	// Host is the host, in any letter case. It may have a port, which does not count. Empty
	// means every host.
	Host string

	// Path is what is guarded, with everything below it, by whole segments and in any
	// letter case. Empty means "/": all of the host. One segment may be a name in braces,
	// as in /room/{id}: it stands for any segment that is not empty, and that segment of a
	// request is the Value of the Guard.
	Path string
}

// Names reports whether a route names a host, which may have a port. A route of every host names
// none.
func Names(routes []Route, host string) bool {
	named, ok := ParseHost(host)
	return ok && slices.ContainsFunc(routes, func(r Route) bool {
		of, ok := ParseHost(r.Host)
		return ok && of == named
	})
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

	// Value is the segment of the request's path where the room's path has braces, in
	// lower case: at most 64 letters, digits, - and _. It is empty if the segment is
	// something else or not known, and if the room's path has no braces.
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

// New returns the table of the rooms. The error is a Faults with all that is wrong.
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

// Check returns all that is wrong with the rooms: hosts and paths that are not valid, rooms
// without a route, routes that are there twice, in one room or in two, and rooms whose
// routes differ in the name in braces.
func Check(rooms []Room) Faults {
	var faults Faults
	owners := map[entry]string{} // the room that has an entry, which is without its room here
	for i, room := range rooms {
		if len(room.Routes) == 0 {
			faults.add(i, "routes", "", "a room needs at least one route")
		}
		for j, route := range room.Routes {
			if !faults.checkRoute(i, j, route) {
				continue
			}
			key := fmt.Sprintf("routes[%d].path", j)
			if name := room.Routes[0].Value(); route.Value() != name {
				faults.add(i, key, "", "every route of a room has the same name in braces, or none has")
			}
			e := newEntry(route, 0)
			if owner, found := owners[e]; found {
				faults.add(i, key, "", "%s is already a route of room %q", e, owner)
				continue
			}
			owners[e] = room.Name
		}
	}
	return faults
}

// checkRoute adds what is wrong with a route by itself, and reports whether nothing is.
func (f *Faults) checkRoute(room, index int, route Route) bool {
	host, path := CheckHost(route.Host), ""
	if route.Path != "" {
		path = CheckPath(route.Path)
	}
	if host != "" {
		f.add(room, fmt.Sprintf("routes[%d].host", index), route.Host, "%s", host)
	}
	if path != "" {
		f.add(room, fmt.Sprintf("routes[%d].path", index), route.Path, "%s", path)
	}
	return host == "" && path == ""
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

// compareEntries puts the longer path first. Of a path with braces only what is before them
// counts, so that a room for one value goes before the rooms for all values. Of two paths
// of the same length without braces only one can cover a reading; their order is fixed
// nevertheless, so that the answer never depends on the order of rooms.
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

// guard returns the entry's room for a reading that it covers; the reading is "" if it is
// not known.
func (e *entry) guard(reading string) Guard {
	g := Guard{Room: e.room}
	if e.value == 0 {
		return g
	}
	if value, _ := e.segment(reading); IsValue(value) {
		g.Value = strings.ToLower(value)
	}
	return g
}

// reachable returns the entries up to the first that covers the whole host: no reading gets
// to those after it.
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

// Match returns the room that guards a request, by its Host and its target as it came on the
// wire (http.Request.Host and RequestURI). The host is one that ParseHost can read, or
// empty: a request with any other has to be refused. If no room guards it, ok is false and
// the index -1. If the readings of the path are in different rooms, it is the most specific
// of these; All returns the others, too.
func (t *Table) Match(host, target string) (guard Guard, ok bool) {
	entries := t.entries(host)
	path, ok := pathOf(target)
	if i, known := unambiguous(entries, path); ok && known {
		if i < len(entries) {
			return entries[i].guard(path), true
		}
		return Guard{Room: -1}, false
	}
	best, reading := len(entries), ""
	for i, r := range covering(entries, path, ok) {
		if i < best {
			best, reading = i, r
		}
	}
	if best == len(entries) {
		return Guard{Room: -1}, false
	}
	return entries[best].guard(reading), true
}

// All appends every room that guards some reading of the path, the most specific first. A
// room with braces comes once for each value that is read. For an ambiguous target these
// are all rooms of the host. The first is the one that Match returns. A gate that lets a
// request pass only if each of these rooms does cannot be walked around by spelling.
func (t *Table) All(dst []Guard, host, target string) []Guard {
	entries := t.entries(host)
	path, ok := pathOf(target)
	if i, known := unambiguous(entries, path); ok && known {
		if i < len(entries) {
			dst = append(dst, entries[i].guard(path))
		}
		return dst
	}
	readings := make([][]string, len(entries)) // that each entry covers
	for i, reading := range covering(entries, path, ok) {
		readings[i] = append(readings[i], reading)
	}
	start := len(dst)
	for i := range entries {
		for _, reading := range readings[i] {
			if g := entries[i].guard(reading); !slices.Contains(dst[start:], g) {
				dst = append(dst, g)
			}
		}
	}
	return dst
}

// Knows reports whether some route is for this very host, or for every host. An origin may
// answer a request for a host that it does not know with the site of another host. So
// where Knows is false, a request that is passed on could go around that site's room.
func (t *Table) Knows(host string) bool { return len(t.entries(host)) > 0 }

// NamesHosts reports whether some route is for one host. Then the room of a request depends
// on the host that it names.
func (t *Table) NamesHosts() bool { return len(t.hosts) > 0 }

func (t *Table) entries(host string) []entry {
	name, _ := ParseHost(host)
	if own, found := t.hosts[name]; found {
		return own
	}
	return t.every
}
