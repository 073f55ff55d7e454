package config_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

const tokenSecret = "hunter2hunter2hunter2hunter2hunter2"

// publicPEM is a PEM block of a public key.
func publicPEM(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func TestSubjectsAreNamedByAHeaderOrASignedToken(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	public, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		setup
		want config.Subject
	}{
		"nobody is": {setup{file: minimal}, config.Subject{}},
		"a header": {setup{file: minimal + "    subject: {header: X-User-Id}\ntrusted_proxies: [10.0.0.0/8]\n"},
			config.Subject{Header: "X-User-Id"}},
		"a token": {setup{file: minimal + "    subject: {token: {header: Authorization, keys: ['" + tokenSecret + "'], issuer: site, audience: gate}}\n"},
			config.Subject{Token: config.Token{Header: "Authorization", Secrets: []string{tokenSecret}, Issuer: "site", Audience: "gate"}}},
		"secrets in a file": {setup{file: minimal + "    subject: {token: {cookie: login, keys_file: /k}}\n", files: map[string]string{"/k": "# old and new\n" + tokenSecret + "\n\n" + tokenSecret + "2\n"}},
			config.Subject{Token: config.Token{Cookie: "login", Secrets: []string{tokenSecret, tokenSecret + "2"}}}},
		"public keys": {setup{file: minimal + "    subject: {token: {cookie: login, public_keys_file: k.pem}}\n", files: map[string]string{"/etc/gate/k.pem": publicPEM(t, &ec.PublicKey) + publicPEM(t, public)}},
			config.Subject{Token: config.Token{Cookie: "login", PublicKeys: []crypto.PublicKey{&ec.PublicKey, public}}}},
		"a variable goes before the file": {setup{file: minimal + "    subject: {token: {cookie: login, keys_file: k}}\n", env: map[string]string{"FAIRDOOR_SUBJECT_TOKEN_KEYS": tokenSecret}},
			config.Subject{Token: config.Token{Cookie: "login", Secrets: []string{tokenSecret}}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, warnings, faults := tt.load(t)
			assert.Empty(t, warnings)
			require.Empty(t, faults)
			assert.Equal(t, tt.want, tt.mustLoad(t).Rooms[0].Subject)
		})
	}
}

