package waits_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

// Whatever the waits are: percentiles are those of the sorted list, to within 3 %, and
// counting in two parts is counting in one.
func TestPercentilesAreThoseOfTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.IntRange(0, 400_000), 1, 200).Draw(t, "waits")
		cut := rapid.IntRange(0, len(list)).Draw(t, "cut")
		var c, half waits.Counter
		for i, seconds := range list {
			if i == cut {
				half = c
			}
			c.Add(time.Duration(seconds) * time.Second)
		}
		if cut == len(list) {
			half = c
		}
		all := c.Since(&waits.Counter{})
		require.Equal(t, all, half.Since(&waits.Counter{}).Plus(c.Since(&half)))
		require.Equal(t, len(list), all.Visitors())
		slices.Sort(list)
		for _, share := range []float64{0, .25, .5, .95, 1} {
			want := list[max(0, int(math.Ceil(share*float64(len(list))-1e-9))-1)]
			require.InDelta(t, want, all.Percentile(share).Seconds(), float64(want)*.032)
		}
	})
}

func TestOddWaitsAreCounted(t *testing.T) {
	var c waits.Counter
	c.Add(-time.Hour)
	c.Add(1 << 62)
	all := c.Since(&waits.Counter{})
	assert.Equal(t, 2, all.Visitors())
	assert.Zero(t, all.Percentile(.5))
	assert.Greater(t, all.Longest(), 5*24*time.Hour)
	assert.Zero(t, waits.Counts(nil).Percentile(.5))
}
