package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

// FuzzLoad: no file makes Load panic, every fault of the file has a line of the file and says
// something, and the order is that of the file.
func FuzzLoad(f *testing.F) {
	f.Add(minimal)
	f.Add(twoRooms)
	f.Add(config.Example())
	f.Add("a: &a [*a, *a]\nrooms: *a\n<<: [*a, {b: *a}]\n")
	f.Add("rooms: &r\n- &m {<<: *m, name: 012, rules: [*m], additional_routes: *r, cookie_attributes: *m}\n- *m\n")
	f.Add("listen: ${X}\norigin: http://[::1%25a]:1\ntrusted_proxies: [::1%a, 1/1, 0x1]\n")
	f.Add("a: [1,\n")
	f.Add("\ufeff---\n? ? a\n: |\n  b\n...\n")
	f.Add("\xff\xfea\x00")
	f.Fuzz(func(t *testing.T, file string) {
		if file == "" {
			return // is no file
		}
		_, warnings, err := config.Load(setup{file: file}.options(t))
		lines := strings.Count(file, "\n") + 1
		check := func(p config.Position, message string) {
			if p.Source == "gate.yaml" && (p.Line < 1 || p.Line > lines || p.Col < 1) {
				t.Errorf("not a place in a file of %d lines: %v", lines, p)
			}
			if message == "" || strings.ContainsAny(message, "\r\n") {
				t.Errorf("a message that is not one line: %q", message)
			}
		}
		for _, w := range warnings {
			check(w.Position, w.Message)
		}
		var faults config.Faults
		if err != nil && !errors.As(err, &faults) {
			t.Fatalf("not a list of faults: %v", err)
		}
		last := 0
		for _, fault := range faults {
			check(fault.Position, fault.Message)
			if fault.Source == "gate.yaml" {
				if fault.Line < last {
					t.Errorf("out of order: %v", fault)
				}
				last = fault.Line
			}
		}
	})
}

func TestAliasesDoNotMakeAFileLarger(t *testing.T) {
	var b strings.Builder
	b.WriteString("rooms:\n- &m {name: a, rules: &l [" + strings.Repeat("{},", 20_000) + "]}\n")
	b.WriteString(strings.Repeat("- *m\n", 999))
	_, _, faults := setup{file: b.String()}.load(t)
	assert.Len(t, faults, 1001, "a thousand, and that there are more")

	_, _, faults = setup{file: b.String() + "- *m\n"}.load(t)
	assert.Equal(t, []string{"gate.yaml:2:1: rooms: there are 1001 rooms: at most 1000"}, faults)
}

func TestWhatIsWrittenIsWhatIsLoaded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seconds := rapid.IntRange(1, 3600)
		active := rapid.IntRange(1, 1<<31-1).Draw(rt, "active")
		perMinute := rapid.IntRange(1, 1<<31-1).Draw(rt, "per minute")
		session, interval := seconds.Draw(rt, "session"), seconds.Draw(rt, "interval")
		jitter := rapid.Float64Range(0, 0.5).Draw(rt, "jitter")
		name := rapid.StringMatching(`[A-Za-z0-9_-]{1,64}`).Draw(rt, "name")
		path := "/" + rapid.StringMatching(`[a-z0-9]{0,9}(/[a-z0-9]{1,9})?`).Draw(rt, "path")
		if path[len(path)-1] == '/' || strings.Contains(path, "//") {
			path = "/"
		}
		queueAll := rapid.Bool().Draw(rt, "queue all")
		text := fmt.Sprintf("origin: http://a.test\nrooms:\n- name: %q\n  path: %q\n  total_active_users: %d\n  new_users_per_minute: %d\n"+
			"  session_duration: %ds\n  refresh_interval: %ds\n  queue_ticket_ttl: 3h\n  refresh_jitter: %v\n  queue_all: %v\n",
			name, path, active, perMinute, session, interval, jitter, queueAll)
		c, _, err := config.Load(setup{file: text}.options(t))
		require.NoError(rt, err)
		r := c.Rooms[0]
		assert.Equal(rt, []any{name, path, active, perMinute, jitter, queueAll},
			[]any{r.Name, r.Path, r.TotalActiveUsers, r.NewUsersPerMinute, r.RefreshJitter, r.QueueAll})
		assert.Equal(rt, time.Duration(session)*time.Second, r.SessionDuration)
		assert.Equal(rt, time.Duration(interval)*time.Second, r.RefreshInterval)
	})
}
