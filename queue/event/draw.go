package event

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Draw is the order of a shuffled prequeue. The gates of a room share its secret through the
// store from when they first know of the event. Two keys follow from it, and neither tells
// the other: the seed, which is published when the prequeue is over, and whose hash is shown
// from the beginning; and the key of the entries, which nobody is shown.
//
// An entry stands for a visitor. Its name follows from their id by the second key, so that
// the published list tells nobody's id. The seed and the entry's name give the entry its
// value, and that its place: the lowest value is first. So the order is settled when the last
// has come, and nobody can know it before who has not seen the secret.
//
// The value is also a moment of the first minutes of the prequeue. The visitor is in line as
// if they had arrived then, so that everyone who comes after the start is behind them.
type Draw struct {
	Event    string    `json:"event"`
	Prequeue time.Time `json:"prequeue_start_time"`
	Start    time.Time `json:"event_start_time"`
	Secret   Secret    `json:"secret"`
}

// Secret is what the order of a draw follows from. Whoever knows it before the prequeue is over can
// know the order.
type Secret [32]byte

// DrawKept is for how long after its event's start a draw is kept.
const DrawKept = 90 * 24 * time.Hour

// NewSecret draws a secret.
func NewSecret() (s Secret) {
	_, _ = rand.Read(s[:]) // it never fails: the process would end instead
	return s
}

// MarshalText writes the secret for the store.
func (s Secret) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Secret) UnmarshalText(text []byte) error {
	read, err := hex.DecodeString(string(text))
	if err != nil || len(read) != len(s) {
		return fmt.Errorf("reading a secret of %d characters", len(text))
	}
	*s = Secret(read)
	return nil
}

// String keeps the secret out of logs.
func (s Secret) String() string { return "…" }

func (d *Draw) key(purpose string) [sha256.Size]byte {
	return sha256.Sum256(append([]byte("fairdoor "+purpose+"\x00"), d.Secret[:]...))
}

// Seed is what the order follows from, together with the names of the entries, in hexadecimal. It
// is a secret until the prequeue is over.
func (d *Draw) Seed() string {
	seed := d.key("seed")
	return hex.EncodeToString(seed[:])
}

// SeedHash is the SHA-256 of the seed's bytes, in hexadecimal. It is shown from the beginning.
func (d *Draw) SeedHash() string {
	seed := d.key("seed")
	sum := sha256.Sum256(seed[:])
	return hex.EncodeToString(sum[:])
}

// entryCode writes names of entries with 16 letters and digits.
var entryCode = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// Entry is the name of a visitor's entry.
func (d *Draw) Entry(id queue.ID) string {
	key := d.key("entries")
	return entryCode.EncodeToString(sum(key[:], string(id[:]))[:10])
}

// EntryOf is the name of the entry of a visitor whose place goes by a moment; "" if this draw has
// not given them the place.
func (d *Draw) EntryOf(id queue.ID, placed queue.Instant) string {
	if from := queue.At(d.Prequeue); placed < from || placed >= from.Add(LeastPrequeue) {
		return ""
	}
	if entry := d.Entry(id); d.Moment(d.Value(entry)) == placed {
		return entry
	}
	return ""
}

// Value is what an entry has drawn: as good as any other number of 64 bits.
func (d *Draw) Value(entry string) uint64 {
	seed := d.key("seed")
	return value(seed[:], d.Event, d.Prequeue, entry)
}

func value(seed []byte, event string, prequeue time.Time, entry string) uint64 {
	return binary.BigEndian.Uint64(sum(seed, event+"\x00"+prequeue.UTC().Format(time.RFC3339Nano)+"\x00"+entry))
}

func sum(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// drawTime is the length of the interval from which moments are drawn. A bucket may be a minute
// long: the interval begins with a whole one after the start of the prequeue, so that those who
// waited before are ahead, and ends before any in which the event may start.
const drawTime = LeastPrequeue - time.Minute

// Moment is the moment of a value, at which its visitor counts as arrived.
func (d *Draw) Moment(value uint64) queue.Instant {
	offset, _ := bits.Mul64(value, uint64(drawTime.Milliseconds()))
	return queue.At(d.Prequeue).Ceil(time.Minute) + queue.Instant(offset)
}

// Over reports whether the prequeue is over, so that the order is published.
func (d *Draw) Over(at time.Time) bool { return !at.Before(d.Start) }
