package endtoend_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ask sends a request with headers, given as names and values, and returns what
// was answered.
func ask(t *testing.T, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(read)
}

func TestUsersOfTheSiteHaveOnePlaceAndOneSlotAndItsBackendCanAsk(t *testing.T) {
	t.Parallel()
	var seen atomic.Value
	seen.Store("")
	origin := site(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Get("X-User-Id"))
		hello(w, r)
	})
	dir := t.TempDir()
	secret := strings.Repeat("k", 40)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secrets"), []byte("# of the site\n"+secret+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fairdoor.yaml"), []byte("origin: "+origin+`
rooms:
  - name: hall
    total_active_users: 1
    new_users_per_minute: 100
    queueing_method: line
    refresh_interval: 1s
    refresh_jitter: 0
    subject:
      header: X-User-Id
      token: {cookie: login, keys_file: secrets, audience: hall}
`), 0o600))
	g := serve(t, []string{"FAIRDOOR_TRUSTED_PROXIES=127.0.0.2"}, "--config", filepath.Join(dir, "fairdoor.yaml"))
	login := func(user string, priority int) string {
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
			"sub": user, "aud": "hall", "fairdoor_priority": priority, "exp": time.Now().Add(time.Hour).Unix(),
		}).SignedString([]byte(secret))
		require.NoError(t, err)
		return "login=" + token
	}

	for _, device := range []string{"phone", "laptop"} {
		_, body := ask(t, http.MethodGet, g.url, "", "Cookie", login("ann", 0), "X-User-Id", "mallory")
		assert.Equal(t, "in", body, device)
	}
	assert.Empty(t, seen.Load(), "what a stranger says is removed")
	asJSON := []string{"Accept", "application/json"}
	position := func(user string, priority int) float64 {
		resp, body := ask(t, http.MethodGet, g.url, "", append(asJSON, "Cookie", login(user, priority))...)
		require.Equal(t, "application/json", resp.Header.Get("Content-Type"), body)
		var told struct {
			Room map[string]any `json:"cfWaitingRoom"`
		}
		require.NoError(t, json.Unmarshal([]byte(body), &told))
		require.Equal(t, true, told.Room["positionKnown"])
		return told.Room["position"].(float64)
	}
	assert.InDelta(t, 1, position("ben", 0), 0)
	assert.InDelta(t, 2, position("cleo", 0), 0)
	assert.InDelta(t, 1, position("dora", 7), 0, "whose priority is signed")
	assert.InDelta(t, 3, position("cleo", 0), 0, "from another device, and behind by one")

	_, body := ask(t, http.MethodGet, g.url+"/.fairdoor/session", "", "Cookie", login("ann", 0))
	assert.Regexp(t, `"status": "active",\s+"acceptedAt": "20.*",\s+"expiresAt": "20`, body)
	visitors := g.admin + "/api/v1/rooms/hall/visitors"
	_, body = ask(t, http.MethodPatch, visitors+"/subject:cleo", `{"priority": 9}`, "Content-Type", "application/json")
	assert.Contains(t, body, `"position": 1`)
	resp, _ := ask(t, http.MethodDelete, visitors+"/subject:ann", "")
	assert.Equal(t, http.StatusNoContent, resp.StatusCode)
	g.until("the first in line has the slot", func() bool {
		_, body := ask(t, http.MethodGet, g.url, "", "Cookie", login("cleo", 0))
		return body == "in"
	})
	_, body = ask(t, http.MethodGet, visitors, "")
	assert.Equal(t, 3, strings.Count(body, `"id"`), "cleo is in, ben and dora wait: %s", body)
	for _, hidden := range []string{"cleo", secret, "login"} {
		assert.NotContains(t, g.log.String(), hidden)
	}
}
