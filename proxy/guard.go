package proxy

import (
	"iter"
	"net/http"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// guard is what guards the routes of one room of the configuration: a room of its own,
// or a family, which has a room for each value of the path.
type guard interface {
	// roomFor returns the room for a request whose path has the value, and the setup to
	// go by. A nil room means that the request has been answered. rs is the guard's
	// own setup in s.
	roomFor(w http.ResponseWriter, r *http.Request, s *setup, rs *feature.Setup, value string) (*keptRoom, *feature.Setup)
	// known returns the room for a value, or nil where there is none now. A room of its
	// own has the empty value, which no room of a family has.
	known(value string) *keptRoom
	// rooms returns the rooms that there are now, and the store's errors of those that
	// have been dropped.
	rooms() (rooms []*keptRoom, dropped feature.Tally)
	feature.Counted
	// Suspended says whether every request passes by, as the settings want it.
	Suspended() bool
	// counters are those of its requests.
	counters() *metrics.Counters
}

// roomFor returns the room that guards a request, and the setup of it that the request
// goes by. A nil room means that the request has been answered.
func (g *Gate) roomFor(w http.ResponseWriter, r *http.Request, s *setup) (*keptRoom, *feature.Setup) {
	if r.Host == "" && s.table.NamesHosts() {
		// net/http would name the origin's own host to it, which may be a room's.
		g.problem(w, r, http.StatusMisdirectedRequest, g.languages)
		return nil, nil
	}
	var buf [2]route.Guard
	switch all := s.table.All(buf[:0], r.Host, r.RequestURI); len(all) {
	case 0:
		g.unguarded(w, r, s)
	case 1:
		i := all[0].Room
		return s.guards[i].roomFor(w, r, s, s.setups[i], all[0].Value)
	default:
		// The origin might read the path as one of either room. A visitor who is let
		// into one must not spell their way into the other.
		g.problem(w, r, http.StatusBadRequest, g.languages)
	}
	return nil, nil
}

// rooms yields every room that there is.
func (s *setup) rooms(yield func(*keptRoom) bool) {
	for _, guard := range s.guards {
		rooms, _ := guard.rooms()
		for _, r := range rooms {
			if !yield(r) {
				return
			}
		}
	}
}

// roomNamed returns the room of a name, or nil. The name of a family's room is the
// family's name, a dot and the room's value.
func (s *setup) roomNamed(name string) *keptRoom {
	name, value, dot := strings.Cut(name, ".")
	for i, rs := range s.setups {
		if rs.Config.Name == name && dot == (value != "") {
			return s.guards[i].known(value)
		}
	}
	return nil
}

// familyNamed returns the family of a name, or nil.
func (s *setup) familyNamed(name string) *family {
	for i, rs := range s.setups {
		if f, ok := s.guards[i].(*family); ok && rs.Config.Name == name {
			return f
		}
	}
	return nil
}

// roomAt returns the room that guards a path. Where a family guards the path but has no
// room for its value now, the room is nil. Nothing is found if nothing guards the path.
func (s *setup) roomAt(host, path string) (of *keptRoom, found bool) {
	at, found := s.table.Match(host, path)
	if !found {
		return nil, false
	}
	return s.guards[at.Room].known(at.Value), true
}

// withCookie yields the rooms that there are now whose cookie has the bare name.
func (s *setup) withCookie(name string) iter.Seq[*keptRoom] {
	return func(yield func(*keptRoom) bool) {
		for _, guard := range s.byCookie[name] {
			if r := guard.known(""); r != nil && !yield(r) {
				return
			}
		}
		for i := range min(len(name), s.longest+1) {
			if name[i] != '.' || i == len(name)-1 {
				continue
			}
			for _, guard := range s.byCookie[name[:i]] {
				if r := guard.known(name[i+1:]); r != nil && !yield(r) {
					return
				}
			}
		}
	}
}
