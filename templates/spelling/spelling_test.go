package spelling_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/templates/spelling"
)

func TestNearestIsTheNameThatWasMeant(t *testing.T) {
	names := []string{"waitTime", "queue_all", "usersAhead", "usersAheadKnown", "firstWaitingNumber", "tie1", "tie2", "app"}
	for sentence, c := range map[string]struct{ written, want string }{
		"a letter is missing":                     {"waitTme", "waitTime"},
		"a letter is too many":                    {"waitTimee", "waitTime"},
		"a letter is another":                     {"waitTine", "waitTime"},
		"two letters are swapped":                 {"queue_lal", "queue_all"},
		"the letter case is another":              {"WAITTIME", "waitTime"},
		"it is written with dashes":               {"wait-time", "waitTime"},
		"it is written in one word":               {"queueall", "queue_all"},
		"the nearer of two is meant":              {"usersAhed", "usersAhead"},
		"of two as near the first is meant":       {"tie3", "tie1"},
		"the name begins with it":                 {"first", "firstWaitingNumber"},
		"it begins with the name":                 {"waitTime.minutes", "waitTime"},
		"a single letter begins too much":         {"w", ""},
		"two letters are too few for a mistake":   {"tq", ""},
		"one mistake is too many for five":        {"queal", ""},
		"three mistakes are fine in many letters": {"frstWatingNumbr", "firstWaitingNumber"},
		"four mistakes are too many":              {"frstWatngNumbr", ""},
		"it begins with a name of few letters":    {"appliances", ""},
		"nothing is near":                         {"price", ""},
		"nothing is written":                      {"", ""},
		"it is too long to be compared":           {strings.Repeat("waitTime", 9), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, c.want, spelling.Nearest(c.written, names))
		})
	}
}

func TestAWordThatGoesOnFromANameIsNotMisspelt(t *testing.T) {
	names := []string{"waitTime", "usersAheadKnown"}
	assert.Equal(t, "waitTime", spelling.Misspelt("waitTme", names))
	assert.Empty(t, spelling.Misspelt("waitTimeSeconds", names))
	assert.Empty(t, spelling.Misspelt("users", names))
	assert.Empty(t, spelling.Misspelt(strings.Repeat("waitTime", 9), names))
}

func TestDistanceCountsMistakes(t *testing.T) {
	for pair, want := range map[[2]string]int{
		{"line", "line"}: 0, {"line", "lane"}: 1, {"line", "lien"}: 1, {"", "line"}: 4, {"kitten", "sitting"}: 3,
	} {
		assert.Equal(t, want, spelling.Distance(pair[0], pair[1]), "%v", pair)
		assert.Equal(t, want, spelling.Distance(pair[1], pair[0]), "%v, the other way", pair)
	}
}

func TestANameWithOneMistakeIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z]{4,20}`).Draw(t, "name")
		at := rapid.IntRange(0, len(name)-2).Draw(t, "at")
		letter := rapid.StringMatching(`[a-z]`).Draw(t, "letter")
		written := rapid.SampledFrom([]string{
			name[:at] + name[at+1:],
			name[:at] + letter + name[at:],
			name[:at] + letter + name[at+1:],
			name[:at] + name[at+1:at+2] + name[at:at+1] + name[at+2:],
		}).Draw(t, "written")
		assert.Equal(t, name, spelling.Nearest(written, []string{"", "unlike", name}), "by %s", written)
	})
}
