package templates_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/templates"
)

func TestPlacesOfOneShapeShareAPage(t *testing.T) {
	source := ""
	for _, name := range []string{"ticketNumber", "firstWaitingNumber", "lastWaitingNumber", "position", "positionKnown", "usersAhead", "usersAheadKnown", "usersQueued",
		"waitTimeKnown", "waitTime", "waitTimeHours", "waitTimeHourMinutes", "waitTimeIsLong", "waitTimeFormatted"} {
		source += fmt.Sprintf("{{%[1]s}}{{#%[1]s}} is {{.}}{{/%[1]s}}{{^%[1]s}} is none{{/%[1]s}}\n", name)
	}
	page, err := templates.Parse([]byte(source))
	require.NoError(t, err)
	set := newSet(t, templates.Options{})
	pages, answers := map[templates.Shape]*templates.Rendered{}, map[templates.Shape]*templates.Rendered{}
	for _, place := range places {
		d, v := templates.Data{QueueingMethod: "line", Place: place}, at(place)
		if pages[place.Shape()] == nil {
			pages[place.Shape()], err = page.Render(d)
			require.NoError(t, err)
			answers[place.Shape()] = set.JSON(d)
		}
		want, err := page.Direct(d, v)
		require.NoError(t, err)
		require.Equal(t, string(want), string(pages[place.Shape()].AppendTo(nil, v)), "%+v", place)
		want, err = templates.DirectJSON(d, v)
		require.NoError(t, err)
		require.Equal(t, string(want), string(answers[place.Shape()].AppendTo(nil, v)), "%+v", place)
	}
	require.Less(t, len(pages), 200, "there are few shapes")
}
