package waitlist_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func mailed(s *waitlist.Settings) { s.Mailed = true }

// send has the mail server take all mails that are due.
func (w *world) send() (sent int) {
	w.t.Helper()
	for {
		due := must(w.Lease(ctx, 100, time.Minute, w.now))
		for _, m := range due {
			require.NoError(w.t, w.Sent(ctx, m, w.now))
		}
		if sent += len(due); len(due) == 0 {
			return sent
		}
	}
}

func TestWhileTheMailServerIsDownNobodyLosesAnInvite(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed, capacity(10), mailed))
		people := w.people(20)
		nameless := w.join(waitlist.SignUp{UserID: "ann"})
		require.Equal(t, 10, w.release(10))
		for range 6 {
			w.after(24 * time.Hour)
			require.Zero(t, w.sweep().Expired)
		}
		assert.Zero(t, w.entry(people[0].Number).InviteExpiresAt, "nobody is told a time that has not begun")
		w.send()
		assert.Equal(t, w.now.Add(48*time.Hour), w.entry(people[0].Number).InviteExpiresAt)
		w.after(48*time.Hour - time.Millisecond)
		require.Zero(t, w.sweep().Expired)
		require.NoError(t, w.SetStatus(ctx, people[0].Number, waitlist.Removed, operator, w.now))
		w.after(time.Millisecond)
		assert.Equal(t, 9, w.sweep().Expired)
		assert.Zero(t, must(w.Numbers(ctx)).Undelivered)

		require.NoError(t, w.SetStatus(ctx, people[19].Number, waitlist.Removed, operator, w.now))
		require.NoError(t, w.SetStatus(ctx, nameless.Number, waitlist.Invited, operator, w.now), "there is one spot more than people")
		assert.Equal(t, w.now.Add(48*time.Hour), w.entry(nameless.Number).InviteExpiresAt, "there is no mail to wait for")
	})
}

func TestAnInviteThatCannotBeDeliveredGoesToTheNextAndIsInTheLog(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed, capacity(2), mailed))
		people := w.people(4)
		require.Equal(t, 2, w.release(2))
		for _, m := range must(w.Lease(ctx, 100, time.Minute, w.now)) {
			switch {
			case m.Kind != waitlist.MailInvite:
			case m.To == email(0):
				require.NoError(t, w.Failed(ctx, m, assert.AnError, w.now))
			default:
				require.NoError(t, w.Drop(ctx, m, w.now))
			}
		}
		w.after(48 * time.Hour)
		assert.Equal(t, waitlist.Swept{Expired: 1, Undelivered: 1}, w.sweep(), "the address takes no mail, and its owner had the time to come")
		w.after(5*24*time.Hour - time.Millisecond)
		assert.Zero(t, w.sweep().Expired)
		assert.Equal(t, waitlist.Invited, w.entry(people[2].Number).Status)
		w.after(time.Millisecond)
		assert.Equal(t, waitlist.Swept{Expired: 1, Undelivered: 1}, w.sweep())
		assert.Equal(t, waitlist.Invited, w.entry(people[3].Number).Status)
		assert.Equal(t, 2, must(w.Numbers(ctx)).Undelivered)
		log := must(w.Log(ctx, 0, 2))
		assert.Equal(t, []any{people[0].Number, "undelivered", waitlist.Operator("the gate"), "not taken by the mail server, attempts: 1"},
			[]any{log[0].Number, log[0].Action, log[0].Operator, log[0].Detail})
		assert.Equal(t, []any{people[1].Number, "undelivered", "the address takes no mail"}, []any{log[1].Number, log[1].Action, log[1].Detail})
	})
}

func TestASignUpIsConfirmedForItsTimeFromWhenItsMailIsSent(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(mailed, func(s *waitlist.Settings) { s.ConfirmTTL = time.Hour }))
		w.join(waitlist.SignUp{Email: "ada@example.com"})
		token := w.token("ada@example.com", waitlist.MailConfirm)
		w.after(6 * 24 * time.Hour)
		require.Zero(t, w.sweep().Erased)
		require.Equal(t, 1, w.send())
		w.after(time.Hour - time.Millisecond)
		require.Zero(t, w.sweep().Erased)
		_, err := w.Confirmation(ctx, token, w.now)
		require.NoError(t, err)
		w.after(time.Millisecond)
		assert.Equal(t, 1, w.sweep().Erased)

		w.join(waitlist.SignUp{Email: "bob@example.com"})
		w.after(7 * 24 * time.Hour)
		assert.Equal(t, 1, w.sweep().Erased, "it is not tried for ever")
	})
}
