package callback

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const suffix = ".json"

// file is where a call is kept.
func (d *Desk) file(c *Call) string { return filepath.Join(d.o.Dir, c.Visitor+suffix) }

// keep writes a call down: as a whole, or not at all. The caller holds mu.
func (d *Desk) keep(c *Call) error {
	if d.o.Dir == "" {
		return nil
	}
	text, err := json.Marshal(c)
	if err == nil {
		err = os.MkdirAll(d.o.Dir, 0o700)
	}
	name := d.file(c)
	if err == nil {
		err = os.WriteFile(name+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return fmt.Errorf("keeping a call: %w", err)
	}
	return nil
}

// remove removes the file of a call.
func (d *Desk) remove(c *Call) {
	if d.o.Dir != "" {
		_ = os.Remove(d.file(c)) // one that stays is found to be over after a restart
	}
}

// load returns the calls of the files. What cannot be read is removed.
func (d *Desk) load() (calls []Call, err error) {
	if d.o.Dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(d.o.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing the calls: %w", err)
	}
	for _, entry := range entries {
		var c Call
		name := filepath.Join(d.o.Dir, entry.Name())
		text, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(text, &c) != nil || entry.Name() != c.Visitor+suffix || strings.ContainsAny(c.Visitor, `/\`) {
			_ = os.Remove(name)
			continue
		}
		calls = append(calls, c)
	}
	return calls, nil
}
