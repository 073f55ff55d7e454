package templates_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/templates"
)

func TestPlacesOfOneShapeShareAPage(t *testing.T) {
	source := ""
	for _, name := range []string{"ticketNumber", "firstWaitingNumber", "lastWaitingNumber", "position", "positionOrdinal", "positionKnown", "usersAhead", "usersAheadKnown", "usersQueued",
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

func TestEnglishSaysWhichOneAPositionIs(t *testing.T) {
	page, err := templates.Parse([]byte("{{positionOrdinal}} of {{usersQueued}}"))
	require.NoError(t, err)
	for n, want := range map[int]string{0: " of 2000", 1: "1st of 2000", 2: "2nd of 2000", 3: "3rd of 2000", 4: "4th of 2000", 10: "10th of 2000", 11: "11th of 2000",
		12: "12th of 2000", 13: "13th of 2000", 21: "21st of 2000", 102: "102nd of 2000", 113: "113th of 2000", 1003: "1003rd of 2000"} {
		place := templates.Place{TicketNumber: 1, Position: n, UsersQueued: 2000}
		rendered, err := page.Render(templates.Data{QueueingMethod: "line", Place: place})
		require.NoError(t, err)
		require.Equal(t, want, string(rendered.AppendTo(nil, at(place))))
	}
}
