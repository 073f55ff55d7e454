package subject

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// isToken reports whether s is a token (RFC 9110, section 5.6.2), as the names of headers and
// cookies are.
func isToken(s string) bool { return httpguts.ValidHeaderFieldName(s) }

// CheckHeader says what is wrong with the name of a header, "" for nothing; it continues a sentence
// that begins with the name.
func CheckHeader(name string) string {
	switch {
	case !isToken(name):
		return "is not the name of a header"
	case http.CanonicalHeaderKey(name) == "Cookie":
		return "holds all cookies: name one with subject.token.cookie"
	}
	return ""
}

// CheckCookie says what is wrong with the name of a cookie, "" for nothing; it continues a sentence
// that begins with the name.
func CheckCookie(name string) string {
	switch {
	case !isToken(name):
		return "is not the name of a cookie"
	case strings.HasPrefix(strings.TrimPrefix(name, "__Host-"), "fairdoor_"):
		return "is the name of a cookie of the gate"
	}
	return ""
}

// CheckSecret says what is wrong with a secret, without repeating it.
func CheckSecret(secret string) error {
	if len(secret) < minSecretBytes {
		return fmt.Errorf("the secret is short: at least %d characters", minSecretBytes)
	}
	return nil
}

// ParsePublicKeys reads the public keys of a PEM file.
func ParsePublicKeys(file []byte) ([]crypto.PublicKey, error) {
	var keys []crypto.PublicKey
	for block, rest := pem.Decode(file); block != nil; block, rest = pem.Decode(rest) {
		key, err := publicKey(block)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", len(keys)+1, err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func publicKey(block *pem.Block) (crypto.PublicKey, error) {
	switch {
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return nil, errors.New("a private key is for those who sign only: expects PUBLIC KEY")
	case block.Type != "PUBLIC KEY":
		return nil, fmt.Errorf("expects PUBLIC KEY, got %q", block.Type)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, errors.New("is not a public key")
	}
	if _, err := Algorithm(key); err != nil {
		return nil, err
	}
	return key, nil
}
