package memstore

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// journal appends what a restart must know to a file, which is open from an
// admission to the next Sync.
//
// The file is a row of records and then zeros, at least one, up to a multiple of
// block: so one that was cut short can be told from one that is whole. A record is
// beginMark, the length of its body in two bytes, the complement of that in two, the
// checksum of the body in four, the body, and endMark; all numbers are big-endian. A
// body is a kind and its fields. The first names the format and the room.
type journal struct {
	files     Files
	path      string
	room      string
	file      File   // nil while it is closed
	pending   []byte // records that are not written yet
	size      int64  // of the records in the file
	extent    int64  // of the file
	cells     int    // how many the last record of counts has
	counted   queue.Instant
	rewritten queue.Instant
	stale     bool    // it lacks something and has to be written anew
	unusable  bool    // nothing can be appended until it is written anew
	numbered  numbers // that it has
}

// The kinds of record.
const (
	kindHeader     = 'H' // the format, and the room's name
	kindAdmitted   = 'A' // an admission: id, admitted, expires
	kindSession    = 'E' // a session as it is: id, admitted, expires, which is zero once it has ended
	kindMinute     = 'M' // a calendar minute, and how many were admitted in it up to here
	kindRevoked    = 'R' // id, until
	kindConfig     = 'S' // the configuration, in JSON
	kindCounts     = 'C' // the moment, then bucket, until, people for each cell: all of them
	kindBoundaries = 'B' // where the fine buckets begin: at and cut for each
	kindNumbers    = 'N' // the numbers of the exact line: last, began, floor, top
	kindGaps       = 'G' // from and until for each: all that are remembered
	kindStock      = 'I' // what the origin has said is left: when, how much
	kindClock      = 'T' // that of the sessions: since when they stand still, how far it was behind before the holds; until, behind for each
	kindLost       = 'L' // when it was found that records had been lost
)

const (
	// formatVersion grows by one when records get other fields, or when there are new kinds. A gate reads the formats beside its own,
	// too: so each version reads what the one before has written, and passes over kinds of records that the next one adds.
	formatVersion = 4

	recordHead     = 1 + 2 + 2 + 4
	beginMark      = 0x5a
	endMark        = 0xa5
	maxBody        = 1<<16 - 1
	block          = 4096    // what the file grows by
	maxSize        = 1 << 20 // beyond which it is written anew though no session has ended
	countsInterval = time.Second
	cellLength     = 8 + 8 + 4
	// maxCells is how many cells fit into a record. Where there are more, those whose
	// windows end last are left out: the fewest wait behind them.
	maxCells = (maxBody - 9) / cellLength
)

var checksums = crc32.MakeTable(crc32.Castagnoli)

var errUnusable = errors.New("the journal is closed, or has yet to be written anew")

func header(room string) []byte {
	return appendRecord(nil, append([]byte{kindHeader, formatVersion}, room...))
}

func appendRecord(to, body []byte) []byte {
	to = binary.BigEndian.AppendUint16(append(to, beginMark), uint16(len(body)))
	to = binary.BigEndian.AppendUint16(to, ^uint16(len(body)))
	to = binary.BigEndian.AppendUint32(to, crc32.Checksum(body, checksums))
	to = append(to, body...)
	return append(to, endMark)
}

func (j *journal) record(body []byte) { j.pending = appendRecord(j.pending, body) }

// admitted records an admission.
func (j *journal) admitted(id queue.ID, s session) { j.recordSession(kindAdmitted, id, s) }

// session records a session as it is now.
func (j *journal) session(id queue.ID, s session) { j.recordSession(kindSession, id, s) }

