package config

import (
	"fmt"
	"strings"
)

// firsts remembers who used a name first.
type firsts map[string]*room

// taken says who has the name already; the first to ask has it from then on.
func (f firsts) taken(name string, r *room) (*room, bool) {
	first, ok := f[name]
	if !ok {
		f[name] = r
	}
	return first, ok
}

func (s *section) uniqueNames(rooms []*room) {
	seen := firsts{}
	for _, r := range rooms {
		if r.Name == "" {
			continue
		}
		if first, ok := seen.taken(r.Name, r); ok {
			s.fault(r.where("name"), "%s is the name of another room already, %s", show(r.Name), onLine(first.where("name")))
		}
	}
}

// uniqueCookies compares the ends of the cookies' names: cookie_suffix, or else the room's name.
func (s *section) uniqueCookies(rooms []*room) {
	seen := firsts{}
	for _, r := range rooms {
		end, key := r.cookieEnd()
		if end == "" {
			continue
		}
		first, ok := seen.taken(end, r)
		if !ok {
			continue
		}
		_, firstKey := first.cookieEnd()
		if key == "name" && firstKey == "name" {
			continue // reported as a duplicate name
		}
		s.fault(r.where(key), "the cookie anteroom_%s belongs to %s already, %s", end, first.label(), onLine(first.where(firstKey)))
	}
}

// cookieEnd is what follows anteroom_ in the cookie's name, and the key that says so.
func (r *room) cookieEnd() (end, key string) {
	if r.CookieSuffix != "" {
		return r.CookieSuffix, "cookie_suffix"
	}
	return r.Name, "name"
}

// uniqueRoutes compares all routes as requests are.
func (s *section) uniqueRoutes(rooms []*room) {
	seen := map[string]Place{}
	for _, r := range rooms {
		for _, guarded := range r.routes {
			key := guarded.ForGate().String()
			if first, ok := seen[key]; ok {
				s.fault(guarded.Place, "%s is guarded already, %s", describeRoute(key), onLine(first))
			} else {
				seen[key] = guarded.Place
			}
		}
	}
}

func describeRoute(canonical string) string {
	if strings.HasPrefix(canonical, "/") {
		return fmt.Sprintf("the path %s of every host", show(canonical))
	}
	return show(canonical)
}

// onLine points at the first of two that clash.
func onLine(p Place) string {
	if p.Line == 0 {
		return "by " + p.Source
	}
	return fmt.Sprintf("on line %d", p.Line)
}

// label names a room in a message about another.
func (r *room) label() string {
	if r.Name == "" {
		return "another room"
	}
	return fmt.Sprintf("room %q", r.Name)
}
