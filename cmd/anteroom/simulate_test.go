package main

import (
	"bytes"
	"encoding/json"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

func TestSimulateDrawsHeatMaps(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "pictures")
	_, err := runSimulate(t, "--heatmap", dir)
	require.NoError(t, err)
	for _, name := range []string{"fifo.png", "random.png"} {
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

func TestSimulateNamesTheFlagsThatAreWrong(t *testing.T) {
	t.Parallel()
	for flags, faults := range map[string][]string{
		"--visitors 0 --experiment x --refresh-interval 1ms --queueing-method lane,fifo": {
			"--visitors is 0", `--experiment is "x"`, "--refresh-interval is 1ms", `--queueing-method: unknown queueing method "lane"`,
		},
		"--give-up 120%":                    {`"120%" for "--give-up"`, "from 0% to 100%"},
		"--bots many":                       {`"many" for "--bots"`},
		"--bots .6 --spammers 1":            {"--spammers is 1: must leave room"},
		"--arrivals flood":                  {`"flood" for "--arrivals"`, "uniform poisson burst spike ramp"},
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
