// Package days keeps lines of JSON in a folder, in a file for each day of UTC, for so many days.
package days

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
)

// Config says what is kept where. All of it is required.
type Config[L any] struct {
	Folder string
	Of     string             // what the lines are, in words, such as "the record of the rooms"
	At     func(*L) time.Time // when a line is of
	Keep   int                // days, today's among them
	Most   int64              // bytes of all files; the oldest go first
	Log    *zap.Logger
}

// Files are the days of lines. They are made by New. Their methods may be called concurrently.
type Files[L any] struct {
	Config[L]

	mu     sync.Mutex // held while files are written
	name   string     // of the open file
	open   *os.File
	failed bool // the latest write has, and the log says so
	full   bool // the files take all that they may, and the log says so
	used   int64
}

// New returns the days in a folder, which is made when there is something to write.
func New[L any](c Config[L]) *Files[L] { return &Files[L]{Config: c} }

func (f *Files[L]) path(name string) string { return filepath.Join(f.Folder, name) }

// Append writes lines, and returns those that could not be written and are to be tried again.
func (f *Files[L]) Append(now time.Time, lines []L) (left []L) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(lines) > 0 {
		name, n := File(f.At(&lines[0])), 1
		for n < len(lines) && File(f.At(&lines[n])) == name {
			n++
		}
		if err := f.appendTo(now, name, lines[:n]); err != nil {
			f.fail(err)
			return lines
		}
		lines = lines[n:]
	}
	return nil
}

// fail logs that nothing can be written, once until something can.
func (f *Files[L]) fail(err error) {
	if !f.failed {
		f.Log.Error(f.Of+" cannot be written, and is in memory until it can", zap.Error(err))
	}
	f.failed = true
	f.close()
}

// appendTo writes lines to the file of a day. What was written of them before an error is
// taken back, or is a line that cannot be read.
func (f *Files[L]) appendTo(now time.Time, name string, lines []L) error {
	if err := f.use(now, name); err != nil {
		return err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	for i := range lines {
		if err := encoder.Encode(&lines[i]); err != nil {
			f.Log.Error("a line is left out of "+f.Of, zap.Error(err))
		}
	}
	if f.isFull(now, text.Len()) {
		return nil
	}
	if _, err := f.open.Write(text.Bytes()); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	f.used += int64(text.Len())
	if err := f.open.Sync(); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	if f.failed {
		f.Log.Info(f.Of + " is written again")
		f.failed = false
	}
	return nil
}

// isFull says whether the files may not take so many bytes more, also without those of days before.
func (f *Files[L]) isFull(now time.Time, bytes int) bool {
	full := f.used+int64(bytes) > f.Most
	if full && !f.full {
		f.tidy(now)
		full = f.used+int64(bytes) > f.Most
	}
	if full && !f.full {
		f.Log.Error("today alone takes all the space that "+f.Of+" may: no more of today is kept in files", zap.Int64("bytes", f.Most))
	}
	f.full = full
	return full
}

// use opens the file of a day.
func (f *Files[L]) use(now time.Time, name string) error {
	if f.open != nil && f.name == name {
		return nil
	}
	f.close()
	f.tidy(now)
	if err := os.MkdirAll(f.Folder, 0o700); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	file, err := os.OpenFile(f.path(name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening a day: %w", err)
	}
	if err := endLine(file); err != nil {
		return errors.Join(fmt.Errorf("opening a day: %w", err), file.Close())
	}
	f.name, f.open = name, file
	return nil
}

// endLine ends the last line of a file that was cut in it.
func endLine(file *os.File) error {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = file.Write([]byte{'\n'})
	return err
}

// Tidy removes the files that are too old, and the oldest while all of them take too much.
func (f *Files[L]) Tidy(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tidy(now)
}

func (f *Files[L]) tidy(now time.Time) {
	oldest := File(now.AddDate(0, 0, 1-f.Keep))
	names, _ := List(f.Folder) // where there are none, or none can be read, none are removed
	f.used = 0
	for _, name := range names {
		if info, err := os.Stat(f.path(name)); err == nil {
			f.used += info.Size()
		}
	}
	for _, name := range names {
		if name >= oldest && f.used <= f.Most*3/4 || name >= File(now) {
			return
		}
		info, err := os.Stat(f.path(name))
		if err == nil {
			err = os.Remove(f.path(name))
		}
		if err != nil {
			f.Log.Warn("an old day of "+f.Of+" cannot be removed", zap.Error(err))
			continue
		}
		f.used -= info.Size()
	}
}

// Close closes the file that is open.
func (f *Files[L]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.close()
}

func (f *Files[L]) close() {
	if f.open != nil {
		_ = f.open.Close()
		f.open = nil
	}
}

// File is the name of the file of a time.
func File(at time.Time) string { return at.UTC().Format(time.DateOnly) + suffix }

const suffix = ".jsonl"

// List returns the names of the files in a folder, the oldest first.
func List(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("looking for days: %w", err)
	}
	for _, e := range entries {
		date, isDay := strings.CutSuffix(e.Name(), suffix)
		if _, err := time.Parse(time.DateOnly, date); err == nil && isDay {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Read reads the lines of a file.
func Read(path string, each func(text []byte)) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading a day: %w", err)
	}
	defer func() { _ = file.Close() }()
	reader := bufio.NewReaderSize(file, 1<<16)
	for {
		text, err := reader.ReadBytes('\n')
		if text = bytes.TrimSpace(text); len(text) > 0 {
			each(text)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading a day: %w", err)
		}
	}
}
