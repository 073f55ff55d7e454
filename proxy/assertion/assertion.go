// Package assertion signs what a gate has decided, as JSON Web Tokens (RFC 7519) that others verify
// without asking the gate: an assertion goes with a request to an origin, and an admission token
// lets an edge, a proxy in front of the gate, pass a visitor on by itself.
package assertion

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

// Header is the request field with an assertion.
const Header = "Fairdoor-Assertion"

// The audiences of tokens. Each verifier accepts its own only: visitors get to see admission
// tokens, and no assertions.
const (
	forOrigin = "origin"
	forEdge   = "edge"
)

const (
	issuer = "fairdoor"
	// Lasts is how long an assertion is valid from when it was signed.
	Lasts = time.Minute
	// reused is how long an assertion is used for further requests. What is left of its life is for
	// the way to the origin, and for an origin whose clock is ahead.
	reused = 20 * time.Second
)

// Signer signs with the first of its keys. It is safe for concurrent use.
type Signer struct {
	clock     func() time.Time
	key       *ecdsa.PrivateKey
	id        string // of the key
	names     []byte // the key of pseudonyms
	jwks, pem []byte
}

// New returns a Signer whose keys are derived from the cookie keys, of which at least one is
// required. The clock is one that those go by who verify what it signs.
func New(keys cookie.Keys, clock func() time.Time) (*Signer, error) {
	pairs, err := keys.DeriveP256("assertions")
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 {
		return nil, errors.New("a key is required")
	}
	s := Signer{clock: clock}
	var set struct {
		Keys []jwk `json:"keys"`
	}
	for i, pair := range pairs {
		public, err := newJWK(&pair.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("publishing key %d: %w", i+1, err)
		}
		der, err := x509.MarshalPKIXPublicKey(&pair.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("publishing key %d: %w", i+1, err)
		}
		set.Keys = append(set.Keys, public)
		s.pem = append(s.pem, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})...)
	}
	s.key, s.id = pairs[0], set.Keys[0].ID
	if s.names, err = keys[0].Derive("pseudonyms"); err != nil {
		return nil, fmt.Errorf("deriving the key of pseudonyms: %w", err)
	}
	s.jwks, err = json.Marshal(set)
	return &s, err
}

// JWKS are the public keys of all tokens that are valid, as a JSON Web Key Set (RFC 7517). The
// first is the one that signs.
func (s *Signer) JWKS() []byte { return s.jwks }

// PEM is what JWKS is, as a PEM file.
func (s *Signer) PEM() []byte { return s.pem }

// Admission returns an admission token: for so long, cut to the second, an edge may let the visitor
// into the room.
func (s *Signer) Admission(room string, visitor [16]byte, lasts time.Duration) (string, error) {
	return s.sign(jwt.MapClaims{"aud": forEdge, "room": room, "sub": s.pseudonym(room, visitor)}, s.clock(), lasts)
}

// pseudonym stands for a visitor, whose id is shown to nobody. Without the key nobody finds out by
// guesses who it is: the id of a user of the site is a hash of the name that the site has for them.
func (s *Signer) pseudonym(room string, visitor [16]byte) string {
	mac := hmac.New(sha256.New, s.names)
	_, _ = fmt.Fprintf(mac, "%s\x00%s", room, visitor[:])
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

func (s *Signer) sign(claims jwt.MapClaims, now time.Time, lasts time.Duration) (string, error) {
	claims["iss"], claims["iat"], claims["exp"] = issuer, now.Unix(), now.Add(lasts).Unix()
	token := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	token.Header["kid"] = s.id
	text, err := token.SignedString(s.key)
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return text, nil
}

// Room has the assertions that go with the requests of a room. They do not name the visitor, so
// that one signature serves the requests of many seconds. It is safe for concurrent use.
type Room struct {
	signer  *Signer
	name    string
	in, out atomic.Pointer[signed]
}

// signed is an assertion, as a header has it.
type signed struct {
	lines []string
	at    time.Time
}

// Room returns the assertions of the room with the name. The empty name stands for requests that no
// room guards.
func (s *Signer) Room(name string) *Room { return &Room{signer: s, name: name} }

// Lines returns an assertion for a request, as the lines of Header, which must not be changed. It
// says whether the sender is in, or that the request passes without being counted.
func (r *Room) Lines(in bool) ([]string, error) {
	now := r.signer.clock()
	of, status := &r.out, "none"
	if in {
		of, status = &r.in, "active"
	}
	if last := of.Load(); last != nil && now.Sub(last.at).Abs() < reused {
		return last.lines, nil
	}
	text, err := r.signer.sign(jwt.MapClaims{"aud": forOrigin, "room": r.name, "status": status}, now, Lasts)
	if err != nil {
		return nil, err
	}
	next := &signed{lines: []string{text}, at: now}
	of.Store(next)
	return next.lines, nil
}

// jwk is a public key on the curve P-256 (RFC 7518, section 6.2.1).
type jwk struct {
	Type      string `json:"kty"`
	Curve     string `json:"crv"`
	X         string `json:"x"`
	Y         string `json:"y"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	ID        string `json:"kid"` // RFC 7638
}

func newJWK(key *ecdsa.PublicKey) (jwk, error) {
	point, err := key.Bytes() // 4, and two coordinates of 32 bytes
	if err != nil {
		return jwk{}, err
	}
	k := jwk{Type: "EC", Curve: "P-256", Use: "sig", Algorithm: "ES256",
		X: base64.RawURLEncoding.EncodeToString(point[1:33]), Y: base64.RawURLEncoding.EncodeToString(point[33:])}
	thumbprint := sha256.Sum256(fmt.Appendf(nil, `{"crv":%q,"kty":%q,"x":%q,"y":%q}`, k.Curve, k.Type, k.X, k.Y))
	k.ID = base64.RawURLEncoding.EncodeToString(thumbprint[:])
	return k, nil
}
