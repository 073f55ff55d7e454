// Package subject reads from a request who its visitor is by the site: in a header that
// a trusted proxy sets, or in a token that the site has signed.
package subject

import (
	"crypto"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Config says where a room finds its subjects.
type Config struct {
	Room   string // a token that names a room counts in that room only
	Header string // set by trusted proxies; "" for none

	// TokenHeader and TokenCookie are where a token may be; "" for neither. A header
	// may have "Bearer " before it.
	TokenHeader, TokenCookie string

	// The keys that verify tokens: at least one, if there is a place for a token. A secret
	// verifies HS256 only. A public key verifies ES256 (P-256), RS256 or EdDSA (Ed25519)
	// only, by its kind.
	Secrets    [][]byte
	PublicKeys []crypto.PublicKey
	JWKSURL    string     // where public keys are published; "" for nowhere
	Published  *Published // what is published there, if there is an address
	Issuer     string     // the issuer that tokens must name; "" for any
	Audience   string     // an audience that tokens must name; "" for any

	// LabelClaim is the claim of a token, and LabelHeader a header that trusted proxies set, with
	// what the site says of a visitor: their name, or in the claim any JSON; "" for none.
	LabelClaim, LabelHeader string
}

// HasLabels reports whether the site says something of visitors.
func (c *Config) HasLabels() bool { return c.LabelClaim != "" || c.LabelHeader != "" }

// Claim is what the site says of a visitor. The zero Claim says nothing.
type Claim struct {
	Subject  string
	Priority int16  // in an exact line; default 0
	Note     string // what the site says of the visitor, in JSON; "" for nothing
}

// Trust knows the trusted proxies.
type Trust interface {
	TrustsPeer(q *http.Request) bool // whether the request comes straight from a trusted proxy
}

// Reader reads claims from requests. It is safe for concurrent use.
type Reader struct {
	cfg    Config
	tokens *tokens // nil for none
}

// New returns a Reader. It fails if a key cannot be used, and if there is a place for
// tokens but no key.
func New(c Config) (*Reader, error) {
	r := &Reader{cfg: c}
	r.cfg.Header = http.CanonicalHeaderKey(c.Header)
	r.cfg.LabelHeader = http.CanonicalHeaderKey(c.LabelHeader)
	r.cfg.TokenHeader = http.CanonicalHeaderKey(c.TokenHeader)
	if c.TokenHeader == "" && c.TokenCookie == "" {
		return r, nil
	}
	var err error
	r.tokens, err = newTokens(c)
	return r, err
}

// Read returns what the site says of a request's visitor. A token goes before the header.
// A header counts if the request comes from a trusted proxy, and has the header once. The
// error says why a token does not count; the claim is then that of the request without
// the token.
func (r *Reader) Read(q *http.Request, trust Trust, now time.Time) (c Claim, invalid error) {
	if token := r.token(q); token != "" {
		c, invalid = r.tokens.verify(token, now)
	}
	if c.Subject == "" {
		c.Subject = trusted(q, r.cfg.Header, trust)
	}
	if c.Note == "" {
		c.Note = inJSON(trusted(q, r.cfg.LabelHeader, trust))
	}
	return c, invalid
}

// inJSON is a text in JSON; "" if it is empty.
func inJSON(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(strings.ToValidUTF8(text, "")) // of a text it never fails
	return strings.TrimSuffix(b.String(), "\n")
}

// trusted returns the value of a header that counts; "" for none.
func trusted(q *http.Request, header string, trust Trust) string {
	if header == "" {
		return ""
	}
	if lines := q.Header[header]; len(lines) == 1 && trust.TrustsPeer(q) {
		return lines[0]
	}
	return ""
}

// token is the token that a request brings; "" for none.
func (r *Reader) token(q *http.Request) string {
	if r.tokens == nil {
		return ""
	}
	if token, ok := r.tokenInHeader(q); ok {
		return token
	}
	c, err := q.Cookie(r.cfg.TokenCookie)
	if errors.Is(err, http.ErrNoCookie) {
		return ""
	}
	return c.Value
}

// tokenInHeader returns the token in the header. It is not ok if the header has none.
func (r *Reader) tokenInHeader(q *http.Request) (token string, ok bool) {
	lines := q.Header[r.cfg.TokenHeader]
	if r.cfg.TokenHeader == "" || len(lines) != 1 {
		return "", false
	}
	const scheme = "Bearer "
	switch text := lines[0]; {
	case len(text) > len(scheme) && strings.EqualFold(text[:len(scheme)], scheme):
		return strings.TrimSpace(text[len(scheme):]), true
	case strings.Contains(text, " "): // another scheme of Authorization
		return "", false
	default:
		return text, true
	}
}

// Strip removes the headers from a request that does not come from a trusted proxy, in any
// spelling that an origin might take for them. From a trusted proxy's request it removes the
// other spellings. It removes the headers from all trailers.
func (r *Reader) Strip(q *http.Request, trust Trust) {
	for _, header := range [...]string{r.cfg.Header, r.cfg.LabelHeader} {
		if header != "" {
			strip(q, header, trust.TrustsPeer(q))
		}
	}
}

func strip(q *http.Request, header string, trusted bool) {
	for name := range q.Header {
		if spells(name, header) && !(trusted && name == header) {
			delete(q.Header, name)
		}
	}
	for name := range q.Trailer {
		if spells(name, header) {
			delete(q.Trailer, name)
		}
	}
}

// spells reports whether an origin might take a field for a header.
func spells(name, header string) bool {
	return len(name) == len(header) &&
		strings.EqualFold(strings.ReplaceAll(name, "_", "-"), strings.ReplaceAll(header, "_", "-"))
}
