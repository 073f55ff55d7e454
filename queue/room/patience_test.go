//go:build !race

package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// TestEveryoneWhoKeepsWaitingGetsIn lets any history be followed by one in which
// those who wait check in as they are told, and those who are in leave.
func TestEveryoneWhoKeepsWaitingGetsIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, "")
		for range rapid.IntRange(1, 60).Draw(t, "things") {
			rapid.SampledFrom([]func(){w.arrives, w.arrives, w.allComeBack, w.replays, w.leaves, w.shortWhile}).Draw(t, "thing")()
		}
		w.settings.QueueAll, w.settings.Method = false, queue.Method(rapid.IntRange(0, 1).Draw(t, "then"))
		w.oracle.s = w.settings
		require.NoError(t, w.room.Configure(context.Background(), w.now.Time(), queue.Configuration{Settings: w.settings}))
		w.forget()
		w.keepWaiting()
		require.NoError(t, w.store.Close())
	})
}

// keepWaiting goes on until everyone has got in, and fails if a slot stays idle
// for longer than two intervals, with their jitter and slack, while people wait.
func (w *world) keepWaiting() {
	waiting := []*person{}
	for _, p := range w.visitors {
		if p.newest().State == queue.Waiting {
			waiting = append(waiting, p)
		}
	}
	longest := queue.WholeSeconds(time.Duration(float64(w.settings.RefreshInterval) * (1 + w.settings.RefreshJitter)))
	idleAtMost := 2*longest + w.settings.RefreshInterval/4 + time.Second
	const step = 250 * time.Millisecond
	ghostsGone, idleSince := w.now.Add(max(90*time.Second, w.settings.AllReturnWithin()+w.settings.RefreshInterval)), queue.Instant(0)
	end := ghostsGone.Add(time.Duration(len(waiting)+2) * (w.settings.SessionDuration + time.Minute + idleAtMost))
	for w.now < end {
		w.now = w.now.Add(step)
		w.sync()
		left, entered := waiting[:0], false
		for _, p := range waiting {
			if p.newest().Due() <= w.now {
				w.comes(p, room.Request{Ticket: p.newest()})
			}
			if p.newest().State == queue.Waiting {
				left = append(left, p)
			} else {
				entered = true
			}
		}
		waiting = left
		if len(waiting) == 0 {
			return
		}
		n, err := w.room.CurrentNumbers(context.Background(), w.now.Time())
		require.NoError(w, err)
		if n.Open == 0 || entered || w.now < ghostsGone || idleSince == 0 {
			idleSince = w.now
		}
		require.LessOrEqual(w, w.now.Sub(idleSince), idleAtMost, "a slot is idle while %d wait", len(waiting))
	}
	require.Empty(w, waiting, "everyone who keeps waiting gets in")
}
