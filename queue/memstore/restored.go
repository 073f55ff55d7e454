package memstore

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// restored is what the journal had at the start. It is kept until the first report.
type restored struct {
	configuration *queue.Configuration // nil if it had none

	sessions map[queue.ID]session
	notes    map[queue.ID]note
	revoked  map[queue.ID]queue.Instant
	minute   queue.Instant // of the last admission
	admitted int           // in that minute
	counted  queue.Instant
	cells    []queue.CellChange

	boundaries queue.Boundaries

	numbers numbers
	gaps    gaps
	stock   queue.Stock
	clock   sessionClock
	lost    queue.Instant // when it was found, before, that records had been lost
	latest  queue.Instant // the last moment that the journal shows to be past
	format  byte          // that the journal has
	loss    error         // what is wrong with the journal; nil if it is whole
}

func newRestored() restored {
	return restored{sessions: map[queue.ID]session{}, notes: map[queue.ID]note{}, revoked: map[queue.ID]queue.Instant{}}
}

// What can be wrong with a journal.
var (
	errMissing = errors.New("the journal is missing")
	errCut     = errors.New("the journal was cut short")
	errForeign = errors.New("the journal is another room's")
)

// formatError is the error of a journal that has a format which this gate does not read. It stays
// as it is.
type formatError byte

func (format formatError) Error() string {
	return fmt.Sprintf("the journal has format %d, and this gate reads %d to %d: start the version that has written it, or move it away",
		byte(format), formatVersion-1, formatVersion+1)
}

// replay applies the records of a room's journal, as far as it is whole, and returns
// how many bytes they are. A record that a crash has cut short is left out; whatever
// else is wrong is in loss.
func (p *restored) replay(file []byte, room string) (size int64) {
	if len(file)%block != 0 {
		p.loss = errCut
	}
	records, err := p.afterHeader(file, room)
	for more := err == nil; more; {
		records, more, err = p.next(records)
	}
	read := len(file) - len(records)
	if err != nil {
		p.loss = fmt.Errorf("%w, after %d of %d bytes", err, read, len(file))
	}
	return int64(read)
}

// afterHeader reads a journal's header, and returns what follows it, or the whole file if the
// header is not that of the room.
func (p *restored) afterHeader(file []byte, room string) (records []byte, err error) {
	body, records, err := record(file)
	switch {
	case err != nil:
		return file, err
	case len(body) < 2 || body[0] != kindHeader || string(body[2:]) != room:
		return file, errForeign
	}
	if p.format = body[1]; p.format < formatVersion-1 || p.format > formatVersion+1 {
		return file, formatError(p.format)
	}
	return records, nil
}

// next applies the first of the records and returns those after it. At the end of the
// records, and at one that cannot be applied, it stays where it is.
func (p *restored) next(records []byte) (rest []byte, more bool, err error) {
	body, rest, err := record(records)
	switch {
	case err != nil || body == nil:
		return records, false, err
	case !p.apply(body):
		return records, false, errors.New("a record makes no sense")
	}
	return rest, true, nil
}

// record returns the body of the first record, and what follows it; no body at the
// end of the records.
func record(file []byte) (body, rest []byte, err error) {
	switch {
	case len(file) == 0:
		return nil, nil, errCut
	case file[0] == 0:
		return nil, nil, whole(file)
	case len(file) < recordHead:
		return nil, nil, errCut
	}
	length := binary.BigEndian.Uint16(file[1:])
	if file[0] != beginByte || binary.BigEndian.Uint16(file[3:]) != ^length {
		return nil, nil, whole(file[5:]) // a crash may have left its first bytes
	}
	end := recordHead + int(length)
	if end >= len(file) {
		return nil, nil, errCut
	}
	body = file[recordHead:end]
	if file[end] != endByte || crc32.Checksum(body, checksums) != binary.BigEndian.Uint32(file[5:]) {
		return nil, nil, whole(file[end:]) // or all but its last
	}
	return body, file[end+1:], nil
}

// whole returns an error unless the rest of the file is as it should be behind the
// records.
func whole(rest []byte) error {
	if !zeros(rest) {
		return errors.New("a record is damaged")
	}
	return nil
}

