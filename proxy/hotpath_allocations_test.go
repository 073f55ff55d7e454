//go:build !race

package proxy_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the figures of the hot path into the page of costs anew")

// figures is where the table of the hot path stands.
const figures = "../cmd/fairdoor/docs/cost.md"

// TestHotPathAllocatesNoMoreThanIsStated holds the hot path to the allocations in the table, which
// are written down nowhere else. With -update it measures the whole table anew.
func TestHotPathAllocatesNoMoreThanIsStated(t *testing.T) {
	text, err := os.ReadFile(figures)
	require.NoError(t, err)
	unit := 0.
	for i, path := range hotPath {
		t.Run(path.name, func(t *testing.T) {
			row := regexp.MustCompile(`(?m)^(\| ` + regexp.QuoteMeta(path.name) + ` \|) [0-9.]+ \| ([0-9]+) \|$`)
			found := row.FindSubmatch(text)
			require.NotNil(t, found, "%s has no row for it", figures)
			once := path.prepare(t)
			allocations := allocationsOf(once)
			if !*update {
				stated, err := strconv.Atoi(string(found[2]))
				require.NoError(t, err)
				assert.LessOrEqual(t, allocations, stated, "if it has to be: go test -run TestHotPath ./proxy -update")
				return
			}
			took := timeOf(once)
			if i == 0 {
				unit = took
			}
			text = row.ReplaceAll(text, fmt.Appendf(nil, "$1 %.2f | %d |", took/unit, allocations))
		})
	}
	if *update && !t.Failed() {
		require.NoError(t, os.WriteFile(figures, text, 0o600))
	}
}

// allocationsOf returns how often a function allocates: the least mean of several series of calls,
// rounded. Now and then others in the process allocate too, and what is done by two goroutines may
// take one allocation more. No collection empties the pools meanwhile.
func allocationsOf(once func()) int {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const series, calls = 10, 100
	least := math.MaxFloat64
	for range series {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range calls {
			once()
		}
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.Mallocs-before.Mallocs)/calls)
	}
	return int(math.Round(least))
}

// timeOf returns how long a function takes, in ns: the least of several measurements.
func timeOf(once func()) float64 {
	least := math.MaxFloat64
	for range 5 {
		took := testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				once()
			}
		})
		least = min(least, float64(took.T)/float64(took.N))
	}
	return least
}
