// Package subject reads from a request who the site says its visitor is: a header
// that a trusted proxy sets, or a token that the site has signed.
package subject

import (
	"crypto"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Config says where a room finds its subjects.
type Config struct {
	Room   string // a token that names a room counts in that one only
	Header string // set by trusted proxies; "" for none

	// TokenHeader and TokenCookie are where a token may be; "" for neither. A header
	// may have "Bearer " before it.
	TokenHeader, TokenCookie string

	// Of the token: at least one key, if there is a place for one. A secret signs
	// with HS256, a public key checks ES256 (P-256), RS256 or EdDSA (Ed25519), as
	// its kind is, and nothing else.
	Secrets    [][]byte
	PublicKeys []crypto.PublicKey
	Issuer     string // that tokens must name; "" for any
	Audience   string // that must be among those that tokens name; "" for any
}

// Claim is what the site says of a visitor. The zero Claim is nothing.
type Claim struct {
	Subject  string
	Priority int16 // in an exact line; default 0
}

// Trust knows the proxies that are trusted.
type Trust interface {
	TrustsPeer(q *http.Request) bool // it comes straight from one
}

// Reader reads claims from requests. It is safe for concurrent use.
type Reader struct {
	cfg    Config
	tokens *tokens // nil for none
}

// New returns a Reader. It fails for a key that cannot be used, and for a place
// for tokens without a key.
func New(c Config) (*Reader, error) {
	r := &Reader{cfg: c}
	r.cfg.Header = http.CanonicalHeaderKey(c.Header)
	r.cfg.TokenHeader = http.CanonicalHeaderKey(c.TokenHeader)
	if c.TokenHeader == "" && c.TokenCookie == "" {
		return r, nil
	}
	var err error
	r.tokens, err = newTokens(c)
	return r, err
}

// Read returns what the site says of a request's visitor. The header counts if the
// request comes from a trusted proxy, once and with a value; a token goes before
// it. The error says why there is a token that does not count; the claim is then
// that of a request without it.
func (r *Reader) Read(q *http.Request, trust Trust, now time.Time) (Claim, error) {
	var failed error
	if token := r.token(q); token != "" {
		c, err := r.tokens.verify(token, now)
		if err == nil {
			return c, nil
		}
		failed = err
	}
	if r.cfg.Header != "" {
		if lines := q.Header[r.cfg.Header]; len(lines) == 1 && trust.TrustsPeer(q) {
			return Claim{Subject: lines[0]}, failed
		}
	}
	return Claim{}, failed
}

// token is the token that a request brings; "" for none.
func (r *Reader) token(q *http.Request) string {
	if r.tokens == nil {
		return ""
	}
	if lines := q.Header[r.cfg.TokenHeader]; r.cfg.TokenHeader != "" && len(lines) == 1 {
		const scheme = "Bearer "
		if len(lines[0]) > len(scheme) && strings.EqualFold(lines[0][:len(scheme)], scheme) {
			return strings.TrimSpace(lines[0][len(scheme):])
		}
		if !strings.Contains(lines[0], " ") { // else another scheme of Authorization
			return lines[0]
		}
	}
	c, err := q.Cookie(r.cfg.TokenCookie)
	if errors.Is(err, http.ErrNoCookie) {
		return ""
	}
	return c.Value
}

// Strip removes the header, in any spelling that an origin might take for it, from
// a request of somebody who is not a trusted proxy, and misspelt ones from anybody.
// Nobody has it as a trailer.
func (r *Reader) Strip(q *http.Request, trust Trust) {
	if r.cfg.Header == "" {
		return
	}
	trusted := trust.TrustsPeer(q)
	for name := range q.Header {
		if r.isHeader(name) && !(trusted && name == r.cfg.Header) {
			delete(q.Header, name)
		}
	}
	for name := range q.Trailer {
		if r.isHeader(name) {
			delete(q.Trailer, name)
		}
	}
}

// isHeader says whether an origin might take a field for the header.
func (r *Reader) isHeader(name string) bool {
	return len(name) == len(r.cfg.Header) &&
		strings.EqualFold(strings.ReplaceAll(name, "_", "-"), strings.ReplaceAll(r.cfg.Header, "_", "-"))
}
