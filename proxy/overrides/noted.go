package overrides

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

// Change is a setting or an event of a room that has changed. All gates tell the same of it.
type Change struct {
	At       time.Time // by the store's clock
	By       string    // who made it: an operator, ByFile, ByEvent or ByTime
	What     string    // the name of the setting, "event" for the event in force, or "event" and the name of a planned one
	From, To string    // settings as in the file, and events as [Plan] writes them; empty for none
	Was      string    // of a planned event: all that it was, as JSON; empty for none
}

// Who makes changes that no operator makes just then.
const (
	ByFile  = "file"
	ByEvent = "event" // by its times
	ByTime  = "time"  // whose change has ended
)

// noted is the latest configuration of a room whose changes have been told.
type noted struct {
	mu   sync.Mutex
	note func(Change) // nil until the room is open
	last queue.Configuration
}

// begin goes on from a configuration.
func (n *noted) begin(c queue.Configuration, note func(Change)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.note, n.last = note, c
}

// follow tells what a configuration changes.
func (n *noted) follow(c queue.Configuration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.note == nil || c.Version <= n.last.Version {
		return
	}
	for _, change := range changesBetween(n.last, c) {
		n.note(change)
	}
	n.last = c
}

// changesBetween returns what a configuration changes of the one before.
func changesBetween(before, c queue.Configuration) []Change {
	d := difference{at: c.At.Time(), by: c.By}
	d.events(before, c)
	d.add("event", inForce(before.Settings), inForce(c.Settings))
	d.settings(before.Settings, c.Settings)
	return d.changes
}

// difference gathers the changes of one configuration.
type difference struct {
	at      time.Time
	by      string
	changes []Change
}

// add adds a change, if it is one.
func (d *difference) add(what, from, to string) {
	if from != to {
		d.changes = append(d.changes, Change{At: d.at, By: d.by, What: what, From: from, To: to})
	}
}

// fields are those of queue.Settings.
var fields = setting.Fields(reflect.TypeFor[queue.Settings]())

// settings adds the changes of settings. That a prequeue holds everybody new is the event's phase,
// and not operators' queue_all.
func (d *difference) settings(before, after queue.Settings) {
	before.QueueAll, after.QueueAll = before.HeldByOperators(), after.HeldByOperators()
	was, is := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range fields {
		f := &fields[i]
		d.add(f.Name, f.Text(f.Of(was)), f.Text(f.Of(is)))
	}
}

// inForce is the event that settings are for, and its phase.
func inForce(s queue.Settings) string {
	switch {
	case s.Event.Name == "":
		return ""
	case s.Event.Prequeueing:
		return s.Event.Name + ": prequeue"
	}
	return s.Event.Name + ": started"
}

// events adds the changes of planned events.
func (d *difference) events(before, c queue.Configuration) {
	if bytes.Equal(before.Overrides, c.Overrides) {
		return
	}
	was, is := Of(before).Events, Of(c).Events
	for _, e := range was {
		if is.Named(e.Name) < 0 {
			d.event(&e, nil)
		}
	}
	for _, e := range is {
		var before *event.Event
		if i := was.Named(e.Name); i >= 0 {
			before = &was[i]
		}
		d.event(before, &e)
	}
}

// event adds the change of a planned event, if it is one. Nil is none.
func (d *difference) event(before, after *event.Event) {
	c := Change{At: d.at, By: d.by}
	if before != nil {
		text, _ := json.Marshal(before) // an event can always be written
		c.What, c.From, c.Was = "event "+before.Name, Plan(before), string(text)
	}
	if after != nil {
		c.What, c.To = "event "+after.Name, Plan(after)
	}
	if c.From != c.To {
		d.changes = append(d.changes, c)
	}
}

// Plan is an event in a line, with what it has. Of a page it has the first digits of a hash.
func Plan(e *event.Event) string {
	text := e.Start.UTC().Format(time.RFC3339) + " to " + e.End.UTC().Format(time.RFC3339)
	if !e.Prequeue.IsZero() {
		text += ", prequeue from " + e.Prequeue.UTC().Format(time.RFC3339)
	}
	if e.Shuffle {
		text += ", shuffled"
	}
	for _, name := range slices.Sorted(maps.Keys(e.Overrides)) {
		text += ", " + name + " " + strings.Trim(string(e.Overrides[name]), `"`)
	}
	if e.Page != "" {
		sum := sha256.Sum256([]byte(e.Page))
		text += fmt.Sprintf(", page %x", sum[:4])
	}
	if e.Description != "" {
		text += fmt.Sprintf(", described as %q", e.Description)
	}
	if e.Suspended {
		text += ", suspended"
	}
	return text
}
