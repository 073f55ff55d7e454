package waitlist

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// newToken returns a token of 128 bits.
func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// hash is what is kept of a token. The token has 128 random bits, so its hash needs neither salt
// nor slowness.
func hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// isCode reports whether a text may be a referral code. The databases refuse some others, each in
// its own way.
func isCode(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// isName reports whether a text may be the name of a user.
func isName(text string) bool { return text != "" && len(text) <= longestText && isText(text) }

// newCode returns a referral code of 60 bits.
func newCode() string { return strings.ToLower(rand.Text()[:12]) }
