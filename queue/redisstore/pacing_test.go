package redisstore_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pacing"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
)

// TestTheStoresReleaseAtTheSameRandomMoments draws the moments of a minute in Go and in Lua. The
// two may round the last digit of a power differently, so that a moment falls into the millisecond
// beside.
func TestTheStoresReleaseAtTheSameRandomMoments(t *testing.T) {
	client := open(t, redistest.Start(t, redistest.Options{}).URL()).Client()
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64Range(0, pacing.Prime-2).Draw(t, "seed")
		perMinute := rapid.OneOf(rapid.IntRange(1, 50), rapid.IntRange(1, 2*pacing.MaxParts)).Draw(t, "per minute")
		into := rapid.SliceOfN(rapid.IntRange(0, 59_999), 1, 50).Draw(t, "into the minute")
		slices.Sort(into)
		args := []any{seed + 1, min(perMinute, pacing.MaxParts)}
		for _, ms := range into {
			args = append(args, ms)
		}
		told, err := redisstore.PacingScript.Run(t.Context(), client, nil, args...).Int64Slice()
		require.NoError(t, err)

		s := queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: perMinute, Pacing: queue.PacingRandom}
		start := queue.At(time.Date(2021, 5, 27, 15, 54, 0, 0, time.UTC))
		pacer := pacing.Pacer{Seed: seed}
		for i, ms := range into {
			released, next := pacer.Released(s, start.Add(time.Duration(ms)*time.Millisecond), true)
			parts := int64(min(perMinute, pacing.MaxParts))
			passed, at := told[2*i], told[2*i+1]
			assert.InDelta(t, int64(perMinute)*passed/parts, released, 2, "at %d", ms)
			if passed < parts && int64(perMinute)*passed/parts == int64(released) {
				assert.InDelta(t, at, int64(next-start), 1, "after %d", ms)
			}
		}
	})
}
