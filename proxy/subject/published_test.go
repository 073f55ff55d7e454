package subject_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/subject"
)

// publisher publishes keys.
type publisher struct {
	*httptest.Server
	mu    sync.Mutex
	body  string // that it answers with; "" for an error
	asked int
}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked++
		if p.body == "" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte(p.body))
	}))
	t.Cleanup(p.Close)
	return p
}

// publish publishes keys by their ids, and returns how often it was asked until then.
func (p *publisher) publish(t *testing.T, keys map[string]any) (asked int) {
	t.Helper()
	var set jwkset.JWKSMarshal
	for id, key := range keys {
		jwk, err := jwkset.NewJWKFromKey(key, jwkset.JWKOptions{Metadata: jwkset.JWKMetadataOptions{KID: id}, Marshal: jwkset.JWKMarshalOptions{Private: true}})
		require.NoError(t, err)
		set.Keys = append(set.Keys, jwk.Marshal())
	}
	text, err := json.Marshal(set)
	require.NoError(t, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.body = string(text)
	return p.asked
}

func (p *publisher) open(t *testing.T) *subject.Published {
	t.Helper()
	keys, err := subject.OpenPublished(context.Background(), p.URL, func(error) {})
	require.NoError(t, err)
	t.Cleanup(keys.Close)
	return keys
}

// signAs signs a good token that names a key.
func signAs(t *testing.T, id string, method jwt.SigningMethod, key any) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims(nil))
	if id != "" {
		token.Header["kid"] = id
	}
	text, err := token.SignedString(key)
	require.NoError(t, err)
	return text
}

func TestPublishedKeysCountBesideOthers(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	wide, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	short, err := rsa.GenerateKey(rand.Reader, 1024) //nolint:gosec // that it is refused is tested
	require.NoError(t, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	file, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	p := newPublisher(t)
	p.publish(t, map[string]any{"ec": ec.Public(), "wide": wide.Public(), "rsa": rs.Public(), "short": short.Public(), "ed": ed.Public(), "text": secret})
	c := subject.Config{TokenHeader: "X-Token", Published: p.open(t), PublicKeys: []crypto.PublicKey{file.Public()}}
	for name, tt := range map[string]struct {
		token  string
		counts bool
	}{
		"ECDSA":                         {signAs(t, "ec", jwt.SigningMethodES256, ec), true},
		"RSA":                           {signAs(t, "rsa", jwt.SigningMethodRS256, rs), true},
		"Ed25519":                       {signAs(t, "ed", jwt.SigningMethodEdDSA, ed), true},
		"one of a file, with no name":   {signAs(t, "", jwt.SigningMethodES256, file), true},
		"one of a file, with a name":    {signAs(t, "ec", jwt.SigningMethodES256, file), true},
		"a name that is another's":      {signAs(t, "rsa", jwt.SigningMethodES256, ec), false},
		"no name":                       {signAs(t, "", jwt.SigningMethodRS256, rs), false},
		"another curve":                 {signAs(t, "wide", jwt.SigningMethodES384, wide), false},
		"another algorithm of the key":  {signAs(t, "rsa", jwt.SigningMethodPS256, rs), false},
		"a short key":                   {signAs(t, "short", jwt.SigningMethodRS256, short), false},
		"a secret that is published":    {signAs(t, "text", jwt.SigningMethodHS256, secret), false},
		"a key that nobody knows":       {signAs(t, "none", jwt.SigningMethodRS256, rs), false},
		"a public key used as a secret": {signAs(t, "ed", jwt.SigningMethodHS256, []byte(ed.Public().(ed25519.PublicKey))), false},
	} {
		_, err := read(t, c, false, "X-Token", tt.token)
		assert.Equal(t, tt.counts, err == nil, "%s: %v", name, err)
	}
}

func TestPublishedKeysAreFetchedAnewForAKeyThatIsNotKnown(t *testing.T) {
	first, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	second, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	p := newPublisher(t)
	keys := p.open(t) // while it answers with an error
	c := subject.Config{TokenHeader: "X-Token", Published: keys}
	counts := func(id string, key *ecdsa.PrivateKey) bool {
		_, err := read(t, c, false, "X-Token", signAs(t, id, jwt.SigningMethodES256, key))
		return err == nil
	}
	p.publish(t, map[string]any{"first": first.Public()})
	require.True(t, counts("first", first), "they are fetched when they are needed")
	asked := p.publish(t, map[string]any{"first": first.Public(), "second": second.Public()})
	for range 50 {
		assert.False(t, counts("second", second), "not again within a minute, whatever strangers name")
	}
	assert.True(t, counts("first", first), "those that are known count meanwhile")
	assert.Equal(t, asked, p.publish(t, nil))
}

func TestWhatIsPublishedIsBounded(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	p := newPublisher(t)
	p.publish(t, map[string]any{"key": key.Public()})
	p.body = strings.Repeat(" ", 1<<20) + p.body
	_, err = read(t, subject.Config{TokenHeader: "X-Token", Published: p.open(t)}, false, "X-Token", signAs(t, "key", jwt.SigningMethodES256, key))
	require.Error(t, err)

	_, err = subject.OpenPublished(context.Background(), "no address", func(error) {})
	require.Error(t, err)
}
