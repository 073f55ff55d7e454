package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// runSimulate runs the command with a small crowd and more flags.
func runSimulate(t *testing.T, flags ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := newSimulateCommand()
	cmd.SetArgs(append(strings.Fields("--visitors 200 --over 2m --total-active-users 40 --new-users-per-minute 60"), flags...))
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestSimulateComparesFIFOAndRandom(t *testing.T) {
	t.Parallel()
	out, err := runSimulate(t)
	require.NoError(t, err)
	assert.Contains(t, out, "200 visitors, uniform over 2m · 40 active, 60 a minute, sessions of 2m · seed 1")
	assert.Regexp(t, `fifo +random`, out)
	assert.Regexp(t, `let in +200 +200`, out)
	again, err := runSimulate(t)
	require.NoError(t, err)
	assert.Equal(t, out, again, "the same seed gives the same figures")
}

func TestSimulateWritesJSON(t *testing.T) {
	t.Parallel()
	out, err := runSimulate(t, strings.Fields(`--json --experiment spoofed --queueing-method random,random --arrivals poisson
		--session-duration 1m --refresh-interval 10s --refresh-jitter 0.2 --bucket 30s --pacing even --queue-ticket-ttl 4m --browse 30s
		--give-up 25% --patience 2m --goodbye 0.75 --bots 5% --spammers .1 --spam-rate 5 --latency 50ms
		--nodes 3 --sticky --store-latency 2ms --node-deaths 1 --store-failures 1 --seed 7`)...)
	require.NoError(t, err)
	var got struct {
		Setup   map[string]any
		Results []struct {
			Method string
			Limits struct {
				OverActive int `json:"over_active"`
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got.Results, 1)
	assert.Equal(t, "random", got.Results[0].Method)
	assert.Zero(t, got.Results[0].Limits.OverActive)
	assert.Equal(t, map[string]any{
		"visitors": 200.0, "arrivals": "poisson", "over_seconds": 120.0, "spoofed": true, "total_active_users": 40.0,
		"new_users_per_minute": 60.0, "session_duration_seconds": 60.0, "refresh_interval_seconds": 10.0, "refresh_jitter": .2,
		"bucket_seconds": 30.0, "pacing": "even", "queue_ticket_ttl_seconds": 240.0, "browse_seconds": 30.0,
		"give_up": .25, "patience_seconds": 120.0, "goodbye": .75, "bots": .05, "cookieless_per_second": 0.0, "confirm_within_seconds": 60.0, "spammers": .1, "spam_rate": 5.0,
		"latency_seconds": .05, "nodes": 3.0, "sticky": true, "store_latency_seconds": .002, "node_deaths": 1.0, "store_failures": 1.0, "seed": 7.0,
	}, got.Setup)
}

func TestSimulateDrawsHeatMapsAndScatterPlots(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "pictures")
	_, err := runSimulate(t, "--heatmap", dir)
	require.NoError(t, err)
	for _, name := range []string{"fifo.png", "fifo-scatter.png", "random.png", "random-scatter.png"} {
		file, err := os.Open(filepath.Join(dir, name))
		require.NoError(t, err)
		_, err = png.Decode(file)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	taken := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(taken, nil, 0o600))
	_, err = runSimulate(t, "--heatmap", taken)
	require.ErrorContains(t, err, "--heatmap: ")
}

// The points are what the summary is of: the percentiles of the waits can be had from them.
func TestSimulateWritesThePoints(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "points.csv")
	out, err := runSimulate(t, "--points", path, "--json", "--give-up", "30%", "--patience", "1m", "--bots", "5%", "--spammers", "5%")
	require.NoError(t, err)
	var report simulate.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, []string{"queueing_method", "arrival_minutes", "arrival_seconds", "wait_minutes", "wait_seconds", "outcome"}, rows[0])
	require.Len(t, rows, 1+2*200)
	for i, r := range report.Results {
		waits, outcomes, last := []float64{}, map[string]int{}, 0.0
		for _, row := range rows[1+i*200 : 1+(i+1)*200] {
			assert.Equal(t, r.Method.String(), row[0])
			arrival := parseFloat(t, row[2])
			assert.GreaterOrEqual(t, arrival, last, "in the order of arrival")
			assert.InDelta(t, arrival/60, parseFloat(t, row[1]), .0001)
			last = arrival
			outcomes[row[5]]++
			if row[5] != "let_in" {
				assert.Empty(t, row[3]+row[4])
				continue
			}
			waits = append(waits, parseFloat(t, row[4]))
			assert.InDelta(t, waits[len(waits)-1]/60, parseFloat(t, row[3]), .0001)
		}
		slices.Sort(waits)
		assert.InDelta(t, r.Wait.P50, waits[(len(waits)+1)/2-1], 1e-9)
		assert.InDelta(t, r.Wait.Max, waits[len(waits)-1], 1e-9)
		assert.Equal(t, map[string]int{"let_in": r.People.Admitted, "gave_up": r.People.GaveUp, "still_waiting": r.People.Visitors - r.People.People}, outcomes)
	}
	_, err = runSimulate(t, "--points", t.TempDir())
	require.ErrorContains(t, err, "--points: ")
}

