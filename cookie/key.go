package cookie

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	hashKeyLen  = 32 // HMAC-SHA-256
	blockKeyLen = 32 // AES-256
	secretLen   = hashKeyLen + blockKeyLen
)

// MinKeyLen is the least length of a key's text, in characters.
const MinKeyLen = 32

// Key is the secret that seals tickets. One half authenticates and the other encrypts, so
// that no key lacks either. The zero value is no key.
//
// A Key does not show its secret with any formatting verb.
type Key struct {
	// It is a function because fmt cannot look into one: so a Key stays secret also in an
	// unexported field of another struct, where fmt does not call Format.
	secret func() []byte
}

// NewKey returns the text of a new random key, without a line end: 86 letters,
// digits, - and _.
func NewKey() string {
	var secret [secretLen]byte
	// As of Go 1.24 Read never fails: it ends the program when the system has
	// no randomness to give.
	_, _ = rand.Read(secret[:])
	return base64.RawURLEncoding.EncodeToString(secret[:])
}

// ParseKey makes a key from a text that NewKey has written, or from any other secret of at
// least MinKeyLen characters. It derives the halves with HKDF (RFC 5869). It ignores white
// space around the text. The error says what is wrong and never quotes the text.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Key{}, errors.New("the cookie key is empty; fairdoor keygen prints one")
	case len(text) < MinKeyLen:
		return Key{}, fmt.Errorf("the cookie key has %d characters, which is fewer than %d and can be guessed; "+
			"fairdoor keygen prints a random one", len(text), MinKeyLen)
	case strings.Count(text, text[:1]) == len(text):
		return Key{}, errors.New("the cookie key repeats a single character and can be guessed; fairdoor keygen prints a random one")
	}
	secret, err := hkdf.Key(sha256.New, []byte(text), nil, "fairdoor cookie key", secretLen)
	if err != nil {
		return Key{}, fmt.Errorf("deriving the cookie key: %w", err)
	}
	return Key{secret: func() []byte { return secret }}, nil
}

// String returns a fixed text that stands for the secret.
func (k Key) String() string {
	if k.secret == nil {
		return "no cookie key"
	}
	return "cookie key (secret)"
}

// Format writes what String returns, for every verb.
func (k Key) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, k.String())
}

// Derive derives 32 bytes for a purpose. Those of different purposes have nothing to do with each
// other, and tell nothing of the key.
func (k Key) Derive(purpose string) ([]byte, error) {
	return k.derive("fairdoor key for "+purpose, sha256.Size)
}

// derive derives so many bytes for what info says.
func (k Key) derive(info string, length int) ([]byte, error) {
	if k.secret == nil {
		return nil, errors.New("the cookie key is not set")
	}
	derived, err := hkdf.Key(sha256.New, k.secret(), nil, info, length)
	if err != nil {
		return nil, fmt.Errorf("deriving the %s: %w", info, err)
	}
	return derived, nil
}

func (k Key) hash() []byte  { return k.secret()[:hashKeyLen] }
func (k Key) block() []byte { return k.secret()[hashKeyLen:] }

func notWordCharacter(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
		return false
	}
	return true
}
