package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/recordtest"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
)

// keepRecord makes the record of a gate in a state directory, with so many visitors a minute.
func keepRecord(t *testing.T, room string, at time.Time, letIn uint64) (dir string) {
	t.Helper()
	dir = t.TempDir()
	r := record.Open(dir, at, zap.NewNop())
	s := record.Sample{Room: room, Known: true, Standing: record.Standing{Active: 7, TotalActiveUsers: 10}}
	for n := range 3 * 60 {
		s.At = at.Add(time.Duration(n) * time.Second)
		s.Counted.LetIn = letIn * uint64(n/60+1)
		r.Observe(s.At, s)
	}
	r.Close(s.At)
	return dir
}

// letIn is how many were let in by a report.
func letIn(t *testing.T, text string) int {
	t.Helper()
	var r struct {
		Room   string `json:"room"`
		Gates  int    `json:"gates"`
		People struct {
			LetIn int `json:"letIn"`
		} `json:"people"`
		Active struct {
			Most int `json:"most"`
		} `json:"active"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &r), text)
	assert.Equal(t, "shop", r.Room)
	assert.Equal(t, 7, r.Active.Most)
	return r.People.LetIn
}

func TestReportOfStateDirectories(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Minute)
	at := now.AddDate(0, 0, -1)
	one, two := keepRecord(t, "shop", at, 5), keepRecord(t, "shop", at, 2)
	day := []string{"report", "--from", at.Add(-time.Hour).Format(time.RFC3339), "--timezone", "UTC", "--format", "json"}
	out, stderr, code := fairdoor(t, append(day, "--state-dir", one)...)
	require.Zero(t, code, stderr)
	assert.Equal(t, 15, letIn(t, out), "the room may be left out where there is one")
	out, stderr, code = fairdoor(t, append(day, "--room", "shop", "--state-dir", one, "--state-dir", two)...)
	require.Zero(t, code, stderr)
	assert.Equal(t, 21, letIn(t, out), "of two gates")

	file := filepath.Join(t.TempDir(), "report.html")
	out, stderr, code = fairdoor(t, "report", "--day", at.Format(time.DateOnly), "--timezone", "UTC", "--state-dir", one, "-o", file)
	require.Zero(t, code, stderr)
	assert.Empty(t, out)
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(page), at.Format("Monday, 2 January 2006"))
}

func TestReportOfRunningGates(t *testing.T) {
	sale := recordtest.Sale()
	asked := 0
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer secret", r.Header.Get("Authorization"))
		if r.URL.Path == "/api/v1/rooms" {
			_, _ = w.Write([]byte(`[{"name": "shop"}, {"name": "tours.paris"}]`))
			return
		}
		if r.URL.Path == "/api/v1/rooms/shop/events" {
			_, _ = io.WriteString(w, `[{"name": "friday", "prequeue_start_time": "2026-11-22T09:30:00Z", "event_start_time": "2026-11-22T10:00:00Z", "event_end_time": "2026-11-22T12:00:00Z"},
				{"name": "later", "event_start_time": "2999-11-22T10:00:00Z", "event_end_time": "2999-11-22T12:00:00Z"}]`)
			return
		}
		if r.URL.Path != "/api/v1/rooms/shop/record" {
			reply.Problem(w, http.StatusNotFound, "There is no such room.")
			return
		}
		asked++
		from, err := time.Parse(time.RFC3339, r.URL.Query().Get("from"))
		assert.NoError(t, err)
		to, err := time.Parse(time.RFC3339, r.URL.Query().Get("to"))
		assert.NoError(t, err)
		assert.LessOrEqual(t, to.Sub(from), 24*time.Hour)
		part := record.Excerpt{}
		for _, m := range sale.Minutes {
			if !m.At.Before(from) && m.At.Before(to) {
				part.Minutes = append(part.Minutes, m)
			}
		}
		assert.NoError(t, json.NewEncoder(w).Encode(part))
	}))
	t.Cleanup(api.Close)
	t.Setenv("FAIRDOOR_ADMIN_TOKEN", "secret")
	args := []string{"report", "--room", "shop", "--from", "2026-11-21T00:00", "--to", "2026-11-23T12:00", "--timezone", "UTC", "--format", "json", "--admin", api.URL}
	out, stderr, code := fairdoor(t, args...)
	require.Zero(t, code, stderr)
	assert.Equal(t, 3, asked, "a day at a time")
	var r struct {
		People struct {
			LetIn int `json:"letIn"`
		} `json:"people"`
		Minutes []record.Minute `json:"minutes"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Len(t, r.Minutes, len(sale.Minutes))
	assert.Equal(t, record.Sum(sale.Minutes).LetIn, r.People.LetIn)

	out, stderr, code = fairdoor(t, "report", "--room", "shop", "--event", "friday", "--timezone", "UTC", "--format", "json", "--admin", api.URL)
	require.Zero(t, code, stderr)
	var of struct{ From, To time.Time }
	require.NoError(t, json.Unmarshal([]byte(out), &of))
	assert.Equal(t, []string{"2026-11-22T09:30:00Z", "2026-11-22T12:00:00Z"}, []string{of.From.Format(time.RFC3339), of.To.Format(time.RFC3339)}, "from the prequeue on")
	for event, want := range map[string]string{"friady": `room "shop" has no event "friady" (did you mean "friday"?)`, "later": "there is nothing to report yet"} {
		_, stderr, code = fairdoor(t, "report", "--room", "shop", "--event", event, "--admin", api.URL)
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, want)
	}

	for room, want := range map[string]string{"shpo": `did you mean "shop"?`, "tours.rome": "did you mean", "nowhere": "shop, tours"} {
		args[2] = room
		_, stderr, code = fairdoor(t, args...)
		assert.Equal(t, 1, code)
		if room != "tours.rome" {
			assert.Contains(t, stderr, want)
		}
	}
}

