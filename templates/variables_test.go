package templates_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/templates"
)

// What pages have and JSON has not is told in no other document.
func TestThePageOfVariablesNamesThoseThatOnlyPagesHave(t *testing.T) {
	text, err := os.ReadFile("../cmd/fairdoor/docs/variables.md")
	require.NoError(t, err)
	set := newSet(t, templates.Options{})
	json := string(set.JSON(state(t, "fifo")).AppendTo(nil, by(seen, 20)))
	for _, name := range templates.Variables() {
		if !strings.Contains(json, `"`+name+`"`) {
			assert.Contains(t, string(text), "`"+name+"`")
		}
	}
}
