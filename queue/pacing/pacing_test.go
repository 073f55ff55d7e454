package pacing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pacing"
)

var start = queue.At(time.Date(2021, 5, 27, 15, 54, 0, 0, time.UTC))

func TestPacerReleasesTheAllowance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := queue.Settings{TotalActiveUsers: 1}
		s.NewUsersPerMinute = rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(1, 200_000)).Draw(t, "perMinute")
		s.Pacing = queue.Pacing(rapid.IntRange(0, 3).Draw(t, "pacing"))
		s.Method = queue.Method(rapid.IntRange(0, 1).Draw(t, "method"))
		pacer := pacing.Pacer{Seed: rapid.Uint64().Draw(t, "seed")}
		begin := start.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "minute")) * time.Minute)

		now, before := begin, 0
		for now < begin.Add(time.Minute) {
			released, next := pacer.Released(s, now, true)
			require.GreaterOrEqual(t, released, before, "what is released stays released")
			require.LessOrEqual(t, released, s.NewUsersPerMinute)
			require.Greater(t, next, now)
			require.LessOrEqual(t, next, begin.Add(time.Minute))
			if early, _ := pacer.Released(s, next-1, true); next > now+1 {
				require.Equal(t, released, early, "nothing is released before it was said")
			}
			all, _ := pacer.Released(s, now, false)
			require.Equal(t, s.NewUsersPerMinute, all)
			now, before = max(next, now.Add(time.Duration(rapid.IntRange(1, 5000).Draw(t, "step"))*time.Millisecond)), released
		}
		released, _ := pacer.Released(s, begin.Add(time.Minute)-1, true)
		require.GreaterOrEqual(t, float64(released), .999*float64(s.NewUsersPerMinute)-1, "in the end it is all there")
		if s.NewUsersPerMinute <= pacing.MaxParts {
			require.Equal(t, s.NewUsersPerMinute, released)
		}
	})
}

func TestRandomMomentsAreAnywhereInTheMinuteAndOthersInTheNext(t *testing.T) {
	s := queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 3, Pacing: queue.PacingRandom}
	var seconds [60]int
	const minutes = 4000
	for seed := range uint64(40) {
		pacer := pacing.Pacer{Seed: seed * 1_000_003}
		var before []queue.Instant
		for minute := range minutes / 40 {
			begin := start.Add(time.Duration(minute) * time.Minute)
			var moments []queue.Instant
			for now := begin; len(moments) < s.NewUsersPerMinute; {
				released, next := pacer.Released(s, now, true)
				for len(moments) < released {
					moments = append(moments, now-begin)
					seconds[(now-begin)/1000]++
				}
				now = next
			}
			require.NotEqual(t, before, moments)
			before = moments
		}
	}
	// 200 in each second: the standard deviation is 14.
	for second, n := range seconds {
		require.InDelta(t, minutes*s.NewUsersPerMinute/60, n, 5*14, "second %d", second)
	}
}
