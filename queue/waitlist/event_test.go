package waitlist_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// told is what events say, each as a kind and the number of an entry.
func told(events []waitlist.Event) (said []string) {
	for _, e := range events {
		said = append(said, string(e.Kind)+" "+strconv.FormatInt(e.Entry.Number, 10))
	}
	return said
}

// events reads all events that are kept.
func (w *world) events() []waitlist.Event {
	w.t.Helper()
	list, last, err := w.Events(ctx, 0, 1000)
	require.NoError(w.t, err)
	if len(list) > 0 {
		require.Equal(w.t, last, list[len(list)-1].ID)
	}
	return list
}

func TestWhatHappensToEntriesIsInTheEventsInItsOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(capacity(1)))
		ada := w.enter(waitlist.SignUp{Email: "ada@example.com"})
		ben := w.enter(waitlist.SignUp{Email: "ben@example.com", Referral: ada.ReferralCode})
		w.enter(waitlist.SignUp{Email: "cyd@example.com"})
		w.join(waitlist.SignUp{Email: "dee@example.com"})
		require.Equal(t, 1, w.release(1))
		w.after(49 * time.Hour)
		w.sweep() // Ada's invite goes to Ben
		_, err := w.Accept(ctx, w.token("ben@example.com", waitlist.MailInvite), w.now)
		require.NoError(t, err)
		require.NoError(t, w.SetStatus(ctx, ben.Number, waitlist.Waiting, operator, w.now))
		require.NoError(t, w.SetPriority(ctx, 3, 9, operator, w.now))
		require.NoError(t, w.SetPriority(ctx, 3, 2, operator, w.now))
		require.NoError(t, w.Leave(ctx, ben.Number, w.now))
		require.NoError(t, w.Remove(ctx, 3, operator, w.now))
		w.after(8 * 24 * time.Hour)
		w.sweep()
		events := w.events()
		assert.Equal(t, []string{
			"joined 1", "confirmed 1", "joined 2", "confirmed 2", "moved_up 1", "joined 3", "confirmed 3", "joined 4",
			"invited 1", "expired 1", "invited 2", "accepted 2", "put_back 2", "moved_up 3", "left 2", "removed 3", "removed 4",
		}, told(events))
		assert.Equal(t, "ada@example.com", events[0].Entry.Email, "the entry as it is now")
		assert.Equal(t, waitlist.Expired, events[0].Entry.Status)
		assert.Equal(t, waitlist.Entry{Number: 2, Status: waitlist.Removed}, events[2].Entry, "nothing personal of who has left")
		assert.True(t, events[0].At.Equal(start))

		again, _, err := w.Events(ctx, events[10].ID, 2)
		require.NoError(t, err)
		assert.Equal(t, []string{"accepted 2", "put_back 2"}, told(again), "from a cursor")
	})
}

func TestWhatFailsIsInNoEvent(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed, capacity(1)))
		people := w.people(2)
		w.release(1)
		require.ErrorIs(t, w.SetStatus(ctx, people[1].Number, waitlist.Invited, operator, w.now), waitlist.ErrFull)
		require.Error(t, w.Hold(ctx, w.now, func() error { return assert.AnError }))
		require.ErrorIs(t, w.Leave(ctx, 17, w.now), waitlist.ErrNotFound)
		assert.Equal(t, []string{"joined 1", "joined 2", "invited 1"}, told(w.events()))
	})
}

func TestEventsAreKeptForThirtyDaysAndAReaderIsToldWhatItHasMissed(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		w.people(3)
		w.after(29 * 24 * time.Hour)
		w.join(waitlist.SignUp{Email: "late@example.com"})
		w.sweep()
		require.Len(t, w.events(), 4)
		w.after(2 * 24 * time.Hour)
		w.sweep()
		require.Equal(t, []string{"joined 4"}, told(w.events()))
		next, _, err := w.Events(ctx, 3, 10)
		require.NoError(t, err)
		assert.Equal(t, []string{"joined 4"}, told(next), "who has read all that is gone has missed nothing")
		_, _, err = w.Events(ctx, 2, 10)
		require.ErrorIs(t, err, waitlist.ErrGone)
		_, _, err = w.Events(ctx, 5, 10)
		require.ErrorIs(t, err, waitlist.ErrGone, "a backup was restored")
	})
}

func TestOneNodeAtATimeTellsAReceiver(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		other := w.node(settings(unconfirmed))
		take := func(l *waitlist.List) *waitlist.Turn {
			turn, err := l.TakeTurn(ctx, "site", 2, w.now)
			require.NoError(t, err)
			return turn
		}
		w.join(waitlist.SignUp{Email: "before@example.com"})
		require.Nil(t, take(w.List), "it is told from when it is known")
		w.people(3)
		first := take(w.List)
		require.Equal(t, []string{"joined 2", "joined 3"}, told(first.Events))
		require.Nil(t, take(other))
		w.after(time.Minute) // the node is gone
		second := take(other)
		require.Equal(t, told(first.Events), told(second.Events))
		require.NoError(t, w.EndTurn(ctx, first, first.Events[1].ID, 0, false, w.now), "too late")
		require.NoError(t, other.EndTurn(ctx, second, second.Events[0].ID, time.Second, true, w.now))
		require.Nil(t, take(w.List), "not before the pause is over")
		w.after(time.Second)
		third := take(w.List)
		require.Equal(t, []string{"joined 3", "joined 4"}, told(third.Events))
		assert.Equal(t, 1, third.Tries)
		require.NoError(t, w.EndTurn(ctx, third, 0, 0, true, w.now))
		third = take(w.List)
		assert.Equal(t, 2, third.Tries)
		require.NoError(t, w.EndTurn(ctx, third, third.Events[1].ID, 0, false, w.now))
		require.Nil(t, take(w.List))
	})
}
