package subject_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/subject"
)

var (
	now    = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	secret = []byte(strings.Repeat("s", 32))
)

// trust is in everybody or nobody.
type trust bool

func (t trust) TrustsPeer(*http.Request) bool { return bool(t) }

// claims are those of a good token, with changes; nil takes one out.
func claims(changes jwt.MapClaims) jwt.MapClaims {
	c := jwt.MapClaims{"sub": "ann", "exp": now.Add(time.Minute).Unix()}
	for name, value := range changes {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	return c
}

func sign(t *testing.T, method jwt.SigningMethod, key any, c jwt.MapClaims) string {
	t.Helper()
	s, err := jwt.NewWithClaims(method, c).SignedString(key)
	require.NoError(t, err)
	return s
}

// read is what a reader says of a request with a header.
func read(t *testing.T, c subject.Config, trusted bool, headers ...string) (subject.Claim, error) {
	t.Helper()
	c.Room = "shop"
	r, err := subject.New(c)
	require.NoError(t, err)
	q := httptest.NewRequest(http.MethodGet, "/", nil)
	for i := 0; i < len(headers); i += 2 {
		q.Header.Add(headers[i], headers[i+1])
	}
	return r.Read(q, trust(trusted), now)
}

func TestHeaderCountsFromTrustedProxiesOnly(t *testing.T) {
	c := subject.Config{Header: "x-user-id"}
	got, err := read(t, c, true, "X-User-Id", "ann")
	require.NoError(t, err)
	assert.Equal(t, subject.Claim{Subject: "ann"}, got)
	for name, headers := range map[string][]string{
		"of somebody else": {"X-User-Id", "ann"}, "none": {}, "empty": {"X-User-Id", ""},
		"two":      {"X-User-Id", "ann", "X-User-Id", "ben"},
		"misspelt": {"X_User_Id", "ann"},
	} {
		got, err := read(t, c, name != "of somebody else", headers...)
		require.NoError(t, err)
		assert.Zero(t, got, name)
	}
}

func TestHeaderOfOthersIsRemovedInEverySpelling(t *testing.T) {
	r, err := subject.New(subject.Config{Header: "X-User-Id"})
	require.NoError(t, err)
	h := func() http.Header {
		return http.Header{"X-User-Id": {"ann"}, "X_user_id": {"ann"}, "X-User_id": {"ann"}, "X-Users-Id": {"other"}, "X-User-Ix": {"other"}}
	}
	untrusted, trusted := h(), h()
	r.Strip(&http.Request{Header: untrusted}, trust(false))
	assert.Equal(t, http.Header{"X-Users-Id": {"other"}, "X-User-Ix": {"other"}}, untrusted)
	r.Strip(&http.Request{Header: trusted}, trust(true))
	assert.Equal(t, http.Header{"X-User-Id": {"ann"}, "X-Users-Id": {"other"}, "X-User-Ix": {"other"}}, trusted)
}

func TestTokens(t *testing.T) {
	other := []byte(strings.Repeat("o", 32))
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, claims(nil)).SignedString(jwt.UnsafeAllowNoneSignatureType)
	require.NoError(t, err)
	critical := jwt.NewWithClaims(jwt.SigningMethodHS256, claims(nil))
	critical.Header["crit"] = []string{"x"}
	withCrit, err := critical.SignedString(secret)
	require.NoError(t, err)
	hs := func(c jwt.MapClaims) string { return sign(t, jwt.SigningMethodHS256, secret, claims(c)) }
	good := hs(nil)
	parts := strings.Split(good, ".")
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"ben","exp":99999999999}`))
	for name, c := range map[string]struct {
		token string
		want  subject.Claim
	}{
		"of a subject":                  {good, subject.Claim{Subject: "ann"}},
		"with a priority":               {hs(jwt.MapClaims{"fairdoor_priority": -32768}), subject.Claim{Subject: "ann", Priority: -32768}},
		"for this room":                 {hs(jwt.MapClaims{"room": "shop"}), subject.Claim{Subject: "ann"}},
		"of this moment on":             {hs(jwt.MapClaims{"nbf": now.Unix()}), subject.Claim{Subject: "ann"}},
		"with claims of the site's own": {hs(jwt.MapClaims{"role": []string{"x"}}), subject.Claim{Subject: "ann"}},
		"for another room":              {token: hs(jwt.MapClaims{"room": "other"})},
		"without a subject":             {token: hs(jwt.MapClaims{"sub": nil})},
		"of nobody":                     {token: hs(jwt.MapClaims{"sub": ""})},
		"without an end":                {token: hs(jwt.MapClaims{"exp": nil})},
		"that has ended":                {token: hs(jwt.MapClaims{"exp": now.Unix()})},
		"that has not begun":            {token: hs(jwt.MapClaims{"nbf": now.Add(time.Second).Unix()})},
		"whose priority is too large":   {token: hs(jwt.MapClaims{"fairdoor_priority": 32768})},
		"whose priority is a fraction":  {token: hs(jwt.MapClaims{"fairdoor_priority": 1.5})},
		"whose priority is a string":    {token: hs(jwt.MapClaims{"fairdoor_priority": "1"})},
		"of another key":                {token: sign(t, jwt.SigningMethodHS256, other, claims(nil))},
		"of another algorithm":          {token: sign(t, jwt.SigningMethodHS512, secret, claims(nil))},
		"unsigned":                      {token: unsigned},
		"with a payload of their own":   {token: parts[0] + "." + forged + "." + parts[2]},
		"that must be understood":       {token: withCrit},
		"cut short":                     {token: good[:len(good)-2]},
		"that is none":                  {token: "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(t, subject.Config{TokenHeader: "X-Token", Secrets: [][]byte{secret}}, false, "X-Token", c.token)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.want == subject.Claim{}, err != nil, "%v", err)
			if err != nil {
				assert.NotContains(t, err.Error(), c.token)
			}
		})
	}
}

func TestIssuerAndAudienceAreAskedForWhereGiven(t *testing.T) {
	c := subject.Config{TokenHeader: "X-Token", Secrets: [][]byte{secret}, Issuer: "site", Audience: "gate"}
	for name, tt := range map[string]struct {
		claims jwt.MapClaims
		counts bool
	}{
		"both":             {jwt.MapClaims{"iss": "site", "aud": []string{"other", "gate"}}, true},
		"neither":          {nil, false},
		"another issuer":   {jwt.MapClaims{"iss": "other", "aud": "gate"}, false},
		"another audience": {jwt.MapClaims{"iss": "site", "aud": "other"}, false},
	} {
		_, err := read(t, c, false, "X-Token", sign(t, jwt.SigningMethodHS256, secret, claims(tt.claims)))
		assert.Equal(t, tt.counts, err == nil, name)
	}
}

func TestAlgorithmIsThatOfTheKey(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	wide, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	public, ed, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(&rs.PublicKey)
	require.NoError(t, err)
	rsAsText := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	for name, c := range map[string]struct {
		key    crypto.PublicKey
		method jwt.SigningMethod
		with   any
		counts bool
	}{
		"ECDSA":                          {&ec.PublicKey, jwt.SigningMethodES256, ec, true},
		"RSA":                            {&rs.PublicKey, jwt.SigningMethodRS256, rs, true},
		"Ed25519":                        {public, jwt.SigningMethodEdDSA, ed, true},
		"RSA with PSS":                   {&rs.PublicKey, jwt.SigningMethodPS256, rs, false},
		"another kind of key":            {&rs.PublicKey, jwt.SigningMethodES256, ec, false},
		"a public key used as a secret":  {&rs.PublicKey, jwt.SigningMethodHS256, rsAsText, false},
		"a public key's bytes as secret": {public, jwt.SigningMethodHS256, []byte(public), false},
	} {
		_, err := read(t, subject.Config{TokenHeader: "X-Token", PublicKeys: []crypto.PublicKey{c.key}}, false,
			"X-Token", sign(t, c.method, c.with, claims(nil)))
		assert.Equal(t, c.counts, err == nil, "%s: %v", name, err)
	}
	for name, c := range map[string]subject.Config{
		"no key": {}, "a short secret": {Secrets: [][]byte{secret[:31]}}, "another curve": {PublicKeys: []crypto.PublicKey{&wide.PublicKey}},
		"no key at all": {PublicKeys: []crypto.PublicKey{"x"}},
	} {
		c.TokenHeader = "X-Token"
		_, err := subject.New(c)
		assert.Error(t, err, name)
	}
	old := []byte(strings.Repeat("o", 40))
	_, err = read(t, subject.Config{TokenHeader: "X-Token", Secrets: [][]byte{secret, old}, PublicKeys: []crypto.PublicKey{public}}, false,
		"X-Token", sign(t, jwt.SigningMethodHS256, old, claims(nil)))
	assert.NoError(t, err, "any of the keys will do")
}

func TestPlacesOfATokenAndWhichGoesFirst(t *testing.T) {
	ann := sign(t, jwt.SigningMethodHS256, secret, claims(nil))
	c := subject.Config{Header: "X-User-Id", TokenHeader: "Authorization", TokenCookie: "login", Secrets: [][]byte{secret}}
	for name, tt := range map[string]struct {
		headers []string
		want    string
		fails   bool
	}{
		"a bearer":                      {[]string{"Authorization", "bearer " + ann}, "ann", false},
		"a header as it is":             {[]string{"Authorization", ann}, "ann", false},
		"a cookie":                      {[]string{"Cookie", "a=b; login=" + ann}, "ann", false},
		"a password is no token":        {[]string{"Authorization", "Basic eDp5"}, "", false},
		"beside the proxy's header":     {[]string{"Authorization", "Bearer " + ann, "X-User-Id", "ben"}, "ann", false},
		"no good, beside that header":   {[]string{"Authorization", "Bearer x", "X-User-Id", "ben"}, "ben", true},
		"a cookie beside basic":         {[]string{"Authorization", "Basic eDp5", "Cookie", "login=" + ann}, "ann", false},
		"none, and the proxy's header":  {[]string{"X-User-Id", "ben"}, "ben", false},
		"none, and a cookie of another": {[]string{"Cookie", "other=" + ann}, "", false},
	} {
		got, err := read(t, c, true, tt.headers...)
		assert.Equal(t, tt.want, got.Subject, name)
		assert.Equal(t, tt.fails, err != nil, "%s: %v", name, err)
	}
}
