package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// program is the path of fairdoor, built once for all tests.
var program string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fairdoor-terraform-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "fairdoor")
	build := exec.Command("go", "build", "-o", program, "./cmd/fairdoor")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

const token = "a-token-of-the-tests-that-is-long-enough"

// serve starts a gate with a room, an event and a waitlist in its file, and waits until it is
// ready.
func serve(t *testing.T) client.API {
	t.Helper()
	visitors, operators, dir := porttest.Address(t), porttest.Address(t), t.TempDir()
	file := filepath.Join(dir, "fairdoor.yaml")
	year := time.Now().Year() + 1
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
listen: %s
admin: %s
admin_token: %s
origin: http://127.0.0.1:9
rooms:
  - name: shop
    total_active_users: 200
    new_users_per_minute: 100
    passes: true
    events:
      - {name: yearly, event_start_time: "%d-12-01T09:00:00Z", event_end_time: "%[4]d-12-01T18:00:00Z"}
waitlists:
  - {name: beta, room: shop, confirm_email: false}
`, visitors, operators, token, year), 0o600))
	var log bytes.Buffer // which is read when the gate has ended
	gate := exec.Command(program, "serve", "--config", file, "--state-dir", dir)
	gate.Env, gate.Stdout, gate.Stderr = []string{"HOME=/nonexistent"}, &log, &log
	require.NoError(t, gate.Start())
	ended := make(chan struct{})
	go func() {
		_ = gate.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = gate.Process.Kill()
		<-ended
		if t.Failed() {
			t.Log(log.String())
		}
	})
	api := client.API{URL: "http://" + operators, Token: token}
	require.Eventually(t, func() bool {
		select {
		case <-ended:
			require.FailNow(t, "the gate has ended")
		default:
		}
		return api.Order(t.Context(), http.MethodGet, "/readyz", nil, nil) == nil
	}, 30*time.Second, 20*time.Millisecond)
	return api
}

// orders does what an operator does by hand.
func orders(t *testing.T, api client.API, method, path string, order any) {
	t.Helper()
	require.NoError(t, api.Order(t.Context(), method, path, order, nil))
}

// tells is what the gate says of a resource of its API.
func tells(t *testing.T, api client.API, names ...string) map[string]any {
	t.Helper()
	told, err := client.Get[map[string]any](t.Context(), api, client.Path(names...))
	require.NoError(t, err)
	return told
}

// at is the provider's block for a gate.
func at(api client.API) block { return block{"address": api.URL, "token": api.Token} }
