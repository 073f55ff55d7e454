package waitlist_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func TestTheMailsThatStrangersCauseGrowRare(t *testing.T) {
	w := newWorld(t, sqliteFile(t), settings())
	var hours []int
	for hour := range 20 * 24 {
		before := len(w.mails("ada@example.com", waitlist.MailConfirm))
		w.join(waitlist.SignUp{Email: "ada@example.com"})
		if len(w.mails("ada@example.com", waitlist.MailConfirm)) > before {
			hours = append(hours, hour)
		}
		w.after(time.Hour)
	}
	assert.Equal(t, []int{0, 1, 2, 4, 8, 16, 32, 56, 80, 104, 128, 152, 176, 200, 224, 248, 272, 296, 320, 344}, hours, "20 within 30 days")
}

// Of several sign-ups with an address that nobody has confirmed, some may be strangers': that one
// counts whose link its owner follows.
func TestNobodyTakesOverAReferralThatIsNotConfirmed(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		for latest, want := range map[bool][]int{false: {1, 0}, true: {0, 1}} {
			w := newWorld(t, name, settings())
			ben, eve := w.enter(waitlist.SignUp{Email: "ben@example.com"}), w.enter(waitlist.SignUp{Email: "eve@example.com"})
			w.join(waitlist.SignUp{Email: "ada@example.com", Referral: ben.ReferralCode})
			for range 2 { // the second time there is no mail
				w.join(waitlist.SignUp{Email: "ada@example.com", Referral: eve.ReferralCode, Addr: netip.MustParseAddr("192.0.2.1")})
			}
			mails := w.mails("ada@example.com", waitlist.MailConfirm)
			require.Len(t, mails, 2)
			chosen := mails[0]
			if latest {
				chosen = mails[1]
			}
			_, err := w.Confirm(ctx, chosen.Token, nil, w.now)
			require.NoError(t, err)
			assert.Equal(t, want, []int{w.entry(ben.Number).ReferralsMade, w.entry(eve.Number).ReferralsMade})
			name = sqliteFile(t) // for the other link
		}
	})
}

// The browser that confirms knows how its owner signed up: without a code it is nobody's referral,
// and it goes by the owner's network, whoever caused the mail.
func TestTheBrowserThatConfirmsDecidesByWhomItWasBrought(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings())
		ben, eve := w.enter(waitlist.SignUp{Email: "ben@example.com"}), w.enter(waitlist.SignUp{Email: "eve@example.com"})
		stranger := netip.MustParseAddr("192.0.2.1")
		for i := range 3 {
			w.enter(waitlist.SignUp{Email: fmt.Sprintf("ada@referee%d.example", i), Referral: ben.ReferralCode, Addr: stranger})
		}
		confirm := func(email string, by waitlist.Place, own waitlist.SignedUp) {
			w.join(waitlist.SignUp{Email: email, Referral: by.ReferralCode, Addr: stranger})
			_, err := w.Confirm(ctx, w.token(email, waitlist.MailConfirm), &own, w.now)
			require.NoError(t, err)
		}
		confirm("ada@example.com", eve, waitlist.SignedUp{})
		assert.Zero(t, w.entry(eve.Number).ReferralsMade)
		confirm("zoe@example.com", ben, waitlist.SignedUp{Referral: ben.ReferralCode, Addr: netip.MustParseAddr("198.51.100.1")})
		assert.Equal(t, []int{4, 0}, []int{w.entry(ben.Number).ReferralsMade, w.entry(ben.Number).ReferralsHeld})
	})
}

// A stranger who signs up an address now and again keeps nobody from it: its owner is mailed.
func TestSignUpsOfAStrangerKeepNobodyFromTheirAddress(t *testing.T) {
	w := newWorld(t, sqliteFile(t), settings())
	w.join(waitlist.SignUp{Email: "ada@example.com"})
	w.after(167 * time.Hour)
	w.join(waitlist.SignUp{Email: "ada@example.com"})
	w.after(25 * time.Hour)
	w.join(waitlist.SignUp{Email: "ada@example.com"})
	assert.Len(t, w.mails("ada@example.com", waitlist.MailConfirm), 3)
}

