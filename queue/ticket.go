package queue

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"
)

// ID names a visitor. It is drawn at random, or made from the name that the site has for
// a subject. No visitor is ever shown one.
type ID [16]byte

// String returns the id in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// State says how far a ticket's visitor has come.
type State uint8

// The states of a ticket.
const (
	None     State = iota // no ticket, or one that is not trusted
	Waiting               // the visitor has a place in line
	Accepted              // the visitor has been let in
)

// Ticket is what a visitor carries: who they are, and their place or their session.
type Ticket struct {
	State State
	ID    ID

	// LastCheckIn is when the visitor was last counted. In the ticket of an accepted
	// visitor it is when the ticket was issued.
	LastCheckIn Instant

	// Of a waiting ticket: when the visitor arrived, and how long after LastCheckIn the
	// next check-in counts, which is drawn anew each time.
	ArrivedAt       Instant
	RefreshInterval time.Duration

	// CameAt marks a place whose ArrivedAt was drawn in a shuffled prequeue: it is when the
	// visitor truly arrived. 0 for other places.
	CameAt Instant

	// Of a waiting ticket: the bucket that its visitor counts in, which is that of their place or a
	// part of it, and until when, so that any node can take them out of there; 0 where that is not
	// known.
	BucketID     Instant
	CountedUntil Instant

	// Of a waiting ticket with a place in an exact line: as in Place; else 0.
	Number   uint64
	Priority int16

	// Leased marks an accepted ticket whose session ends at Expires, unless a request that brings
	// the ticket makes it a whole one. ArrivedAt and Number are then those of the place that its
	// visitor, who had waited, may go back to; 0 for none. The waiting ticket of a visitor who has
	// gone back keeps AcceptedAt; that of others has none.
	Leased bool

	// Of an accepted ticket: when the visitor was let in, and until when they may pass
	// without a call to the store. Uncounted marks a visitor who entered beyond what a
	// passthrough room counts.
	AcceptedAt Instant
	Expires    Instant
	Uncounted  bool

	// Moved counts how often the ticket has moved to another device. Copies with smaller counts are
	// void: see Copy.
	Moved uint8
}

// copyMark is what the names of copies begin with.
const copyMark = "copy"

// Copy names the copies of the ticket that have moved as often. Once the ticket has moved on, they
// are revoked by this name. No visitor has it as their id, but for a chance in 2¹²⁸.
func (t *Ticket) Copy() ID {
	name := t.ID
	copy(name[:], copyMark)
	name[len(name)-1] ^= t.Moved
	return name
}

// IsCopy reports whether an id is the name of copies of a ticket. It takes the id of one visitor in
// 2³² for one, too.
func (id ID) IsCopy() bool { return string(id[:len(copyMark)]) == copyMark }

// Counted is where the visitor of a waiting ticket is counted; the zero Cell where that is not
// known.
func (t *Ticket) Counted() Cell { return Cell{Bucket: t.BucketID, Until: t.CountedUntil} }

// CountIn says that the visitor is counted there.
func (t *Ticket) CountIn(c Cell) { t.BucketID, t.CountedUntil = c.Bucket, c.Until }

// GoesBack reports whether a waiting ticket was made of a leased one just now.
func (t Ticket) GoesBack() bool { return t.AcceptedAt != 0 && t.LastCheckIn <= t.AcceptedAt }

// Came is when the visitor of a waiting ticket truly arrived.
func (t Ticket) Came() Instant { return cmp.Or(t.CameAt, t.ArrivedAt) }

// Due is when the next check-in of a waiting ticket counts.
func (t Ticket) Due() Instant { return t.LastCheckIn.Add(t.RefreshInterval) }

// The binary form is version, state and flags, id, and then, big-endian, the
// fields of the state; instants take 48 bits.
const (
	ticketVersion  = 1
	flagUncounted  = 0x80
	flagNumber     = 0x40
	flagCounted    = 0x20
	flagLeased     = 0x10 // or, on a waiting ticket, that it has gone back
	flagDrawn      = 0x08
	flagMoved      = 0x04
	allFlags       = flagUncounted | flagNumber | flagCounted | flagLeased | flagDrawn | flagMoved
	headLength     = 2 + 16
	waitingLength  = 6 + 6 + 4
	placeLength    = 6 + 2
	countedLength  = 6 + 6
	acceptedLength = 6 + 6 + 6
	leasedLength   = 6
	drawnLength    = 6
	movedLength    = 1
	endOfInstants  = 1 << 48
)

var errTicket = errors.New("not a ticket of this version")

// AppendBinary appends the ticket's binary form, 34 to 67 bytes. It fails for a
// ticket without a state, for times before 1970 or after the year 10889, for an
// interval that is not in whole milliseconds below 49 days, and for a number of
// 2⁴⁸ or more.
func (t Ticket) AppendBinary(b []byte) ([]byte, error) {
	flags := byte(t.State)
	if t.Uncounted {
		flags |= flagUncounted
	}
	if t.Number != 0 {
		flags |= flagNumber
	}
	if t.Leased || t.State == Waiting && t.AcceptedAt != 0 {
		flags |= flagLeased
	}
	if t.Counted() != (Cell{}) {
		flags |= flagCounted
	}
	if t.CameAt != 0 {
		flags |= flagDrawn
	}
	if t.Moved != 0 {
		flags |= flagMoved
	}
	b = append(b, ticketVersion, flags)
	b = append(b, t.ID[:]...)
	var err error
	switch t.State {
	case Waiting:
		b, err = t.appendWaiting(b)
	case Accepted:
		b, err = t.appendAccepted(b)
	default:
		err = errTicket
	}
	if err != nil {
		return nil, err
	}
	return t.appendMore(b, flags)
}

