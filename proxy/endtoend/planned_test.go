package endtoend_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestASaleInRealTime is a shuffled event whose prequeue began five minutes ago, and which starts
// soon. The gate is killed in its prequeue.
func TestASaleInRealTime(t *testing.T) {
	t.Parallel()
	const people = 12
	begins := time.Now().Add(30 * time.Second)
	file := filepath.Join(t.TempDir(), "fairdoor.yaml")
	moment := func(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
origin: %s
rooms:
  - name: shop
    total_active_users: 100
    new_users_per_minute: 1000
    refresh_interval: 1s
    refresh_jitter: 0
    events:
      - name: sale
        prequeue_start_time: %s
        event_start_time: %s
        event_end_time: %s
        shuffle_at_event_start: true
`, site(t, hello), moment(begins.Add(-5*time.Minute)), moment(begins), moment(begins.Add(time.Hour))), 0o600))
	g := serve(t, nil, "--config", file)
	crowd := browsers(t, "early", people)
	for _, b := range crowd {
		require.False(t, b.in(g.url), "everyone new is held")
	}
	hash := g.sale().Draw.SeedHash
	require.Len(t, hash, 64)
	g.kill()
	g.start()
	assert.Equal(t, hash, g.sale().Draw.SeedHash)
	if time.Now().Before(begins.Add(-time.Second)) {
		assert.False(t, crowd[0].in(g.url))
	}
	g.until("the event starts, and everybody has come back until then", func() bool {
		for _, b := range crowd {
			b.in(g.url)
		}
		return g.sale().Phase == "started"
	})
	for _, b := range crowd {
		g.until("the prequeued are let in", func() bool { return b.in(g.url) })
	}

	order := filepath.Join(t.TempDir(), "order.jsonl")
	stdout, stderr, code := run(t, "events", "order", "shop", "sale", "--admin", g.admin)
	require.Zero(t, code, stderr)
	require.NoError(t, os.WriteFile(order, []byte(stdout), 0o600))
	stdout, stderr, code = run(t, "verify", order, "--seed-hash", hash, "--digest", g.sale().Draw.Digest)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, fmt.Sprintf("The order of %d entries of the event sale is right", people), "the kill has lost none")

	lines, err := os.ReadFile(order)
	require.NoError(t, err)
	altered := strings.Replace(string(lines), `"place":3,"entry":"`, `"place":3,"entry":"0`, 1)
	require.NoError(t, os.WriteFile(order, []byte(altered), 0o600))
	_, stderr, code = run(t, "verify", order)
	assert.NotZero(t, code)
	assert.Contains(t, stderr, "line 4: the entry")
}

// sale is what the gate tells of the event.
func (g *gate) sale() (told struct {
	Phase string `json:"phase"`
	Draw  struct {
		SeedHash string `json:"seed_hash"`
		Digest   string `json:"digest"`
	} `json:"draw"`
}) {
	g.t.Helper()
	resp, err := http.Get(g.admin + "/api/v1/rooms/shop/events/sale")
	require.NoError(g.t, err)
	defer resp.Body.Close()
	require.NoError(g.t, json.NewDecoder(resp.Body).Decode(&told))
	return told
}