func zeros(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// fieldLengths are the lengths of the fields of a record, by its kind, where that does
// not vary.
var fieldLengths = map[byte]int{kindAdmitted: 32, kindSession: 32, kindMinute: 12, kindRevoked: 24, kindNumbers: 32, kindLost: 8, kindStock: 12}

// apply applies a record; it reports whether the record makes sense.
func (p *restored) apply(body []byte) bool {
	if len(body) == 0 {
		return false
	}
	kind, b := body[0], body[1:]
	if length, fixed := fieldLengths[kind]; fixed && length != len(b) {
		return false
	}
	switch kind {
	case kindAdmitted:
		p.applyAdmission(p.applySession(b))
	case kindSession:
		p.applySession(b)
	case kindMinute:
		p.minute, p.admitted = instant(b), int(binary.BigEndian.Uint32(b[8:]))
		p.latest = max(p.latest, p.minute)
	case kindRevoked:
		p.applyRevocation(b)
	case kindConfig:
		return p.applyConfiguration(b)
	case kindCounts:
		return p.applyCounts(b)
	case kindBoundaries:
		return p.applyBoundaries(b)
	case kindNumbers:
		p.numbers = numbers{last: binary.BigEndian.Uint64(b), began: instant(b[8:]), floor: binary.BigEndian.Uint64(b[16:]), top: binary.BigEndian.Uint64(b[24:])}
	case kindGaps:
		return p.applyGaps(b)
	case kindStock:
		p.stock.At, p.stock.Left = instant(b), int(binary.BigEndian.Uint32(b[8:]))
	case kindItems:
		p.stock.Items = queue.Items(b)
	case kindClock:
		return p.applyClock(b)
	case kindNote:
		return p.applyNote(b)
	case kindLost:
		p.lost = instant(b)
		p.latest = max(p.latest, p.lost)
	default:
		return p.format > formatVersion
	}
	return true
}

// applySession returns when the session was admitted.
func (p *restored) applySession(b []byte) (admitted queue.Instant) {
	admitted = instant(b[16:])
	p.sessions[queue.ID(b[:16])] = session{admitted: admitted, expires: instant(b[24:])}
	p.latest = max(p.latest, admitted)
	return admitted
}

func (p *restored) applyAdmission(at queue.Instant) {
	if m := at.Floor(queue.AllowancePeriod); m > p.minute {
		p.minute, p.admitted = m, 0
	}
	if at >= p.minute {
		p.admitted++
	}
}

func (p *restored) applyRevocation(b []byte) {
	id := queue.ID(b[:16])
	p.sessions[id] = session{admitted: p.sessions[id].admitted}
	p.revoked[id] = instant(b[16:])
}

func (p *restored) applyNote(b []byte) bool {
	if len(b) < 24 || len(b) > 24+queue.MaxNote {
		return false
	}
	id := queue.ID(b[:16])
	if p.notes[id] = (note{instant(b[16:]), string(b[24:])}); len(b) == 24 {
		delete(p.notes, id)
	}
	return true
}

func (p *restored) applyConfiguration(b []byte) bool {
	c := new(queue.Configuration)
	if json.Unmarshal(b, c) != nil {
		return false
	}
	p.configuration = c
	return true
}

func (p *restored) applyCounts(b []byte) bool {
	if len(b) < 8 || (len(b)-8)%cellLength != 0 {
		return false
	}
	p.counted, p.cells = instant(b), p.cells[:0]
	p.latest = max(p.latest, p.counted)
	for c := range slices.Chunk(b[8:], cellLength) {
		cell := queue.Cell{Bucket: instant(c), Until: instant(c[8:])}
		p.cells = append(p.cells, queue.CellChange{Cell: cell, People: int(binary.BigEndian.Uint32(c[16:]))})
	}
	return true
}

func (p *restored) applyBoundaries(b []byte) bool {
	p.boundaries = nil
	for c := range slices.Chunk(b, 16) {
		if len(c) < 16 {
			return false
		}
		p.boundaries = append(p.boundaries, queue.Boundary{At: instant(c), Settles: instant(c[8:])})
	}
	return true
}

func (p *restored) applyGaps(b []byte) bool {
	if len(b)%16 != 0 {
		return false
	}
	p.gaps = nil
	for g := range slices.Chunk(b, 16) {
		p.gaps = append(p.gaps, gap{from: instant(g), until: instant(g[8:])})
		p.latest = max(p.latest, instant(g[8:]))
	}
	return true
}

func (p *restored) applyClock(b []byte) bool {
	if len(b) < 16 || len(b)%16 != 0 {
		return false
	}
	p.clock = sessionClock{stands: instant(b), before: milliseconds(b[8:])}
	for h := range slices.Chunk(b[16:], 16) {
		p.clock.past = append(p.clock.past, standstill{until: instant(h), behind: milliseconds(h[8:])})
		p.latest = max(p.latest, instant(h))
	}
	p.latest = max(p.latest, p.clock.stands)
	return true
}

func milliseconds(b []byte) time.Duration { return instant(b).Sub(0) }

func instant(b []byte) queue.Instant { return queue.Instant(binary.BigEndian.Uint64(b)) }
