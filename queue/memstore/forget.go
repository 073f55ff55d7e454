package memstore

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

const (
	// forgetInterval is how often the store looks for rooms to forget.
	forgetInterval = time.Minute
	// forgetAfter is how much longer than its tickets a fleeting room is kept
	// without a report.
	forgetAfter = 10 * time.Minute
)

// forget drops the fleeting rooms that nobody reports of any more, with their
// journals: those of earlier processes, too. The caller holds mu.
func (s *Store) forget(now queue.Instant) {
	if now.Sub(s.looked) < forgetInterval {
		return
	}
	s.looked = now
	for _, name := range s.found {
		// One that cannot be read is told of to whoever asks for it.
		_, _ = s.open(name)
	}
	s.found = nil
	for name, r := range s.rooms {
		if r.over(now) {
			delete(s.rooms, name)
			r.journal.remove()
		}
	}
}

// over says whether the room can be forgotten.
func (r *room) over(now queue.Instant) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.settings.Fleeting {
		return false
	}
	if r.now == 0 { // of an earlier process
		r.restore(now)
		r.advance(now)
	}
	if now.Sub(r.now) < max(r.settings.SessionDuration, r.current.Remembers())+forgetAfter {
		return false
	}
	r.advance(now)
	r.sweep()
	return len(r.sessions)+len(r.revoked)+r.active == 0
}

// journals are the names of the rooms that have a journal in dir.
func journals(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), journalSuffix); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// journalSuffix ends the name of a journal's file.
const journalSuffix = ".journal"

func journalPath(dir, name string) string { return filepath.Join(dir, name+journalSuffix) }

// remove deletes the journal. One that stays, because the directory is not
// writable, is as good as none: all in it is over.
func (j *journal) remove() {
	if j != nil {
		_ = j.file.Close()
		_ = os.Remove(j.path)
	}
}
