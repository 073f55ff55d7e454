package memstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// disk is where a store keeps what a restart must know: a journal for each room, and an
// empty file in known for each room that has a journal, so that a journal that is gone is missed.
type disk struct {
	files           Files
	journals, known string
}

const journalSuffix = ".journal"

// openDisk makes the directories where they are missing, and removes what a crash
// has left of journals that were being written anew.
func openDisk(files Files, dir string) (*disk, error) {
	d := &disk{files: files, journals: filepath.Join(dir, "rooms"), known: filepath.Join(dir, "known")}
	if err := d.make(); err != nil {
		return nil, err
	}
	return d, d.each(nextSuffix, func(name string) error { return files.Remove(filepath.Join(d.journals, name+nextSuffix)) })
}

// make makes the directories where they are missing.
func (d *disk) make() error {
	return errors.Join(d.files.MkdirAll(d.journals, 0o700), d.files.MkdirAll(d.known, 0o700))
}

// each calls do with the name of each file that has the suffix, without it.
func (d *disk) each(suffix string, do func(name string) error) error {
	files, err := d.files.ReadDir(d.journals)
	if err != nil {
		return err
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), suffix); ok {
			if err := do(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// rooms are the names of the rooms that have a journal or are known.
func (d *disk) rooms() (names []string, err error) {
	err = d.each(journalSuffix, func(name string) error {
		names = append(names, name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	known, err := d.files.ReadDir(d.known)
	for _, m := range known {
		names = append(names, m.Name())
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

func (d *disk) path(room string) string      { return filepath.Join(d.journals, room+journalSuffix) }
func (d *disk) knownPath(room string) string { return filepath.Join(d.known, room) }

// open returns the room's journal and what it has. A journal that is not whole is left
// as it is; it is stale and has to be written anew.
func (d *disk) open(room string) (*journal, restored, error) {
	j := &journal{journalFile: journalFile{files: d.files, path: d.path(room)}, room: room}
	found := newRestored()
	if err := d.make(); err != nil {
		return nil, found, err
	}
	file, err := d.files.ReadFile(j.path)
	switch {
	case err == nil:
		j.size, j.extent = found.replay(file, room), int64(len(file))
		if errors.As(found.loss, new(formatError)) {
			return nil, found, found.loss
		}
		if found.loss == nil && !zeros(file[j.size:]) { // part of a record that a crash cut short
			err = j.cutOff()
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, found, err
	case d.isKnown(room):
		found.loss = errMissing
	default:
		found.format = formatVersion
		err = j.create(header(room))
	}
	if err == nil || found.loss != nil {
		err = writeFile(d.files, d.knownPath(room), nil, false)
	}
	if err != nil {
		return nil, found, err
	}
	j.stale, j.unusable = found.loss != nil || found.format != formatVersion, found.loss != nil
	return j, found, nil
}

// checkFormats returns an error if a journal has a format that this gate does not read. What else
// is wrong with a journal comes out when its room begins.
func (d *disk) checkFormats() error {
	return d.each(journalSuffix, func(room string) error {
		file, _ := d.files.ReadFile(d.path(room))
		var found restored
		if _, err := found.afterHeader(file, room); errors.As(err, new(formatError)) {
			return fmt.Errorf("room %q: %w", room, err)
		}
		return nil
	})
}

func (d *disk) isKnown(room string) bool {
	_, err := d.files.ReadFile(d.knownPath(room))
	return err == nil
}

// forget removes the files of a room. The one in known goes first: without a journal it would
// be taken for a loss.
func (d *disk) forget(room string) error {
	for _, path := range []string{d.knownPath(room), d.path(room)} {
		if err := d.files.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forgetting room %q: %w", room, err)
		}
	}
	return nil
}