// Those who leave are no way to have more counted, and keep nobody else from counting.
func TestWhoLeavesMakesWayForAnotherOfTheDomain(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		ben := w.join(waitlist.SignUp{Email: "ben@example.org"})
		referrals := func() []int {
			e := w.entry(ben.Number)
			return []int{e.ReferralsMade, e.ReferralsHeld, e.Priority}
		}
		var guests []waitlist.Place
		for i := range 12 {
			guests = append(guests, w.join(waitlist.SignUp{Email: fmt.Sprintf("x%d@small.example", i), Referral: ben.ReferralCode}))
		}
		for left := range 9 {
			assert.Equal(t, []int{3, 9 - left, 15}, referrals())
			require.NoError(t, w.Leave(ctx, guests[left].Number, w.now))
		}
		assert.Equal(t, []int{3, 0, 15}, referrals())
		require.NoError(t, w.Leave(ctx, guests[9].Number, w.now))
		assert.Equal(t, []int{2, 0, 10}, referrals())
		w.join(waitlist.SignUp{Email: "real@small.example", Referral: ben.ReferralCode})
		assert.Equal(t, []int{3, 0, 15}, referrals())
	})
}

func TestNobodyFreezesAReferralByAnAddressOfTheirOwnMaking(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings())
		ben := w.enter(waitlist.SignUp{Email: "ben@example.com"})
		w.join(waitlist.SignUp{Email: "a.d.a@gmail.com"})
		w.after(time.Hour)
		w.enter(waitlist.SignUp{Email: "ada@gmail.com", Referral: ben.ReferralCode})
		assert.Equal(t, []int{1, 0}, []int{w.entry(ben.Number).ReferralsMade, w.entry(ben.Number).ReferralsHeld})
	})
}

func TestWhereAddressesAreNotConfirmedOnlyTheReferrersOwnIsLikeAReferees(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		ben := w.join(waitlist.SignUp{Email: "ben@gmail.com"})
		w.join(waitlist.SignUp{Email: "a.d.a@gmail.com"}) // by anybody
		w.join(waitlist.SignUp{Email: "ada+b@gmail.com", Referral: ben.ReferralCode})
		w.join(waitlist.SignUp{Email: "ada@gmail.com", Referral: ben.ReferralCode})
		assert.Equal(t, []int{2, 0}, []int{w.entry(ben.Number).ReferralsMade, w.entry(ben.Number).ReferralsHeld})
		w.join(waitlist.SignUp{Email: "b.en+me@gmail.com", Referral: ben.ReferralCode})
		assert.Equal(t, []int{2, 1}, []int{w.entry(ben.Number).ReferralsMade, w.entry(ben.Number).ReferralsHeld})
		assert.Equal(t, waitlist.SameAddress, must(w.Held(ctx, 0, 1))[0].Reason)
	})
}

func TestTheAddressesOfOneDomainCountForLittle(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings())
		eve, ben := w.enter(waitlist.SignUp{Email: "eve@example.com"}), w.enter(waitlist.SignUp{Email: "ben@example.org"})
		for i := range 12 {
			w.enter(waitlist.SignUp{Email: fmt.Sprintf("x%d@m%d.catchall.co.uk", i, i%4), Referral: eve.ReferralCode})
			w.enter(waitlist.SignUp{Email: fmt.Sprintf("friend%d@yahoo.co.uk", i), Referral: ben.ReferralCode})
		}
		assert.Equal(t, []int{3, 9}, []int{w.entry(eve.Number).ReferralsMade, w.entry(eve.Number).ReferralsHeld})
		assert.Equal(t, []int{12, 0}, []int{w.entry(ben.Number).ReferralsMade, w.entry(ben.Number).ReferralsHeld})
		assert.Equal(t, waitlist.SameDomain, must(w.Held(ctx, 0, 1))[0].Reason)
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
