package subject

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	// minSecretBytes is the least length of a secret, in bytes.
	minSecretBytes = 32
	// minRSABits is the least length of an RSA key, in bits.
	minRSABits = 2048
)

// claims are the claims of a token that the gate reads.
type claims struct {
	jwt.RegisteredClaims
	Priority int16  `json:"fairdoor_priority"`
	Room     string `json:"room"`
}

// tokens verifies JSON Web Tokens (RFC 7519). The keys decide which algorithm a token may
// be signed with, never the token.
type tokens struct {
	room    string
	label   string                           // the claim with the label; "" for none
	keys    map[string][]jwt.VerificationKey // by algorithm
	options []jwt.ParserOption

	published *Published // nil for none
}

func newTokens(c Config) (*tokens, error) {
	t := &tokens{room: c.Room, label: c.LabelClaim, published: c.Published, keys: map[string][]jwt.VerificationKey{}}
	for _, secret := range c.Secrets {
		if err := CheckSecret(string(secret)); err != nil {
			return nil, err
		}
		t.keys["HS256"] = append(t.keys["HS256"], secret)
	}
	for _, key := range c.PublicKeys {
		algorithm, err := Algorithm(key)
		if err != nil {
			return nil, err
		}
		t.keys[algorithm] = append(t.keys[algorithm], key)
	}
	if len(t.keys) == 0 && t.published == nil {
		return nil, errors.New("tokens need a key")
	}
	algorithms := slices.Collect(maps.Keys(t.keys))
	if t.published != nil {
		algorithms = append(algorithms, "ES256", "RS256", "EdDSA")
	}
	t.options = []jwt.ParserOption{jwt.WithValidMethods(algorithms), jwt.WithExpirationRequired()}
	if c.Issuer != "" {
		t.options = append(t.options, jwt.WithIssuer(c.Issuer))
	}
	if c.Audience != "" {
		t.options = append(t.options, jwt.WithAudience(c.Audience))
	}
	return t, nil
}

// Algorithm is the algorithm that a public key is for.
func Algorithm(key crypto.PublicKey) (string, error) {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P256() {
			return "ES256", nil
		}
		return "", errors.New("expects a key on the curve P-256 for ES256")
	case *rsa.PublicKey:
		if key.N.BitLen() >= minRSABits {
			return "RS256", nil
		}
		return "", fmt.Errorf("the RSA key is short: at least %d bits", minRSABits)
	case ed25519.PublicKey:
		return "EdDSA", nil
	}
	return "", errors.New("expects an ECDSA, RSA or Ed25519 key")
}

// verify returns what a token says, or why it does not count at now.
func (t *tokens) verify(text string, now time.Time) (Claim, error) {
	var c claims
	parser := jwt.NewParser(append(t.options[:len(t.options):len(t.options)], jwt.WithTimeFunc(func() time.Time { return now }))...)
	_, err := parser.ParseWithClaims(text, &c, func(token *jwt.Token) (any, error) {
		if _, found := token.Header["crit"]; found {
			return nil, errors.New("it has extensions that must be understood")
		}
		return t.keysFor(token)
	})
	switch {
	case err != nil:
		return Claim{}, fmt.Errorf("verifying a token: %w", err)
	case c.Subject == "":
		return Claim{}, errors.New("verifying a token: it has no subject")
	case c.Room != "" && c.Room != t.room:
		return Claim{}, errors.New("verifying a token: it is for another room")
	}
	return Claim{Subject: c.Subject, Priority: c.Priority, Note: jsonIn(text, t.label)}, nil
}

// keysFor returns the keys that may have signed a token. A token whose key is published has to name
// it.
func (t *tokens) keysFor(token *jwt.Token) (any, error) {
	keys := t.keys[token.Method.Alg()]
	if _, named := token.Header["kid"]; t.published == nil || !named && len(keys) > 0 || token.Method.Alg() == "HS256" {
		return jwt.VerificationKeySet{Keys: keys}, nil
	}
	key, err := t.published.key(token)
	switch {
	case err != nil && len(keys) == 0:
		return nil, err
	case err == nil:
		keys = append(keys[:len(keys):len(keys)], key)
	}
	return jwt.VerificationKeySet{Keys: keys}, nil
}

// jsonIn returns a claim of a token that was verified; "" if it has none.
func jsonIn(token, claim string) string {
	if claim == "" {
		return ""
	}
	var all map[string]json.RawMessage
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil || json.Unmarshal(payload, &all) != nil {
		return ""
	}
	switch text := string(all[claim]); text {
	case "null", `""`:
		return ""
	default:
		return text
	}
}
