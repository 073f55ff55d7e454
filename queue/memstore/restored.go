package memstore

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/anteroom-gate/anteroom/queue"
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
	lost     queue.Instant // when records had been lost before
	latest   queue.Instant // the last moment that it tells of as past
	loss     error         // what is wrong with the journal; nil if it is whole
}

func newRestored() restored {
	return restored{sessions: map[queue.ID]session{}, revoked: map[queue.ID]queue.Instant{}}
}

// What can be wrong with a journal.
var (
	errMissing = errors.New("the journal is missing")
	errCut     = errors.New("the journal was cut short")
	errForeign = errors.New("the journal is another room's, or was written by another version")
)

// read takes in the records of a room's journal, as far as it is whole, and returns
// how many bytes they are. A record that a crash has cut short is none; all else that
// is not right is told in loss.
func (p *restored) read(file []byte, room string) (size int64) {
	if len(file)%block != 0 {
		p.loss = errCut
	}
	rest := file
	for first := true; ; first = false {
		body, next, err := record(rest)
		if err == nil && body == nil && !first {
			return int64(len(file) - len(rest))
		}
		switch {
		case err == nil && first && !bytes.Equal(body, append([]byte{kindHeader, formatVersion}, room...)):
			err = errForeign
		case err == nil && !first && !p.take(body):
			err = errors.New("a record makes no sense")
		}
		if err != nil {
			p.loss = fmt.Errorf("%w, after %d of %d bytes", err, len(file)-len(rest), len(file))
			return int64(len(file) - len(rest))
		}
		rest = next
	}
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
	if file[0] != beginMark || binary.BigEndian.Uint16(file[3:]) != ^length {
		return nil, nil, whole(file[5:]) // a crash may have left its first bytes
	}
	end := recordHead + int(length)
	if end >= len(file) {
		return nil, nil, errCut
	}
	body = file[recordHead:end]
	if file[end] != endMark || crc32.Checksum(body, checksums) != binary.BigEndian.Uint32(file[5:]) {
		return nil, nil, whole(file[end:]) // or all but its last
	}
	return body, file[end+1:], nil
}

// whole says whether the rest of the file is as it is behind the records.
func whole(rest []byte) error {
	if !zeros(rest) {
		return errors.New("a record is damaged")
	}
	return nil
}

func zeros(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

func (p *restored) take(body []byte) bool {
	if len(body) < 1 {
		return false
	}
	kind, b := body[0], body[1:]
	switch {
	case (kind == kindAdmitted || kind == kindSession) && len(b) == 32:
		p.takeSession(queue.ID(b[:16]), session{admitted: instant(b[16:]), expires: instant(b[24:])}, kind == kindAdmitted)
	case kind == kindMinute && len(b) == 12:
		p.minute, p.admitted = instant(b), int(binary.BigEndian.Uint32(b[8:]))
		p.latest = max(p.latest, p.minute)
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
		p.takeCounts(instant(b), b[8:])
	case kind == kindNumbers && len(b) == 32:
		p.numbers = numbers{last: binary.BigEndian.Uint64(b), began: instant(b[8:]), floor: binary.BigEndian.Uint64(b[16:]), top: binary.BigEndian.Uint64(b[24:])}
	case kind == kindLost && len(b) == 8:
		p.lost = instant(b)
		p.latest = max(p.latest, p.lost)
	default:
		return false
	}
	return true
}

func (p *restored) takeSession(id queue.ID, s session, admission bool) {
	p.sessions[id] = s
	p.latest = max(p.latest, s.admitted)
	if !admission {
		return
	}
	if m := s.admitted.Floor(queue.AllowancePeriod); m > p.minute {
		p.minute, p.admitted = m, 0
	}
	if s.admitted >= p.minute {
		p.admitted++
	}
}

func (p *restored) takeCounts(at queue.Instant, cells []byte) {
	p.counted, p.cells, p.latest = at, p.cells[:0], max(p.latest, at)
	for c := range slices.Chunk(cells, cellLength) {
		cell := queue.Cell{Bucket: instant(c), Until: instant(c[8:])}
		p.cells = append(p.cells, queue.CellChange{Cell: cell, People: int(binary.BigEndian.Uint32(c[16:]))})
	}
}

func instant(b []byte) queue.Instant { return queue.Instant(binary.BigEndian.Uint64(b)) }
