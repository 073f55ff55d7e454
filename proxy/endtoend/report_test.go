package endtoend_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dayReport is what the tests read of a report.
type dayReport struct {
	People struct {
		LetIn    int `json:"letIn"`
		FromLine int `json:"fromLine"`
	} `json:"people"`
	Waits struct {
		P50     int `json:"p50"`
		Longest int `json:"longest"`
	} `json:"waits"`
	Active struct {
		Most  int `json:"most"`
		Limit int `json:"limit"`
		Over  int `json:"minutesOver"`
	} `json:"active"`
	Queues  []struct{ From, To time.Time }    `json:"queues"`
	Changes []struct{ What, From, To string } `json:"changes"`
	Minutes []json.RawMessage                 `json:"minutes"`
}

// report asks for the report of the last hour.
func report(t *testing.T, args ...string) (r dayReport) {
	t.Helper()
	from := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	out, errors, code := run(t, append([]string{"report", "--from", from, "--format", "json", "--timezone", "UTC"}, args...)...)
	require.Zero(t, code, errors)
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	return r
}

func TestTheReportOfACrowdSaysWhatTheOriginSaw(t *testing.T) {
	t.Parallel()
	l := limits{active: 3, perMinute: 1000, session: 2 * time.Second}
	log := &journal{}
	g := serve(t, nil, "--origin", site(t, log.ServeHTTP), "--total-active-users", "3", "--new-users-per-minute", "1000",
		"--session-duration", "2s", "--refresh-interval", "1s", "--confirm-within", "0s")
	c := newCrowd(t, g.url, l)
	c.come("visitor", 15, func(i int) person { return person{delay: time.Duration(i) * 20 * time.Millisecond} })
	c.over()
	c.noneLost()
	r := report(t, "--admin", g.admin)
	var waits []time.Duration
	for name, at := range c.admitted {
		waits = append(waits, at.Sub(c.joined[name]))
	}
	slices.Sort(waits)
	assert.Equal(t, 15, r.People.LetIn)
	assert.Equal(t, 12, r.People.FromLine)
	assert.InDelta(t, waits[14].Seconds(), r.Waits.Longest, 2)
	assert.InDelta(t, waits[3+5].Seconds(), r.Waits.P50, 2)
	assert.Equal(t, 3, r.Active.Most)
	assert.Equal(t, 3, r.Active.Limit)
	assert.Zero(t, r.Active.Over)
	assert.Len(t, r.Queues, 1)

	page := filepath.Join(t.TempDir(), "report.html")
	_, errors, code := run(t, "report", "--admin", g.admin, "-o", page)
	require.Zero(t, code, errors)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "<strong>15</strong><span>let in</span>")
}

// A gate that stops keeps all; one that is killed loses what came since the last line.
func TestTheRecordGoesOnAfterAStopAndAKill(t *testing.T) {
	t.Parallel()
	g := serve(t, nil, "--origin", site(t, hello), "--total-active-users", "500", "--new-users-per-minute", "10000")
	enter := func(n int) {
		c := newCrowd(t, g.url, limits{})
		c.come("visitor", n, func(int) person { return person{} })
		c.over()
		c.noneLost()
	}
	enter(4)
	g.signal(os.Interrupt)
	require.Zero(t, g.exit(), g.log)
	assert.Equal(t, 4, report(t, "--state-dir", g.stateDir()).People.LetIn, "of a gate that is not there")
	g.start()
	enter(2)
	require.Equal(t, http.StatusOK, g.patch(`{"total_active_users": 501}`))
	g.until("the change is written", func() bool { return len(report(t, "--state-dir", g.stateDir()).Changes) == 1 })
	g.kill()
	g.start()
	enter(3)
	r := report(t, "--admin", g.admin)
	assert.Contains(t, []int{4 + 3, 4 + 2 + 3}, r.People.LetIn, "what the killed gate did in its last minute may be lost: %s", strconv.Itoa(len(r.Minutes)))
	assert.Equal(t, []struct{ What, From, To string }{{"total_active_users", "500", "501"}}, r.Changes)
	assert.NotContains(t, g.log.String(), "the record is not whole")
}
