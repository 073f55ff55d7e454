// Package overrides has the settings of a room that operators changed while it ran.
//
// A gate's file gives a room its settings. Operators change some of them through the
// admin API, on all gates at once: the changes stand in a document beside the room's
// settings in the store. They stay over the file's settings when a file is read anew. The
// room's events stand there, too, those of the file among them: so all gates know the same.
//
//	document.go  the document: what was changed, by whom and when
//	changes.go   changes: merged with a patch, put over settings
//	ahead.go     the visitors whom operators have put ahead
//	together.go  with what those who wait read the message of operators
//	noted.go     what one configuration changes of the one before
//	room.go      a room's settings, as the file, a patch and other gates change them
//	events.go    the room's events, and the settings that are in force with them
//	draws.go     the draws of shuffled prequeues
package overrides

import (
	"bytes"
	"encoding/json"
	"maps"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// Document is what operators changed of a room, as all its gates know it through the
// store.
type Document struct {
	// File is what the latest file that a gate has read says of the room, so that whatever changes
	// the room, and whichever gate makes the change, the rest stays as it is. A gate's own file may
	// differ: files are changed on one gate after the other.
	File *queue.Settings `json:"file,omitempty"`

	Changes Changes           `json:"changes"`
	By      map[string]Author `json:"by"` // by the name of the setting

	// Beside is why people waited when operators last had the message and that before them; "" where
	// that is not known.
	Beside estimate.Reason `json:"beside,omitempty"`

	// Ahead are visitors whom operators have put ahead of everybody, by their support codes, and until
	// when.
	Ahead map[string]Author `json:"ahead,omitempty"`

	// Favours are how many visitors operators have put ahead of others lately, by the minute.
	Favours []Favours `json:"favours,omitempty"`

	// Events are those of the latest file that a gate has read, and those that operators have made.
	// Draws are those of shuffled prequeues, which outlast their events.
	Events event.List   `json:"events,omitempty"`
	Draws  []event.Draw `json:"draws,omitempty"`
}

// Author is who changed a setting, when, and for how long.
type Author struct {
	By    string          `json:"by"`
	At    time.Time       `json:"at"`
	Until time.Time       `json:"until,omitzero"` // when the change ends by itself
	Back  json.RawMessage `json:"back,omitempty"` // what the setting goes back to then; absent: as in the file
}

// Of reads the document that stands in a configuration. What another version of the
// program wrote and this one cannot read counts as none.
func Of(c queue.Configuration) Document {
	var d Document
	if len(c.Overrides) > 0 && json.Unmarshal(c.Overrides, &d) != nil {
		return Document{}
	}
	return d
}

// base returns the settings of the file with the changes of operators in them, without an event's.
func (d Document) base() queue.Settings { return d.Changes.over(*d.File) }

// signed returns d with the changes c in the place of its own, and the author at those of a patch
// that differ, or that last for another time.
func (d Document) signed(c, patch Changes, author Author) Document {
	next := d
	next.Changes, next.By = c, map[string]Author{}
	for name, value := range c {
		was, same := d.By[name], bytes.Equal(value, d.Changes[name])
		_, given := patch[name]
		switch {
		case !given || same && was.Until.IsZero() && author.Until.IsZero():
			next.By[name] = was
		case author.Until.IsZero():
			next.By[name] = author
		default:
			by := author
			if by.Back = d.Changes[name]; !was.Until.IsZero() {
				by.Back = was.Back
			}
			next.By[name] = by
		}
	}
	return next
}

// hasEnded says whether something that operators did has ended by itself at a moment.
func (d Document) hasEnded(at time.Time) bool {
	for _, done := range []map[string]Author{d.By, d.Ahead} {
		for _, by := range done {
			if by.endedAt(at) {
				return true
			}
		}
	}
	return false
}

// endedAt says whether what the author has done has ended by itself at a moment.
func (a Author) endedAt(at time.Time) bool { return !a.Until.IsZero() && !at.Before(a.Until) }

// without returns d without a change that has ended by itself.
func (d Document) without(name string) Document {
	d.Changes, d.By = maps.Clone(d.Changes), maps.Clone(d.By)
	if by := d.By[name]; by.Back == nil {
		delete(d.Changes, name)
		delete(d.By, name)
	} else {
		d.Changes[name], d.By[name] = by.Back, Author{By: by.By, At: by.Until}
	}
	return d
}

// forGood returns d with a change that was made for some time and goes on.
func (d Document) forGood(name string) Document {
	d.By = maps.Clone(d.By)
	d.By[name] = Author{By: d.By[name].By, At: d.By[name].At}
	return d
}

// withoutTimes returns d without those of its changes that have to go together with
// other settings.
func (d Document) withoutTimes() Document {
	d.Changes, d.By = maps.Clone(d.Changes), maps.Clone(d.By)
	for _, name := range []string{"refresh_interval", "queue_ticket_ttl", "line_dropout", "edge_admission"} {
		delete(d.Changes, name)
		delete(d.By, name)
	}
	return d
}
