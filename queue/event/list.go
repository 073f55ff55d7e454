package event

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// List has the events of a room.
type List []Event

// Named returns which of the events has a name; -1 for none.
func (l List) Named(name string) int {
	return slices.IndexFunc(l, func(e Event) bool { return e.Name == name })
}

// Sorted returns the events in the order of their beginnings.
func (l List) Sorted() List {
	return slices.SortedStableFunc(slices.Values(l), func(a, b Event) int { return cmp.Or(a.Begin().Compare(b.Begin()), cmp.Compare(a.Name, b.Name)) })
}

// Faults returns what is wrong with the events, each by itself and in the order of the list, and
// with their names and times together.
func (l List) Faults() []Fault {
	var faults []Fault
	for i := range l {
		e := &l[i]
		for _, f := range e.Faults() {
			f.At = i
			faults = append(faults, f)
		}
		for j := range l[:i] {
			switch o := &l[j]; {
			case o.Name == e.Name:
				faults = append(faults, Fault{e.Name, i, "name", "is that of another event of the room already"})
			case e.overlaps(o):
				faults = append(faults, Fault{e.Name, i, e.beginField(), "overlaps with the event " + o.Name + ", which goes from " +
					format(o.Begin()) + " to " + format(o.End) + " with its prequeue: one event of a room is in force at a time"})
			}
		}
	}
	return faults
}

// FaultsIn returns what is wrong with the events in a room with the settings. Those that are over
// do not matter any more.
func (l List) FaultsIn(s queue.Settings, now time.Time) []Fault {
	var faults []Fault
	for i := range l {
		if now.Before(l[i].End) && !l[i].Suspended {
			for _, f := range l[i].FaultsIn(s) {
				f.At = i
				faults = append(faults, f)
			}
		}
	}
	return faults
}

func (e *Event) beginField() string {
	if e.Prequeue.IsZero() {
		return "event_start_time"
	}
	return "prequeue_start_time"
}

// ActiveAt is the event that is in force at a moment; the zero ActiveEvent for none.
func (l List) ActiveAt(at queue.Instant) queue.ActiveEvent {
	for i := range l {
		if phase := l[i].PhaseAt(at.Time()); phase != None {
			return l[i].active(phase)
		}
	}
	return queue.ActiveEvent{}
}

// Next is the event that begins next after a moment; nil for none.
func (l List) Next(after time.Time) *Event {
	var next *Event
	for i := range l {
		if e := &l[i]; !e.Suspended && after.Before(e.Begin()) && (next == nil || e.Begin().Before(next.Begin())) {
			next = e
		}
	}
	return next
}

func (e *Event) active(p Phase) queue.ActiveEvent {
	a := queue.ActiveEvent{
		Name: e.Name, Start: queue.At(e.Start), End: queue.At(e.End), Prequeueing: p == Prequeueing, Shuffle: e.Shuffle, Page: e.Page != "",
	}
	if !e.Prequeue.IsZero() {
		a.Prequeue = queue.At(e.Prequeue)
	}
	return a
}

// Over returns the settings of a room with those of the active event over them. A suspended room
// has no events.
func (l List) Over(s queue.Settings, active queue.ActiveEvent) queue.Settings {
	s.Event = queue.ActiveEvent{}
	i := l.Named(active.Name)
	if i < 0 || s.Suspended {
		return s
	}
	s = l[i].Over(s)
	s.Event = active
	if s.Event.HoldsNew = active.Prequeueing && !s.QueueAll; s.Event.HoldsNew {
		s.QueueAll = true
	}
	return s
}

// Over returns the settings of a room with those of the event over them, as they are once it has
// started.
func (e *Event) Over(s queue.Settings) queue.Settings {
	for name, value := range e.Overrides {
		if f := queue.Setting(name); f != nil {
			_ = f.SetJSON(reflect.ValueOf(&s).Elem(), value) // Faults tells of values that cannot be read
		}
	}
	return s
}