func (j *journal) recordSession(kind byte, id queue.ID, s session) {
	b := append([]byte{kind}, id[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(s.admitted))
	j.record(binary.BigEndian.AppendUint64(b, uint64(s.expires)))
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
	if len(text) >= maxBody {
		return fmt.Errorf("the configuration takes %d bytes, too many for the journal", len(text))
	}
	j.record(append([]byte{kindConfig}, text...))
	return nil
}

func (j *journal) revoked(id queue.ID, until queue.Instant) {
	b := append([]byte{kindRevoked}, id[:]...)
	j.record(binary.BigEndian.AppendUint64(b, uint64(until)))
}

func (j *journal) stock(s queue.Stock) {
	if s.Known() {
		b := binary.BigEndian.AppendUint64([]byte{kindStock}, uint64(s.At))
		j.record(binary.BigEndian.AppendUint32(b, uint32(s.Left)))
	}
}

func (j *journal) sessionClock(c *sessionClock) {
	b := binary.BigEndian.AppendUint64([]byte{kindClock}, uint64(c.stands))
	b = binary.BigEndian.AppendUint64(b, uint64(c.before.Milliseconds()))
	for _, h := range c.holds {
		b = binary.BigEndian.AppendUint64(b, uint64(h.until))
		b = binary.BigEndian.AppendUint64(b, uint64(h.behind.Milliseconds()))
	}
	j.record(b)
}

func (j *journal) lost(at queue.Instant) {
	j.record(binary.BigEndian.AppendUint64([]byte{kindLost}, uint64(at)))
}

// numbers records the numbers of an exact line.
func (j *journal) numbers(n numbers) {
	b := binary.BigEndian.AppendUint64([]byte{kindNumbers}, n.last)
	b = binary.BigEndian.AppendUint64(b, uint64(n.began))
	b = binary.BigEndian.AppendUint64(b, n.floor)
	j.record(binary.BigEndian.AppendUint64(b, n.top))
	j.numbered = n
}

// gaps records when no gate ran.
func (j *journal) gaps(list gaps) {
	b := []byte{kindGaps}
	for _, g := range list {
		b = binary.BigEndian.AppendUint64(b, uint64(g.from))
		b = binary.BigEndian.AppendUint64(b, uint64(g.until))
	}
	j.record(b)
}

// counts records all cells, and where the fine buckets begin.
func (j *journal) counts(l *cells, fine queue.Boundaries, now queue.Instant) {
	b := []byte{kindBoundaries}
	for _, at := range fine {
		b = binary.BigEndian.AppendUint64(b, uint64(at.At))
		b = binary.BigEndian.AppendUint64(b, uint64(at.Cut))
	}
	j.record(b)
	b = binary.BigEndian.AppendUint64([]byte{kindCounts}, uint64(now))
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

// create makes the file of a room that is new.
func (j *journal) create() error {
	text := header(j.room)
	j.size, j.extent = int64(len(text)), extentOf(int64(len(text)))
	if err := writeFile(j.files, j.path+nextSuffix, append(text, make([]byte, j.extent-j.size)...), false); err != nil {
		return err
	}
	return j.files.Rename(j.path+nextSuffix, j.path)
}

// cutOff overwrites with zeros what is behind the records.
func (j *journal) cutOff() error {
	file, err := j.files.OpenFile(j.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(j.size), file.Truncate(j.extent), file.Close())
}

// extentOf is the length of a file with so many bytes of records.
func extentOf(size int64) int64 { return (size/block + 1) * block }

// write appends the pending records. On an error none of them is in the file.
func (j *journal) write() error {
	records := j.pending
	if len(records) == 0 {
		return nil
	}
	j.pending = j.pending[:0]
	if err := j.add(records); err != nil {
		j.stale, j.numbered = true, numbers{}
		return unwritten("writing the journal", err)
	}
	j.size += int64(len(records))
	return nil
}

// unwritten is the error of a journal that cannot be written.
func unwritten(doing string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk of the journal is full: %w", err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func (j *journal) add(records []byte) error {
	if j.unusable {
		return errUnusable
	}
	if j.file == nil {
		file, err := j.files.OpenFile(j.path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		j.file = file
	}
	var err error
	extent := extentOf(j.size + int64(len(records)))
	if extent > j.extent {
		err = j.file.Truncate(extent)
	}
	if err == nil {
		_, err = j.file.WriteAt(records, j.size)
	}
	if err != nil {
		j.unusable = errors.Join(j.closeFile(), j.cutOff()) != nil
		return err
	}
	j.extent = max(j.extent, extent)
	return nil
}

// closeFile closes the file until there is something to write.
func (j *journal) closeFile() error {
	file := j.file
	j.file = nil
	if file == nil {
		return nil
	}
	return file.Close()
}

// close writes what is pending. The journal takes no more records afterwards.
func (j *journal) close() error {
	err := errors.Join(j.write(), j.closeFile())
	j.unusable = true
	return err
}

// rewrite replaces the journal by the pending records, which have all that still
// matters.
func (j *journal) rewrite(now queue.Instant) error {
	text := append(header(j.room), j.pending...)
	size, extent := int64(len(text)), extentOf(int64(len(text)))
	j.pending, j.stale = nil, true
	if err := j.closeFile(); err != nil {
		return err
	}
	if err := replace(j.files, j.path, append(text, make([]byte, extent-size)...)); err != nil {
		return err
	}
	j.size, j.extent, j.rewritten, j.stale, j.unusable = size, extent, now, false, false
	return nil
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
