package config

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// events checks the events of a room, by the rules of package event, and keeps them as the gate
// takes them.
func (r *room) events() {
	items := r.itemsOf("events")
	whole := r.valid("events")
	for i, item := range items {
		e, ok := item.event(&r.Events[i])
		r.Planned, whole = append(r.Planned, e), whole && ok
	}
	r.warnOfShuffles(items)
	if !whole {
		return // the rest follows from what is wrong already
	}
	faults := r.Planned.Faults()
	if len(faults) == 0 && len(r.Settings.Misfits()) == 0 && r.valid("queueing_method", "bucket") {
		faults = r.Planned.FaultsIn(r.Settings.WithDefaults(), time.Time{})
	}
	for _, f := range faults {
		items[f.At].fault(items[f.At].where(f.Field), "%s", f.Problem)
	}
}

// warnOfShuffles warns of shuffled prequeues to which anybody may bring any number of clients.
func (r *room) warnOfShuffles(items []*value) {
	s := &r.Room.Subject
	if r.MaxWaitingPerNetwork > 0 || s.Header != "" || s.Token.Header != "" || s.Token.Cookie != "" {
		return
	}
	for i, item := range items {
		item.doubt(r.Events[i].Shuffle, "shuffle_at_event_start",
			"one script can take many places in the draw, and use the best: set max_waiting_per_network for the room, or have the site name its users (subject)")
	}
}

// event is an event as the gate takes it, and whether each of its keys is right by itself.
func (v *value) event(c *Event) (e event.Event, ok bool) {
	v.required("name", "letters, digits, - and _")
	v.required("event_start_time", "when the event starts")
	v.required("event_end_time", "when the event ends")
	e = event.Event{Name: c.Name, Description: c.Description, Shuffle: c.Shuffle, Suspended: c.Suspended, FromFile: true}
	ok = v.isGiven("name") && v.valid("name", "description", "timezone", "shuffle_at_event_start", "suspended", "template")
	zone, _ := event.Zone(c.Timezone)
	for _, t := range []struct {
		key, text string
		into      *time.Time
	}{{"event_start_time", c.Start, &e.Start}, {"event_end_time", c.End, &e.End}, {"prequeue_start_time", c.Prequeue, &e.Prequeue}} {
		ok = v.moment(t.key, t.text, zone, t.into) && ok
	}
	ok = v.overrides(c, &e) && ok
	e.Page = v.eventPage(c.Template)
	return e, ok
}

// moment reads a time of an event in its zone; nil is none.
func (v *value) moment(key, text string, zone *time.Location, into *time.Time) (ok bool) {
	if !v.isGiven(key) {
		return key == "prequeue_start_time"
	}
	if !v.valid(key, "timezone") {
		return false
	}
	at, problem := event.Moment(text, zone)
	if problem != "" {
		v.get(key).reject("%s %s", show(text), problem)
	}
	*into = at
	return problem == ""
}

// overrides takes the settings that an event has of its own.
func (v *value) overrides(c *Event, e *event.Event) (ok bool) {
	ok = true
	for i := range eventKey.inner {
		k := eventKey.inner[i]
		if !slices.Contains(event.Overridable(), k.Field.Name) || !v.isGiven(k.Field.Name) {
			continue
		}
		text, err := k.JSON(k.Of(reflect.ValueOf(c).Elem()))
		if ok = ok && err == nil && v.valid(k.Field.Name); ok {
			if e.Overrides == nil {
				e.Overrides = map[string]json.RawMessage{}
			}
			e.Overrides[k.Field.Name] = text
		}
	}
	return ok
}

// eventPage reads and checks the page of an event.
func (v *value) eventPage(path string) string {
	if v.layerOf("template") == 0 {
		return ""
	}
	src, ok := v.get("template").read(path)
	switch {
	case !ok:
	case len(src) > event.MaxPage:
		v.get("template").reject("%s is larger than %d KiB: the gates share the page of an event through the store", path, event.MaxPage>>10)
	case v.CheckTemplate != nil:
		v.checkPage(path, src)
	}
	return string(src)
}
