package templates_test

import (
	"os"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func source(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}

// The browsers that the page works in know what JavaScript was in 2018.
func TestTheScriptOfThePageIsMadeFromItsSource(t *testing.T) {
	const made = "page/page.min.js"
	result := api.Transform(string(source(t, "page/page.js")), api.TransformOptions{
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, Target: api.ES2018, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
	})
	require.Empty(t, result.Errors)
	if *update {
		require.NoError(t, os.WriteFile(made, result.Code, 0o644))
	}
	assert.Equal(t, string(result.Code), string(source(t, made)), "page.js has changed: run this test with -update")
}
