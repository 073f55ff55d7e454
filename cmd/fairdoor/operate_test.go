package main_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	main "github.com/fairdoor-gate/fairdoor/cmd/fairdoor"
	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/admintest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/watch"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// startShop starts a gate with the room shop, at whose admin API commands look. What it is asked
// and answers is held to its document.
func startShop(t *testing.T, changes ...func(*proxy.Config, *proxy.Options)) {
	t.Helper()
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	hook := webhooks.Hook{Name: "team", URL: &url.URL{Scheme: "https", Host: "hooks.test"}, Rooms: []string{"shop"}}
	c := proxy.Config{Keys: []cookie.Key{key}, Parts: map[string]any{watch.Name: watch.Config{Hooks: []webhooks.Hook{hook}}}, Rooms: []proxy.RoomConfig{{
		Name: "shop", Routes: []route.Route{{Path: "/"}}, Origin: &url.URL{Scheme: "http", Host: "127.0.0.1:1"},
		Settings: queue.Settings{TotalActiveUsers: 500, NewUsersPerMinute: 300},
	}}}
	o := proxy.Options{Store: memstore.New()}
	for _, change := range changes {
		change(&c, &o)
	}
	gate, err := proxy.New(t.Context(), c, o)
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	api := httptest.NewServer(admintest.Conform(t, gate.Admin()))
	t.Cleanup(api.Close)
	t.Setenv("FAIRDOOR_ADMIN", api.URL)
	t.Setenv("FAIRDOOR_ADMIN_TOKEN", "")
}

func TestSetChangesARoomAndShowsWhatItChanges(t *testing.T) {
	startShop(t)
	for _, c := range []struct {
		line, stdout, stderr string
		code                 int
	}{
		{"set shop new_users_per_minute=400 total_active_users=800 message=Hello --yes",
			"total_active_users   500     → 800\nnew_users_per_minute 300     → 400\nmessage              (empty) → Hello\nshop is changed, on every gate.\n", "", 0},
		{"set shop total_active_users=null queueing_method=random -y",
			"total_active_users 800  → as in the file\nqueueing_method    fifo → random\nshop is changed, on every gate.\n", "", 0},
		{"queue-all shop on --yes", "queue_all off → on\nThose who wait read both: \"Admissions are paused at the moment.\" and \"Hello\"\nshop is changed, on every gate.\n", "", 0},
		{"set shop queue_all=off --yes", "queue_all on → off\nThe message stays: those who wait go on reading \"Hello\" beside their wait.\nshop is changed, on every gate.\n", "", 0},
		{"set shop session_duration=90s --yes", "session_duration 5m → 1m30s\nshop is changed, on every gate.\n", "", 0},

		{"set shop total_active_users=500 new_users_per_minute=many", "", `new_users_per_minute: "many" is not a whole number in plain digits`, 2},
		{"set shop total_active_users=0 --yes", "", `total_active_users: "0" is too small: at least 1`, 2},
		{"set shop queue_until=5 --yes", "", "the gate says 422 Unprocessable Entity: Nothing was changed. queue_until", 1},
		{"set shop queue_ticket_ttl=1s --yes", "", "queue_ticket_ttl is 1s, which is too short: at least two refresh intervals", 1},
		{"set shop bucket=1m --yes", "", "bucket is not among what can be changed here", 1},
		{"set nowhere queue_all=on --yes", "", "the gate says 404 Not Found: There is no room of this name.", 1},
		{"set shpo queue_all=on --yes", "", `There is no room of this name (did you mean "shop"?)`, 1},
		{"events delete shop winter", "", "There is no event of this name.", 1},
		{"webhooks test taem", "", `There is no webhook "taem" (did you mean "team"?)`, 1},
		{"set shop queue_al=on --yes", "", `there is no setting "queue_al" (did you mean "queue_all"?)`, 2},
		{"set shop zzz=on --yes", "", `there is no setting "zzz"; those that can be changed are total_active_users,`, 2},
		{"set shop queue_all", "", `"queue_all" is not KEY=VALUE`, 2},
		{"set shop queue_all=on queue_all=off", "", `is not KEY=VALUE with a key of its own`, 2},
		{"set shop", "", "this takes: fairdoor set ROOM KEY=VALUE…", 2},
		{"queue-all shop yes", "", "this takes: fairdoor queue-all ROOM on, or off", 2},
		{"queue-all shop on", "queue_all off → on\nThose who wait read both: \"Admissions are paused at the moment.\" and \"Hello\"\n", "nothing was changed: nobody can be asked here, so say --yes", 2},
	} {
		stdout, stderr, code := fairdoor(t, strings.Fields(c.line)...)
		assert.Equal(t, c.code, code, c.line)
		assert.Contains(t, stderr, c.stderr, c.line)
		if c.stdout != "" {
			assert.Equal(t, c.stdout, stdout, c.line)
		}
	}
	stdout, _, _ := fairdoor(t, "status")
	assert.Contains(t, stdout, "shop  not queueing  random  0/500   400   0       0/400        -             -\n")
}

