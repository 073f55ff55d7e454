package assertion_test

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"testing"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/assertion"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 999_000_000, time.UTC)

func newSigner(t testing.TB, keys ...string) *assertion.Signer {
	t.Helper()
	var parsed cookie.Keys
	for _, text := range keys {
		key, err := cookie.ParseKey(text)
		require.NoError(t, err)
		parsed = append(parsed, key)
	}
	s, err := assertion.New(parsed, func() time.Time { return now })
	require.NoError(t, err)
	return s
}

const (
	keyA = "2f1a90c3b7d84e56a1f0c9d2e3b4a596"
	keyB = "2f1a90c3b7d84e56a1f0c9d2e3b4a597"
)

func TestTheKeysThatArePublishedVerifyWhatTheFirstHasSigned(t *testing.T) {
	s := newSigner(t, keyA, keyB)
	token, err := s.Admission("shop", [16]byte{1}, 10*time.Second)
	require.NoError(t, err)

	set, err := keyfunc.NewJWKSetJSON(s.JWKS())
	require.NoError(t, err)
	parser := jwt.NewParser(jwt.WithTimeFunc(func() time.Time { return now }), jwt.WithValidMethods([]string{"ES256"}))
	parsed, err := parser.Parse(token, set.Keyfunc)
	require.NoError(t, err)
	assert.EqualValues(t, now.Add(9*time.Second+time.Millisecond).Unix(), parsed.Claims.(jwt.MapClaims)["exp"], "never later than it was asked for")

	var published struct {
		Keys []struct {
			ID string `json:"kid"`
		} `json:"keys"`
	}
	require.NoError(t, json.Unmarshal(s.JWKS(), &published))
	require.Len(t, published.Keys, 2)
	assert.Equal(t, published.Keys[0].ID, parsed.Header["kid"])

	first, rest := pem.Decode(s.PEM())
	key, err := x509.ParsePKIXPublicKey(first.Bytes)
	require.NoError(t, err)
	_, err = parser.Parse(token, func(*jwt.Token) (any, error) { return key.(*ecdsa.PublicKey), nil })
	require.NoError(t, err, "the first key of the PEM file is the one that signs")
	second, rest := pem.Decode(rest)
	assert.NotNil(t, second)
	assert.Empty(t, rest)
}

func TestNodesWithTheSameCookieKeysPublishTheSame(t *testing.T) {
	one, other := newSigner(t, keyA, keyB), newSigner(t, keyA, keyB)
	assert.Equal(t, one.JWKS(), other.JWKS())
	assert.Equal(t, one.PEM(), other.PEM())
	assert.NotEqual(t, newSigner(t, keyA).JWKS(), newSigner(t, keyB).JWKS())
}

// subjectOf is what an admission token calls a visitor.
func subjectOf(t *testing.T, s *assertion.Signer, room string, visitor [16]byte) any {
	t.Helper()
	token, err := s.Admission(room, visitor, time.Minute)
	require.NoError(t, err)
	claims := jwt.MapClaims{}
	_, _, err = jwt.NewParser().ParseUnverified(token, claims)
	require.NoError(t, err)
	return claims["sub"]
}

func TestAVisitorIsNobodyElseAndNobodyInOtherRooms(t *testing.T) {
	s, seen := newSigner(t, keyA), map[any]bool{}
	for _, room := range []string{"shop", "shop2"} {
		for _, visitor := range [][16]byte{{1}, {2}} {
			seen[subjectOf(t, s, room, visitor)] = true
		}
	}
	assert.Len(t, seen, 4)
}

func TestOnlyWhoHasTheCookieKeysFindsAVisitorByGuesses(t *testing.T) {
	guessed := [16]byte{1}
	known := subjectOf(t, newSigner(t, keyA), "shop", guessed)
	assert.Equal(t, known, subjectOf(t, newSigner(t, keyA, keyB), "shop", guessed), "all gates call a visitor the same")
	assert.NotEqual(t, known, subjectOf(t, newSigner(t, keyB), "shop", guessed))
}

func BenchmarkAssertion(b *testing.B) {
	room := newSigner(b, keyA).Room("shop")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = room.Lines(true)
	}
}

func BenchmarkAdmission(b *testing.B) {
	s := newSigner(b, keyA)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Admission("shop", [16]byte{1}, time.Minute)
	}
}
