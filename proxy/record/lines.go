package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/days"
)

// line is a line of a day's file: a minute of a room, or a change. Of the same minute, the
// latest line holds.
type line struct {
	Room   string  `json:"room"`
	Minute *Minute `json:"minute,omitempty"`
	Change *Change `json:"change,omitempty"`
}

// at is the time that a line is of.
func (l *line) at() time.Time {
	if l.Minute != nil {
		return l.Minute.At
	}
	return l.Change.At
}

// Folder is where the record is in a state directory.
const Folder = "record"

// Read returns what the files of a state directory have of a time, by room. It changes
// nothing, so that the gate may be running. The warnings say what was passed over. The error is
// fs.ErrNotExist where no gate has kept a record.
func Read(stateDir string, from, to time.Time) (rooms map[string]*Excerpt, warnings []string, err error) {
	rooms = map[string]*Excerpt{}
	names, err := days.List(filepath.Join(stateDir, Folder))
	if err != nil {
		err = fmt.Errorf("reading the record: %w", err)
	}
	for _, name := range names {
		if name < days.File(from) || name > days.File(to) {
			continue
		}
		path := filepath.Join(stateDir, Folder, name)
		bad, fault := readDay(path, func(l *line) {
			if !l.at().Before(from) && l.at().Before(to) {
				take(rooms, l)
			}
		})
		if bad > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %d of the lines are cut or garbled", path, bad))
		}
		err = errors.Join(err, fault)
	}
	for _, e := range rooms {
		e.sort()
	}
	return rooms, warnings, err
}

// take puts a line with those of its room.
func take(rooms map[string]*Excerpt, l *line) {
	e := rooms[l.Room]
	if e == nil {
		e = &Excerpt{}
		rooms[l.Room] = e
	}
	if l.Minute != nil {
		e.Minutes = append(e.Minutes, *l.Minute)
	} else {
		e.Changes = append(e.Changes, *l.Change)
	}
}

// readDay reads the lines of a file, and counts those that it cannot read.
func readDay(path string, each func(*line)) (bad int, err error) {
	err = days.Read(path, func(text []byte) {
		var l line
		if json.Unmarshal(text, &l) != nil || !l.whole() {
			bad++
			return
		}
		each(&l)
	})
	if err != nil {
		return bad, fmt.Errorf("reading the record: %w", err)
	}
	return bad, nil
}

// whole says whether a line says what a line has to.
func (l *line) whole() bool {
	switch {
	case l.Room == "" || (l.Minute == nil) == (l.Change == nil):
		return false
	case l.Minute == nil:
		return !l.Change.At.IsZero()
	}
	return l.Minute.At.Equal(l.Minute.At.Truncate(time.Minute)) && !l.Minute.At.IsZero()
}