func TestCommandsSayWhoChangesARoom(t *testing.T) {
	startShop(t)
	signedBy := func(arguments ...string) string {
		t.Helper()
		_, stderr, code := fairdoor(t, append([]string{"set", "shop", "--yes"}, arguments...)...)
		require.Zero(t, code, stderr)
		resp, err := http.Get(os.Getenv("FAIRDOOR_ADMIN") + "/api/v1/rooms/shop")
		require.NoError(t, err)
		defer resp.Body.Close()
		var room struct {
			By map[string]struct{ By string } `json:"overridden_by"`
		}
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&room))
		return room.By["total_active_users"].By
	}
	me, err := user.Current()
	require.NoError(t, err)
	t.Setenv("FAIRDOOR_AS", "")
	assert.Equal(t, me.Username+" (127.0.0.1)", signedBy("total_active_users=7"))
	t.Setenv("FAIRDOOR_AS", "Zoë\nfrom nights")
	assert.Equal(t, "Zoë from nights (127.0.0.1)", signedBy("total_active_users=8"))
	assert.Equal(t, "ann (127.0.0.1)", signedBy("total_active_users=9", "--as", "ann"))
	assert.Equal(t, "127.0.0.1", signedBy("total_active_users=10", "--as", ""))
}

func TestStatusSaysWhatIsDifferentAboutARoom(t *testing.T) {
	startShop(t)
	at := func(after time.Duration) string { return time.Now().UTC().Add(after).Format(time.RFC3339) }
	for _, c := range []struct{ line, says string }{
		{"set shop hold_active=now --yes", " held\n"},
		{"set shop hold_active=null queue_when=50 --yes", "-  -\n"},
		{"events create shop spring --start " + at(-time.Minute) + " --end " + at(time.Hour), " event spring\n"},
		{"events delete shop spring", "-  -\n"},
		{"events create shop autumn --prequeue " + at(-time.Minute) + " --start " + at(time.Hour) + " --end " + at(2*time.Hour), "event prequeueing"},
		{"status", " prequeue of autumn\n"},
		{"queue-all shop on --yes", " queue all, prequeue of autumn\n"},
		{"queue-all shop off --yes", " prequeue of autumn\n"},
		{"set shop message=Soon --yes", " prequeue of autumn\n"},
		{"events delete shop autumn", "-  -\nshop: The message \"Soon\" may be out of date: beside it people read their wait now, and \"Time until the start\" when operators saw to it last.\n"},
		{"set shop message=Soon --yes", "-  -\n"},
	} {
		_, stderr, code := fairdoor(t, strings.Fields(c.line)...)
		require.Zero(t, code, "%s: %s", c.line, stderr)
		stdout, _, _ := fairdoor(t, "status")
		assert.Contains(t, strings.ReplaceAll(stdout, "-             -\n", "-  -\n"), c.says, c.line)
	}
}

