package cookie

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/gorilla/securecookie"
)

// MaxValueLen is the length of the longest cookie value that a Codec opens or makes, in
// bytes. It refuses a longer one before any cryptography.
const MaxValueLen = 512

// minValueLen is the length of the shortest value that can open: the encoding of a
// time, "|", an encoded vector of 16 bytes with a payload of one, "|" and a MAC.
const minValueLen = 92

// Config is the name and the keys of a Codec.
type Config struct {
	// Name is the cookie's name without "__Host-", as Name returns it.
	// Required.
	Name string

	// Keys are the secrets. The first seals; all of them open, in this order.
	// At least one is required.
	Keys []Key
}

// Codec seals payloads into cookie values and opens them. It is safe for
// concurrent use.
type Codec struct {
	name   string
	codecs []*securecookie.SecureCookie // one a key, in the order of Config.Keys
}

var (
	errEmptyPayload  = errors.New("the payload is empty")
	errTrialMismatch = errors.New("a trial value did not open to what was sealed")
)

// New returns a Codec. It fails when the name is not one that Name returns,
// when there is no key, and when a trial run with a key does not work.
func New(config Config) (*Codec, error) {
	if err := checkName(config.Name); err != nil {
		return nil, err
	}
	if len(config.Keys) == 0 {
		return nil, errors.New("a cookie key is required")
	}
	c := &Codec{name: config.Name, codecs: make([]*securecookie.SecureCookie, len(config.Keys))}
	for i, key := range config.Keys {
		if key.secret == nil {
			return nil, fmt.Errorf("cookie key %d is not set", i+1)
		}
		c.codecs[i] = newSecureCookie(key)
		// securecookie reports a key it cannot use only when it is used.
		if err := c.try(i); err != nil {
			return nil, fmt.Errorf("trying cookie key %d: %w", i+1, err)
		}
	}
	return c, nil
}

func newSecureCookie(key Key) *securecookie.SecureCookie {
	return securecookie.New(key.hash(), key.block()).
		SetSerializer(securecookie.NopEncoder{}).
		MaxLength(MaxValueLen).
		MaxAge(0) // counts by the wall clock since sealing; the payload has times of its own
}

func (c *Codec) try(key int) error {
	payload := []byte("trial")
	value, err := c.encode(key, payload)
	if err != nil {
		return err
	}
	opened, ok := c.decode(key, value)
	if !ok || !bytes.Equal(opened, payload) {
		return errTrialMismatch
	}
	return nil
}

// Name returns the name of the cookie, without "__Host-".
func (c *Codec) Name() string { return c.name }

// Encode seals the payload with the first key. The payload is left as it is.
// It fails when the payload is empty, or so long that the value would exceed
// MaxValueLen.
func (c *Codec) Encode(payload []byte) (string, error) {
	if len(payload) == 0 {
		// securecookie would seal it, and never open it again.
		return "", fmt.Errorf("sealing a ticket: %w", errEmptyPayload)
	}
	value, err := c.encode(0, payload)
	if err != nil {
		return "", fmt.Errorf("sealing a ticket: %w", err)
	}
	return value, nil
}

// Decode opens a value. It returns the payload, which the caller may keep and change, and
// the index in Config.Keys of the key that has opened it: any but 0 is an old key. If no
// key opens the value, ok is false. That is not an error: the visitor is a new one.
func (c *Codec) Decode(value string) (payload []byte, key int, ok bool) {
	if len(value) < minValueLen || len(value) > MaxValueLen {
		return nil, 0, false
	}
	for key := range c.codecs {
		if payload, ok := c.decode(key, value); ok {
			return payload, key, true
		}
	}
	return nil, 0, false
}

func (c *Codec) encode(key int, payload []byte) (string, error) {
	// A copy, because securecookie encrypts the slice in place.
	return c.codecs[key].Encode(c.name, bytes.Clone(payload))
}

func (c *Codec) decode(key int, value string) ([]byte, bool) {
	var payload []byte
	if err := c.codecs[key].Decode(c.name, value, &payload); err != nil {
		return nil, false
	}
	return payload, true
}
