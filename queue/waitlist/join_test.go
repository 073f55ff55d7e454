package waitlist_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue/waitlist"
)

func TestTheMailsThatStrangersCauseGrowRare(t *testing.T) {
	w := newWorld(t, sqliteFile(t), settings())
	var hours []int
	for hour := range 15 * 24 {
		before := len(w.mails("ada@example.com", waitlist.MailConfirm))
		w.join(waitlist.SignUp{Email: "ada@example.com"})
		if len(w.mails("ada@example.com", waitlist.MailConfirm)) > before {
			hours = append(hours, hour)
		}
		w.after(time.Hour)
	}
	assert.Equal(t, []int{0, 1, 2, 4, 8, 16, 32, 56, 80, 104, 128, 152}, hours, "none after the time in which it could have been confirmed")
}

// An address that was typed by somebody else, with a code of theirs, is its owner's once they sign up.
func TestALaterSignUpReplacesOneThatNobodyHasConfirmed(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings())
		eve, ben := w.enter(waitlist.SignUp{Email: "eve@example.com"}), w.enter(waitlist.SignUp{Email: "ben@example.com"})
		w.join(waitlist.SignUp{Email: "ada@example.com", Referral: eve.ReferralCode, Addr: netip.MustParseAddr("192.0.2.1")})
		w.enter(waitlist.SignUp{Email: "ada@example.com", Referral: ben.ReferralCode})
		assert.Equal(t, []int{0, 1}, []int{w.entry(eve.Number).ReferralsMade, w.entry(ben.Number).ReferralsMade})
	})
}

func TestWhatNoDatabaseKeepsIsRefusedBefore(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings())
		for i, code := range []string{"\x00", "\xff", "a b", strings.Repeat("a", 5000)} {
			assert.Equal(t, waitlist.Unconfirmed, w.join(waitlist.SignUp{Email: email(i), Referral: code}).Status, "a code that nobody has counts as none")
		}
		for _, user := range []string{"\x00", "\xff", strings.Repeat("a", 5000)} {
			_, err := w.Join(ctx, waitlist.SignUp{UserID: user}, w.now)
			assert.ErrorIs(t, err, waitlist.ErrNobody, "%q", user)
		}
	})
}

func TestWhoseInviteHasExpiredCanSignUpAnew(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed, capacity(1)))
		ada, ann := w.join(waitlist.SignUp{Email: "ada@example.com", Language: "de-DE"}), w.join(waitlist.SignUp{UserID: "ann"})
		last := w.join(waitlist.SignUp{Email: "last@example.com"})
		require.Equal(t, 1, w.release(1))
		_, err := w.Rejoin(ctx, ada.Number, w.now)
		assert.ErrorIs(t, err, waitlist.ErrNotFound, "it has not expired")
		w.after(waitlist.DefaultSettings().InviteTTL)
		w.sweep() // ann is next
		again, err := w.Rejoin(ctx, ada.Number, w.now)
		require.NoError(t, err)
		assert.Equal(t, []any{waitlist.Waiting, 2, "ada@example.com", "de-DE", true}, []any{again.Status, again.Rank, again.Email, again.Language, again.Own})
		_, err = w.Rejoin(ctx, ada.Number, w.now)
		assert.ErrorIs(t, err, waitlist.ErrNotFound)
		assert.Equal(t, 1, w.entry(last.Number).Rank)

		w.after(waitlist.DefaultSettings().InviteTTL)
		w.sweep()
		require.Equal(t, waitlist.Expired, w.entry(ann.Number).Status)
		assert.Equal(t, waitlist.Waiting, w.join(waitlist.SignUp{UserID: "ann"}).Status)
	})
}

func TestAnInviteThatWasAcceptedOnThePageIsNotMailed(t *testing.T) {
	w := newWorld(t, sqliteFile(t), settings(unconfirmed))
	ada := w.people(1)[0]
	w.release(1)
	_, err := w.AcceptOwn(ctx, ada.Number, w.now)
	require.NoError(t, err)
	assert.Empty(t, w.mails(ada.Email, waitlist.MailInvite))
}