// accessLog is a log of 60 visitors, of whom one comes each second and asks for three pages.
func accessLog(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "access.log")
	var log strings.Builder
	for second := range 80 {
		for visitor := max(0, second-20); visitor <= min(second, 59); visitor++ {
			if (second-visitor)%10 == 0 {
				fmt.Fprintf(&log, "192.0.2.%d - - [28/Nov/2025:09:%02d:%02d +0100] \"GET /shop HTTP/1.1\" 200 1 \"-\" \"Mozilla/5.0\"\n", visitor, second/60, second%60)
			}
		}
	}
	require.NoError(t, os.WriteFile(path, []byte(log.String()+"cut of"), 0o600))
	return path
}

// simulateLog runs the command with an access log on the standard input, and more flags.
func simulateLog(t *testing.T, log string, flags ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := newSimulateCommand()
	cmd.SetArgs(append([]string{"--queueing-method", "fifo"}, flags...))
	cmd.SetIn(strings.NewReader(log))
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestSimulateSendsTheCrowdOfAnAccessLog(t *testing.T) {
	t.Parallel()
	path := accessLog(t)
	out, err := simulateLog(t, "", "--access-log", path)
	require.NoError(t, err)
	assert.Regexp(t, `lines +181\n`, out)
	assert.Contains(t, out, path+", line 181: it has no time in brackets")
	assert.Regexp(t, `visitors, by address and User-Agent +60\n`, out)
	assert.Contains(t, out, "Nobody would have waited with --total-active-users 60 --new-users-per-minute 60.")
	assert.Contains(t, out, "60 visitors, recorded over 1m · 60 active, 60 a minute, sessions of 5m · seed 1")
	assert.Less(t, strings.Index(out, "Access log"), strings.Index(out, "60 visitors, recorded"))
	assert.Regexp(t, `let in +60\n`, out)
	assert.Regexp(t, `longest +0.000 s\n`, out)

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	out, err = simulateLog(t, string(text), "--access-log", "-", "--total-active-users", "10", "--session-duration", "1m", "--json")
	require.NoError(t, err)
	var got struct {
		AccessLog struct {
			Visits    int
			PerMinute struct{ Count int } `json:"most_per_minute"`
			Reasons   []string
		} `json:"access_log"`
		Setup   simulate.Setup
		Results []*simulate.Result
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	assert.Equal(t, 60, got.AccessLog.Visits)
	assert.Equal(t, 60, got.AccessLog.PerMinute.Count)
	assert.Equal(t, []string{"standard input, line 181: it has no time in brackets"}, got.AccessLog.Reasons)
	assert.Equal(t, 10, got.Setup.TotalActiveUsers)
	assert.Equal(t, 60, got.Setup.NewUsersPerMinute)
	assert.InDelta(t, 60, got.Setup.SessionDuration, 1e-9)
	assert.Equal(t, 10, got.Results[0].Limits.MostActive)
	assert.Greater(t, got.Results[0].Wait.P50, 60.)
	assert.Zero(t, got.Results[0].People.Interrupted)
}

func TestSimulateRefusesLogsThatItCannotUse(t *testing.T) {
	t.Parallel()
	line := "192.0.2.1 - - [28/Nov/%d:09:00:00 +0100] \"GET / HTTP/1.1\" 200 1 \"-\" \"A\"\n"
	for _, c := range []struct{ log, flags, fault string }{
		{"", "", "there are no visitors in it"},
		{"nonsense\n", "", "there are no visitors in it"},
		{fmt.Sprintf(line+line, 2024, 2025), "", "it has visitors from 2024-11-28 to 2025-11-28, 365 days: give at most 30 days of it"},
		{"\x1f\x8bno", "", "standard input: uncompressing: "},
		{"", "--access-log missing.log", "missing.log"},
		{"", "--visitors 10", "--visitors and --access-log do not go together"},
		{fmt.Sprintf(line, 2025), "--experiment spoofed", "--experiment is spoofed: no recorded crowd joins at once"},
		{fmt.Sprintf(line, 2025), "--give-up 2", "--give-up"},
	} {
		_, err := simulateLog(t, c.log, append([]string{"--access-log", "-"}, strings.Fields(c.flags)...)...)
		require.ErrorContains(t, err, c.fault)
	}
}

func parseFloat(t *testing.T, text string) float64 {
	t.Helper()
	value, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return value
}

func TestSimulateNamesTheFlagsThatAreWrong(t *testing.T) {
	t.Parallel()
	for flags, faults := range map[string][]string{
		"--visitors 0 --experiment x --refresh-interval 1ms --queueing-method lane,fifo": {
			"--visitors is 0", `--experiment is "x"`, "--refresh-interval is 1ms", `--queueing-method: unknown queueing method "lane"`,
		},
		"--give-up 120%":                    {`"120%" for "--give-up"`, "from 0% to 100%"},
		"--bots many":                       {`"many" for "--bots"`},
		"--bots .6 --spammers 1":            {"--spammers is 1: must leave room"},
		"--arrivals flood":                  {`"flood" for "--arrivals"`, "must be one of uniform, poisson, burst, spike, ramp"},
		"--arrivals recorded":               {`"recorded" for "--arrivals"`},
		"--pacing fast":                     {`"fast" for "--pacing"`},
		"--bucket 5ms --refresh-interval 0": {"--refresh-interval is 0s: must be at least 1s"},
		"--total-active-users 0":            {"--total-active-users is 0, which is too small: at least 1"},
		"--nodes 0 --store-latency 1us":     {"--nodes is 0: must be from 1", "--store-latency is 1µs: must be whole milliseconds"},
		"--node-deaths 1":                   {"--node-deaths is 1: needs at least 2 nodes"},
		"--queueing-method=":                {"--queueing-method names no method"},
	} {
		_, err := runSimulate(t, strings.Fields(flags)...)
		for _, fault := range faults {
			require.ErrorContains(t, err, fault)
		}
	}
}

func TestTheProgressBarAddsUpItsParts(t *testing.T) {
	t.Parallel()
	p := startProgress(io.Discard, 2)
	defer p.stop()
	assert.Equal(t, strings.Repeat("░", 40)+"   0 %", p.bar())
	p.part(0)(50, 100)
	p.part(1)(100, 100)
	assert.Equal(t, strings.Repeat("█", 30)+strings.Repeat("░", 10)+"  75 %", p.bar())
}
