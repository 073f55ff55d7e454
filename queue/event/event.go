package event

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// The least times of an event.
const (
	LeastLength   = time.Minute     // from its start to its end
	LeastPrequeue = 5 * time.Minute // from the start of its prequeue to its own
)

// MaxPage is how many bytes the page of an event may have: the gates of a room share it
// through the store.
const MaxPage = 64 << 10

// MaxDescription is how many bytes the description of an event may have.
const MaxDescription = 1000

// An Event is what is planned for a room from a start to an end.
type Event struct {
	Name        string // letters, digits, - and _; one event of a room has it
	Description string // for humans
	Start, End  time.Time
	Prequeue    time.Time // when the prequeue starts; zero for none
	Shuffle     bool      // the order of those who come in the prequeue is drawn
	Suspended   bool      // the event is ignored
	Overrides   Overrides
	Page        string // the Mustache source of the page that is shown meanwhile; "" for the room's
	FromFile    bool   // a gate's file has the event, not the admin API
}

// Overrides are the settings that an event has of its own, by their names, as JSON has them.
type Overrides map[string]json.RawMessage

// Overridable are the names of the settings that an event may have of its own.
func Overridable() []string {
	return []string{"total_active_users", "new_users_per_minute", "queueing_method", "session_duration", "disable_session_renewal"}
}

// A Fault is something that is wrong with an event.
type Fault struct {
	Event   string // its name
	At      int    // which it is of a list, from 0
	Field   string // under its name in files and in JSON
	Problem string // continues a sentence that begins with the field's name
}

// Error is the fault in one line.
func (f Fault) Error() string { return f.Field + " " + f.Problem }

// Begin is when the event begins to matter: with its prequeue, if it has one.
func (e *Event) Begin() time.Time {
	if e.Prequeue.IsZero() {
		return e.Start
	}
	return e.Prequeue
}

// A Phase says how far an event has come.
type Phase uint8

// The phases of an event.
const (
	None        Phase = iota // it has not begun, is over, or is suspended
	Prequeueing              // everyone new is held until it starts
	Started                  // it has started, and not ended
)

// PhaseAt is the phase of the event at a moment.
func (e *Event) PhaseAt(at time.Time) Phase {
	switch {
	case e.Suspended || at.Before(e.Begin()) || !at.Before(e.End):
		return None
	case at.Before(e.Start):
		return Prequeueing
	default:
		return Started
	}
}

// overlaps reports whether two events matter at the same time.
func (e *Event) overlaps(o *Event) bool {
	return !e.Suspended && !o.Suspended && e.Begin().Before(o.End) && o.Begin().Before(e.End)
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Faults returns what is wrong with the event by itself.
func (e *Event) Faults() []Fault {
	var faults []Fault
	require := func(ok bool, field, format string, args ...any) {
		if !ok {
			faults = append(faults, Fault{Event: e.Name, Field: field, Problem: fmt.Sprintf(format, args...)})
		}
	}
	require(plainName.MatchString(e.Name), "name", "has to be 1 to 64 letters, digits, - and _")
	require(len(e.Description) <= MaxDescription, "description", "is too long: at most %d bytes", MaxDescription)
	require(!e.Start.IsZero(), "event_start_time", "is required")
	require(!e.End.IsZero(), "event_end_time", "is required")
	if !e.Start.IsZero() && !e.End.IsZero() {
		require(e.End.Sub(e.Start) >= LeastLength, "event_end_time", "has to be at least a minute after event_start_time, which is %s", format(e.Start))
	}
	if !e.Start.IsZero() && !e.Prequeue.IsZero() {
		require(e.Start.Sub(e.Prequeue) >= LeastPrequeue, "prequeue_start_time",
			"has to be at least five minutes before event_start_time, which is %s", format(e.Start))
	}
	require(!e.Shuffle || !e.Prequeue.IsZero(), "shuffle_at_event_start", "needs a prequeue_start_time: the order is drawn among those who come in the prequeue")
	require(len(e.Page) <= MaxPage, "custom_page_html", "is too long: at most %d bytes", MaxPage)
	return append(faults, e.overrideFaults()...)
}

// overrideFaults returns what is wrong with the settings that the event has of its own.
func (e *Event) overrideFaults() []Fault {
	var faults []Fault
	for _, name := range slices.Sorted(maps.Keys(e.Overrides)) {
		if !slices.Contains(Overridable(), name) {
			faults = append(faults, Fault{Event: e.Name, Field: name, Problem: "is not among what an event may change"})
		} else if _, err := queue.Setting(name).ParseJSON(e.Overrides[name]); err != nil {
			faults = append(faults, Fault{Event: e.Name, Field: name, Problem: err.Error()})
		}
	}
	_, total := e.Overrides["total_active_users"]
	if _, perMinute := e.Overrides["new_users_per_minute"]; total != perMinute {
		given, missing := "total_active_users", "new_users_per_minute"
		if perMinute {
			given, missing = missing, given
		}
		faults = append(faults, Fault{Event: e.Name, Field: missing, Problem: "goes together with " + given + ": give both, or neither"})
	}
	return faults
}

// FaultsIn returns what is wrong with the event in a room with the settings, without events.
func (e *Event) FaultsIn(s queue.Settings) []Fault {
	merged := e.Over(s)
	var faults []Fault
	for _, f := range merged.Misfits() {
		faults = append(faults, Fault{Event: e.Name, Field: f.Name, Problem: "is " + f.Value + " in the event, which " + f.Problem})
	}
	if e.Shuffle && !merged.CutsBuckets() {
		field, problem := "shuffle_at_event_start", "needs queueing_method fifo in the event, which has "+merged.Method.String()
		if merged.Method.OrdersBuckets() {
			problem = "does not go with the room's setting bucket: all who come within one would be equal"
		}
		faults = append(faults, Fault{Event: e.Name, Field: field, Problem: problem})
	}
	return faults
}