func TestWebhooksAreListedAndTested(t *testing.T) {
	startShop(t)
	stdout, stderr, code := fairdoor(t, "webhooks", "test", "team")
	require.Zero(t, code, stderr)
	assert.Equal(t, "A test is on its way to 1. See: fairdoor webhooks list\n", stdout)
	_, stderr, code = fairdoor(t, "webhooks", "test", "nobody")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "There is no webhook \"nobody\".")
	stdout, _, _ = fairdoor(t, "webhooks", "test")
	assert.Contains(t, stdout, "on its way to 1")
	require.Eventually(t, func() bool {
		stdout, stderr, code = fairdoor(t, "webhooks", "list")
		return strings.Contains(stdout, "asking the receiver")
	}, time.Minute, 50*time.Millisecond)
	assert.Zero(t, code, stderr)
	assert.Regexp(t, `team +https://hooks\.test +all +shop +0 +2 +0 +20..-..-..T..:..:..Z asking the receiver`, stdout)
}

func TestSetSaysWithWhatPeopleReadAMessage(t *testing.T) {
	startShop(t)
	const soon, both = "You will be let in soon.", `Those who wait read both: "Admissions are paused at the moment." and "You will be let in soon."`
	for _, c := range []struct {
		set, told string
	}{
		{"message=" + soon, ""},
		{"total_active_users=600", ""},
		{"queue_all=on", both},
		{"total_active_users=700", ""},
		{"message=null", ""},
		{"message=" + soon, both},
		{"hold_active=now", ""},
		{"hold_active=off", ""},
		{"queue_all=off", `The message stays: those who wait go on reading "You will be let in soon." beside their wait.`},
		{"suspended=on", `While the room is suspended nobody waits, and so nobody reads "You will be let in soon."`},
	} {
		stdout, _, code := fairdoor(t, "set", "shop", c.set)
		assert.Equal(t, 2, code, "it asks")
		assert.Equal(t, c.told, strings.Join(strings.Split(strings.TrimSpace(stdout), "\n")[1:], "\n"), c.set)
		_, stderr, code := fairdoor(t, "set", "shop", c.set, "--yes")
		require.Zero(t, code, stderr)
	}
}

func TestSetSaysWhatAnEventGoesOver(t *testing.T) {
	startShop(t)
	now := time.Now().UTC()
	at := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	_, stderr, code := fairdoor(t, "events", "create", "shop", "sale", "--prequeue", at(-time.Hour), "--start", at(time.Hour), "--end", at(2*time.Hour),
		"--session-duration", "30s")
	require.Zero(t, code, stderr)
	stdout, stderr, code := fairdoor(t, "set", "shop", "session_duration=9m", "message=Hello", "--yes")
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "shop is changed, on every gate.\nBut an event that is in force has its own session_duration: the change counts when the event is over.\n")
	assert.NotContains(t, stdout, "message:")
	stdout, stderr, code = fairdoor(t, "queue-all", "shop", "off", "--yes")
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "But the prequeue of an event holds everyone new until the event starts.")
}

func TestStatusAsJSONHasAllThatTheAPITells(t *testing.T) {
	startShop(t)
	fairdoor(t, "queue-all", "shop", "on", "--yes")
	stdout, stderr, code := fairdoor(t, "status", "--json")
	require.Zero(t, code, stderr)
	assert.Equal(t, 1, strings.Count(stdout, "\n"))
	var rooms []map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &rooms))
	require.Len(t, rooms, 1)
	for name, want := range map[string]any{"name": "shop", "reason": "queue_all", "total_active_users": 500.0, "activeUsers": 0.0, "nodes": 1.0} {
		assert.Equal(t, want, rooms[0][name], name)
	}
}

// until ends a context once enough has been written.
type until struct {
	mu   sync.Mutex
	text bytes.Buffer
	end  func(text string) bool
	stop context.CancelFunc
}

func (u *until) Write(text []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.text.Write(text)
	if u.end(u.text.String()) {
		u.stop()
	}
	return len(text), nil
}

