package occupants

import (
	"encoding/json"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// list is who is in a room, in the order of entry, and who waits in its exact line.
type list struct {
	Room      string   `json:"room"`
	Occupants []person `json:"occupants"`
	Line      []person `json:"line"`
	Truncated bool     `json:"truncated"` // there may be more
}

// person is an occupant, or somebody in line.
type person struct {
	ID         string          `json:"id"`
	Data       json.RawMessage `json:"data,omitempty"`
	AcceptedAt *time.Time      `json:"acceptedAt,omitempty"` // of an occupant, where the store knows it
	Rank       int             `json:"rank,omitempty"`       // from 1, of somebody in line
}

// listOf is the list of a roster.
func listOf(of *feature.Room, roster *queue.Roster) *list {
	l := &list{Room: of.Queue.Name(), Occupants: []person{}, Line: []person{}, Truncated: roster.Truncated || len(roster.More) > 0}
	for _, s := range roster.Seated {
		p := person{ID: s.ID.String(), Data: json.RawMessage(s.Note)}
		if at := s.AcceptedAt.Time(); s.AcceptedAt > 0 {
			p.AcceptedAt = &at
		}
		l.Occupants = append(l.Occupants, p)
	}
	for _, w := range roster.Line {
		l.Line = append(l.Line, person{ID: w.ID.String(), Data: json.RawMessage(w.Note), Rank: w.Ahead + 1})
	}
	return l
}

// event is something that has happened to one person.
type event struct {
	name string
	person
}

// since returns what has happened since an earlier look. Who takes in the events in their order, the
// line as a list, has this one.
func (l *list) since(was *list) (events []event) {
	gone := func(name string, from, to []person, moved map[string]bool) {
		is := byID(to)
		for _, p := range from {
			if _, there := is[p.ID]; !there || moved[p.ID] {
				events = append(events, event{name, person{ID: p.ID}})
			}
		}
	}
	come := func(name string, from, to []person, moved map[string]bool) {
		before := byID(from)
		for _, p := range to {
			switch b, there := before[p.ID]; {
			case !there || moved[p.ID]:
				events = append(events, event{name, p})
			case string(b.Data) != string(p.Data):
				events = append(events, event{"data", person{ID: p.ID, Data: p.Data}})
			}
		}
	}
	moved := movedIn(was.Line, l.Line)
	gone("out", was.Occupants, l.Occupants, nil)
	gone("left", was.Line, l.Line, moved)
	come("in", was.Occupants, l.Occupants, nil)
	come("joined", was.Line, l.Line, moved)
	return events
}

// byID are people by their ids.
func byID(people []person) map[string]person {
	m := make(map[string]person, len(people))
	for _, p := range people {
		m[p.ID] = p
	}
	return m
}

// movedIn are those who are in both lines, and have other people of both ahead of them now.
func movedIn(was, is []person) map[string]bool {
	before, now, moved := byID(was), byID(is), map[string]bool{}
	kept := func(line []person, in map[string]person) (ids []string) {
		for _, p := range line {
			if _, there := in[p.ID]; there {
				ids = append(ids, p.ID)
			}
		}
		return ids
	}
	then := kept(was, now)
	for i, id := range kept(is, before) {
		if then[i] != id {
			moved[id] = true
		}
	}
	return moved
}
