package pages

import (
	"crypto/sha256"
	"fmt"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// SupportKey is what the support codes of a gate's visitors follow from: a visitor has the same code at
// all gates with the same cookie key, and nobody without it learns anything from one.
type SupportKey [32]byte

// NewSupportKey derives it from the current cookie key.
func NewSupportKey(keys cookie.Keys) (SupportKey, error) {
	if len(keys) == 0 {
		return SupportKey{}, nil
	}
	derived, err := keys[0].Derive("support codes")
	if err != nil {
		return SupportKey{}, fmt.Errorf("making the key of support codes: %w", err)
	}
	return SupportKey(derived), nil
}

// spoken are the digits of a code: none sounds or looks like another (Crockford's base 32).
const spoken = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// CodeOf is the support code of a visitor: 40 bits, such as 7F3K-Q2M9. It allocates nothing.
func (k SupportKey) CodeOf(id queue.ID) templates.SupportCode { return k.CodeOfShort([8]byte(id[:8])) }

// CodeOfShort is the support code of a visitor of whose id the first half is known, which is what a
// node keeps of those who wait.
func (k SupportKey) CodeOfShort(id [8]byte) (code templates.SupportCode) {
	var of [len(k) + len(id)]byte
	copy(of[:], k[:])
	copy(of[len(k):], id[:])
	sum := sha256.Sum256(of[:])
	bits := uint64(0)
	for _, b := range sum[:5] {
		bits = bits<<8 | uint64(b)
	}
	for i := range code {
		if i == len(code)/2 {
			code[i] = '-'
			continue
		}
		code[i] = spoken[bits&31]
		bits >>= 5
	}
	return code
}
