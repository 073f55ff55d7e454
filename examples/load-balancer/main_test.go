package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

const patience = time.Minute

func free(t *testing.T) addresses {
	t.Helper()
	at := addresses{shop: porttest.Address(t), visitors: porttest.Address(t), redis: porttest.Address(t)}
	for i := range at.gates {
		at.gates[i], at.admins[i] = porttest.Address(t), porttest.Address(t)
	}
	return at
}

// place is what somebody is told.
type place struct {
	waiting bool
	ahead   int
}

// guest is somebody with a browser's cookies.
type guest struct {
	t       *testing.T
	browser *http.Client
	shop    string
}

func (g guest) ask() place {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), http.MethodGet, g.shop, nil)
	require.NoError(g.t, err)
	req.Header.Set("Accept", "application/json")
	answer, err := g.browser.Do(req)
	require.NoError(g.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(g.t, err)
	var told struct {
		Room struct {
			Waiting bool `json:"inWaitingRoom"`
			Ahead   int  `json:"usersAhead"`
		} `json:"cfWaitingRoom"`
	}
	if json.Unmarshal(text, &told) == nil && told.Room.Waiting {
		return place{waiting: true, ahead: told.Room.Ahead}
	}
	require.Contains(g.t, string(text), "Welcome to the shop")
	return place{}
}

// gate is the number of the gate that the balancer keeps the guest at.
func (g guest) gate() string {
	g.t.Helper()
	shop, err := url.Parse(g.shop)
	require.NoError(g.t, err)
	for _, c := range g.browser.Jar.Cookies(shop) {
		if c.Name == "gate" {
			return c.Value
		}
	}
	return ""
}

// queued is how many people a gate says wait.
func queued(t *testing.T, admin string) int {
	t.Helper()
	var told struct {
		Queued int `json:"estimated_queued_users"`
	}
	text := stagetest.Text(t, http.DefaultClient, http.MethodGet, "http://"+admin+"/api/v1/rooms/default/status")
	require.NoError(t, json.Unmarshal([]byte(text), &told))
	return told.Queued
}

func TestGuestsKeepTheirPlacesWhenTheirGateIsKilled(t *testing.T) {
	at, said := free(t), &stagetest.Output{}
	stagetest.Start(t, at.admins[1], func(ctx context.Context, out io.Writer) error { return run(ctx, io.MultiWriter(out, said), at) })
	require.Eventually(t, func() bool { return regexp.MustCompile(`Open http`).MatchString(said.String()) }, patience, 20*time.Millisecond)
	arrive := func() guest { return guest{t: t, browser: stagetest.Visitor(t), shop: "http://" + at.visitors + "/"} }

	stays, leaves, third := arrive(), arrive(), arrive()
	require.False(t, stays.ask().waiting)
	require.False(t, leaves.ask().waiting)
	require.True(t, third.ask().waiting, "the shop is full, whichever gate is asked")
	for range 10 {
		gate := third.gate()
		third.ask()
		require.Equal(t, gate, third.gate(), "the balancer keeps them where they are")
	}
	came := time.Now().Truncate(bucket)
	require.Eventually(t, func() bool { return time.Now().Truncate(bucket).After(came) }, patience, 20*time.Millisecond)
	fourth := arrive()
	require.True(t, fourth.ask().waiting)
	require.Eventually(t, func() bool { return queued(t, at.admins[0]) == 2 && queued(t, at.admins[1]) == 2 }, patience, 20*time.Millisecond,
		"both gates know of both")

	old := third.gate()
	pid := regexp.MustCompile(old + `: process (\d+)`).FindStringSubmatch(said.String())
	require.Len(t, pid, 2)
	number, err := strconv.Atoi(pid[1])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(number, syscall.SIGKILL))
	require.Equal(t, place{waiting: true}, third.ask(), "still the first in line")
	require.NotEqual(t, old, third.gate(), "at the other gate")
	require.True(t, fourth.ask().waiting)
	require.False(t, stays.ask().waiting, "whoever is in stays in")

	ended := time.After(patience)
	gone := stagetest.Text(t, leaves.browser, http.MethodPost, leaves.shop+"leave")
	require.Contains(t, gone, "Goodbye")
	for third.ask().waiting {
		require.True(t, fourth.ask().waiting, "it is the third's turn")
		require.False(t, stays.ask().waiting)
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ended:
			require.FailNow(t, "the third does not get in")
		}
	}
	assert.True(t, fourth.ask().waiting)
}

func TestGuestsNoticeNothingWhenTheirGateDrains(t *testing.T) {
	at, said := free(t), &stagetest.Output{}
	stagetest.Start(t, at.admins[1], func(ctx context.Context, out io.Writer) error { return run(ctx, io.MultiWriter(out, said), at) })
	require.Eventually(t, func() bool { return regexp.MustCompile(`Open http`).MatchString(said.String()) }, patience, 20*time.Millisecond)
	guests := make([]guest, 3)
	for i := range guests {
		guests[i] = guest{t: t, browser: stagetest.Visitor(t), shop: "http://" + at.visitors + "/"}
		require.Equal(t, i == 2, guests[i].ask().waiting)
	}
	waits := guests[2]
	old := waits.gate()
	pid := regexp.MustCompile(old + `: process (\d+)`).FindStringSubmatch(said.String())
	require.Len(t, pid, 2)
	number, err := strconv.Atoi(pid[1])
	require.NoError(t, err)
	process, err := os.FindProcess(number)
	require.NoError(t, err)
	require.NoError(t, process.Signal(syscall.SIGTERM))
	// They ask all the time, before and after the balancer sees that the gate is
	// not ready, and once it is gone: each answer is a proper one.
	asked, after := 0, 0
	require.Eventually(t, func() bool {
		for i, g := range guests {
			require.Equal(t, i == 2, g.ask().waiting)
		}
		asked++
		if process.Signal(syscall.Signal(0)) != nil {
			after++
		}
		return after > 5
	}, patience, 20*time.Millisecond, "the gate has ended")
	assert.Greater(t, asked, 20)
	assert.NotEqual(t, old, waits.gate(), "they are at the other gate")
}

func TestMissingProgramsAreNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := run(t.Context(), io.Discard, free(t))
	assert.EqualError(t, err, "this example needs haproxy and redis-server; on Debian and Ubuntu install with apt-get install haproxy redis-server")
}
