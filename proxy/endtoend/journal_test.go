package endtoend_test

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// browser is a visitor who asks when the test says so.
type browser struct {
	*testing.T
	name string
	http http.Client
}

func browsers(t *testing.T, kind string, n int) []*browser {
	t.Helper()
	all := make([]*browser, n)
	for i := range all {
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		all[i] = &browser{T: t, name: fmt.Sprintf("%s-%d", kind, i), http: http.Client{Jar: jar}}
	}
	return all
}

// in asks for a page, and says whether the origin answered.
func (b *browser) in(url string) bool {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	require.NoError(b, err)
	req.Header.Set(visitorHeader, b.name)
	req.Header.Set(sentHeader, strconv.FormatInt(time.Now().UnixNano(), 10))
	resp, err := b.http.Do(req)
	require.NoError(b, err)
	require.NoError(b, resp.Body.Close())
	return resp.Header.Get("Refresh") == "" && resp.Header.Get("Retry-After") == ""
}

// stateDir is where the gate keeps its state.
func (g *gate) stateDir() string {
	for i, arg := range g.args {
		if arg == "--state-dir" {
			return g.args[i+1]
		}
	}
	return ""
}

// Whatever becomes of the journal while the gate is dead, nobody is let in over the
// limits, who is in stays in, and the log tells of it. Package memstore tries each bit and length.
func TestAJournalThatIsDamagedOrGoneLetsNobodyOverTheLimits(t *testing.T) {
	t.Parallel()
	flip := func(path string) error {
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file[len(strings.TrimRight(string(file), "\x00"))/2] ^= 1
		return os.WriteFile(path, file, 0o600)
	}
	for name, damage := range map[string]func(path string) error{
		"a bit flipped in its middle": flip,
		"removed with its directory":  func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := limits{active: 5, perMinute: 100_000, session: 20 * time.Second} // longer than a busy machine takes to start the gate again
			g, log := serveLimits(t, l)
			ins, others := browsers(t, "in", l.active), browsers(t, "other", 2*l.active)
			for _, b := range ins {
				require.True(t, b.in(g.url))
			}
			g.kill()
			require.NoError(t, damage(filepath.Join(g.stateDir(), "rooms", "default.journal")))
			g.start()
			assert.Contains(t, g.log.String(), "lost or damaged")
			back := time.Now()
			for _, b := range others {
				assert.False(t, b.in(g.url), "over the limit")
			}
			for _, b := range ins {
				assert.True(t, b.in(g.url), "whoever was in is in")
			}
			g.until("somebody new is let in", func() bool { return others[0].in(g.url) })
			assert.GreaterOrEqual(t, time.Since(back), l.session-time.Second)
			for _, b := range others[1:] {
				b.in(g.url)
			}
			judgeLimits(t, log.all(), l)
		})
	}
}

func TestACrashIsNoDamage(t *testing.T) {
	t.Parallel()
	l := limits{active: 3, perMinute: 100_000, session: time.Minute}
	g, _ := serveLimits(t, l)
	for _, b := range browsers(t, "visitor", 2) {
		require.True(t, b.in(g.url))
		g.kill()
		g.start()
	}
	last := browsers(t, "last", 2)
	assert.True(t, last[0].in(g.url), "the third slot is free")
	assert.False(t, last[1].in(g.url))
	assert.NotContains(t, g.log.String(), "lost or damaged")
}

// Sessions that end in the minute in which they began are admissions once.
func TestAdmissionsOfTheMinuteAreCountedOnceAfterACrash(t *testing.T) {
	t.Parallel()
	l := limits{active: 100, perMinute: 10, session: time.Second}
	g, _ := serveLimits(t, l)
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < 25*time.Second {
		g.until("another minute", func() bool { return time.Now().Second() < 35 })
	}
	for _, wave := range []string{"first", "second"} { // the journal is written anew after the first
		for _, b := range browsers(t, wave, 3) {
			require.True(t, b.in(g.url))
		}
		g.until("their sessions have ended", func() bool { return g.status()["estimated_total_active_users"] == 0.0 })
	}
	g.kill()
	g.start()
	in := 0
	for _, b := range browsers(t, "late", 10) {
		if b.in(g.url) {
			in++
		}
	}
	assert.Equal(t, 4, in, "what is left of the allowance")
}

// A gate that may have few files open makes room after room, and goes on accepting.
func TestRoomsByTheThousandTakeNoFiles(t *testing.T) {
	t.Parallel()
	origin := site(t, hello)
	file := filepath.Join(t.TempDir(), "fairdoor.yaml")
	require.NoError(t, os.WriteFile(file, []byte("origin: "+origin+`
rooms:
  - {name: chat, path: "/room/{id}", max_rooms: 300, room_idle: 1s, total_active_users: 2, new_users_per_minute: 100, session_duration: 1s, refresh_interval: 1s, queue_ticket_ttl: 2s}
`), 0o600))
	g := newGate(t, nil, "--config", file)
	g.files = 128
	g.start()
	for i := range 900 {
		url := fmt.Sprintf("%s/room/v%d", g.url, i)
		g.until("a room for "+url, func() bool {
			resp, err := http.DefaultClient.Do(closing(t, url))
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			return resp.StatusCode == http.StatusOK
		})
	}
	assert.NotContains(t, g.log.String(), "too many open files")
}

// closing is a request on a connection of its own.
func closing(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	req.Close = true
	return req
}
