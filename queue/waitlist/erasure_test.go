package waitlist_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// traces returns the files beside the record, and itself, in which a text is found.
func traces(t *testing.T, name, text string) (found []string) {
	t.Helper()
	for _, file := range must(filepath.Glob(name + "*")) {
		if content, err := os.ReadFile(file); err == nil && bytes.Contains(content, []byte(text)) {
			found = append(found, filepath.Base(file))
		}
	}
	return found
}

func TestWhoIsErasedJustBeforeAStopLeavesNoTrace(t *testing.T) {
	for _, killed := range []bool{false, true} {
		name := sqliteFile(t)
		store := must(waitlist.Open(ctx, name))
		l := must(store.List(ctx, "beta", settings(unconfirmed)))
		p := must(l.Join(ctx, waitlist.SignUp{Email: "secretive@example.com"}, start))
		require.NoError(t, l.Leave(ctx, p.Number, start))
		if killed { // another process finds the files as they were
			copied := sqliteFile(t)
			for _, file := range must(filepath.Glob(name + "*")) {
				require.NoError(t, os.WriteFile(copied+file[len(name):], must(os.ReadFile(file)), 0o600))
			}
			require.NoError(t, store.Close())
			name = copied
			require.NotEmpty(t, traces(t, name, "secretive"))
			store = must(waitlist.Open(ctx, name))
			l = must(store.List(ctx, "beta", settings(unconfirmed)))
			must(l.Sweep(ctx, start))
			assert.Empty(t, traces(t, name, "secretive"), "after a kill, at the first sweep")
		}
		require.NoError(t, store.Close())
		assert.Empty(t, traces(t, name, "secretive"))
	}
}