func TestStatusIsWatchedUntilItIsStopped(t *testing.T) {
	startShop(t)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var stderr bytes.Buffer
	out := &until{stop: stop, end: func(text string) bool { return strings.Count(text, "ROOM") == 3 }}
	assert.Zero(t, main.Program(ctx, []string{"status", "--watch", "--every", "100ms"}, out, &stderr), &stderr)
	assert.Equal(t, 3, strings.Count(out.text.String(), "\nshop  not queueing"), "each table is whole: %s", out.text.String())
	assert.Contains(t, out.text.String(), "TREND")
	assert.NotContains(t, out.text.String(), "\x1b", "what is no terminal gets no orders for one")

	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	ctx, stop = context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	out = &until{stop: stop, end: func(text string) bool { return strings.Count(text, "is it running") == 2 }}
	assert.Zero(t, main.Program(ctx, []string{"status", "-w", "--every", "100ms", "--admin", gone.URL}, out, &stderr), "a gate may come back")

	_, text, code := fairdoor(t, "status", "--watch", "--every", "1ms")
	assert.Equal(t, 2, code)
	assert.Contains(t, text, "--every: at least 100ms")
}

func TestPreviewMarksWhatNoSpeakerHasRead(t *testing.T) {
	_, stderr, code := fairdoor(t, "preview", "--lang", "de-DE")
	assert.Zero(t, code)
	assert.Equal(t, "nobody who speaks de-DE has read this translation yet (warning)\n", stderr)
	_, stderr, _ = fairdoor(t, "preview", "--lang", "en-US")
	assert.Empty(t, stderr)
}

func TestPreviewWritesThePageOfAState(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "page.mustache")
	require.NoError(t, os.WriteFile(own, []byte("<p>{{waitTime}} minutes{{#queueAll}}, held{{/queueAll}}: {{message}}</p>"), 0o600))
	const logo = `<svg xmlns="http://www.w3.org/2000/svg"/>`
	site := filepath.Join(dir, "site.yaml")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "logo.svg"), []byte(logo), 0o600))
	require.NoError(t, os.WriteFile(site, []byte(`{origin: "http://127.0.0.1:1", rooms: [{name: shop, path: /, total_active_users: 1, new_users_per_minute: 1, site_name: Nordlys, logo: logo.svg, hero: logo.svg, hero_alt: A stage by night}]}`), 0o600))
	faulty := filepath.Join(dir, "faulty.mustache")
	require.NoError(t, os.WriteFile(faulty, []byte("{{waitTim}}"), 0o600))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{}, "<h1"},
		{[]string{"--wait-time", "25"}, "about 25\u00a0min<"},
		{[]string{"--method", "random", "--wait-time", "25"}, "12 to 50\u00a0min<"},
		{[]string{"--state", "fifo, hours", "--lang", "de-DE"}, `lang="de-DE"`},
		{[]string{"--template", own, "--wait-time", "7", "--message", "<hello>"}, "<p>7 minutes: &lt;hello&gt;</p>"},
		{[]string{"--template", own, "--queue-all"}, ", held"},
		{[]string{"--config", "testdata/good.yaml"}, "<"},
		{[]string{"--json", "--queue-is-full"}, `"queueIsFull":true`},
		{[]string{"--json", "--method", "line", "--users-ahead", "3"}, `"position":4,"ticketNumber":1213`},
		{[]string{"--json", "--wait-unknown"}, `"waitTimeKnown":false`},
		{[]string{"--json", "--method", "random"}, `"usersAheadKnown":false`},
		{[]string{"--json", "--items-left", "37"}, `"itemsLeft":37`},
		{[]string{"--json", "--sold-out"}, `"soldOut":true`},
		{[]string{"--items", `[{"name": "Standing", "price": "49 €", "left": 3}]`}, "Standing</bdi> · <bdi>49 €</bdi>"},
		{[]string{"--json", "--held"}, `"isHeld":true`},
		{[]string{"--json", "--event", "prequeueing", "--shuffle"}, `"timeUntilEventStart":8`},
		{[]string{"--json", "--event", "started"}, `"timeUntilEventEnd":112`},
		{[]string{"--event", "prequeueing", "--shuffle"}, "66687aadf862bd77"},
		{[]string{"--event", "prequeueing", "--shuffle"}, `<code id="entry" dir="ltr">4F7KQ2M9</code>`},
		{[]string{"--config", site}, `<img id="hero" src="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(logo)) + `" alt="A stage by night">`},
		{[]string{"--config", site}, `<img id="logo" src="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(logo)) + `" alt="Nordlys">`},
		{[]string{"--json", "--state", "prequeue", "--event", "none"}, `"isEventPrequeueing":false`},
		{[]string{"--state", "list"}, "fifo, next in line\n"},
	} {
		stdout, stderr, code := fairdoor(t, append([]string{"preview"}, c.args...)...)
		assert.Zero(t, code, "%v: %s", c.args, stderr)
		assert.Contains(t, stdout, c.want, "%v", c.args)
	}
	file := filepath.Join(dir, "page.html")
	stdout, _, code := fairdoor(t, "preview", file)
	assert.Zero(t, code)
	assert.Empty(t, stdout)
	assert.FileExists(t, file)
	for want, args := range map[string][]string{
		"there is no state \"fif\" (did you mean \"fifo\"?)": {"--state", "fif"},
		"(did you mean \"fifo\"?)":                           {"--method", "lifo"},
		"waitTim":                                            {"--template", faulty},
		"has no room \"nowhere\"":                            {"--config", "testdata/good.yaml", "--room", "nowhere"},
		`"--event" flag: must be one of none, prequeueing, started;`: {"--event", "over"},
		"--items is no list in JSON":                                 {"--items", "Standing"},
		"--shuffle: say --event prequeueing":                         {"--shuffle"},
		"this takes:":                                                {"a", "b"},
	} {
		_, stderr, code := fairdoor(t, append([]string{"preview"}, args...)...)
		assert.NotZero(t, code, want)
		assert.Contains(t, stderr, want)
	}
}