func TestFaultsOfSubjects(t *testing.T) {
	wide, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	private := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}))
	files := map[string]string{"/k": tokenSecret, "/short": "\nabc\n", "/none": "# none\n", "/wide": publicPEM(t, &wide.PublicKey),
		"/rsa": publicPEM(t, &short.PublicKey), "/private": private, "/text": "hello"}
	const token = "    subject: {token: "
	for name, tt := range map[string]struct {
		room string
		want []string
	}{
		"a header that is none":    {"    subject: {header: 'a b'}\n", []string{`gate.yaml:6:23: rooms[0].subject.header: "a b" is not the name of a header`}},
		"a label without a token":  {"    subject: {label: {claim: name}}\n", []string{`gate.yaml:6:30: rooms[0].subject.label.claim: there is no token with claims: set subject.token.header or subject.token.cookie`}},
		"all cookies":              {"    subject: {header: cookie}\n", []string{`gate.yaml:6:23: rooms[0].subject.header: "cookie" holds all cookies: name one with subject.token.cookie`}},
		"a cookie of the gate":     {token + "{cookie: fairdoor_shop, keys_file: /k}}\n", []string{`gate.yaml:6:31: rooms[0].subject.token.cookie: "fairdoor_shop" is the name of a cookie of the gate`}},
		"two places":               {token + "{header: A, cookie: B, keys_file: /k}}\n", []string{"gate.yaml:6:42: rooms[0].subject.token.cookie: there is subject.token.header as well: give one of them"}},
		"no key":                   {token + "{header: A}}\n", []string{"gate.yaml:6:31: rooms[0].subject.token.header: a token needs a key: set subject.token.keys, keys_file, public_keys_file or jwks_url"}},
		"keys for nothing":         {token + "{keys_file: /k}}\n", []string{"gate.yaml:6:34: rooms[0].subject.token.keys_file: there is no token: set subject.token.header or subject.token.cookie"}},
		"two kinds of keys":        {token + "{header: A, keys_file: /k, public_keys_file: /wide}}\n", []string{"gate.yaml:6:67: rooms[0].subject.token.public_keys_file: there is subject.token.keys_file as well: give one of them"}},
		"a short secret":           {token + "{header: A, keys: [abc]}}\n", []string{"gate.yaml:6:41: rooms[0].subject.token.keys[0]: the secret is short: at least 32 characters"}},
		"a short secret in a file": {token + "{header: A, keys_file: /short}}\n", []string{"/short:2:1: rooms[0].subject.token.keys_file: the secret is short: at least 32 characters"}},
		"no secret in a file":      {token + "{header: A, keys_file: /none}}\n", []string{"gate.yaml:6:45: rooms[0].subject.token.keys_file: /none holds no secret: expects one on each line"}},
		"no file":                  {token + "{header: A, keys_file: /x}}\n", []string{"gate.yaml:6:45: rooms[0].subject.token.keys_file: cannot read /x: file does not exist"}},
		"another curve":            {token + "{header: A, public_keys_file: /wide}}\n", []string{"gate.yaml:6:52: rooms[0].subject.token.public_keys_file: /wide: block 1: expects a key on the curve P-256 for ES256"}},
		"a short RSA key":          {token + "{header: A, public_keys_file: /rsa}}\n", []string{"gate.yaml:6:52: rooms[0].subject.token.public_keys_file: /rsa: block 1: the RSA key is short: at least 2048 bits"}},
		"a private key":            {token + "{header: A, public_keys_file: /private}}\n", []string{"gate.yaml:6:52: rooms[0].subject.token.public_keys_file: /private: block 1: a private key is for those who sign only: expects PUBLIC KEY"}},
		"no PEM":                   {token + "{header: A, public_keys_file: /text}}\n", []string{"gate.yaml:6:52: rooms[0].subject.token.public_keys_file: /text holds no key: expects PEM blocks with PUBLIC KEY"}},
		"a key that is unknown":    {token + "{heder: A}}\n", []string{`gate.yaml:6:23: rooms[0].subject.token.heder: unknown key (did you mean "header"?)`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, faults := setup{file: minimal + tt.room, files: files}.load(t)
			assert.Equal(t, tt.want, faults)
		})
	}
}

func TestAHeaderThatNobodyIsBelievedInIsWarnedOf(t *testing.T) {
	_, warnings, faults := setup{file: minimal + "    subject: {header: X-User-Id}\n"}.load(t)
	assert.Empty(t, faults)
	assert.Equal(t, []string{"gate.yaml:6:23: rooms[0].subject.header: is believed from trusted_proxies only, and there are none"}, warnings)
}

func TestSecretsOfTokensNeverAppearInFaults(t *testing.T) {
	const secret = "hunter2hunter2"
	for name, tt := range map[string]setup{
		"one that is short":      {file: minimal + "    subject: {token: {header: A, keys: [" + secret + "]}}\n"},
		"one in a file":          {file: minimal + "    subject: {token: {header: A, keys_file: /k}}\n", files: map[string]string{"/k": secret}},
		"one in a variable":      {file: minimal, env: map[string]string{"FAIRDOOR_SUBJECT_TOKEN_KEYS": secret}},
		"one that is no list":    {file: minimal + "    subject: {token: {header: A, keys: " + secret + "}}\n"},
		"one where a mapping is": {file: minimal + "    subject: {token: " + secret + "}\n"},
	} {
		_, _, faults := tt.load(t)
		assert.NotEmpty(t, faults, name)
		assert.NotContains(t, strings.Join(faults, "\n"), secret, name)
	}
}
