//go:build !race

package world_test

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/world"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// mostWork is how much more processor time a thousand visitors at two gates may take than work: some
// twice what they take.
const mostWork = 35

// A thousand visitors before two gates with a Redis live some 300 times as fast as they would, by
// the processor time of one core that nobody else uses. Cores differ, and are lent to others: so the
// test compares with work in the same run. With -v it says what it has measured.
func TestAThousandVisitorsAtTwoGatesLiveFast(t *testing.T) {
	p := world.Draw(1)
	kinds := p.People
	p.Gates, p.Redis, p.Sale, p.Faults, p.Waitlist, p.People = 2, true, world.Sale{}, nil, nil, nil
	p.Settings.Method, p.Settings.RefreshInterval = queue.FIFO, queue.Settings{}.WithDefaults().RefreshInterval
	for i := range 1000 {
		someone := kinds[i%len(kinds)]
		someone.Number, someone.Name = i, fmt.Sprint("visitor ", i)
		p.People = append(p.People, someone)
	}
	unit := processorTime(t, func() { work(t) })
	var lived time.Duration
	took := processorTime(t, func() { lived = world.Run(t, p).Ends })
	t.Logf("%v in %v of a processor: %.0f times as fast, and %.1f times the work", lived.Round(time.Second), took.Round(time.Millisecond), lived.Seconds()/took.Seconds(), took.Seconds()/unit.Seconds())
	if took > mostWork*unit {
		t.Errorf("%v took %v, and work %v", lived, took, unit)
	}
}

// work reads and writes JSON, as much of what a world does is done: with small objects and maps.
func work(t *testing.T) {
	t.Helper()
	for i := range 50_000 {
		text, err := json.Marshal(map[string]any{"inWaitingRoom": true, "usersAhead": i, "waitTime": []int{i, i + 1, i + 2}, "text": "a place that is kept"})
		require.NoError(t, err)
		var read map[string]any
		require.NoError(t, json.Unmarshal(text, &read))
	}
}

// processorTime is how much processor time something takes.
func processorTime(t *testing.T, something func()) time.Duration {
	t.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	something()
	return used() - before
}
