package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

// eventFile is a file with a room whose events these lines are.
func eventFile(lines string) string {
	return "origin: http://127.0.0.1:3000\nrooms:\n  - name: shop\n    total_active_users: 5\n    new_users_per_minute: 5\n    events:\n" + lines
}

func loadEvents(t *testing.T, lines string) (*config.Config, error) {
	t.Helper()
	c, _, err := loadWarned(lines)
	return c, err
}

func loadWarned(lines string) (*config.Config, []config.Warning, error) {
	return config.Load(config.Options{
		File: "a.yaml", Env: func(name string) (string, bool) {
			home, ok := map[string]string{"HOME": "/home/a"}[name]
			return home, ok
		},
		ReadFile: func(path string) ([]byte, error) {
			if strings.HasSuffix(path, ".html") {
				return []byte(strings.Repeat("x", 70_000)), nil
			}
			return []byte(eventFile(lines)), nil
		},
	})
}

func TestEventsOfARoomAreReadInTheirZones(t *testing.T) {
	c, err := loadEvents(t, `      - name: sale
        timezone: Europe/Oslo
        event_start_time: 2026-07-01T09:00
        event_end_time: 2026-07-01T10:00:00Z
        prequeue_start_time: "2026-07-01 08:30"
        shuffle_at_event_start: true
        session_duration: 30s
        disable_session_renewal: false
`)
	require.NoError(t, err)
	require.Len(t, c.Rooms[0].Planned, 1)
	e := c.Rooms[0].Planned[0]
	assert.True(t, e.FromFile && e.Shuffle)
	assert.True(t, time.Date(2026, 7, 1, 7, 0, 0, 0, time.UTC).Equal(e.Start))
	assert.Equal(t, 3*time.Hour, e.End.Sub(e.Start))
	assert.Equal(t, 30*time.Minute, e.Start.Sub(e.Prequeue))
	assert.Len(t, e.Overrides, 2, "false is something else than nothing")
	assert.Equal(t, `"30s"`, string(e.Overrides["session_duration"]))
	assert.Equal(t, `false`, string(e.Overrides["disable_session_renewal"]))
}

func TestFaultyEventsAreToldWithTheirLines(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"an unknown zone": {"      - {name: a, timezone: Europe/Olso, event_start_time: 2026-07-01T09:00, event_end_time: 2026-07-01T10:00}",
			`a.yaml:7:29: rooms[0].events[0].timezone: "Europe/Olso" is not a zone of the IANA database`},
		"no offset and no zone": {"      - name: a\n        event_start_time: 2026-07-01T09:00\n        event_end_time: 2026-07-01T10:00:00Z",
			`a.yaml:8:27: rooms[0].events[0].event_start_time: "2026-07-01T09:00" has no offset from UTC`},
		"no time": {"      - name: a\n        event_start_time: at nine\n        event_end_time: 2026-07-01T10:00:00Z",
			`a.yaml:8:27: rooms[0].events[0].event_start_time: "at nine" is not a time such as`},
		"backwards": {"      - name: a\n        event_start_time: 2026-07-01T11:00:00Z\n        event_end_time: 2026-07-01T10:00:00Z",
			`a.yaml:9:25: rooms[0].events[0].event_end_time: has to be at least a minute after event_start_time`},
		"overlapping": {"      - name: a\n        event_start_time: 2026-07-01T09:00:00Z\n        event_end_time: 2026-07-01T10:00:00Z\n" +
			"      - name: b\n        event_start_time: 2026-07-01T10:01:00Z\n        event_end_time: 2026-07-01T11:00:00Z\n        prequeue_start_time: 2026-07-01T09:55:00Z",
			`a.yaml:13:30: rooms[0].events[1].prequeue_start_time: overlaps with the event a`},
		"a name twice": {"      - name: a\n        event_start_time: 2026-07-01T09:00:00Z\n        event_end_time: 2026-07-01T10:00:00Z\n" +
			"      - name: a\n        event_start_time: 2026-07-02T09:00:00Z\n        event_end_time: 2026-07-02T10:00:00Z",
			`a.yaml:10:15: rooms[0].events[1].name: is that of another event`},
		"one limit": {"      - name: a\n        event_start_time: 2026-07-01T09:00:00Z\n        event_end_time: 2026-07-01T10:00:00Z\n        total_active_users: 7",
			`a.yaml:7:9: rooms[0].events[0].new_users_per_minute: goes together with total_active_users`},
		"a shuffle at random": {"      - {name: a, event_start_time: 2026-07-01T09:00:00Z, event_end_time: 2026-07-01T10:00:00Z,\n" +
			"         prequeue_start_time: 2026-07-01T08:00:00Z, shuffle_at_event_start: true, queueing_method: random}",
			`a.yaml:8:77: rooms[0].events[0].shuffle_at_event_start: needs queueing_method fifo`},
		"a page that is too long": {"      - {name: a, event_start_time: 2026-07-01T09:00:00Z, event_end_time: 2026-07-01T10:00:00Z, template: a.html}",
			`rooms[0].events[0].template: a.html is larger than 64 KiB`},
		"nothing": {"      - {}", `a.yaml:7:9: rooms[0].events[0].event_start_time: is required: when the event starts`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadEvents(t, c.lines)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestAShuffleThatOneScriptCanWinIsWarnedOf(t *testing.T) {
	const sale = "      - {name: a, event_start_time: 2026-07-01T09:00:00Z, event_end_time: 2026-07-01T10:00:00Z, prequeue_start_time: 2026-07-01T08:00:00Z, shuffle_at_event_start: %v}\n"
	for name, c := range map[string]struct {
		lines string
		warns int
	}{
		"anybody":          {fmt.Sprintf(sale, true), 1},
		"not shuffled":     {fmt.Sprintf(sale, false), 0},
		"a bound":          {fmt.Sprintf(sale, true) + "    max_waiting_per_network: 10\n", 0},
		"the site's users": {fmt.Sprintf(sale, true) + "    subject: {header: X-User}\ntrusted_proxies: [10.0.0.0/8]\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, warnings, err := loadWarned(c.lines)
			require.NoError(t, err)
			require.Len(t, warnings, c.warns)
			if c.warns > 0 {
				assert.Contains(t, warnings[0].String(), "rooms[0].events[0].shuffle_at_event_start: one script can take many places")
			}
		})
	}
}
