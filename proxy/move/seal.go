package move

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// seals seal the tickets of links, with a key that follows from each of the gate's cookie keys: the
// first seals, all of them open. A link is drawn as a QR code, and so what is sealed is short, and
// in letters that such a code has at little more than half the price of others.
type seals []cipher.AEAD

// letters are those of sealed tickets.
var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

func newSeals(keys cookie.Keys, room string) (seals, error) {
	all := make(seals, len(keys))
	for i, key := range keys {
		secret, err := key.Derive("links that move a place of " + room)
		if err != nil {
			return nil, fmt.Errorf("cookie key %d: %w", i+1, err)
		}
		block, err := aes.NewCipher(secret)
		if err != nil {
			return nil, fmt.Errorf("cookie key %d: %w", i+1, err)
		}
		if all[i], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, fmt.Errorf("cookie key %d: %w", i+1, err)
		}
	}
	return all, nil
}

// seal returns a ticket for a link that is good until a moment.
func (s seals) seal(t queue.Ticket, until time.Time) (string, error) {
	payload, err := t.AppendBinary(binary.BigEndian.AppendUint32(nil, uint32(until.Unix())))
	if err != nil {
		return "", fmt.Errorf("writing a ticket: %w", err)
	}
	return letters.EncodeToString(s[0].Seal(nil, nil, payload, nil)), nil
}

// maxSealed is longer than any sealed ticket.
const maxSealed = 256

// open is the ticket that a link has, if it is still good.
func (s seals) open(text string, now time.Time) (t queue.Ticket, ok bool) {
	if len(text) > maxSealed {
		return t, false
	}
	sealed, err := letters.DecodeString(strings.ToUpper(text))
	if err != nil {
		return t, false
	}
	for _, with := range s {
		payload, err := with.Open(nil, nil, sealed, nil)
		if err == nil && len(payload) > 4 && uint32(now.Unix()) < binary.BigEndian.Uint32(payload) {
			return t, t.UnmarshalBinary(payload[4:]) == nil
		}
	}
	return t, false
}
