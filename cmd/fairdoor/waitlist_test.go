package main_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
	"github.com/fairdoor-gate/fairdoor/proxy/guests/operate"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// beta is a waitlist.
type beta struct{ record *waitlist.List }

func (beta) Name() string { return "beta" }

func (beta) Room() string { return "shop" }

func (b beta) Record() *waitlist.List { return b.record }

func (beta) Mails() (func(waitlist.Mail) (mail.Message, error), bool) { return nil, false }

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// startGuests serves the admin API of a waitlist with five people and a capacity of three.
func startGuests(t *testing.T) beta {
	t.Helper()
	store, err := waitlist.Open(t.Context(), filepath.Join(t.TempDir(), "waitlists.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	s := waitlist.DefaultSettings()
	s.ConfirmEmail, s.Capacity = false, 3
	s.Actions = []waitlist.Action{{Name: "shared", Points: 5}}
	b := beta{}
	b.record, err = store.List(t.Context(), "beta", s)
	require.NoError(t, err)
	var first waitlist.Place
	for i, who := range []waitlist.SignUp{
		{Email: "ada@example.com"}, {Email: "bob@example.com"}, {UserID: "user-3\x1b[31m"}, {Email: "ada+1@example.com"}, {Email: "eve@example.com"},
	} {
		who.Referral = first.ReferralCode
		p, err := b.record.Join(t.Context(), who, noon)
		require.NoError(t, err)
		if i == 0 {
			first = p
		}
	}
	clock := func() time.Time { return noon }
	api := httptest.NewServer(admin.New(admin.Config{
		Parts:   []func(admin.API) admin.Part{operate.Waitlists{All: slices.Values([]operate.Waitlist{b}), Clock: clock, Log: zap.NewNop()}.Admin},
		Metrics: http.NotFoundHandler(), Clock: clock, Log: zap.NewNop(), Token: "secret",
	}))
	t.Cleanup(api.Close)
	t.Setenv("FAIRDOOR_ADMIN", api.URL)
	t.Setenv("FAIRDOOR_ADMIN_TOKEN", "secret")
	t.Setenv("FAIRDOOR_AS", "ann")
	return b
}

// session runs commands, and returns what they have printed.
func session(t *testing.T, lines ...string) string {
	t.Helper()
	var text strings.Builder
	for _, line := range lines {
		stdout, stderr, code := fairdoor(t, append([]string{"waitlist"}, strings.Fields(line)...)...)
		fmt.Fprintf(&text, "$ fairdoor waitlist %s\n%s%s", line, stderr, stdout)
		if code != 0 {
			fmt.Fprintf(&text, "exit code %d\n", code)
		}
	}
	return text.String()
}

func TestAWaitlistIsOperatedFromTheCommandLine(t *testing.T) {
	startGuests(t)
	got := session(t,
		"list", "entries beta", "entries beta --limit 2 --after 1", "entries beta --status waiting --search bob",
		"priority beta 5 100", "priority beta -- 2 -100", "points beta 2 shared post-1", "points beta bob@example.com shared post-1", "points beta 3 shared a/b --points 3",
		"take-back beta 3 a/b", "referrals beta", "grant beta 4",
		"release beta --count 2", "entries beta --status invited", "pause beta", "release beta --count 1", "list", "resume beta", "release beta --count 2",
		"release beta --count 10 --every 1m", "release beta --count 100 --at 2026-12-01T09:00:00+01:00", "release beta --count 1 --every 24h --at 2026-12-01T09:00:00Z",
		"plans beta", "cancel beta 2", "remove beta 1", "release beta --count 9", "entries beta",
	)
	golden(t, "waitlist", got)
	log := session(t, "log beta --limit 3")
	assert.Regexp(t, `TIME +BY +ACTION +ENTRY +DETAIL
2026-11-22T12:00:00Z +ann \(127\.0\.0\.1\) +release +- +0 of 9
2026-11-22T12:00:00Z +ann \(127\.0\.0\.1\) +remove +1 +
2026-11-22T12:00:00Z +ann \(127\.0\.0\.1\) +cancel +- +2
$`, log)
}

func TestWhatIsWrongWithAWaitlistCommandIsSaid(t *testing.T) {
	startGuests(t)
	golden(t, "waitlist-faults", session(t,
		"lst", "release", "release beta", "release beta --count 1 --at noon", "release beta --count 1 --every 1ms", "release beta --count 1 --at 2020-01-01T00:00:00Z",
		"release gamma --count 1", "entries beta --status gone", "entries beta --limit 0", "priority beta 1 high", "priority beta 1 40000", "remove beta ada",
		"points beta 1 shared", "points beta 1 danced x", "points beta 1 shared x --points 6", "points beta 1 shared x --points -1", "points beta nobody@example.com shared x", "take-back beta 1 x",
		"cancel beta 7", "deny beta 1", "remove beta 1 2", "import beta /nowhere.csv", "export gamma",
	))
	assert.Contains(t, session(t, "export beta /nowhere/beta.csv"), "exporting: open /nowhere/")
	t.Setenv("FAIRDOOR_ADMIN_TOKEN", "another")
	assert.Contains(t, session(t, "list"), "fairdoor: the gate says 401 Unauthorized: Send the admin token: Authorization: Bearer ….\nexit code 1")
}

func TestHelpOfTheWaitlistCommands(t *testing.T) {
	t.Setenv("FAIRDOOR_ADMIN", "")
	t.Setenv("FAIRDOOR_ADMIN_TOKEN", "secret")
	golden(t, "waitlist-help", session(t, "--help", "release --help", "entries --help", "import --help", "export --help", "priority --help", "points --help"))
}

func TestAWaitlistIsExportedToAFileAndImported(t *testing.T) {
	b := startGuests(t)
	file := filepath.Join(t.TempDir(), "beta.csv")
	assert.Empty(t, session(t, "export beta "+file)[len("$ fairdoor waitlist export beta "+file+"\n"):])
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	stdout, _, _ := fairdoor(t, "waitlist", "export", "beta")
	assert.Equal(t, string(text), stdout)
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())

	require.NoError(t, os.WriteFile(file, append(text, "nobody,,,,,,,,,,,,,\nzoe@example.com,,,,,,,,,,,,,\nyan@example.com,,unconfirmed,,,,,,,,,,,\n"...), 0o600))
	got := session(t, "import beta "+file)
	assert.Contains(t, got, "line 7: this is not an e-mail address\n")
	assert.Contains(t, got, "Added 1. On the list already: 5. Unconfirmed: 1.\n")
	assert.Contains(t, got, "fairdoor: 1 lines were left out\n")
	assert.Contains(t, got, "exit code 1")
	assert.Contains(t, session(t, "import beta "+file), "Added 0. On the list already: 7.\n")
	page, err := b.record.Entries(t.Context(), waitlist.Search{Text: "zoe"})
	require.NoError(t, err)
	assert.Equal(t, 1, page.Total)
}

func TestAnExportThatBreaksOffLeavesTheFile(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 10_000))
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(api.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "beta.csv")
	require.NoError(t, os.WriteFile(file, []byte("as it was"), 0o600))
	_, stderr, code := fairdoor(t, "waitlist", "export", "beta", file, "--admin", api.URL)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "exporting: unexpected EOF")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "as it was", string(text))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1)
}
