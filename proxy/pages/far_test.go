package pages_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/pages"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// waiter is a page that asks when it is told to, and opens a stream when it is told that it may.
type waiter struct {
	ticket   queue.Ticket
	due      time.Time
	streamAt time.Time // zero while it has none
}

func TestOfACrowdOnlyThoseHaveStreamsWhoAreLetInWithinStreamWithin(t *testing.T) {
	const people, perMinute, within = 20_000, 600, 3 * time.Minute
	begun := time.Date(2021, 5, 27, 15, 54, 0, 0, time.UTC)
	now := begun
	s := queue.Settings{
		TotalActiveUsers: 2 * perMinute, NewUsersPerMinute: perMinute, SessionDuration: time.Minute, DisableSessionRenewal: true, RefreshJitter: .15, StreamWithin: within,
	}.WithDefaults()
	r, err := room.New(t.Context(), now, room.Config{Name: "shop", Settings: s, Store: memstore.New(), Clock: func() time.Time { return now }})
	require.NoError(t, err)
	set, err := templates.NewSet(templates.Options{})
	require.NoError(t, err)
	told := &pages.Room{Name: "shop", Set: set, Log: zap.NewNop()}

	var crowd []*waiter
	arrived, most, entered, asked := 0, 0, 0, 0
	for ; now.Before(begun.Add(6 * time.Minute)); now = now.Add(time.Second) {
		require.NoError(t, r.Sync(t.Context(), now))
		for range min(people/60, people-arrived) {
			arrived++
			crowd = append(crowd, &waiter{due: now})
		}
		streams, left := 0, crowd[:0]
		for _, w := range crowd {
			if !w.due.After(now) {
				asked++
				d := r.Visit(t.Context(), now, room.Request{Ticket: w.ticket})
				if d.Outcome == room.Admitted {
					if entered++; now.Sub(begun) > 4*time.Minute {
						require.False(t, w.streamAt.IsZero(), "who is let in had a stream by then")
						require.Less(t, now.Sub(w.streamAt), within+time.Minute)
					}
					continue
				}
				w.ticket, w.due = d.Ticket, now.Add(r.DueIn(now, d.Ticket))
				if page, _ := told.Waiting(r, now, &d, pages.Key{}); !page.Far && w.streamAt.IsZero() {
					w.streamAt = now
				}
			}
			if left = append(left, w); !w.streamAt.IsZero() {
				streams++
			}
		}
		crowd, most = left, max(most, streams)
	}
	t.Logf("%d streams at most, %d people let in, %d requests", most, entered, asked)
	soon := int(within/time.Minute) * perMinute
	assert.LessOrEqual(t, most, soon+people/60, "and who came within the same second")
	assert.Greater(t, most, soon/2)
	assert.Greater(t, entered, 5*perMinute)
}
