package memstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// What a store has forgotten by running time stays forgotten, however many gaps become one.
func TestTheMomentBeforeWhichAStoreForgetsNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string) time.Duration {
			most := rapid.SampledFrom([]int{100, 10_000, 10_000_000}).Draw(t, "most")
			return time.Duration(rapid.IntRange(1, most).Draw(t, what)) * time.Millisecond
		}
		span, now, ran, gaps := draw("span"), start, time.Duration(0), memstore.Gaps{}
		before := gaps.Ago(span, now)
		for i := range 2 * queue.MaxGaps {
			runs := draw("runs")
			now, ran = now.Add(runs), ran+runs
			ago := gaps.Ago(span, now)
			require.GreaterOrEqual(t, ago, before)
			if i <= queue.MaxGaps && ran < span {
				require.Equal(t, start.Add(ran-span), ago, "while all gaps are known")
			}
			up := now.Add(draw("away"))
			gaps, now, before = gaps.With(now, up), up, ago
			require.GreaterOrEqual(t, gaps.Ago(span, now), before)
		}
	})
}