func (t Ticket) appendWaiting(b []byte) ([]byte, error) {
	millis := uint32(t.RefreshInterval.Milliseconds())
	if t.Uncounted || t.Leased || time.Duration(millis)*time.Millisecond != t.RefreshInterval {
		return nil, errTicket
	}
	b, err := appendInstants(b, t.LastCheckIn, t.ArrivedAt)
	return binary.BigEndian.AppendUint32(b, millis), err
}

func (t Ticket) appendAccepted(b []byte) ([]byte, error) {
	if !t.Leased && (t.Number != 0 || t.CameAt != 0) || t.Counted() != (Cell{}) {
		return nil, errTicket
	}
	return appendInstants(b, t.LastCheckIn, t.AcceptedAt, t.Expires)
}

// appendMore appends what only some tickets have.
func (t Ticket) appendMore(b []byte, flags byte) (_ []byte, err error) {
	if flags&flagNumber != 0 {
		if b, err = appendInstants(b, Instant(t.Number)); err != nil {
			return nil, err
		}
		b = binary.BigEndian.AppendUint16(b, uint16(t.Priority))
	}
	if flags&flagCounted != 0 {
		if b, err = appendInstants(b, t.BucketID, t.CountedUntil); err != nil {
			return nil, err
		}
	}
	if flags&flagLeased != 0 {
		if b, err = appendInstants(b, *t.leased()); err != nil {
			return nil, err
		}
	}
	if flags&flagDrawn != 0 {
		if b, err = appendInstants(b, t.CameAt); err != nil {
			return nil, err
		}
	}
	if flags&flagMoved != 0 {
		b = append(b, t.Moved)
	}
	return b, nil
}

// leased is what only a leased ticket has, or one that has gone back.
func (t *Ticket) leased() *Instant {
	if t.State == Waiting {
		return &t.AcceptedAt
	}
	return &t.ArrivedAt
}

// UnmarshalBinary reads what AppendBinary wrote, and fails for anything else.
func (t *Ticket) UnmarshalBinary(b []byte) error {
	if len(b) < headLength || b[0] != ticketVersion {
		return errTicket
	}
	flags, fields := b[1], b[headLength:]
	read, ok := Ticket{State: State(flags &^ allFlags), ID: ID(b[2:headLength])}, false
	switch read.State {
	case Waiting:
		ok = read.readWaiting(flags, fields)
	case Accepted:
		ok = read.readAccepted(flags, fields)
	default:
	}
	if !ok {
		return errTicket
	}
	*t = read
	return nil
}

func (t *Ticket) readWaiting(flags byte, b []byte) bool {
	if flags&flagUncounted != 0 || len(b) < waitingLength {
		return false
	}
	t.LastCheckIn, t.ArrivedAt = instantAt(b), instantAt(b[6:])
	t.RefreshInterval = time.Duration(binary.BigEndian.Uint32(b[12:])) * time.Millisecond
	return t.readMore(flags, b[waitingLength:]) && (flags&flagLeased != 0) == (t.AcceptedAt != 0)
}

func (t *Ticket) readAccepted(flags byte, b []byte) bool {
	t.Uncounted, t.Leased = flags&flagUncounted != 0, flags&flagLeased != 0
	if len(b) < acceptedLength || flags&(flagNumber|flagDrawn) != 0 && !t.Leased || flags&flagCounted != 0 {
		return false
	}
	t.LastCheckIn, t.AcceptedAt, t.Expires = instantAt(b), instantAt(b[6:]), instantAt(b[12:])
	return t.readMore(flags, b[acceptedLength:])
}

// readMore reads what appendMore wrote.
func (t *Ticket) readMore(flags byte, b []byte) bool {
	numbered, counted, leased, drawn, moved, length := flags&flagNumber != 0, flags&flagCounted != 0, flags&flagLeased != 0, flags&flagDrawn != 0, flags&flagMoved != 0, 0
	if numbered {
		length += placeLength
	}
	if counted {
		length += countedLength
	}
	if leased {
		length += leasedLength
	}
	if drawn {
		length += drawnLength
	}
	if moved {
		length += movedLength
	}
	if len(b) != length {
		return false
	}
	if moved {
		length -= movedLength
		t.Moved = b[length]
	}
	if numbered {
		t.Number, t.Priority = uint64(instantAt(b)), int16(binary.BigEndian.Uint16(b[6:]))
	}
	if drawn {
		length -= drawnLength
		t.CameAt = instantAt(b[length:])
	}
	if leased {
		length -= leasedLength
		*t.leased() = instantAt(b[length:])
	}
	if counted {
		cell := b[length-countedLength:]
		t.CountIn(Cell{Bucket: instantAt(cell), Until: instantAt(cell[6:])})
	}
	return numbered == (t.Number != 0) && counted == (t.Counted() != Cell{}) && drawn == (t.CameAt != 0) && moved == (t.Moved != 0)
}

// appendInstants fails for an instant that does not fit.
func appendInstants(b []byte, instants ...Instant) ([]byte, error) {
	for _, i := range instants {
		if i < 0 || i >= endOfInstants {
			return nil, errTicket
		}
		b = append(b, byte(i>>40), byte(i>>32), byte(i>>24), byte(i>>16), byte(i>>8), byte(i))
	}
	return b, nil
}

func instantAt(b []byte) Instant {
	return Instant(b[0])<<40 | Instant(b[1])<<32 | Instant(b[2])<<24 | Instant(b[3])<<16 | Instant(b[4])<<8 | Instant(b[5])
}
