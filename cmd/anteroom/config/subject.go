package config

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// leastSecret is how long a secret for tokens is at least, and leastRSA how long an RSA key is, in bits.
const (
	leastSecret = 32
	leastRSA    = 2048
)

// subjectKeys are the keys of a room that say who the site's own users are.
func subjectKeys() []key[roomDraft] {
	const token = "subject.token."
	return []key[roomDraft]{
		{name: "subject.header", kind: "string", outside: flagAndEnv, usage: "header in which a trusted proxy names the site's user",
			read: aString(func(r *roomDraft) *string { return &r.Subject.Header }, "the name of a header", optional(checkFieldName))},
		{name: token + "header", kind: "string", outside: flagAndEnv, usage: "header with a token in which the site names its user",
			read: aString(func(r *roomDraft) *string { return &r.Subject.Token.Header }, "the name of a header", optional(checkFieldName))},
		{name: token + "cookie", kind: "string", outside: flagAndEnv, usage: "cookie with a token in which the site names its user",
			read: aString(func(r *roomDraft) *string { return &r.Subject.Token.Cookie }, "the name of a cookie", optional(checkCookieName))},
		{name: token + "keys", kind: "list", outside: envOnly, secret: true, usage: "secrets that tokens are signed with (HS256)",
			read: readSecrets},
		{name: token + "keys_file", kind: "file", outside: flagAndEnv, usage: "file with the secrets that tokens are signed with, one a line",
			read: aPath(func(r *roomDraft) *string { return &r.secretsFile }, "the path of a file")},
		{name: token + "public_keys_file", kind: "file", outside: flagAndEnv, usage: "PEM file with the public keys of those who sign tokens",
			read: aPath(func(r *roomDraft) *string { return &r.publicKeysFile }, "the path of a file")},
		{name: token + "issuer", kind: "string", outside: flagAndEnv, usage: "issuer that tokens have to name (default: any)",
			read: aString(func(r *roomDraft) *string { return &r.Subject.Token.Issuer }, "a string", anything)},
		{name: token + "audience", kind: "string", outside: flagAndEnv, usage: "audience that tokens have to name (default: any)",
			read: aString(func(r *roomDraft) *string { return &r.Subject.Token.Audience }, "a string", anything)},
	}
}

// isToken says whether s is a token of HTTP (RFC 9110, section 5.6.2), as the names of headers and cookies are.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
	})
}

func checkFieldName(s string) string {
	switch name := http.CanonicalHeaderKey(s); {
	case !isToken(s):
		return "is not the name of a header"
	case name == "Cookie":
		return "holds all cookies: name one with subject.token.cookie"
	}
	return ""
}

func checkCookieName(s string) string {
	switch {
	case !isToken(s):
		return "is not the name of a cookie"
	case strings.HasPrefix(strings.TrimPrefix(s, "__Host-"), "anteroom_"):
		return "is the name of a cookie of the gate"
	}
	return ""
}

// readSecrets reads the secrets of tokens. An empty list is none.
func readSecrets(d *decoder, v value, dst *roomDraft) bool {
	secrets, ok := d.secrets(v, "secret", d.checkSecret)
	if ok {
		dst.Subject.Token.Secrets = secrets
	}
	return ok
}

func (d *decoder) checkSecret(p Place, s string) bool {
	if len(s) < leastSecret {
		d.fault(p, "the secret is short: at least %d characters", leastSecret)
		return false
	}
	return true
}

// subject settles how the room's visitors are named.
func (r *room) subject(root *scope[draft]) {
	const token = "subject.token."
	t := &r.dst.Subject.Token
	if r.dst.Subject.Header != "" && root.fine("trusted_proxies") && len(root.dst.TrustedProxies) == 0 {
		r.warn(r.place("subject.header"), "is believed from trusted_proxies only, and there are none")
	}
	_, cookie := r.either(token+"header", token+"cookie", t.Header != "", t.Cookie != "")
	if cookie {
		t.Header = ""
	} else {
		t.Cookie = ""
	}
	r.tokenKeys(t)
	keyed := r.dst.secretsFile != "" || r.dst.publicKeysFile != "" || len(t.Secrets) > 0
	switch placed := t.Header != "" || t.Cookie != ""; {
	case placed && !keyed && r.fine(token+"keys", token+"keys_file", token+"public_keys_file"):
		name := token + "header"
		if cookie {
			name = token + "cookie"
		}
		r.fault(r.place(name), "a token needs a key: set subject.token.keys, keys_file or public_keys_file")
	case !placed && keyed && r.fine(token+"header", token+"cookie"):
		for _, name := range []string{"keys", "keys_file", "public_keys_file"} {
			if r.given(token + name) {
				r.fault(r.place(token+name), "there is no token: set subject.token.header or subject.token.cookie")
				break
			}
		}
	}
}

// tokenKeys takes the keys of tokens from where they were given: secrets, a file of them, or a file of public keys.
func (r *room) tokenKeys(t *Token) {
	const keys, file, public = "subject.token.keys", "subject.token.keys_file", "subject.token.public_keys_file"
	written, inFile := r.either(keys, file, len(t.Secrets) > 0, r.dst.secretsFile != "")
	first := keys
	if inFile {
		first = file
	}
	secret, asymmetric := r.either(first, public, written || inFile, r.dst.publicKeysFile != "")
	switch {
	case asymmetric:
		t.Secrets, t.PublicKeys = nil, r.readPublicKeys(r.place(public), r.dst.publicKeysFile)
	case secret && inFile:
		t.Secrets = r.readSecrets(r.place(file), r.dst.secretsFile, "secret", r.checkSecret)
	}
}

// readPublicKeys reads a PEM file of public keys.
func (d *decoder) readPublicKeys(p Place, path string) []crypto.PublicKey {
	src, problem := d.read(path)
	if problem != "" {
		d.fault(p, "%s", problem)
		return nil
	}
	var keys []crypto.PublicKey
	for block, rest := pem.Decode(src); block != nil; block, rest = pem.Decode(rest) {
		key, err := publicKey(block)
		if err != nil {
			d.fault(p, "%s: block %d: %v", path, len(keys)+1, err)
			return nil
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		d.fault(p, "%s holds no key: expects PEM blocks with PUBLIC KEY", path)
	}
	return keys
}

func publicKey(block *pem.Block) (crypto.PublicKey, error) {
	switch {
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return nil, errors.New("a private key is for those who sign only: expects PUBLIC KEY")
	case block.Type != "PUBLIC KEY":
		return nil, fmt.Errorf("expects PUBLIC KEY, got %s", show(block.Type))
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, errors.New("is not a public key")
	}
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return nil, errors.New("expects a key on the curve P-256 for ES256")
		}
	case *rsa.PublicKey:
		if key.N.BitLen() < leastRSA {
			return nil, fmt.Errorf("the RSA key is short: at least %d bits", leastRSA)
		}
	case ed25519.PublicKey:
	default:
		return nil, errors.New("expects an ECDSA, RSA or Ed25519 key")
	}
	return key, nil
}
