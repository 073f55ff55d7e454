package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// fields are an event as JSON has it, without its overrides.
type fields struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Start       time.Time  `json:"event_start_time"`
	End         time.Time  `json:"event_end_time"`
	Prequeue    *time.Time `json:"prequeue_start_time"`
	Shuffle     bool       `json:"shuffle_at_event_start"`
	Suspended   bool       `json:"suspended"`
	Page        *string    `json:"custom_page_html"`
	FromFile    bool       `json:"from_file"`
}

// MarshalJSON writes the event, with null for what it leaves to the room.
func (e Event) MarshalJSON() ([]byte, error) {
	f := fields{Name: e.Name, Description: e.Description, Start: e.Start, End: e.End, Shuffle: e.Shuffle, Suspended: e.Suspended, FromFile: e.FromFile}
	if !e.Prequeue.IsZero() {
		f.Prequeue = &e.Prequeue
	}
	if e.Page != "" {
		f.Page = &e.Page
	}
	b, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("writing the event %s: %w", e.Name, err)
	}
	b = b[:len(b)-1]
	for _, name := range Overridable() {
		value := e.Overrides[name]
		if value == nil {
			value = json.RawMessage("null")
		}
		b = append(fmt.Appendf(b, `,%q:`, name), value...)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes, and passes over other fields.
func (e *Event) UnmarshalJSON(text []byte) error {
	var f fields
	var all map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(text, &f), json.Unmarshal(text, &all)); err != nil {
		return fmt.Errorf("reading an event: %w", err)
	}
	*e = Event{Name: f.Name, Description: f.Description, Start: f.Start, End: f.End, Shuffle: f.Shuffle, Suspended: f.Suspended, FromFile: f.FromFile}
	if f.Prequeue != nil {
		e.Prequeue = *f.Prequeue
	}
	if f.Page != nil {
		e.Page = *f.Page
	}
	for _, name := range Overridable() {
		if value := all[name]; value != nil && string(value) != "null" {
			e.setOverride(name, value)
		}
	}
	return nil
}

func (e *Event) setOverride(name string, value json.RawMessage) {
	if e.Overrides == nil {
		e.Overrides = Overrides{}
	}
	e.Overrides[name] = value
}

// ErrNoObject means that a patch is not a JSON object.
var ErrNoObject = errors.New("not a JSON object")

// Patched returns the event with a JSON object of changes, in which null takes back what the event
// has (RFC 7396). Beside the fields that MarshalJSON writes, the patch may have a timezone, for
// times without an offset.
func (e Event) Patched(patch []byte) (Event, []Fault, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(patch, &given); err != nil || given == nil {
		return e, nil, ErrNoObject
	}
	e.Overrides = maps.Clone(e.Overrides)
	p := patcher{event: &e}
	p.readZone(given["timezone"])
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p.set(name, given[name])
	}
	return e, p.faults, nil
}

// patcher puts changes to an event.
type patcher struct {
	event  *Event
	zone   *time.Location
	faults []Fault
}

func (p *patcher) fault(field, format string, args ...any) {
	p.faults = append(p.faults, Fault{Event: p.event.Name, Field: field, Problem: fmt.Sprintf(format, args...)})
}

func (p *patcher) readZone(value json.RawMessage) {
	if value == nil {
		return
	}
	var name, problem string
	if json.Unmarshal(value, &name) != nil {
		p.fault("timezone", "is not a string")
	} else if p.zone, problem = Zone(name); problem != "" {
		p.fault("timezone", "is %q, which %s", name, problem)
	}
}

func (p *patcher) set(field string, value json.RawMessage) {
	e := p.event
	switch field {
	case "name":
		p.read(field, value, &e.Name, "a string")
	case "description":
		p.read(field, value, &e.Description, "a string")
	case "custom_page_html":
		p.read(field, value, &e.Page, "a string")
	case "event_start_time":
		p.moment(field, value, &e.Start)
	case "event_end_time":
		p.moment(field, value, &e.End)
	case "prequeue_start_time":
		p.moment(field, value, &e.Prequeue)
	case "shuffle_at_event_start":
		p.read(field, value, &e.Shuffle, "true or false")
	case "suspended":
		p.read(field, value, &e.Suspended, "true or false")
	case "timezone", "from_file":
	default:
		p.override(field, value)
	}
}

// read reads a field. Null is the field's zero value.
func (p *patcher) read(field string, value json.RawMessage, into any, wants string) {
	if string(value) == "null" {
		value = json.RawMessage(map[string]string{"a string": `""`, "true or false": "false"}[wants])
	}
	if json.Unmarshal(value, into) != nil {
		p.fault(field, "wants %s", wants)
	}
}

func (p *patcher) moment(field string, value json.RawMessage, into *time.Time) {
	if string(value) == "null" {
		*into = time.Time{}
		return
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		p.fault(field, "wants a time such as 2026-12-01T09:00:00+01:00")
		return
	}
	at, problem := Moment(text, p.zone)
	if problem != "" {
		p.fault(field, "is %q, which %s", text, problem)
		return
	}
	*into = at
}

func (p *patcher) override(name string, value json.RawMessage) {
	switch {
	case !slices.Contains(Overridable(), name):
		p.fault(name, "is not among what an event has")
	case string(value) == "null":
		delete(p.event.Overrides, name)
	default:
		p.event.setOverride(name, value) // Faults tells what is wrong with it
	}
}
