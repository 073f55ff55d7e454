package templates_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with the file of this name in testdata/golden.
func golden(t *testing.T, name string, text []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, text, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to record it")
	assert.Equal(t, string(want), string(text))
}

// fileName is the name of a state as part of a file's name.
func fileName(state string) string {
	return strings.NewReplacer(", ", "-", " ", "-").Replace(state)
}
