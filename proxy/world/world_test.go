//go:build !race

package world_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anteroom-gate/anteroom/proxy/world"
)

var (
	seed = flag.Uint64("seed", 0, "tell the story of this seed; with -v, also if every promise was kept in it")
	soak = flag.Duration("soak", 3*time.Second, "how long new seeds are tried")
)

// TestStory tells the story of the seed that is named.
func TestStory(t *testing.T) {
	if *seed == 0 {
		return
	}
	h := world.Run(t, world.Draw(*seed))
	_, _ = os.Stdout.WriteString(h.Story())
	for _, b := range world.Check(h) {
		t.Error(b)
	}
}

// fixed is how many seeds are tried each time, from 1 on.
const fixed = 10

func TestPromisesHold(t *testing.T) {
	for s := range uint64(fixed) {
		hold(t, s+1)
	}
}

// New seeds go on for as long as the flag soak says.
func TestPromisesHoldInNewWorlds(t *testing.T) {
	lives, lived := 0, time.Duration(0)
	for began := time.Now(); time.Since(began) < *soak && !t.Failed(); lives++ {
		lived += hold(t, rand.Uint64N(1<<40)).Ends
	}
	t.Logf("%d lives, %v together", lives, lived.Round(time.Second))
}

// hold lives a seed and checks that every promise was kept.
func hold(t *testing.T, seed uint64) *world.History {
	t.Helper()
	began := time.Now()
	h := world.Run(t, world.Draw(seed))
	t.Logf("%s: %d events, %.0f times as fast as life", h.Plan, len(h.Events), h.Ends.Seconds()/time.Since(began).Seconds())
	for _, b := range world.Check(h) {
		t.Errorf("%s\n%s\nto see it again: go test ./proxy/world -run TestStory -seed %d", h.Plan, b, seed)
	}
	return h
}

func TestTheSameSeedHasTheSameHistory(t *testing.T) {
	for s := range uint64(12) {
		first := world.Run(t, world.Draw(s+1))
		again := world.Run(t, world.Draw(s+1))
		if at := differ(first, again); at >= 0 {
			t.Errorf("seed %d, event %d of %d: in one life\n%s\nand in the next\n%s", s+1, at, len(first.Events), around(first, at), around(again, at))
		}
	}
}

// differ is the place of the first event in which two histories differ; -1 if they are the same.
func differ(a, b *world.History) int {
	for i := range max(len(a.Events), len(b.Events)) {
		if i >= min(len(a.Events), len(b.Events)) || a.Events[i] != b.Events[i] {
			return i
		}
	}
	return -1
}

// around tells what happened just before and after an event.
func around(h *world.History, at int) string {
	var b strings.Builder
	for i := max(0, at-3); i < min(at+3, len(h.Events)); i++ {
		fmt.Fprintln(&b, h.Line(&h.Events[i]))
	}
	return b.String()
}

// The checkers notice an origin that serves more than the room has slots for, or lets in more than its minutes allow.
func TestTheLimitsAreChecked(t *testing.T) {
	full, hurried := false, false
	for s := range uint64(fixed) {
		p := world.Draw(s + 1)
		h := world.Run(t, p)
		stricter := p
		stricter.Settings.TotalActiveUsers--
		h.Plan = &stricter
		full = full || len(world.Check(h)) > 0
		stricter.Settings = p.Settings
		stricter.Settings.NewUsersPerMinute--
		hurried = hurried || len(world.Check(h)) > 0
	}
	if !full || !hurried {
		t.Errorf("a limit that is one lower is exceeded: %v; an allowance that is one lower: %v", full, hurried)
	}
}
