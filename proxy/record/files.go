package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"
)

// files are the days of a record in a state directory.
type files struct {
	dir string // the state directory
	log *zap.Logger

	mu     sync.Mutex // held while files are written
	name   string     // of the open file
	open   *os.File
	failed bool // the latest write has, and the log says so
	full   bool // the files take all that they may, and the log says so
	used   int64
}

func newFiles(dir string, log *zap.Logger) *files { return &files{dir: dir, log: log} }

func (f *files) path(name string) string { return filepath.Join(f.dir, Folder, name) }

// append writes lines, and returns those that could not be written and are to be tried again.
func (f *files) append(now time.Time, lines []line) (left []line) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(lines) > 0 {
		name, n := day(lines[0].at()), 1
		for n < len(lines) && day(lines[n].at()) == name {
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
func (f *files) fail(err error) {
	if !f.failed {
		f.log.Error("the record of the rooms cannot be written, and is in memory until it can", zap.Error(err))
	}
	f.failed = true
	f.close()
}

// appendTo writes lines to the file of a day. What was written of them before an error is
// taken back, or is a line that cannot be read.
func (f *files) appendTo(now time.Time, name string, lines []line) error {
	if err := f.use(now, name); err != nil {
		return err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	for i := range lines {
		if err := encoder.Encode(&lines[i]); err != nil {
			f.log.Error("a line of the record is left out", zap.Error(err))
		}
	}
	if f.isFull(text.Len()) {
		return nil
	}
	if _, err := f.open.Write(text.Bytes()); err != nil {
		return fmt.Errorf("writing the record: %w", err)
	}
	f.used += int64(text.Len())
	if err := f.open.Sync(); err != nil {
		return fmt.Errorf("writing the record: %w", err)
	}
	if f.failed {
		f.log.Info("the record of the rooms is written again")
		f.failed = false
	}
	return nil
}

// isFull says whether the files may not take so many bytes more. Those of days before have
// been removed then.
func (f *files) isFull(bytes int) bool {
	full := f.used+int64(bytes) > MaxBytes
	if full && !f.full {
		f.log.Error("the record of the rooms takes all the space that it may: what comes today is in memory only", zap.Int("bytes", MaxBytes))
	}
	f.full = full
	return full
}

// use opens the file of a day.
func (f *files) use(now time.Time, name string) error {
	if f.open != nil && f.name == name {
		return nil
	}
	f.close()
	f.tidy(now)
	if err := os.MkdirAll(filepath.Join(f.dir, Folder), 0o700); err != nil {
		return fmt.Errorf("making the folder of the record: %w", err)
	}
	file, err := os.OpenFile(f.path(name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the record: %w", err)
	}
	if err := endLine(file); err != nil {
		return errors.Join(fmt.Errorf("opening the record: %w", err), file.Close())
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

// tidy removes the files that are too old, and the oldest while all of them take too much.
func (f *files) tidy(now time.Time) {
	oldest := day(now.AddDate(0, 0, 1-Days))
	names, _ := daysOf(f.dir) // where there are none, or none can be read, none are removed
	f.used = 0
	for _, name := range names {
		if info, err := os.Stat(f.path(name)); err == nil {
			f.used += info.Size()
		}
	}
	for _, name := range names {
		if name >= oldest && f.used <= MaxBytes*3/4 || name >= day(now) {
			return
		}
		info, err := os.Stat(f.path(name))
		if err == nil {
			err = os.Remove(f.path(name))
		}
		if err != nil {
			f.log.Warn("an old day of the record cannot be removed", zap.Error(err))
			continue
		}
		f.used -= info.Size()
	}
}

func (f *files) close() {
	if f.open != nil {
		_ = f.open.Close()
		f.open = nil
	}
}
