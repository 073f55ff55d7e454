package memstore

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// journal appends what a restart must know. A record is its length in two
// bytes, its CRC-32 in four, and its body: a kind and its fields, big-endian.
// A record that was cut short by a crash ends the journal.
type journal struct {
	path      string
	file      *os.File
	pending   []byte // records that are not written yet
	size      int64
	cells     int           // in the last record of counts
	counted   queue.Instant // when that was
	rewritten queue.Instant
	stale     bool    // it lacks something, and is to be written anew
	numbered  numbers // those in it
}

// The kinds of record.
const (
	kindAdmitted = 'A' // id, admitted, expires; expires is zero for one that is over
	kindMinute   = 'M' // a calendar minute, and how many were admitted in it up to here
	kindRevoked  = 'R' // id, until
	kindConfig   = 'S' // the configuration, in JSON
	kindCounts   = 'C' // the moment, then bucket, until, people for each cell: all of them
	kindNumbers  = 'N' // of the exact line: the last number given out, when it began, and the numbers kept for those before
)

const (
	recordHead     = 6
	maxSize        = 1 << 20 // beyond which it is written anew though no session has ended
	countsInterval = time.Second
	cellLength     = 8 + 8 + 4
	// maxCells bounds a record of counts to what its length can say; beyond it
	// the newest windows, which hold up the fewest, are left out.
	maxCells = (1<<16 - 1 - 9) / cellLength
)

// restored is what the journal told at the start, until the first report.
type restored struct {
	configuration *queue.Configuration // nil if it told of none

	sessions map[queue.ID]session
	revoked  map[queue.ID]queue.Instant
	minute   queue.Instant // of the last admission
	admitted int           // in that minute
	counted  queue.Instant
	cells    []queue.CellChange
	numbers  numbers
}

