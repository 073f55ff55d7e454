package memstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// clock is the store's clock, one for all its rooms. While the process lasts it follows
// the clocks of the nodes and never goes back. After a restart it goes on where it was,
// even if the machine's clock was set meanwhile: it adds how long the machine has been
// up since, or where that is not known, it goes on from the last moment that was saved,
// or later.
type clock struct {
	files     Files
	path      string // of the file that it is saved in; "" without one
	sinceBoot func() (boot uint64, up time.Duration)

	now   queue.Instant // zero before the first report
	least queue.Instant // before the first report, the last moment that the journals show to be past
	ahead time.Duration // how far it is ahead of a node that introduces itself
	start queue.Instant // when the machine started
	boot  uint64        // names that start; 0 if neither is known
	saved queue.Instant // when it was last saved
}

const (
	// saveInterval is how often the clock is saved: well within what a ticket may be
	// ahead of a gate's clock.
	saveInterval = 10 * time.Second
	// clockGrain is how much clocks may differ without anybody having set them.
	clockGrain = time.Second
	// savedLength is that of the file: a checksum, the moment, start and boot.
	savedLength = 4 + 8 + 8 + 8
)

// at returns the store's clock when a report comes. A node that introduces itself
// reports its own clock; the others reckon the store's.
func (c *clock) at(p *queue.Report) (queue.Instant, error) {
	if c.now == 0 {
		if err := c.begin(p.Now); err != nil {
			return 0, err
		}
	}
	now := p.Now
	if p.Seq == 0 {
		now = now.Add(c.ahead)
	}
	c.now = max(c.now, now)
	return c.now, nil
}

// atLeast keeps the clock from going back before a moment that a journal shows to be
// past, in case the saved clock is lost.
func (c *clock) atLeast(past queue.Instant) {
	if c.now == 0 {
		c.least = max(c.least, past)
		return
	}
	if more := past.Sub(c.now); more > 0 {
		c.now, c.ahead, c.start = past, c.ahead+more, c.start.Add(more)
	}
}

// begin sets the clock at the first report of the process.
func (c *clock) begin(node queue.Instant) error {
	latest, start, boot, err := c.read()
	if err != nil {
		return err
	}
	latest = max(latest, c.least)
	up := time.Duration(0)
	if c.sinceBoot != nil {
		c.boot, up = c.sinceBoot()
	}
	c.now = max(node, latest)
	sameBoot := c.boot != 0 && c.boot == boot
	if now := start.Add(up); sameBoot && now >= latest.Add(-clockGrain) && now.Sub(c.now).Abs() >= clockGrain {
		c.now = max(now, latest) // the machine's clock was set meanwhile
	}
	c.ahead, c.start = c.now.Sub(node), c.now.Add(-up)
	return c.save()
}

// save writes the clock to its file, if that was long enough ago.
func (c *clock) save() error {
	if c.path == "" || c.now == 0 || c.saved != 0 && c.now.Sub(c.saved) < saveInterval {
		return nil
	}
	c.saved = c.now
	b := binary.BigEndian.AppendUint64(make([]byte, 4, savedLength), uint64(c.now))
	b = binary.BigEndian.AppendUint64(b, uint64(c.start))
	b = binary.BigEndian.AppendUint64(b, c.boot)
	binary.BigEndian.PutUint32(b, crc32.Checksum(b[4:], checksums))
	if err := overwrite(c.files, c.path, b); err != nil {
		return fmt.Errorf("noting the store's clock: %w", err)
	}
	return nil
}

// overwrite writes over the content of a file, which has the same length: so it needs
// no space on a disk that is full.
func overwrite(files Files, path string, content []byte) error {
	if err := files.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := files.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(content, 0)
	return errors.Join(err, file.Close())
}

// read returns what the last process saved; nothing if that is not readable.
func (c *clock) read() (latest, start queue.Instant, boot uint64, err error) {
	if c.path == "" {
		return 0, 0, 0, nil
	}
	b, err := c.files.ReadFile(c.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, 0, 0, fmt.Errorf("reading the store's clock: %w", err)
	}
	if len(b) != savedLength || crc32.Checksum(b[4:], checksums) != binary.BigEndian.Uint32(b) {
		return 0, 0, 0, nil
	}
	return instant(b[4:]), instant(b[12:]), binary.BigEndian.Uint64(b[20:]), nil
}
