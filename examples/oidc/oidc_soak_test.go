//go:build soak

// Package oidc tests oauth2-proxy before the admin listener of a gate.
package oidc

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

const (
	oauth2Proxy   = "github.com/oauth2-proxy/oauth2-proxy/v7@v7.15.6"
	operatorToken = "operator-0123456789abcdef"
	viewerToken   = "viewer-0123456789abcdef"
)

// serveIssuer serves a provider of OpenID Connect at which everybody is logged in as whom their
// cookie names, with the groups that it has of them.
func serveIssuer(t *testing.T, groups map[string][]string) string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	answer := func(w http.ResponseWriter, of any) {
		w.Header().Set("Content-Type", "application/json")
		assert.NoError(t, json.NewEncoder(w).Encode(of))
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": server.URL, "authorization_endpoint": server.URL + "/login", "token_endpoint": server.URL + "/token", "jwks_uri": server.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}, "code_challenge_methods_supported": []string{"S256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		text := base64.RawURLEncoding.EncodeToString
		answer(w, map[string]any{"keys": []any{map[string]string{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", "n": text(key.N.Bytes()), "e": text(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		who, err := r.Cookie("who")
		if assert.NoError(t, err) {
			back := url.Values{"state": {r.FormValue("state")}, "code": {who.Value + " " + r.FormValue("nonce")}}
			http.Redirect(w, r, r.FormValue("redirect_uri")+"?"+back.Encode(), http.StatusSeeOther)
		}
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		who, nonce, _ := strings.Cut(r.FormValue("code"), " ")
		token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{
			"iss": server.URL, "aud": "fairdoor", "sub": who, "email": who + "@example.com", "email_verified": true, "groups": groups[who], "nonce": nonce,
			"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		})
		token.Header["kid"] = "1"
		signed, err := token.SignedString(key)
		assert.NoError(t, err)
		answer(w, map[string]any{"access_token": "none", "token_type": "Bearer", "expires_in": 3600, "id_token": signed})
	})
	return server.URL
}

// site is what people reach by oauth2-proxy.
type site struct {
	*testing.T
	issuer, operators, viewers string
}

func serve(t *testing.T) site {
	at := stagetest.Addresses(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "fairdoor.yaml")
	require.NoError(t, os.WriteFile(file, []byte("admin_token: "+operatorToken+"\noperators: [company viewer "+viewerToken+`]
rooms: [{name: shop, total_active_users: 5, new_users_per_minute: 60}]
`), 0o600))
	stagetest.Start(t, at.Admin, func(ctx context.Context, out io.Writer) error {
		return stage.Run(ctx, out, at, "--config", file, "--origin", "http://"+at.Shop, "--listen", at.Gate, "--admin", at.Admin)
	})
	s := site{t, serveIssuer(t, map[string][]string{"ada": {"staff", "sale"}, "ben": {"staff"}}), porttest.Address(t), porttest.Address(t)}
	install := exec.CommandContext(t.Context(), "go", "install", oauth2Proxy)
	install.Env = append(os.Environ(), "GOBIN="+dir)
	out, err := install.CombinedOutput()
	require.NoError(t, err, "%s", out)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- stage.WithProcesses(io.Discard, dir, func(p *stage.Processes) error {
			for _, of := range []struct{ listen, group, token string }{{s.operators, "sale", operatorToken}, {s.viewers, "staff", viewerToken}} {
				if _, err := p.Start("oauth2-proxy-"+of.group, true, []string{
					"LISTEN=" + of.listen, "ADMIN=http://" + at.Admin, "ISSUER=" + s.issuer, "CLIENT_ID=fairdoor", "CLIENT_SECRET=secret",
					"GROUP=" + of.group, "AUTHORIZATION=Bearer " + of.token,
					"OAUTH2_PROXY_COOKIE_SECRET=0123456789abcdef0123456789abcdef", "OAUTH2_PROXY_EMAIL_DOMAINS=*", "OAUTH2_PROXY_COOKIE_SECURE=false",
					"OAUTH2_PROXY_REDIRECT_URL=http://" + of.listen + "/oauth2/callback", "OAUTH2_PROXY_SKIP_PROVIDER_BUTTON=true",
				}, filepath.Join(dir, "oauth2-proxy"), "--alpha-config", "oauth2-proxy.yaml"); err != nil {
					return err
				}
			}
			return p.Wait(ctx)
		})
	}()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
	require.Eventually(t, func() bool { return stage.Listening(s.operators) && stage.Listening(s.viewers) || len(ended) > 0 }, time.Minute, 50*time.Millisecond)
	return s
}

// as is the browser of somebody.
func (s site) as(who string) *http.Client {
	browser := stagetest.Visitor(s)
	issuer, err := url.Parse(s.issuer)
	require.NoError(s, err)
	browser.Jar.SetCookies(issuer, []*http.Cookie{{Name: "who", Value: who}})
	return browser
}

// ask asks for something at one of the proxies, and says to be somebody else.
func (s site) ask(browser *http.Client, method, at, path, body string) (int, string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, "http://"+at+path, strings.NewReader(body))
	require.NoError(s, err)
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+operatorToken)
	r.Header.Set("Fairdoor-As", "somebody else")
	answer, err := browser.Do(r)
	require.NoError(s, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(s, err)
	return answer.StatusCode, string(text)
}

func TestWhoMayWhatFollowsFromTheGroupsOfTheProvider(t *testing.T) {
	s := serve(t)
	const room, change = "/api/v1/rooms/shop", `{"total_active_users": 7}`
	ada, ben, eve := s.as("ada"), s.as("ben"), s.as("eve")

	status, page := s.ask(ada, http.MethodGet, s.operators, "/", "")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, page, "/rooms/shop", "the dashboard, without a token being asked for")
	status, _ = s.ask(ada, http.MethodPatch, s.operators, room, change)
	assert.Equal(t, http.StatusOK, status)
	_, record := s.ask(ada, http.MethodGet, s.operators, room+"/record", "")
	assert.Contains(t, record, `"by": "ada@example.com (127.0.0.1)"`)
	assert.NotContains(t, record, "somebody else")

	status, _ = s.ask(ben, http.MethodGet, s.operators, "/", "")
	assert.Equal(t, http.StatusForbidden, status, "ben is no operator")
	status, page = s.ask(ben, http.MethodGet, s.viewers, "/", "")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, page, "/rooms/shop")
	status, _ = s.ask(ben, http.MethodPatch, s.viewers, room, change)
	assert.Equal(t, http.StatusForbidden, status, "what a viewer sends in place of the token is removed")

	for _, at := range []string{s.operators, s.viewers} {
		status, _ = s.ask(eve, http.MethodGet, at, "/", "")
		assert.Equal(t, http.StatusForbidden, status)
	}
}
