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

	"github.com/anteroom-gate/anteroom/queue"
)

// clock is the store's, of all its rooms. It goes by that of the nodes while the
// process lasts, never goes back, and goes on after a restart where it was, whatever
// became of the machine's clock meanwhile: by how long the machine has been up since,
// or where that is not known, not from before the last moment that was noted.
type clock struct {
	path      string // of the file that notes it; "" without one
	sinceBoot func() (boot uint64, up time.Duration)

	now   queue.Instant // zero before the first report
	least queue.Instant // before the first report, what the journals tell of as past
	ahead time.Duration // what it is ahead of a node that introduces itself
	zero  queue.Instant // when the machine started
	boot  uint64        // names that start; 0 if neither is known
	noted queue.Instant
}

const (
	// noteInterval is how often the clock is noted: well within what a ticket may be
	// ahead of a gate's clock.
	noteInterval = 10 * time.Second
	// clockGrain is what clocks may differ by without anybody having set them.
	clockGrain = time.Second
	// noteLength is that of the file: a checksum, the moment, zero and boot.
	noteLength = 4 + 8 + 8 + 8
)

// at is the store's clock as a report comes. A node that introduces itself tells its
// own; others have heard of the store's.
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

// atLeast keeps the clock from going back before a moment that a journal tells of,
// should what was noted be lost.
func (c *clock) atLeast(past queue.Instant) {
	if c.now == 0 {
		c.least = max(c.least, past)
		return
	}
	if more := past.Sub(c.now); more > 0 {
		c.now, c.ahead, c.zero = past, c.ahead+more, c.zero.Add(more)
	}
}

// begin sets the clock at the first report of the process.
func (c *clock) begin(node queue.Instant) error {
	latest, zero, boot, err := c.read()
	if err != nil {
		return err
	}
	latest = max(latest, c.least)
	up := time.Duration(0)
	if c.sinceBoot != nil {
		c.boot, up = c.sinceBoot()
	}
	c.now = max(node, latest)
	if by := zero.Add(up); c.boot != 0 && c.boot == boot && by >= latest.Add(-clockGrain) && by.Sub(c.now).Abs() >= clockGrain {
		c.now = max(by, latest)
	}
	c.ahead, c.zero = c.now.Sub(node), c.now.Add(-up)
	return c.note()
}

// note writes the clock down, now and then.
func (c *clock) note() error {
	if c.path == "" || c.now == 0 || c.noted != 0 && c.now.Sub(c.noted) < noteInterval {
		return nil
	}
	c.noted = c.now
	b := binary.BigEndian.AppendUint64(make([]byte, 4, noteLength), uint64(c.now))
	b = binary.BigEndian.AppendUint64(b, uint64(c.zero))
	b = binary.BigEndian.AppendUint64(b, c.boot)
	binary.BigEndian.PutUint32(b, crc32.Checksum(b[4:], checksums))
	if err := overwrite(c.path, b); err != nil {
		return fmt.Errorf("noting the store's clock: %w", err)
	}
	return nil
}

// overwrite writes over what a file of the same length has, which needs no space on
// a disk that is full.
func overwrite(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(content, 0)
	return errors.Join(err, file.Close())
}

// read returns what the last process noted; nothing if that is not readable.
func (c *clock) read() (latest, zero queue.Instant, boot uint64, err error) {
	if c.path == "" {
		return 0, 0, 0, nil
	}
	b, err := os.ReadFile(c.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, 0, 0, fmt.Errorf("reading the store's clock: %w", err)
	}
	if len(b) != noteLength || crc32.Checksum(b[4:], checksums) != binary.BigEndian.Uint32(b) {
		return 0, 0, 0, nil
	}
	return instant(b[4:]), instant(b[12:]), binary.BigEndian.Uint64(b[20:]), nil
}
