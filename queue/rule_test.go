package queue_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
)

var start = queue.At(time.Date(2021, 5, 27, 15, 54, 0, 0, time.UTC))

func TestOpenIsWhatBothLimitsLeaveAndNeverNegative(t *testing.T) {
	s := limits(10, 5)
	all, none := s, s
	all.QueueAll, none.Method = true, queue.Reject
	for _, c := range []struct {
		name                       string
		s                          queue.Settings
		active, released, admitted int
		want                       int
	}{
		{"an empty room opens its allowance", s, 0, 5, 0, 5},
		{"the slots are fewer", s, 8, 5, 0, 2},
		{"the allowance is less", s, 0, 5, 4, 1},
		{"more are in than there may be", s, 12, 5, 0, 0},
		{"more were let in than are released", s, 0, 3, 5, 0},
		{"queue_all opens none", all, 0, 5, 0, 0},
		{"reject opens none", none, 0, 5, 0, 0},
	} {
		assert.Equal(t, c.want, queue.Open(c.s, c.active, c.released, c.admitted), c.name)
	}
}

func TestReservedSlotsNeverExceedWhatIsOpenAndGoToTheOldestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		open := rapid.IntRange(0, 100).Draw(t, "open")
		var buckets []queue.BucketCount
		for i, waiting := range rapid.SliceOf(rapid.IntRange(1, 50)).Draw(t, "waiting") {
			buckets = append(buckets, queue.BucketCount{Bucket: start.Add(time.Duration(i) * time.Minute), Waiting: waiting})
		}
		left := open
		for i, b := range queue.Reserve(open, buckets) {
			require.Equal(t, buckets[i], b.BucketCount)
			require.Equal(t, min(left, b.Waiting), b.ReservedSlots)
			left -= b.ReservedSlots
		}
	})
}

func TestInstantsRoundToMultiplesSinceTheEpoch(t *testing.T) {
	at := queue.At(time.Date(2021, 5, 27, 15, 54, 31, 999_999_999, time.UTC))
	assert.Equal(t, start.Add(31*time.Second+999*time.Millisecond), at)
	assert.Equal(t, start, at.Floor(time.Minute))
	assert.Equal(t, start.Add(time.Minute), at.Ceil(time.Minute))
	assert.Equal(t, start, start.Ceil(time.Minute))
	assert.Equal(t, at, at.Floor(time.Microsecond))
	assert.Equal(t, time.Date(2021, 5, 27, 15, 54, 0, 0, time.UTC), start.Time())
	assert.Equal(t, 31*time.Second, at.Floor(time.Second).Sub(start))
}

func TestClaimsThatGoTogetherAreDecidedByTheRule(t *testing.T) {
	newcomer := queue.Claim{ID: queue.ID{1}}
	late := queue.Claim{ID: queue.ID{2}, Cell: queue.Cell{Bucket: 120_000, Until: 200_000}}
	early := queue.Claim{ID: queue.ID{3}, Cell: queue.Cell{Bucket: 60_000, Until: 200_000}}
	claims := []queue.Claim{newcomer, late, early}
	assert.Equal(t, []int{2, 1, 0}, queue.InOrder(queue.FIFO, claims), "earlier buckets first, newcomers last")
	assert.Equal(t, []int{1, 2, 0}, queue.InOrder(queue.Random, claims), "as given, newcomers last")
}

// limits are settings with the two limits and the defaults.
func limits(total, perMinute int) queue.Settings {
	return queue.Settings{TotalActiveUsers: total, NewUsersPerMinute: perMinute}.WithDefaults()
}
