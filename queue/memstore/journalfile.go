package memstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// journalFile is the file of a journal, which is open from an admission to the next Sync. It has
// records and then zeros, at least one, up to a multiple of block: so one that was cut short can be
// told from one that is whole.
type journalFile struct {
	files    Files
	path     string
	file     File  // nil while it is closed
	size     int64 // of the records
	extent   int64 // of the file
	unusable bool  // nothing can be appended until it is written anew
}

// block is what the file grows by.
const block = 4096

var errUnusable = errors.New("the journal is closed, or has yet to be written anew")

// extentOf is the length of a file with so many bytes of records.
func extentOf(size int64) int64 { return (size/block + 1) * block }

// create makes the file of a room that is new.
func (f *journalFile) create(records []byte) error {
	f.size, f.extent = int64(len(records)), extentOf(int64(len(records)))
	if err := writeFile(f.files, f.path+nextSuffix, append(records, make([]byte, f.extent-f.size)...), false); err != nil {
		return err
	}
	return f.files.Rename(f.path+nextSuffix, f.path)
}

// add appends records. On an error none of them is in the file.
func (f *journalFile) add(records []byte) error {
	if f.unusable {
		return errUnusable
	}
	if f.file == nil {
		file, err := f.files.OpenFile(f.path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		f.file = file
	}
	var err error
	extent := extentOf(f.size + int64(len(records)))
	if extent > f.extent {
		err = f.file.Truncate(extent)
	}
	if err == nil {
		_, err = f.file.WriteAt(records, f.size)
	}
	if err != nil {
		f.unusable = errors.Join(f.rest(), f.cutOff()) != nil
		return err
	}
	f.size, f.extent = f.size+int64(len(records)), max(f.extent, extent)
	return nil
}

// replace has the file have these records only.
func (f *journalFile) replace(records []byte) error {
	if err := f.rest(); err != nil {
		return err
	}
	size, extent := int64(len(records)), extentOf(int64(len(records)))
	if err := replace(f.files, f.path, append(records, make([]byte, extent-size)...)); err != nil {
		return err
	}
	f.size, f.extent, f.unusable = size, extent, false
	return nil
}

// cutOff overwrites with zeros what is behind the records.
func (f *journalFile) cutOff() error {
	file, err := f.files.OpenFile(f.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(f.size), file.Truncate(f.extent), file.Close())
}

// rest closes the file until there is something to write.
func (f *journalFile) rest() error {
	file := f.file
	f.file = nil
	if file == nil {
		return nil
	}
	return file.Close()
}

// unwritten is the error of a journal that cannot be written.
func unwritten(doing string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk of the journal is full: %w", err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// nextSuffix ends the name of a file that is to replace another.
const nextSuffix = ".next"

// replace gives the file another content: as a whole, or not at all.
func replace(files Files, path string, content []byte) error {
	if err := files.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := writeFile(files, path+nextSuffix, content, true); err != nil {
		return err
	}
	return files.Rename(path+nextSuffix, path)
}