func TestAPreviewWarnsOfVariablesThatHaveNoValue(t *testing.T) {
	stdout, stderr, code := fairdoor(t, "preview", "--template", "testdata/cloudflare.mustache", "--event", "started")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "until the end:  h")
	assert.Equal(t, "testdata/cloudflare.mustache:4:34: \"timeUntilEventEndHours\" is not among the variables here; it looks like one of Cloudflare's, so it is empty (warning)\n"+
		"testdata/cloudflare.mustache:5:1: \"turnstile\" is Cloudflare's widget, and always empty here (warning)\n", stderr)
}

func TestQueueAllThatIsSwitchedOffIsAsInTheFile(t *testing.T) {
	for name, file := range map[string]bool{"which has it off": false, "unless that has it on": true} {
		t.Run(name, func(t *testing.T) {
			startShop(t, func(c *proxy.Config, _ *proxy.Options) { c.Rooms[0].Settings.QueueAll = file })
			overrides := func() (held bool, list map[string]any) {
				resp, err := http.Get(os.Getenv("FAIRDOOR_ADMIN") + "/api/v1/rooms/shop")
				require.NoError(t, err)
				defer resp.Body.Close()
				var room struct {
					QueueAll  bool           `json:"queue_all"`
					Overrides map[string]any `json:"overrides"`
				}
				require.NoError(t, json.NewDecoder(resp.Body).Decode(&room))
				return room.QueueAll, room.Overrides
			}
			want := map[string]any{}
			if file {
				want["queue_all"] = false
			}
			for _, line := range []string{"queue-all shop on --yes", "queue-all shop off --yes", "queue-all shop off --yes", "set shop queue_all=on --yes", "set shop queue_all=off --yes"} {
				stdout, stderr, code := fairdoor(t, strings.Fields(line)...)
				require.Zero(t, code, stderr)
				assert.Contains(t, stdout, "shop is changed, on every gate.", line)
				held, list := overrides()
				off := strings.Contains(line, "off")
				assert.Equal(t, !off, held, line)
				if off {
					assert.Equal(t, want, list, line)
				}
			}
		})
	}
}
