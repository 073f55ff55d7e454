package measure_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
)

func TestKendallAgreesWithCountingPairs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Int64Range(0, 5)
		pairs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) measure.Pair {
			return measure.Pair{X: value.Draw(t, "x"), Y: value.Draw(t, "y")}
		}), 0, 30).Draw(t, "pairs")
		same, opposite := 0, 0
		for i, a := range pairs {
			for _, b := range pairs[:i] {
				switch order := (a.X - b.X) * (a.Y - b.Y); {
				case order > 0:
					same++
				case order < 0:
					opposite++
				}
			}
		}
		want := 1.0
		if same+opposite > 0 {
			want = float64(same-opposite) / float64(same+opposite)
		}
		assert.InDelta(t, want, measure.Kendall(pairs), 1e-12)
	})
}

func TestLimitsCountWhoIsActiveAndWhoIsAdmitted(t *testing.T) {
	t.Parallel()
	l := measure.NewLimits[string]()
	at := func(seconds int) queue.Instant { return queue.Instant(0).Add(time.Duration(seconds) * time.Second) }
	assert.True(t, l.Seen(at(0), "ada", at(60)))
	assert.Equal(t, 1, l.Admitted(at(0)))
	assert.False(t, l.Seen(at(30), "ada", at(90)))
	assert.False(t, l.Seen(at(31), "ada", at(32)), "no request makes a session shorter")
	assert.True(t, l.Seen(at(89), "ben", at(100)))
	assert.Equal(t, 1, l.Admitted(at(89)), "another minute")
	assert.Equal(t, 2, l.Active())
	assert.True(t, l.Seen(at(90), "ada", at(150)), "the session is over")
	assert.Equal(t, 2, l.Admitted(at(90)))
	assert.Equal(t, 2, l.Active())
	assert.Equal(t, 2, l.MostActive)
	assert.Equal(t, 2, l.MostPerMinute)
}

func TestOvertakingCountsWhoCameEarlierAndStillWaits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		arrived := rapid.SliceOfNDistinct(rapid.Int64Range(0, 1000), 1, 30, rapid.ID[int64]).Draw(t, "arrivals")
		o := measure.NewOvertaking(len(arrived), func(i int) queue.Instant { return queue.Instant(arrived[i]) })
		for i := range arrived {
			o.Waits(i)
		}
		most := 0
		for i, at := range arrived {
			earlier := 0
			for _, other := range arrived[i:] {
				if other < at {
					earlier++
				}
			}
			most = max(most, earlier)
			o.LetIn(i)
			o.Leaves(i)
			assert.Equal(t, most, o.Most)
		}
	})
}

func TestPercentilesAreByTheNearestRank(t *testing.T) {
	t.Parallel()
	assert.Zero(t, measure.Percentile([]int{}, .5))
	assert.Equal(t, 2, measure.Percentile([]int{1, 2, 3, 4}, .5))
	assert.Equal(t, 4, measure.Percentile([]int{1, 2, 3, 4}, .95))
	assert.Equal(t, 4, measure.Percentile([]int{1, 2, 3, 4}, 1))
}
