package templates_test

import (
	"encoding/json"
	"os"
	"regexp"
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

func TestThePageOfFieldsHasThoseOfJSON(t *testing.T) {
	text, err := os.ReadFile("../cmd/fairdoor/docs/fields.md")
	require.NoError(t, err)
	set := newSet(t, templates.Options{})
	var told struct {
		Room map[string]any `json:"cfWaitingRoom"`
	}
	require.NoError(t, json.Unmarshal(set.JSON(state(t, "fifo")).AppendTo(nil, by(seen, 20)), &told))
	require.Greater(t, len(told.Room), 30)
	for name := range told.Room {
		assert.Contains(t, string(text), "`"+name+"`")
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(string(text), -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			if name[1] != "cookieMissing" { // of an answer of its own
				assert.Contains(t, told.Room, name[1])
			}
		}
	}
}