func openJournal(dir, name string, into *restored) (*journal, error) {
	path := journalPath(dir, name)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{path: path, file: file}
	j.size, err = into.read(bufio.NewReader(file))
	if err == nil {
		err = file.Truncate(j.size)
	}
	if err == nil {
		_, err = file.Seek(j.size, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

// read takes in records up to the first that is not whole, and returns how many
// bytes they are.
func (p *restored) read(from io.Reader) (int64, error) {
	p.sessions, p.revoked = map[queue.ID]session{}, map[queue.ID]queue.Instant{}
	var size int64
	head := make([]byte, recordHead)
	for {
		if _, err := io.ReadFull(from, head); err != nil {
			return size, whole(err)
		}
		body := make([]byte, binary.BigEndian.Uint16(head))
		if _, err := io.ReadFull(from, body); err != nil {
			return size, whole(err)
		}
		if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(head[2:]) || !p.take(body) {
			return size, nil
		}
		size += int64(recordHead + len(body))
	}
}

// whole forgives an end in the middle of a record.
func whole(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func (p *restored) take(body []byte) bool {
	if len(body) < 1 {
		return false
	}
	kind, b := body[0], body[1:]
	switch {
	case kind == kindAdmitted && len(b) == 32:
		s := session{admitted: instant(b[16:]), expires: instant(b[24:])}
		p.sessions[queue.ID(b[:16])] = s
		p.admit(s.admitted)
	case kind == kindMinute && len(b) == 12:
		p.minute, p.admitted = instant(b), int(binary.BigEndian.Uint32(b[8:]))
	case kind == kindRevoked && len(b) == 24:
		over := p.sessions[queue.ID(b[:16])]
		over.expires = 0
		p.sessions[queue.ID(b[:16])] = over
		p.revoked[queue.ID(b[:16])] = instant(b[16:])
	case kind == kindConfig:
		c := new(queue.Configuration)
		if json.Unmarshal(b, c) != nil {
			return false
		}
		p.configuration = c
	case kind == kindCounts && len(b) >= 8 && (len(b)-8)%cellLength == 0:
		p.counted, p.cells = instant(b), p.cells[:0]
		for c := range slices.Chunk(b[8:], cellLength) {
			cell := queue.Cell{Bucket: instant(c), Until: instant(c[8:])}
			p.cells = append(p.cells, queue.CellChange{Cell: cell, People: int(binary.BigEndian.Uint32(c[16:]))})
		}
	case kind == kindNumbers && len(b) == 32:
		p.numbers = numbers{last: binary.BigEndian.Uint64(b), began: instant(b[8:]), floor: binary.BigEndian.Uint64(b[16:]), top: binary.BigEndian.Uint64(b[24:])}
	default:
		return false
	}
	return true
}

// admit counts an admission if it is one of the latest minute.
func (p *restored) admit(at queue.Instant) {
	if m := at.Floor(minute); m > p.minute {
		p.minute, p.admitted = m, 0
	}
	if at >= p.minute {
		p.admitted++
	}
}

func instant(b []byte) queue.Instant { return queue.Instant(binary.BigEndian.Uint64(b)) }

func (j *journal) admitted(id queue.ID, at, expires queue.Instant) {
	b := append([]byte{kindAdmitted}, id[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(at))
	j.record(binary.BigEndian.AppendUint64(b, uint64(expires)))
}

func (j *journal) minute(at queue.Instant, admitted int) {
	b := binary.BigEndian.AppendUint64([]byte{kindMinute}, uint64(at))
	j.record(binary.BigEndian.AppendUint32(b, uint32(admitted)))
}

// configured records a configuration.
func (j *journal) configured(c queue.Configuration) error {
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	if len(text) >= 1<<16-1 {
		return fmt.Errorf("the configuration takes %d bytes, too many for the journal", len(text))
	}
	j.record(append([]byte{kindConfig}, text...))
	return nil
}

func (j *journal) revoked(id queue.ID, until queue.Instant) {
	b := append([]byte{kindRevoked}, id[:]...)
	j.record(binary.BigEndian.AppendUint64(b, uint64(until)))
}

// numbers records the numbers of an exact line.
func (j *journal) numbers(n numbers) {
	b := binary.BigEndian.AppendUint64([]byte{kindNumbers}, n.last)
	b = binary.BigEndian.AppendUint64(b, uint64(n.began))
	b = binary.BigEndian.AppendUint64(b, n.floor)
	j.record(binary.BigEndian.AppendUint64(b, n.top))
	j.numbered = n
}

// counts records all cells.
func (j *journal) counts(l *cells, now queue.Instant) {
	b := binary.BigEndian.AppendUint64([]byte{kindCounts}, uint64(now))
	cells := 0
	for _, window := range l.windows.entries {
		for bucket, people := range window.value {
			if people == 0 || cells == maxCells {
				continue
			}
			cells++
			b = binary.BigEndian.AppendUint64(b, uint64(bucket))
			b = binary.BigEndian.AppendUint64(b, uint64(window.at))
			b = binary.BigEndian.AppendUint32(b, uint32(people))
		}
	}
	j.counted, j.cells = now, cells
	j.record(b)
}

func (j *journal) record(body []byte) {
	j.pending = binary.BigEndian.AppendUint16(j.pending, uint16(len(body)))
	j.pending = binary.BigEndian.AppendUint32(j.pending, crc32.ChecksumIEEE(body))
	j.pending = append(j.pending, body...)
}

// write appends the pending records. What could not be written whole is cut off
// again, so that later records are not lost behind it.
func (j *journal) write() error {
	if len(j.pending) == 0 {
		return nil
	}
	_, err := j.file.Write(j.pending)
	written := int64(len(j.pending))
	j.pending = j.pending[:0]
	if err != nil {
		j.stale, j.numbered = true, numbers{}
		_, seekErr := j.file.Seek(j.size, io.SeekStart)
		return fmt.Errorf("writing the journal: %w", errors.Join(err, j.file.Truncate(j.size), seekErr))
	}
	j.size += written
	return nil
}

func (j *journal) close() error { return errors.Join(j.write(), j.file.Close()) }

// rewrite replaces the journal by the pending records, which say all that
// still matters.
func (j *journal) rewrite(now queue.Instant) error {
	next := j.path + ".next"
	file, err := os.OpenFile(next, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(j.pending)
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = os.Rename(next, j.path)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	old := j.file
	j.file, j.size, j.pending, j.rewritten, j.stale = file, int64(len(j.pending)), j.pending[:0], now, false
	return old.Close()
}
