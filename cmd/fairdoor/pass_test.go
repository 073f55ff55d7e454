package main_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// withPasses has the room take passes.
func withPasses(t *testing.T) func(*proxy.Config, *proxy.Options) {
	return func(c *proxy.Config, o *proxy.Options) {
		c.Rooms[0].Options = c.Rooms[0].Options.With(passes.RoomOptions{On: true})
		o.Record = func(ctx context.Context) (*waitlist.Store, error) {
			return waitlist.Open(ctx, filepath.Join(t.TempDir(), "passes.db"))
		}
	}
}

// says is what a command that succeeds tells.
func says(t *testing.T, line string) string {
	t.Helper()
	stdout, stderr, code := fairdoor(t, strings.Fields(line)...)
	require.Zero(t, code, stderr)
	return stdout
}

func TestPassesAreMadeListedAndRevoked(t *testing.T) {
	startShop(t, withPasses(t))
	made := says(t, "pass make shop --name press --kind in --uses 5 --for 24h --count 2 --site https://shop.example/")
	lines := strings.Split(strings.TrimSpace(made), "\n")
	require.Len(t, lines, 3)
	assert.Regexp(t, `^[0-9a-f]{16}  [A-Z2-7]{4}-[A-Z2-7]{4}-[A-Z2-7]{4}  https://shop\.example/\.fairdoor/pass/shop\?t=\S+$`, lines[1])
	assert.Regexp(t, `(?m)^[0-9a-f]{16}  press  in    0/5   \S+Z  good$`, says(t, "pass list shop"))
	assert.Equal(t, "Revoked 1. Who is in by them stays in.\n", says(t, "pass revoke shop "+strings.Fields(lines[1])[0]))
	assert.Equal(t, "Revoked 1, and ended 0 sessions.\n", says(t, "pass revoke shop press --end-sessions"))
	assert.Equal(t, "Revoked 0, and ended 0 sessions.\n", says(t, "pass revoke shop press --end-sessions"))
	assert.Equal(t, 2, strings.Count(says(t, "pass list shop"), "  revoked "))
}
