package occupants

// People are who is in and who is in line, by name.
type People struct{ In, Line []string }

func (p People) list() *list {
	l := &list{}
	for _, name := range p.In {
		l.Occupants = append(l.Occupants, person{ID: name})
	}
	for i, name := range p.Line {
		l.Line = append(l.Line, person{ID: name, Rank: i + 1})
	}
	return l
}

// Event is one of a stream.
type Event struct {
	Name, ID string
	Rank     int
}

// Since is what a stream tells who has told of others before.
func Since(is, was People) (events []Event) {
	for _, e := range is.list().since(was.list()) {
		events = append(events, Event{e.name, e.ID, e.Rank})
	}
	return events
}