func TestReportTellsWhatIsWrong(t *testing.T) {
	at := time.Now().UTC().Truncate(time.Minute).AddDate(0, 0, -2)
	dir := keepRecord(t, "shop", at, 5)
	day := at.Format(time.DateOnly)
	notes := filepath.Join(t.TempDir(), "notes")
	require.NoError(t, os.WriteFile(notes, nil, 0o600))
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"--state-dir " + dir + " --room shpo --day " + day, `there is no record of a room "shpo" at that time (did you mean "shop"?)`, 1},
		{"--state-dir " + dir + " --room elsewhere --day " + day, "there is one of shop", 1},
		{"--state-dir " + dir + " --room shop --day 2021-05-27", "there is no record of any room at that time", 1},
		{"--state-dir " + dir + " --day 2021-05-27", "there is a record of none at that time", 2},
		{"--state-dir " + t.TempDir(), "is it the state directory of a gate?", 1},
		{"--state-dir " + notes, "reading the record", 1},
		{"--admin 127.0.0.1:1", "is it running, and its admin API at http://127.0.0.1:1?", 1},
		{"--day tomorrow", `--day: "tomorrow" is not a day, as in 2026-11-22`, 2},
		{"--day 2999-01-01", "has not come yet", 2},
		{"--day " + day + " --from 2026-11-22", "--day goes without --from and --to", 2},
		{"--to 2026-11-22", "--to goes with --from", 2},
		{"--event friday --day " + day, "--event goes without --day, --from and --to", 2},
		{"--event friday --state-dir " + dir, "a state directory has no events", 2},
		{"--from 2026-11-22T18:00Z --to 2026-11-22T17:00:00Z", `--from: "2026-11-22T18:00Z" is not a time`, 2},
		{"--from 2026-11-22T18:00 --to 2026-11-22T17:00", "is not before --to", 2},
		{"--from 2026-11-01 --to 2026-11-22", "more than 14 days apart", 2},
		{"--timezone Mars/Olympus", `"Mars/Olympus" is not a time zone`, 2},
		{"--format pdf", "must be one of html, json;", 2},
	} {
		_, stderr, code := fairdoor(t, append([]string{"report", "--timezone", "UTC"}, strings.Fields(c.args)...)...)
		assert.Equal(t, c.code, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
	}
}

func TestReportPassesOverWhatItCannotRead(t *testing.T) {
	at := time.Now().UTC().Truncate(time.Minute).AddDate(0, 0, -1)
	dir := keepRecord(t, "shop", at, 5)
	file := filepath.Join(dir, "record", at.Format(time.DateOnly)+".jsonl")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append([]byte("nonsense\n"), text...), 0o600))
	out, stderr, code := fairdoor(t, "report", "--timezone", "UTC", "--format", "json", "--from", at.Add(-time.Hour).Format(time.RFC3339), "--state-dir", dir)
	require.Zero(t, code)
	assert.Equal(t, 15, letIn(t, out))
	assert.Contains(t, stderr, "warning: "+file+": 1 of the lines are cut or garbled")
}
