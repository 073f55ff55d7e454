package memstore

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// journal appends what a restart must know to a file. A nil journal keeps nothing.
//
// A record is beginByte, the length of its body in two bytes, the complement of that in two, the
// checksum of the body in four, the body, and endByte; all numbers are big-endian. A
// body is a kind and its fields. The first names the format and the room.
type journal struct {
	journalFile
	room      string
	pending   []byte // records that are not written yet
	body      []byte // of the latest record; its space is used again
	cells     int    // how many the last record of counts has
	counted   queue.Instant
	rewritten queue.Instant
	stale     bool    // it lacks something and has to be written anew
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
	kindItems      = 'P' // what it has said of single items, in JSON
	kindClock      = 'T' // that of the sessions: since when they stand still, how far it was behind before the holds; until, behind for each
	kindNote       = 'D' // what the site says of a visitor: id, when, text
	kindLost       = 'L' // when it was found that records had been lost
)

const (
	// formatVersion grows by one when records get other fields, or when there are new kinds. A gate
	// reads the formats beside its own, too: so each version reads what the one before has written,
	// and passes over kinds of records that the next one adds.
	formatVersion = 6

	recordHead     = 1 + 2 + 2 + 4
	beginByte      = 0x5a
	endByte        = 0xa5
	maxBody        = 1<<16 - 1
	maxSize        = 1 << 20         // beyond which it is written anew though no session has ended
	leastRewrite   = 5 * time.Second // between two times at which it is written anew
	countsInterval = time.Second
	cellLength     = 8 + 8 + 4
	// maxCells is how many cells fit into a record. Where there are more, those whose
	// windows end last are left out: the fewest wait behind them.
	maxCells = (maxBody - 9) / cellLength
)

var checksums = crc32.MakeTable(crc32.Castagnoli)

func header(room string) []byte {
	return appendRecord(nil, append([]byte{kindHeader, formatVersion}, room...))
}

func appendRecord(to, body []byte) []byte {
	to = binary.BigEndian.AppendUint16(append(to, beginByte), uint16(len(body)))
	to = binary.BigEndian.AppendUint16(to, ^uint16(len(body)))
	to = binary.BigEndian.AppendUint32(to, crc32.Checksum(body, checksums))
	to = append(to, body...)
	return append(to, endByte)
}

// record records a kind, an id if there is one, and fields of eight bytes each.
func (j *journal) record(kind byte, id *queue.ID, fields ...uint64) {
	if j != nil {
		j.begin(kind, id, fields...)
		j.end()
	}
}

// begin begins a record, which more may be appended to until end.
func (j *journal) begin(kind byte, id *queue.ID, fields ...uint64) {
	j.body = append(j.body[:0], kind)
	if id != nil {
		j.body = append(j.body, id[:]...)
	}
	for _, f := range fields {
		j.body = binary.BigEndian.AppendUint64(j.body, f)
	}
}

// count appends a number of four bytes to the record.
func (j *journal) count(n int) { j.body = binary.BigEndian.AppendUint32(j.body, uint32(n)) }

func (j *journal) end() { j.pending = appendRecord(j.pending, j.body) }

// admitted records an admission.
func (j *journal) admitted(id queue.ID, s session) {
	j.record(kindAdmitted, &id, uint64(s.admitted), uint64(s.expires))
}

// session records a session as it is now.
func (j *journal) session(id queue.ID, s session) {
	j.record(kindSession, &id, uint64(s.admitted), uint64(s.expires))
}

// note records what the site says of a visitor; nothing if the text is empty.
func (j *journal) note(id queue.ID, n note) {
	if j != nil {
		j.begin(kindNote, &id, uint64(n.at))
		j.body = append(j.body, n.text...)
		j.end()
	}
}

func (j *journal) minute(at queue.Instant, admitted int) {
	if j != nil {
		j.begin(kindMinute, nil, uint64(at))
		j.count(admitted)
		j.end()
	}
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
	j.begin(kindConfig, nil)
	j.body = append(j.body, text...)
	j.end()
	return nil
}

func (j *journal) revoked(id queue.ID, until queue.Instant) {
	j.record(kindRevoked, &id, uint64(until))
}

func (j *journal) stock(s queue.Stock) {
	if j != nil && s.Known() {
		j.begin(kindStock, nil, uint64(s.At))
		j.count(s.Left)
		j.end()
	}
}

func (j *journal) items(i queue.Items) {
	if j != nil && i != "" {
		j.begin(kindItems, nil)
		j.body = append(j.body, i...)
		j.end()
	}
}

func (j *journal) sessionClock(c *sessionClock) {
	fields := []uint64{uint64(c.stands), uint64(c.before.Milliseconds())}
	for _, h := range c.past {
		fields = append(fields, uint64(h.until), uint64(h.behind.Milliseconds()))
	}
	j.record(kindClock, nil, fields...)
}

func (j *journal) lost(at queue.Instant) { j.record(kindLost, nil, uint64(at)) }

// numbers records the numbers of an exact line, if it has others.
func (j *journal) numbers(n numbers) {
	if j != nil && j.numbered != n {
		j.record(kindNumbers, nil, n.last, uint64(n.began), n.floor, n.top)
		j.numbered = n
	}
}

// gaps records when no gate ran.
func (j *journal) gaps(list gaps) {
	var fields []uint64
	for _, g := range list {
		fields = append(fields, uint64(g.from), uint64(g.until))
	}
	j.record(kindGaps, nil, fields...)
}

// counts records all cells, and where the fine buckets begin.
func (j *journal) counts(l *cells, fine queue.Boundaries, now queue.Instant) {
	var fields []uint64
	for _, b := range fine {
		fields = append(fields, uint64(b.At), uint64(b.Settles))
	}
	j.record(kindBoundaries, nil, fields...)
	j.begin(kindCounts, nil, uint64(now))
	cells := 0
	for _, window := range l.windows.entries {
		for bucket, people := range window.value {
			if people == 0 || cells == maxCells {
				continue
			}
			cells++
			j.body = binary.BigEndian.AppendUint64(j.body, uint64(bucket))
			j.body = binary.BigEndian.AppendUint64(j.body, uint64(window.at))
			j.count(people)
		}
	}
	j.end()
	j.counted, j.cells = now, cells
}

// lacks has the journal be written anew: what is changed now is not in it.
func (j *journal) lacks() {
	if j != nil {
		j.stale = true
	}
}

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
	return nil
}

// close writes what is pending. The journal takes no more records afterwards.
func (j *journal) close() error {
	err := errors.Join(j.write(), j.rest())
	j.unusable = true
	return err
}

// rewrite replaces the journal by the pending records, which have all that still
// matters.
func (j *journal) rewrite(now queue.Instant) error {
	records := append(header(j.room), j.pending...)
	j.pending, j.stale = nil, true
	if err := j.replace(records); err != nil {
		return unwritten("writing the journal anew", err)
	}
	j.rewritten, j.stale = now, false
	return nil
}

// rewriteDue reports whether the journal lacks something, or has much in it that no longer matters,
// as so many sessions in it that have ended. Sessions last so long.
func (j *journal) rewriteDue(now queue.Instant, ended int, session time.Duration) bool {
	rested := now.Sub(j.rewritten) >= max(leastRewrite, session/4)
	return j.stale || rested && (ended > 0 || j.size >= maxSize)
}
