package axis_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue/axis"
)

func TestTicksAreRound(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []float64{0, 2, 4, 6, 8, 10}, axis.Axis{To: 10}.Ticks())
	assert.Equal(t, []float64{15, 20, 25}, axis.Axis{From: 12, To: 26, Steps: []float64{1, 5, 10}}.Ticks(), "by the first of the steps that leaves few enough")
	assert.Equal(t, []float64{0, 500, 1000, 1500}, axis.UpTo(1234).Ticks())
	assert.Equal(t, []float64{0, 1}, axis.UpTo(0).Ticks())
}

// Whatever the largest value: it is on the axis, whose last tick is at its end, and the ticks are
// whole and few.
func TestAnAxisUpToAValueCoversIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.OneOf(rapid.Float64Range(0, 3000), rapid.Float64Range(0, 1e300)).Draw(t, "most")
		a := axis.UpTo(most)
		ticks := a.Ticks()
		assert.GreaterOrEqual(t, a.To, most*(1-1e-8))
		assert.True(t, len(ticks) >= 2 && len(ticks) <= 6, "%v", ticks)
		assert.InEpsilon(t, a.To, ticks[len(ticks)-1], 1e-9)
		for _, v := range ticks {
			assert.InDelta(t, v, math.Round(v), 0)
		}
	})
}
