package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEventsArePlannedFromTheCommandLine(t *testing.T) {
	startShop(t)
	page := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(page, []byte("<p>{{timeUntilEventStart}}"), 0o600))
	for _, step := range []struct {
		args string
		code int
		says string
	}{
		{"create shop sale --timezone Europe/Oslo --start 2099-07-01T09:00 --end 2099-07-01T10:00 --prequeue 2099-07-01T08:30 --shuffle --session-duration 30s --page " + page, 0,
			"The event sale goes from 2099-07-01T09:00:00+02:00 to 2099-07-01T10:00:00+02:00, with a prequeue from 2099-07-01T08:30:00+02:00.\n"},
		{"list shop", 0, "sale   none   2099-07-01T08:30:00+02:00  2099-07-01T09:00:00+02:00  2099-07-01T10:00:00+02:00  true     API\n"},
		{"details shop sale", 0, `"session_duration": "30s"`},
		{"update shop sale --total-active-users 7 --new-users-per-minute 6 --inherit session_duration", 0, "The event sale goes"},
		{"details shop sale", 0, `"total_active_users": 7`},
		{"details shop sale", 0, `"session_duration": "5m"`},
		{"update shop sale --total-active-users 0", 1, "total_active_users is 0, which is too small"},
		{"update shop sale", 2, "say what to change"},
		{"create shop", 2, "this takes: fairdoor events create ROOM EVENT"},
		{"create shop other --start 2099-07-01T08:45:00Z --end 2099-07-01T07:00:00Z", 1, "event_end_time has to be at least a minute after"},
		{"create shop other --start 2099-07-01T06:00:00Z --end 2099-07-01T07:00:00Z", 1, "overlaps with the event sale"},
		{"create shop other --page /nowhere", 1, "reading the page"},
		{"order shop sale", 1, "The order is drawn when the prequeue is over"},
		{"delete shop sale", 0, "The event sale is deleted."},
		{"delete shop sale", 1, "There is no event of this name"},
		{"lst shop", 2, `there is no command "lst" (did you mean "list"?)`},
	} {
		stdout, stderr, code := fairdoor(t, append([]string{"events"}, strings.Fields(step.args)...)...)
		assert.Equal(t, step.code, code, step.args)
		assert.Contains(t, stdout+stderr, step.says, step.args)
	}
}

func TestVerifyTellsWhatIsWrongWithAnOrder(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.jsonl")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	right := filepath.Join("testdata", "order.jsonl")
	const hash = "6d8deb9d6cb14b4b6b3e2f9f6c2c2b2f"
	for _, step := range []struct {
		args string
		code int
		says string
	}{
		{"", 2, "takes the files to check"},
		{"/nowhere.jsonl", 1, "no such file"},
		{empty, 1, "the first line is not the header of an order"},
		{right, 0, "The order of 3 entries of the event sale is right"},
		{right + " " + right, 0, "The order of 3 entries of the event sale is right"},
		{right + " --seed-hash " + hash, 1, hash + " was shown before"},
		{right + " --digest " + hash, 1, "the list was made anew"},
		{right + " --entry ANOTHER", 1, "the entry ANOTHER is in none of the lists"},
		{right + " --entry " + firstEntry(t, right), 0, "has place 1."},
	} {
		stdout, stderr, code := fairdoor(t, append([]string{"verify"}, strings.Fields(step.args)...)...)
		assert.Equal(t, step.code, code, step.args)
		assert.Contains(t, stdout+stderr, step.says, step.args)
	}
}

// firstEntry is the entry with the first place in a file.
func firstEntry(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), `"place":1,"entry":"`)
	require.True(t, found)
	entry, _, _ := strings.Cut(after, `"`)
	return entry
}
