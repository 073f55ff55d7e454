// Package overrides has the settings of a room that operators changed while it ran.
//
// A gate's file gives a room its settings. Operators change some of them through the
// admin API, on all gates at once: the changes stand in a document beside the room's
// settings in the store. They stay over the file's settings when a file is read anew. The
// room's events stand there, too, those of the file among them: so all gates know the same.
//
//	document.go  the document: what was changed, by whom and when
//	changes.go   changes: merged with a patch, put over settings
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

	// Events are those of the latest file that a gate has read, and those that operators have made.
	// Draws are those of shuffled prequeues, which outlast their events.
	Events event.List   `json:"events,omitempty"`
	Draws  []event.Draw `json:"draws,omitempty"`
}

// Author is who changed a setting, and when.
type Author struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
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

// signed returns d with the changes c in the place of its own, and the author at those
// that differ.
func (d Document) signed(c Changes, author Author) Document {
	next := d
	next.Changes, next.By = c, map[string]Author{}
	for name, value := range c {
		next.By[name] = author
		if bytes.Equal(value, d.Changes[name]) {
			next.By[name] = d.By[name]
		}
	}
	return next
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
