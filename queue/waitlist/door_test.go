package waitlist_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// TestErasedDataLeavesTheFile reads the file of the database byte for byte.
func TestErasedDataLeavesTheFile(t *testing.T) {
	name := sqliteFile(t)
	w := newWorld(t, name, settings(unconfirmed))
	ada := w.join(waitlist.SignUp{Email: "ada@example.com", UserID: "ada-7"})
	traces := func() (found int) {
		for _, file := range []string{name, name + "-wal"} {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			found += bytes.Count(text, []byte("ada"))
		}
		return found
	}
	require.Positive(t, traces())
	require.NoError(t, w.Leave(ctx, ada.Number, w.now))
	w.sweep()
	assert.Zero(t, traces())
}

func TestTheDoorKnowsWhoHasAcceptedOnEveryNode(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed, capacity(2)))
		ada, ben := w.join(waitlist.SignUp{UserID: "ada"}), w.join(waitlist.SignUp{Email: email(1)})
		require.Equal(t, 2, w.release(2))
		other := w.node(settings(unconfirmed, capacity(2))) // which reads what there is
		assert.True(t, other.IsFull())
		for _, of := range []waitlist.Place{ada, ben} {
			assert.False(t, has(w.Guest(of.Number, of.JoinedAt)), "an invite is not enough")
			_, err := w.AcceptOwn(ctx, of.Number, w.now)
			require.NoError(t, err)
		}
		require.NoError(t, other.Follow(ctx))
		for _, l := range []*waitlist.List{w.List, other, w.node(settings(unconfirmed))} {
			assert.True(t, has(l.Guest(ada.Number, ada.JoinedAt)))
			assert.False(t, has(l.Guest(ada.Number, ada.JoinedAt.Add(time.Second))), "somebody else had the number in another record")
			assert.True(t, has(l.GuestOf("ada")))
			assert.True(t, has(l.Guest(ben.Number, ben.JoinedAt)))
			assert.False(t, has(l.GuestOf("ben")))
		}
		require.NoError(t, w.Leave(ctx, ada.Number, w.now))
		require.NoError(t, w.SetStatus(ctx, ben.Number, waitlist.Waiting, operator, w.now))
		require.NoError(t, other.Follow(ctx))
		for _, l := range []*waitlist.List{w.List, other} {
			assert.False(t, has(l.Guest(ada.Number, ada.JoinedAt)))
			assert.False(t, has(l.GuestOf("ada")))
			assert.False(t, has(l.Guest(ben.Number, ben.JoinedAt)))
			assert.False(t, has(l.GuestOf("ben")))
			assert.False(t, l.IsFull())
		}
	})
}
