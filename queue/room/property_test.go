package room_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/room"
)

// TestWhatMustAlwaysHold has random things happen to a room and has the oracle
// judge each decision.
func TestWhatMustAlwaysHold(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir := ""
		if rapid.Bool().Draw(t, "journal") {
			var err error
			dir, err = os.MkdirTemp(root, "")
			require.NoError(t, err)
		}
		w := newWorld(t, dir)
		things := map[string]struct {
			often int
			do    func()
		}{
			"arrives": {8, w.arrives}, "comes back": {8, w.comesBack}, "all come back": {6, w.allComeBack},
			"replays": {6, w.replays}, "is called": {4, w.isCalled}, "sends a form": {1, w.sendsAForm}, "leaves": {2, w.leaves}, "is revoked": {1, w.isRevoked},
			"a short while": {10, w.shortWhile}, "a long while": {2, w.longWhile},
			"changes": {2, w.changes}, "pauses": {1, w.pauses}, "restarts": {1, w.restarts},
		}
		var names []string
		for _, name := range []string{"a short while", "arrives", "comes back", "all come back", "replays", "leaves", "a long while",
			"is called", "sends a form", "is revoked", "changes", "pauses", "restarts"} {
			for range things[name].often {
				names = append(names, name)
			}
		}
		for range rapid.IntRange(1, 150).Draw(t, "things") {
			things[rapid.SampledFrom(names).Draw(t, "thing")].do()
			n, err := w.room.CurrentNumbers(context.Background(), w.now.Time())
			require.NoError(t, err)
			w.oracle.told(w.now, n)
		}
		require.NoError(t, w.store.Close())
	})
}

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
	ghostsGone, idleSince := w.now.Add(90*time.Second), queue.Instant(0)
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
