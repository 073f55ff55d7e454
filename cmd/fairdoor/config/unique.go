package config

import (
	"fmt"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// unique compares the rooms' names, their cookies, and all of their routes as requests are
// compared.
func (v *value) unique(rooms []*room) {
	names, cookies, routes := map[string]Position{}, map[string]*room{}, map[string]Position{}
	v.healthPaths(rooms)
	for _, r := range rooms {
		if first, taken := claim(names, r.Name, r.where("name")); taken {
			v.fault(r.where("name"), "%s is the name of another room already, %s", show(r.Name), onLine(first))
		}
		end, key := r.cookieEnd()
		if first, taken := claim(cookies, end, r); taken && (r.CookieSuffix != "" || first.CookieSuffix != "") { // or else their names are the same
			_, firstKey := first.cookieEnd()
			v.fault(r.where(key), "the cookie fairdoor_%s belongs to %s already, %s", end, first.label(), onLine(first.where(firstKey)))
		}
		for _, guarded := range r.routes {
			canonical := guarded.ForGate().String()
			if first, taken := claim(routes, canonical, guarded.Position); taken {
				v.fault(guarded.Position, "%s is guarded already, %s", describeRoute(canonical), onLine(first))
			}
		}
	}
	v.apartFromTokens(rooms, cookies)
}

// healthPaths compares the health paths of rooms that have an origin in common, and each with the
// protocol of the room's origins.
func (v *value) healthPaths(rooms []*room) {
	asked := map[string]*room{}
	for _, r := range rooms {
		for _, address := range append([]string{r.Origin}, r.Origins...) {
			u, problem := origin.ParseURL(address)
			if problem != "" { // which is a fault already
				continue
			}
			if r.HealthPath == origin.GRPCHealth && !origin.IsTwo(u) {
				v.fault(r.where("health_path"), "is gRPC's health check, which %s cannot answer: only origins of h2:// and h2c:// speak gRPC", address)
				break
			}
			if first, taken := claim(asked, address, r); taken && first.HealthPath != r.HealthPath {
				v.fault(r.where("health_path", "name"), "%s is the origin of %s, too, whose health_path is %s: rooms of one origin have the same",
					address, first.label(), show(first.HealthPath))
				break
			}
		}
	}
}

// apartFromTokens compares the rooms' cookies with those of other rooms' admission tokens.
func (v *value) apartFromTokens(rooms []*room, cookies map[string]*room) {
	for _, r := range rooms {
		end, _ := r.cookieEnd()
		if other := cookies["admission_"+end]; other != nil {
			_, key := other.cookieEnd()
			v.fault(other.where(key), "the cookie fairdoor_admission_%s is that of the admission tokens of %s", end, r.label())
		}
	}
}

func describeRoute(canonical string) string {
	if strings.HasPrefix(canonical, "/") {
		return fmt.Sprintf("the path %s of every host", show(canonical))
	}
	return show(canonical)
}

// claim returns who has a name already; the first to claim it has it from then on. Everybody may
// have the empty name.
func claim[T any](owners map[string]T, name string, claimant T) (first T, taken bool) {
	if first, taken = owners[name]; !taken && name != "" {
		owners[name] = claimant
	}
	return first, taken
}

// cookieEnd is what follows fairdoor_ in the cookie's name, and the key that says so.
func (r *room) cookieEnd() (end, key string) {
	if r.CookieSuffix != "" {
		return r.CookieSuffix, "cookie_suffix"
	}
	return r.Name, "name"
}

// onLine points at the first of two that clash.
func onLine(p Position) string {
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
