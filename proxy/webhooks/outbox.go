package webhooks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// outbox has the files of a hook's deliveries, one each, in a directory of the hook's own. Their
// names are in the order of the deliveries. The zero outbox keeps nothing.
type outbox struct {
	dir  string
	last uint64 // number of the latest file
}

// outboxOf is that of the hook with the URL.
func outboxOf(dir string, of *url.URL) outbox {
	if dir == "" {
		return outbox{}
	}
	sum := sha256.Sum256([]byte(of.String()))
	return outbox{dir: filepath.Join(dir, hex.EncodeToString(sum[:8]))}
}

const suffix = ".json"

// keep writes a delivery down: as a whole, or not at all.
func (o *outbox) keep(d *delivery) error {
	if o.dir == "" {
		return nil
	}
	text, err := json.Marshal(d)
	if err == nil {
		err = os.MkdirAll(o.dir, 0o700)
	}
	o.last++
	name := filepath.Join(o.dir, fmt.Sprintf("%020d-%s", o.last, d.ID))
	if err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err == nil {
		err = os.Rename(name, name+suffix)
	}
	if err != nil {
		return fmt.Errorf("keeping a delivery: %w", err)
	}
	d.file = name + suffix
	return nil
}

// forget removes a delivery that is done with.
func (o *outbox) forget(d *delivery) {
	if d.file != "" {
		_ = os.Remove(d.file) // one that stays is sent once more after a restart, under the same id
	}
}

// load returns the deliveries that wait. What cannot be read is removed.
func (o *outbox) load() (waiting []*delivery, err error) {
	if o.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(o.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing what waits: %w", err)
	}
	for _, entry := range entries {
		number, _, _ := strings.Cut(entry.Name(), "-")
		if n, err := strconv.ParseUint(number, 10, 64); err == nil {
			o.last = max(o.last, n)
		}
		d := &delivery{file: filepath.Join(o.dir, entry.Name())}
		text, err := os.ReadFile(d.file)
		if err != nil || !strings.HasSuffix(entry.Name(), suffix) || json.Unmarshal(text, d) != nil {
			o.forget(d)
			continue
		}
		waiting = append(waiting, d)
	}
	return waiting, nil
}
