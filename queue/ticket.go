package queue

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"
)

// ID names a visitor. It is drawn at random, or stands for a subject whom the
// site has named, and is never shown to them.
type ID [16]byte

// String returns the id in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// State is what a ticket says of its visitor.
type State uint8

// The states of a ticket.
const (
	None     State = iota // no ticket, or one that is not trusted
	Waiting               // the visitor has a place in line
	Accepted              // the visitor has been let in
)

// Ticket is a visitor's place, as it travels with them.
type Ticket struct {
	State State
	ID    ID

	// LastCheckIn is when the visitor was last counted; for an accepted one,
	// when the ticket was issued.
	LastCheckIn Instant

	// Of a waiting ticket: when the visitor joined, and the time from
	// LastCheckIn until the next check-in counts, jittered anew each time.
	ArrivedAt       Instant
	RefreshInterval time.Duration

	// Of a waiting ticket with a place in an exact line: as in Place; else 0.
	Number   uint64
	Priority int16

	// Of an accepted ticket: when the visitor was let in, and until when they
	// may pass without asking the store. Uncounted marks a visitor who entered
	// beyond what a passthrough room counts.
	AcceptedAt Instant
	Expires    Instant
	Uncounted  bool
}

// Due is when the next check-in of a waiting ticket counts.
func (t Ticket) Due() Instant { return t.LastCheckIn.Add(t.RefreshInterval) }

// The binary form is version, state and flags, id, and then, big-endian, the
// fields of the state; instants take 48 bits.
const (
	ticketVersion  = 1
	flagUncounted  = 0x80
	flagNumber     = 0x40
	waitingLength  = 2 + 16 + 6 + 6 + 4
	placeLength    = 6 + 2
	acceptedLength = 2 + 16 + 6 + 6 + 6
	endOfInstants  = 1 << 48
)

var errTicket = errors.New("not a ticket of this version")

// AppendBinary appends the ticket's binary form, 34 to 42 bytes. It fails for a
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
	b = append(b, ticketVersion, flags)
	b = append(b, t.ID[:]...)
	switch t.State {
	case Waiting:
		millis := uint32(t.RefreshInterval.Milliseconds())
		if t.Uncounted || time.Duration(millis)*time.Millisecond != t.RefreshInterval {
			return nil, errTicket
		}
		b = appendInstants(b, t.LastCheckIn, t.ArrivedAt)
		b = binary.BigEndian.AppendUint32(b, millis)
		if t.Number != 0 {
			b = appendInstants(b, Instant(t.Number))
			b = binary.BigEndian.AppendUint16(b, uint16(t.Priority))
		}
		return b, checkInstants(t.LastCheckIn, t.ArrivedAt, Instant(t.Number))
	case Accepted:
		if t.Number != 0 {
			return nil, errTicket
		}
		b = appendInstants(b, t.LastCheckIn, t.AcceptedAt, t.Expires)
		return b, checkInstants(t.LastCheckIn, t.AcceptedAt, t.Expires)
	default:
		return nil, errTicket
	}
}

// UnmarshalBinary reads what AppendBinary wrote, and fails for anything else.
func (t *Ticket) UnmarshalBinary(b []byte) error {
	if len(b) < 2 || b[0] != ticketVersion {
		return errTicket
	}
	state, flags := State(b[1]&^(flagUncounted|flagNumber)), b[1]
	switch {
	case state == Waiting && len(b) == waitingLength && flags == byte(Waiting):
		*t = Ticket{
			State:           Waiting,
			LastCheckIn:     instantAt(b[18:]),
			ArrivedAt:       instantAt(b[24:]),
			RefreshInterval: time.Duration(binary.BigEndian.Uint32(b[30:])) * time.Millisecond,
		}
	case state == Waiting && len(b) == waitingLength+placeLength && flags == byte(Waiting)|flagNumber && instantAt(b[34:]) != 0:
		*t = Ticket{
			State:           Waiting,
			LastCheckIn:     instantAt(b[18:]),
			ArrivedAt:       instantAt(b[24:]),
			RefreshInterval: time.Duration(binary.BigEndian.Uint32(b[30:])) * time.Millisecond,
			Number:          uint64(instantAt(b[34:])),
			Priority:        int16(binary.BigEndian.Uint16(b[40:])),
		}
	case state == Accepted && len(b) == acceptedLength && flags&flagNumber == 0:
		*t = Ticket{
			State:       Accepted,
			LastCheckIn: instantAt(b[18:]),
			AcceptedAt:  instantAt(b[24:]),
			Expires:     instantAt(b[30:]),
			Uncounted:   flags&flagUncounted != 0,
		}
	default:
		return errTicket
	}
	copy(t.ID[:], b[2:])
	return nil
}

func appendInstants(b []byte, instants ...Instant) []byte {
	for _, i := range instants {
		b = append(b, byte(i>>40), byte(i>>32), byte(i>>24), byte(i>>16), byte(i>>8), byte(i))
	}
	return b
}

func instantAt(b []byte) Instant {
	return Instant(b[0])<<40 | Instant(b[1])<<32 | Instant(b[2])<<24 | Instant(b[3])<<16 | Instant(b[4])<<8 | Instant(b[5])
}

func checkInstants(instants ...Instant) error {
	for _, i := range instants {
		if i < 0 || i >= endOfInstants {
			return errTicket
		}
	}
	return nil
}
