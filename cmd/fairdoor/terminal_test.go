package main_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	main "github.com/fairdoor-gate/fairdoor/cmd/fairdoor"
)

func TestAShellIsOfferedWhatTheGateHas(t *testing.T) {
	startShop(t)
	_, stderr, code := fairdoor(t, "events", "create", "shop", "winter-sale", "--start", "2030-12-01T09:00:00Z", "--end", "2030-12-01T18:00:00Z")
	assert.Zero(t, code, stderr)
	for line, want := range map[string]string{
		"set |":                            "shop\n",
		"set shop total_|":                 "total_active_users=\n",
		"set shop queue_all=on new_us|":    "new_users_per_minute=\n",
		"queue-all shop |":                 "on\noff\n",
		"queue-all shop on |":              "",
		"events delete shop |":             "winter-sale\n",
		"events delete shop winter-sale |": "",
		"events |":                         "create\tPlan an event\n",
		"pass list |":                      "shop\n",
		"report --room |":                  "shop\n",
		"report --room shop --event |":     "winter-sale\n",
		"load --room |":                    "shop\n",
		"docs lim|":                        "limits\t",
		"preview --state fi|":              "fifo\n",
		"set --admin 127.0.0.1:1 |":        "",
	} {
		args := strings.Split(strings.TrimSuffix(line, "|"), " ")
		stdout, _, _ := fairdoor(t, append([]string{"__complete"}, args...)...)
		offers, _, _ := strings.Cut(stdout, ":")
		if want == "" {
			assert.Empty(t, offers, line)
		}
		assert.Contains(t, offers, want, line)
	}
}

func TestATableOfRoomsShowsWhereNobodyIsLetIn(t *testing.T) {
	startShop(t)
	_, stderr, code := fairdoor(t, "queue-all", "shop", "on", "--yes")
	assert.Zero(t, code, stderr)
	table, err := main.StatusInColor(t.Context())
	assert.NoError(t, err)
	lines := bytes.Split(table, []byte("\n"))
	assert.Contains(t, string(lines[0]), "\x1b[2mROOM")
	assert.Contains(t, string(lines[1]), "\x1b[31mshop")
}

func TestASparklineIsAsHighAsItsNumbers(t *testing.T) {
	for want, numbers := range map[string][]int{"": {}, " ": {0}, "█": {7}, " ▁▄█": {0, 1, 50, 100}, "█▁ ": {1_000_000, 1, 0}} {
		assert.Equal(t, want, main.Sparkline(numbers))
	}
}
