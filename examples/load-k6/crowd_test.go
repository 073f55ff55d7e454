// Package loadk6 tests the script for k6.
package loadk6

import (
	"os"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheScriptIsJavaScript(t *testing.T) {
	source, err := os.ReadFile("crowd.js")
	require.NoError(t, err)
	result := api.Transform(string(source), api.TransformOptions{Format: api.FormatESModule})
	assert.Empty(t, result.Errors)
	assert.Empty(t, result.Warnings)
}
