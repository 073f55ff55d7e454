// Package record keeps what a gate has seen of its rooms, minute by minute, and who has changed
// what in them: for the pictures of the last hours, and for the report of a day.
//
//	record.go   the record: what the gate tells it, and what is read from it
//	minute.go   a minute of a room, and a change
//	sample.go   how a room stands at a moment, and how minutes are made of that
//	lines.go    the lines of a day
//	measure.go  the numbers of a room that have charts and peaks
//	bands.go    what explains a chart
//	merge.go    the records of several gates as one
//
// The gate calls [Record.Observe] about once a second, for its rooms and its families: all
// rooms of a family are one in the record, as they are in the metrics. Nothing is counted
// while requests are answered that the gate would not count anyhow.
//
// In the state directory, the folder record has a file of JSON lines for each day of UTC. A
// minute is written when it is over, a change within a second, and the running minute when
// the gate stops: a gate that is killed loses the minute that was running. Files are kept
// for [Days] days, and as long as they take no more than [MaxBytes] in all. Where the disk
// takes nothing, the gate goes on, and so does the record in memory, which has the last day.
package record

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/days"
)

const (
	// Days is for how many days files are kept, today's among them.
	Days = 14
	// MaxBytes is how much the files may take in all; the oldest go first.
	MaxBytes = 256 << 20
	// kept is for how long minutes and changes are in memory.
	kept = 24 * time.Hour
)

// Record is the record of one gate. It is made by Open and ended by Close. Its methods may be
// called concurrently.
type Record struct {
	log *zap.Logger

	mu      sync.Mutex
	rooms   map[string]*room
	changes map[string][]Change // by room, in the order in which they were noted
	pending []line              // that are not written yet
	horizon time.Time           // from which on memory has everything that is known
	dir     string              // the state directory; "" for none
	files   *days.Files[line]   // nil without a state directory
}

// room is the record of a room in memory.
type room struct {
	minutes []Minute  // in order; the last one may be running
	written bool      // the last one is, as it is now
	at      time.Time // of the latest sample
	counted Counted   // by then
}

// Open opens the record in a state directory, at now: it goes on with what is there. Without
// a directory the record is in memory only. What cannot be read or written is logged.
func Open(dir string, now time.Time, log *zap.Logger) *Record {
	r := &Record{log: log, rooms: map[string]*room{}, changes: map[string][]Change{}, horizon: now.Add(-kept)}
	if dir == "" {
		return r
	}
	r.dir = dir
	r.files = days.New(days.Config[line]{Folder: filepath.Join(dir, Folder), Of: "the record of the rooms", At: (*line).at, Keep: Days, Most: MaxBytes, Log: log})
	r.files.Tidy(now)
	for name, past := range r.read(r.horizon, now.Add(kept)) {
		r.changes[name] = past.Changes
		if len(past.Minutes) > 0 {
			r.rooms[name] = &room{minutes: past.Minutes, written: true}
		}
	}
	return r
}

// read returns what the files have of a time. What cannot be read is logged.
func (r *Record) read(from, to time.Time) map[string]*Excerpt {
	rooms, warnings, err := Read(r.dir, from, to)
	for _, w := range warnings {
		r.log.Warn("the record is not whole; what cannot be read of it is passed over", zap.String("fault", w))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.log.Warn("the record cannot be read", zap.Error(err))
	}
	return rooms
}

// Observe takes in how the rooms stand at now. It writes what is ready to be written.
func (r *Record) Observe(now time.Time, samples ...Sample) {
	r.mu.Lock()
	for i := range samples {
		r.observe(now, &samples[i])
	}
	r.forget(now)
	r.mu.Unlock()
	r.flush(now)
}

// Note takes in that somebody has changed something of a room. It is written by the next Observe.
func (r *Record) Note(room string, c Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.At = c.At.UTC()
	r.changes[room] = append(r.changes[room], c)
	r.write(line{Room: room, Change: &c})
}

// Minutes returns the minutes of a room, or of a family, that began in a time, in order. Of
// minutes that are not there, nothing is known. The last one may be running.
func (r *Record) Minutes(room string, from, to time.Time) []Minute {
	return r.Excerpt(room, from, to).Minutes
}

// Audit returns the changes of a room in a time, in order; of a family, those of its rooms.
func (r *Record) Audit(room string, from, to time.Time) []Change {
	return r.Excerpt(room, from, to).Changes
}

// Excerpt returns what the record has of a room in a time: from the files where memory does
// not go back so far.
func (r *Record) Excerpt(room string, from, to time.Time) Excerpt {
	r.mu.Lock()
	recent, horizon := r.recent(room, from, to), r.horizon
	r.mu.Unlock()
	if r.files == nil || !from.Before(horizon) {
		return recent
	}
	if to.Before(horizon) {
		horizon = to
	}
	return Of(r.read(from, horizon), room).then(recent.cut(horizon, to))
}

// recent returns what memory has of a room in a time. The caller holds mu.
func (r *Record) recent(name string, from, to time.Time) Excerpt {
	all := map[string]*Excerpt{}
	for of, changes := range r.changes {
		all[of] = &Excerpt{Changes: changes}
	}
	if of := r.rooms[name]; of != nil {
		all[name] = &Excerpt{Minutes: of.minutes, Changes: r.changes[name]}
	}
	return Of(all, name).cut(from, to)
}

// Has reports whether the record has ever heard of a room or family.
func (r *Record) Has(room string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rooms[room] != nil || r.changes[room] != nil
}

// Close writes the running minutes, and ends the record.
func (r *Record) Close(now time.Time) {
	r.mu.Lock()
	for name, of := range r.rooms {
		r.finish(name, of)
	}
	r.mu.Unlock()
	r.flush(now)
	if r.files != nil {
		r.files.Close()
	}
}
