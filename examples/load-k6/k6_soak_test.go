//go:build soak

package loadk6

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
)

const k6 = "go.k6.io/k6@v1.8.1"

// How k6 ends, as go run tells it, besides well.
const (
	thresholdsFail = "\nexit status 99\n"
	scriptFails    = "\nexit status 107\n"
)

// metric is one of k6's summary: a counter's count, a rate's passes and fails, or a trend's values.
type metric struct {
	Count  int
	Passes int
	Fails  int
	Max    float64
}

// run runs the script with what it has from the environment, and returns k6's summary and what it says.
func run(t *testing.T, env ...string) (ok bool, of map[string]metric, said string) {
	t.Helper()
	summary := filepath.Join(t.TempDir(), "summary.json")
	cmd := exec.CommandContext(t.Context(), "go", "run", k6, "run", "--quiet", "--no-color", "--summary-export", summary, "crowd.js")
	cmd.Env = append(os.Environ(), append(env, "K6_NO_USAGE_REPORT=true")...)
	out, err := cmd.CombinedOutput()
	var read struct{ Metrics map[string]metric }
	if text, err := os.ReadFile(summary); err == nil {
		require.NoError(t, json.Unmarshal(text, &read))
	}
	return err == nil, read.Metrics, string(out)
}

// serve runs a gate before a shop that knows its visitors by their browsers.
func serve(t *testing.T, file string) (gate string, seen func() int) {
	t.Helper()
	var mu sync.Mutex
	agents := map[string]bool{}
	shop := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(r.UserAgent(), "fairdoor-load/") {
			agents[r.UserAgent()] = true
		}
	})
	at := stagetest.Addresses(t)
	name := filepath.Join(t.TempDir(), "fairdoor.yaml")
	require.NoError(t, os.WriteFile(name, []byte(file), 0o600))
	stagetest.Start(t, at.Admin, func(ctx context.Context, out io.Writer) error {
		return stage.RunSite(ctx, out, at, shop, "--config", name, "--origin", "http://"+at.Shop, "--listen", at.Gate, "--admin", at.Admin)
	})
	return "http://" + at.Gate + "/", func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(agents)
	}
}

const room = `rooms:
  - name: shop
    total_active_users: 4
    new_users_per_minute: 600
    session_duration: 10s
    refresh_interval: 1s
    json_response_enabled: true
`

func TestACrowdOfK6WaitsIsLetInAndGoes(t *testing.T) {
	gate, seen := serve(t, room)
	ok, of, said := run(t, "GATE="+gate, "VISITORS=12", "OVER=2", "STAY=2", "PAGE_VIEW=1")
	assert.True(t, ok, said)
	assert.Equal(t, 12, seen(), "each is a visitor of their own")
	assert.Equal(t, 12, of["let_in"].Passes)
	assert.Zero(t, of["errors"].Passes)
	assert.Greater(t, of["waited"].Max, 5000., "somebody waited for the session of somebody else to end")
	assert.Positive(t, of["told"].Max)
	assert.Positive(t, of["in_time"].Passes)
}

func TestACrowdOfK6FailsIfNobodyIsLetIn(t *testing.T) {
	gate, seen := serve(t, room+"    queueing_method: reject\n")
	ok, of, said := run(t, "GATE="+gate, "VISITORS=2", "OVER=1")
	assert.False(t, ok)
	assert.Contains(t, said, thresholdsFail)
	assert.Equal(t, 2, of["refused"].Count)
	assert.Equal(t, 2, of["let_in"].Fails)
	assert.Zero(t, seen())
}

func TestACrowdOfK6NeedsTheConsentOfItsGate(t *testing.T) {
	const token = "a token that is long enough"
	gate, seen := serve(t, fmt.Sprintf("load_token: %x\n%s", sha256.Sum256([]byte(token)), room))
	ok, _, said := run(t, "GATE="+gate, "TOKEN=another token", "VISITORS=1", "OVER=1", "STAY=1")
	assert.False(t, ok)
	assert.Contains(t, said, scriptFails)
	assert.Contains(t, said, "does not agree to a crowd")
	_, _, said = run(t, "GATE=http://shop.invalid/", "VISITORS=1")
	assert.Contains(t, said, scriptFails)
	assert.Zero(t, seen())
	ok, _, said = run(t, "GATE="+gate, "TOKEN="+token, "VISITORS=1", "OVER=1", "STAY=1")
	assert.True(t, ok, said)
	assert.Equal(t, 1, seen())
}
