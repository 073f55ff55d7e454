package draws

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// list are the entries of one draw.
type list struct {
	path string // "" without a directory

	header atomic.Pointer[event.Header] // that was computed last; nil for none

	mu        sync.Mutex
	known     map[string]bool
	names     []string  // in the order in which they came
	added     time.Time // when the last one was, or the list was made
	file      *os.File  // nil before it is read
	written   int64     // how many bytes of the file are whole entries
	unwritten []byte    // the entries that the file does not have
}

// note adds an entry if it is not there, and has the file have it.
func (l *list) note(entry string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[entry] {
		return nil
	}
	l.add(entry)
	l.added = time.Now()
	l.unwritten = append(l.unwritten, entry+"\n"...)
	return l.save()
}

// all returns the entries, those of the file among them.
func (l *list) all() ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.open(); err != nil {
		return nil, err
	}
	return slices.Clone(l.names), nil
}

func (l *list) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.names)
}

func (l *list) lastAdded() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.added
}

func (l *list) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// add adds an entry in memory, if it is not there. The caller holds mu, as that of the methods
// below.
func (l *list) add(entry string) {
	if !l.known[entry] {
		l.known[entry] = true
		l.names = append(l.names, entry)
	}
}

// save writes what the file does not have. What was cut off at a failure is written again in the
// same place.
func (l *list) save() error {
	if l.path == "" {
		l.unwritten = nil
		return nil
	}
	if err := l.open(); err != nil {
		return err
	}
	if _, err := l.file.WriteAt(l.unwritten, l.written); err != nil {
		return err
	}
	l.written += int64(len(l.unwritten))
	l.unwritten = nil
	return nil
}

// open reads the file, unless it is open. If it fails, the next call tries again. A last line that
// was cut off when the machine stopped is no entry.
func (l *list) open() error {
	if l.path == "" || l.file != nil {
		return nil
	}
	text, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for entry := range strings.Lines(string(whole)) {
		l.add(strings.TrimSuffix(entry, "\n"))
	}
	l.file, l.written = file, int64(len(whole))
	return nil
}
