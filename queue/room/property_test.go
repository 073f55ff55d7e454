package room_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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
