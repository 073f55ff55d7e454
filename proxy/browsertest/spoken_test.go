package browsertest_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/templates"
)

var update = flag.Bool("update", false, "write the transcript anew")

// timeOfDay is what differs from run to run.
var timeOfDay = regexp.MustCompile(`\d+:\d\d(:\d\d)?\s[AP]M`)

// TestWhatAScreenReaderSaysFromTheFirstPageToTheTurn goes by a transcript: each change is said once,
// and what has not changed is not said again.
func TestWhatAScreenReaderSaysFromTheFirstPageToTheTurn(t *testing.T) {
	t.Parallel()
	const recorded = "testdata/spoken.txt"
	at := func(minutes, position int) templates.Data {
		return templates.Data{
			RoomName: "shop", QueueingMethod: "line", PlaceKeptSeconds: 1800,
			Place: templates.Place{Position: position, UsersQueued: 254, WaitTimeKnown: true, WaitTime: minutes},
		}
	}
	s := newScript(t, at(12, 215), 600)
	tab := s.visit()
	var transcript strings.Builder
	write := func(what string, said []string) {
		fmt.Fprintf(&transcript, "# %s\n%s\n", what, strings.Join(append(said, ""), "\n"))
	}
	ends := func(phrase string) bool { return strings.HasPrefix(phrase, "end of ") || phrase == "paragraph" }
	write("the first page", slices.DeleteFunc(tab.Read(), ends))
	tab.Listen()

	paused, message := at(9, 160), at(9, 160)
	paused.QueueAll = true
	message.Message = "Saturday is sold out."
	for _, step := range []struct {
		what string
		then templates.Data
	}{
		{"somebody ahead leaves", at(12, 214)},
		{"the wait is another", at(9, 160)},
		{"admissions are paused", paused},
		{"and go on", at(9, 160)},
		{"operators tell something", message},
		{"and no longer", at(9, 160)},
	} {
		s.tell(step.then)
		tab.Until(fmt.Sprintf(`document.getElementById('ahead').textContent === '%d' && document.getElementById('keeps').hidden === %t && document.getElementById('message').textContent === %q`,
			step.then.Place.Position-1, !step.then.QueueAll, step.then.Message))
		write(step.what, tab.Heard())
	}
	s.let(func() { s.admitted = true })
	s.send("admitted", "{}")
	tab.Until(`document.title === 'Shop'`)
	write("the turn", tab.Read())

	said := timeOfDay.ReplaceAllString(transcript.String(), "TIME")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(recorded, []byte(said), 0o644))
	}
	want, err := os.ReadFile(recorded)
	require.NoError(t, err)
	assert.Equal(t, string(want), said, "run the test with -update to record it")
}
