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

func TestNothingCountsBeforeTheAddressIsConfirmed(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings())
		told := w.join(waitlist.SignUp{Email: "ada@example.com"})
		assert.Equal(t, waitlist.Place{Entry: waitlist.Entry{Status: waitlist.Unconfirmed}}, told)
		_, total := w.Rank(1)
		assert.Zero(t, total)
		assert.Zero(t, w.release(1))

		token := w.token("ada@example.com", waitlist.MailConfirm)
		seen, err := w.Confirmation(ctx, token, w.now)
		require.NoError(t, err)
		assert.Equal(t, waitlist.Unconfirmed, seen.Status, "looking confirms nothing")
		ada, err := w.Confirm(ctx, token, nil, w.now)
		require.NoError(t, err)
		assert.Equal(t, []any{waitlist.Waiting, 1, 1}, []any{ada.Status, ada.Rank, ada.Total})

		_, err = w.Confirm(ctx, token, nil, w.now)
		assert.ErrorIs(t, err, waitlist.ErrUsed)
		_, err = w.Confirm(ctx, "no such token", nil, w.now)
		assert.ErrorIs(t, err, waitlist.ErrNotFound)
		assert.True(t, ada.Own)
		back, err := w.EntryBySecret(ctx, w.token("ada@example.com", waitlist.MailPlace), w.now)
		require.NoError(t, err)
		assert.Equal(t, ada.Entry, back)
		_, err = w.EntryBySecret(ctx, token, w.now)
		assert.ErrorIs(t, err, waitlist.ErrNotFound, "a token is for one thing")
	})
}

func TestAnAnswerDoesNotTellWhetherAnAddressIsKnown(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings())
		fresh := w.join(waitlist.SignUp{Email: "ada@example.com"})
		assert.Equal(t, fresh, w.join(waitlist.SignUp{Email: " Ada@EXAMPLE.com "}), "unconfirmed")
		_, err := w.Confirm(ctx, w.token("ada@example.com", waitlist.MailConfirm), nil, w.now)
		require.NoError(t, err)
		assert.Equal(t, fresh, w.join(waitlist.SignUp{Email: "ada@example.com"}), "waiting")
		eve, eva := w.join(waitlist.SignUp{Email: "ada@example.com", UserID: "eve"}), w.join(waitlist.SignUp{Email: "eva@example.com", UserID: "eva"})
		assert.Equal(t, waitlist.Waiting, eve.Status, "a user counts, and the address does not")
		assert.Equal(t, []string{"", ""}, []string{eve.Email, eva.Email}, "whether it is known or new")
	})
}

func TestSigningUpAgainMailsOnceAnHour(t *testing.T) {
	w := newWorld(t, sqliteFile(t), settings())
	for range 100 {
		w.join(waitlist.SignUp{Email: "ada@example.com"})
	}
	assert.Len(t, w.mails("ada@example.com", waitlist.MailConfirm), 1)
	w.after(time.Hour)
	w.join(waitlist.SignUp{Email: "ada@example.com"})
	found := w.mails("ada@example.com", waitlist.MailConfirm)
	require.Len(t, found, 2)
	_, err := w.Confirm(ctx, found[0].Token, nil, w.now)
	require.NoError(t, err, "the first link is still good")
	_, err = w.Confirm(ctx, found[1].Token, nil, w.now)
	assert.ErrorIs(t, err, waitlist.ErrUsed)
	w.after(time.Hour)
	w.join(waitlist.SignUp{Email: "ada@example.com"})
	assert.Len(t, w.mails("ada@example.com", waitlist.MailPlace), 2, "the way back is mailed")
}

func TestASignUpThatIsNotConfirmedIsErased(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings())
		w.join(waitlist.SignUp{Email: "ada@example.com"})
		token := w.token("ada@example.com", waitlist.MailConfirm)
		w.after(7*24*time.Hour - time.Millisecond)
		assert.Zero(t, w.sweep().Erased)
		_, err := w.Confirmation(ctx, token, w.now)
		require.NoError(t, err)
		w.after(time.Millisecond)
		_, err = w.Confirm(ctx, token, nil, w.now)
		assert.ErrorIs(t, err, waitlist.ErrExpired)
		assert.Equal(t, 1, w.sweep().Erased)
		assert.Zero(t, w.number(`SELECT (SELECT COUNT(*) FROM entries) + (SELECT COUNT(*) FROM tokens) + (SELECT COUNT(*) FROM outbox)`))
	})
}

func TestAUserOfTheSiteHasOneEntryWhateverTheAddress(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		ada := w.join(waitlist.SignUp{UserID: "ada", Email: "ada@example.com"})
		again := w.join(waitlist.SignUp{UserID: "ada", Email: "other@example.com"})
		assert.Equal(t, ada.Number, again.Number)
		assert.True(t, again.Own)
		nameless := w.join(waitlist.SignUp{UserID: "bob"})
		assert.Equal(t, waitlist.Waiting, nameless.Status)
		e, err := w.EntryOf(ctx, "bob", w.now)
		require.NoError(t, err)
		assert.Equal(t, 2, e.Rank)
		w.release(2)
		_, err = w.AcceptOwn(ctx, e.Number, w.now)
		require.NoError(t, err)
		eve := w.join(waitlist.SignUp{UserID: "eve", Email: "ada@example.com"})
		assert.NotEqual(t, ada.Number, eve.Number, "an address that nobody has confirmed gives nobody an entry")
		assert.Empty(t, eve.Email)
		_, err = w.Join(ctx, waitlist.SignUp{}, w.now)
		assert.ErrorIs(t, err, waitlist.ErrNobody)
	})
}

func TestWhatReferralsEarn(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(func(s *waitlist.Settings) {
			s.Disposable, _ = waitlist.ReadDomains(strings.NewReader("# a list\ntrash.example\n"))
		}))
		w.enter(waitlist.SignUp{Email: "first@example.com"})
		ada := w.enter(waitlist.SignUp{Email: "ada@example.com"})
		look := func() []int {
			e := w.entry(ada.Number)
			return []int{e.Rank, e.Priority, e.ReferralsMade, e.ReferralsHeld}
		}
		w.join(waitlist.SignUp{Email: "bob@example.com", Referral: ada.ReferralCode})
		assert.Equal(t, []int{2, 0, 0, 0}, look(), "nothing before the referee is confirmed")
		bob, err := w.Confirm(ctx, w.token("bob@example.com", waitlist.MailConfirm), nil, w.now)
		require.NoError(t, err)
		assert.Equal(t, []int{1, 5, 1, 0}, look())
		for _, suspect := range []string{"b.ob@example.com", "ada+1@example.com", "eve@mail.trash.example"} {
			w.after(time.Hour) // ada's mailbox has got a mail
			w.enter(waitlist.SignUp{Email: suspect, Referral: ada.ReferralCode})
		}
		assert.Equal(t, []int{1, 5, 1, 3}, look(), "suspicious ones wait for an operator")
		held, err := w.Held(ctx, 0, 10)
		require.NoError(t, err)
		reasons := []waitlist.Reason{}
		for _, c := range held {
			reasons = append(reasons, c.Reason)
		}
		assert.Equal(t, []waitlist.Reason{waitlist.SameAddress, waitlist.SameAddress, waitlist.Disposable}, reasons)
		require.NoError(t, w.Judge(ctx, held[0].Referee, true, operator, w.now))
		require.NoError(t, w.Judge(ctx, held[1].Referee, false, operator, w.now))
		assert.ErrorIs(t, w.Judge(ctx, held[1].Referee, true, operator, w.now), waitlist.ErrNotFound)
		assert.Equal(t, []int{1, 10, 2, 1}, look())
		require.NoError(t, w.Leave(ctx, bob.Number, w.now))
		assert.Equal(t, []int{1, 5, 1, 1}, look(), "who leaves counts no longer, and may come again")
		for i := range 12 {
			w.enter(waitlist.SignUp{Email: email(i), Referral: ada.ReferralCode})
		}
		assert.Equal(t, []int{1, 50, 13, 1}, look(), "not more than referral_max")
	})
}

// Attack A50: many addresses from one network.
func TestABurstFromOneNetworkEarnsLittle(t *testing.T) {
	w := newWorld(t, sqliteFile(t), settings(unconfirmed))
	ada := w.join(waitlist.SignUp{Email: "ada@example.com"})
	for i := range 100 {
		addr := netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})
		w.join(waitlist.SignUp{Email: email(i), Referral: ada.ReferralCode, Addr: addr})
	}
	e := w.entry(ada.Number)
	assert.Equal(t, []int{15, 3, 97}, []int{e.Priority, e.ReferralsMade, e.ReferralsHeld})
	w.after(time.Hour)
	w.join(waitlist.SignUp{Email: "late@example.com", Referral: ada.ReferralCode, Addr: netip.MustParseAddr("::ffff:192.0.2.7")})
	assert.Equal(t, 4, w.entry(ada.Number).ReferralsMade)
}

func TestAnInviteExpiresByAVisitOrASweepAndTheNextIsInvitedAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed, capacity(1)))
		people := w.people(4)
		assert.Equal(t, 1, w.release(3))
		assert.Zero(t, w.release(1))
		_, err := w.Accept(ctx, "no such token", w.now)
		assert.ErrorIs(t, err, waitlist.ErrNotFound)

		w.after(48*time.Hour - time.Millisecond)
		_, err = w.Invitation(ctx, w.token(email(0), waitlist.MailInvite), w.now)
		require.NoError(t, err)
		token := w.token(email(0), waitlist.MailInvite)
		w.after(time.Millisecond)
		_, err = w.Accept(ctx, token, w.now)
		assert.ErrorIs(t, err, waitlist.ErrExpired)
		assert.Equal(t, waitlist.Invited, w.entry(people[1].Number).Status, "by an accept")

		w.after(48 * time.Hour)
		assert.Equal(t, waitlist.Expired, w.entry(people[1].Number).Status)
		assert.Equal(t, waitlist.Invited, w.entry(people[2].Number).Status, "by a visit")
		w.after(48 * time.Hour)
		assert.Equal(t, 1, w.sweep().Expired)
		assert.Zero(t, w.sweep().Expired)
		_, err = w.Accept(ctx, w.token(email(3), waitlist.MailInvite), w.now)
		require.NoError(t, err, "by a sweep")

		require.NoError(t, w.Leave(ctx, people[3].Number, w.now))
		late := w.join(waitlist.SignUp{Email: "late@example.com"})
		assert.Equal(t, waitlist.Invited, late.Status, "a spot that nobody waited for goes to the next who comes")
		w.holds(t, 1)
	})
}

func TestTheTimeOfAnInviteBeginsWhenItIsSent(t *testing.T) {
	w := newWorld(t, sqliteFile(t), settings(unconfirmed))
	ada := w.people(1)[0]
	w.release(1)
	w.after(40 * time.Hour)
	for _, m := range must(w.Lease(ctx, 10, time.Minute, w.now)) {
		require.NoError(t, w.Sent(ctx, m, w.now))
	}
	w.after(47 * time.Hour)
	w.sweep()
	assert.Equal(t, waitlist.Invited, w.entry(ada.Number).Status)
	w.after(time.Hour)
	assert.Equal(t, waitlist.Expired, w.entry(ada.Number).Status)
}

// must returns a value that comes without an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Invariant W9: a mail is sent at least once, always under one id.
func TestTheOutboxGivesAMailUntilItIsSent(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings())
		other := w.node(settings())
		w.join(waitlist.SignUp{Email: "ada@example.com", Language: "de"})
		first := must(w.Lease(ctx, 10, time.Minute, w.now))
		require.Len(t, first, 1)
		assert.Equal(t, "ada@example.com de 1", fmt.Sprint(first[0].To, " ", first[0].Language, " ", first[0].Attempts))
		assert.Empty(t, must(other.Lease(ctx, 10, time.Minute, w.now)), "nobody else has it meanwhile")
		w.after(time.Minute)
		again := must(other.Lease(ctx, 10, time.Minute, w.now))
		require.Len(t, again, 1, "whoever had it has died")
		assert.Equal(t, first[0].DedupeID(), again[0].DedupeID())
		assert.Regexp(t, `^[0-9a-f]{32}$`, first[0].DedupeID(), "it tells nothing of the place")
		wait := time.Minute
		for attempt := 2; attempt < 12; attempt++ {
			require.NoError(t, w.Failed(ctx, again[0], assert.AnError, w.now))
			wait = min(2*wait, 4*time.Hour)
			w.after(wait - time.Millisecond)
			assert.Empty(t, must(w.Lease(ctx, 10, time.Minute, w.now)))
			w.after(time.Millisecond)
			again = must(w.Lease(ctx, 10, time.Minute, w.now))
			require.Len(t, again, 1)
			assert.Equal(t, attempt+1, again[0].Attempts)
		}
		require.NoError(t, w.Sent(ctx, again[0], w.now))
		require.NoError(t, other.Sent(ctx, again[0], w.now))
		w.after(time.Hour)
		assert.Empty(t, must(w.Lease(ctx, 10, time.Minute, w.now)))
	})
}

func TestWhoLeavesLeavesNothingPersonal(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		ada := w.join(waitlist.SignUp{Email: "ada@example.com", UserID: "ada-7", Language: "de-CH", Addr: netip.MustParseAddr("192.0.2.7")})
		secret := w.token("ada@example.com", waitlist.MailPlace)
		bob := w.join(waitlist.SignUp{Email: "bob@example.com", Referral: ada.ReferralCode, Addr: netip.MustParseAddr("192.0.2.8")})
		w.release(1)
		require.NoError(t, w.Leave(ctx, bob.Number, w.now))
		require.NoError(t, w.Remove(ctx, ada.Number, operator, w.now))
		assert.ErrorIs(t, w.Leave(ctx, ada.Number, w.now), waitlist.ErrNotFound)
		all := w.dump()
		for _, personal := range []string{"ada", "bob", "example", "192.0.2", "de-CH", ada.ReferralCode} {
			assert.NotContains(t, all, personal)
		}
		_, err := w.EntryBySecret(ctx, secret, w.now)
		assert.ErrorIs(t, err, waitlist.ErrNotFound)
		assert.Equal(t, waitlist.Invited, w.join(waitlist.SignUp{Email: "ada@example.com"}).Status, "anybody may come again, and the spot is free")
	})
}

// dump returns all rows of all tables that have something of people.
func (w *world) dump() string {
	w.t.Helper()
	var all strings.Builder
	for _, table := range []string{"entries", "tokens", "credits", "outbox", "spots", "audit", "mailings"} {
		rows, err := w.raw.QueryContext(ctx, `SELECT * FROM `+table)
		require.NoError(w.t, err)
		names, err := rows.Columns()
		require.NoError(w.t, err)
		for rows.Next() {
			cells := make([]any, len(names))
			for i := range cells {
				cells[i] = new(any)
			}
			require.NoError(w.t, rows.Scan(cells...))
			for _, c := range cells {
				fmt.Fprintf(&all, "%v ", *c.(*any))
			}
		}
		require.NoError(w.t, rows.Err())
		_ = rows.Close()
	}
	return all.String()
}

func TestPlansReleaseAtTheirTimes(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		other := w.node(settings(unconfirmed))
		w.people(20)
		_, err := w.Schedule(ctx, waitlist.Plan{Size: 2, At: w.now.Add(time.Minute), Every: time.Minute}, operator, w.now)
		require.NoError(t, err)
		once := must(w.Schedule(ctx, waitlist.Plan{Size: 5, At: w.now.Add(2 * time.Minute)}, operator, w.now))
		_, err = w.Schedule(ctx, waitlist.Plan{Size: 0, At: w.now}, operator, w.now)
		assert.ErrorIs(t, err, waitlist.ErrRange)
		for _, want := range []int{0, 2, 7, 2} {
			assert.Equal(t, want, w.sweep().Released)
			s, err := other.Sweep(ctx, w.now)
			require.NoError(t, err)
			assert.Zero(t, s.Released, "once, on whichever node")
			w.after(time.Minute)
		}
		w.after(10 * time.Minute)
		assert.Equal(t, 2, w.sweep().Released, "what was missed is not made up for")
		plans := must(w.Plans(ctx))
		require.Len(t, plans, 1)
		assert.True(t, w.now.Add(time.Minute).Equal(plans[0].At))
		assert.ErrorIs(t, w.Cancel(ctx, once, operator, w.now), waitlist.ErrNotFound)
		later := must(w.Schedule(ctx, waitlist.Plan{Size: 5, At: w.now.Add(time.Hour)}, operator, w.now))
		assert.NotEqual(t, once, later, "an old listing names no other plan")
		require.NoError(t, w.Cancel(ctx, later, operator, w.now))
		require.NoError(t, w.Cancel(ctx, plans[0].ID, operator, w.now))
		w.after(time.Hour)
		assert.Zero(t, w.sweep().Released)
	})
}

func TestAPausedListInvitesNobody(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed, capacity(1)))
		people := w.people(3)
		w.release(1)
		require.NoError(t, w.Pause(ctx, operator, w.now))
		_, err := w.Release(ctx, 1, operator, w.now)
		assert.ErrorIs(t, err, waitlist.ErrPaused)
		w.after(48 * time.Hour)
		w.sweep()
		assert.Equal(t, waitlist.Expired, w.entry(people[0].Number).Status)
		assert.Equal(t, waitlist.Waiting, w.entry(people[1].Number).Status)
		require.NoError(t, w.Resume(ctx, operator, w.now))
		assert.Equal(t, waitlist.Invited, w.entry(people[1].Number).Status)
	})
}

func TestWhatOperatorsDo(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed, capacity(1)))
		people := w.people(3)
		require.NoError(t, w.SetPriority(ctx, people[2].Number, 10, operator, w.now))
		assert.Equal(t, []int{1, 10}, []int{w.entry(people[2].Number).Rank, w.entry(people[2].Number).Priority})
		assert.ErrorIs(t, w.SetPriority(ctx, people[2].Number, 40_000, operator, w.now), waitlist.ErrRange)
		set := func(i int, s waitlist.Status) error { return w.SetStatus(ctx, people[i].Number, s, operator, w.now) }
		require.NoError(t, set(0, waitlist.Accepted))
		assert.ErrorIs(t, set(1, waitlist.Invited), waitlist.ErrFull)
		assert.ErrorIs(t, set(1, waitlist.Unconfirmed), waitlist.ErrStatus)
		require.NoError(t, set(0, waitlist.Waiting))
		assert.Equal(t, []any{waitlist.Waiting, 2}, []any{w.entry(people[0].Number).Status, w.entry(people[0].Number).Rank}, "in the old place, and the spot is free")
		require.NoError(t, set(1, waitlist.Invited))
		require.NoError(t, set(1, waitlist.Expired))
		assert.Equal(t, waitlist.Invited, w.entry(people[2].Number).Status)
		require.NoError(t, set(2, waitlist.Removed))
		w.holds(t, 1)

		page := must(w.Entries(ctx, waitlist.Search{Text: "PERSON1@"}))
		assert.Equal(t, 1, page.Total)
		assert.Equal(t, email(1), page.Entries[0].Email)
		assert.Zero(t, must(w.Entries(ctx, waitlist.Search{Text: "%"})).Total)
		all := must(w.Entries(ctx, waitlist.Search{Most: 1}))
		assert.Equal(t, 2, all.Total)
		next := must(w.Entries(ctx, waitlist.Search{After: all.Entries[0].Number}))
		require.Len(t, next.Entries, 1)
		assert.NotEqual(t, all.Entries[0].Number, next.Entries[0].Number)
		assert.Equal(t, map[waitlist.Status]int{waitlist.Invited: 1, waitlist.Expired: 1, waitlist.Removed: 1}, must(w.Numbers(ctx)).Entries)

		log := must(w.Log(ctx, 0, 2))
		require.Len(t, log, 2)
		assert.Equal(t, waitlist.Audit{
			ID: log[1].ID + 1, At: log[0].At, Operator: operator, Action: "status", Number: people[2].Number, Detail: "invited to removed",
		}, log[0])
	})
}

func TestAnExportCanBeImported(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		w.people(2)
		formula := w.join(waitlist.SignUp{Email: "=1+1@example.com", UserID: "@eve"})
		require.NoError(t, w.SetPriority(ctx, formula.Number, -7, operator, w.now))
		w.release(1)
		var out strings.Builder
		require.NoError(t, w.Export(ctx, &out, operator, w.now))
		assert.Contains(t, out.String(), "'=1+1@example.com,'@eve,waiting,-7,")

		copied := newWorld(t, sqliteFile(t), settings(unconfirmed))
		done := must(copied.Import(ctx, strings.NewReader(out.String()), nil, operator, w.now))
		assert.Equal(t, waitlist.Imported{Added: 3}, done)
		assert.Equal(t, waitlist.Imported{Known: 3}, must(copied.Import(ctx, strings.NewReader(out.String()), nil, operator, w.now)))
		e, err := copied.EntryOf(ctx, "@eve", w.now)
		require.NoError(t, err)
		assert.Equal(t, []any{"=1+1@example.com", -7, formula.ReferralCode, 2}, []any{e.Email, e.Priority, e.ReferralCode, e.Rank})
		assert.Empty(t, must(copied.Outbox(ctx, 0, 10)), "nobody is mailed")

		done = must(copied.Import(ctx, strings.NewReader("\ufeffEmail,status\nx@y@z,\nnew@example.com,accepted\nother@example.com,unconfirmed\n"), nil, operator, w.now))
		assert.Equal(t, 1, done.Added)
		assert.Equal(t, 1, done.Unconfirmed)
		assert.Equal(t, []waitlist.LineFault{{Line: 2, Problem: waitlist.ErrEmail.Error()}}, done.Faults)
		copied.holds(t, 2)
	})
}

func TestAddresses(t *testing.T) {
	for _, a := range []struct{ typed, key, mailbox string }{
		{"Ada@Example.COM", "ada@example.com", "ada@example.com"},
		{" a.d.a+news@googlemail.com ", "a.d.a+news@googlemail.com", "ada@gmail.com"},
		{"ada-1+x@yahoo.com", "ada-1+x@yahoo.com", "ada@yahoo.com"},
		{"ann-1@example.com", "ann-1@example.com", "ann-1@example.com"},
		{"a.d-a_1@pm.me", "a.d-a_1@pm.me", "ada1@proton.me"},
		{"ada+x@mac.com", "ada+x@mac.com", "ada@icloud.com"},
		{"ada@bücher.example", "ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"},
	} {
		got, err := waitlist.ParseAddress(a.typed)
		require.NoError(t, err, a.typed)
		assert.Equal(t, waitlist.Address{Typed: strings.TrimSpace(a.typed), Key: a.key, Mailbox: a.mailbox}, got)
	}
	for _, bad := range []string{
		"", "ada", "@", "a@", "@x.org", "a@x@y.org", "Ada <ada@x.org>", "a@x.org, b@x.org", "a b@x.org", "a@x.org\r\nBcc: b@x.org", `"a b"@x.org`,
		"a@[192.0.2.1]", "a@x..org", strings.Repeat("a", 65) + "@x.org", "a@" + strings.Repeat("x.", 130) + "org", "a@x.org\x00",
		"root@localhost", "root@localhost.localdomain", "root@printer.local", "root@127.0.0.1", "a@db.internal.",
	} {
		_, err := waitlist.ParseAddress(bad)
		assert.ErrorIs(t, err, waitlist.ErrEmail, "%q", bad)
	}
}

func TestOtherNodesSeeWhatChangesWhenTheyFollow(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		other := w.node(settings(unconfirmed))
		ada := w.people(2)[0]
		require.NoError(t, w.Leave(ctx, ada.Number, w.now))
		_, err := other.Sweep(ctx, w.now)
		require.NoError(t, err)
		rank, total := other.Rank(ada.Number + 1)
		assert.Equal(t, []int{1, 1}, []int{rank, total})
	})
}

func TestSettingsHaveBounds(t *testing.T) {
	require.NoError(t, waitlist.DefaultSettings().Validate())
	assert.True(t, waitlist.DefaultSettings().ConfirmEmail)
	for _, spoil := range []func(*waitlist.Settings){
		func(s *waitlist.Settings) { s.Capacity = -1 }, func(s *waitlist.Settings) { s.InviteTTL = 0 }, func(s *waitlist.Settings) { s.ReferralMax = 2000 },
	} {
		assert.Error(t, settings(spoil).Validate())
	}
	store, err := waitlist.Open(ctx, sqliteFile(t))
	require.NoError(t, err)
	l, err := store.List(ctx, "beta", settings())
	require.NoError(t, err)
	require.NoError(t, store.Close())
	_, err = l.Join(ctx, waitlist.SignUp{Email: "ada@example.com"}, start)
	assert.ErrorIs(t, err, waitlist.ErrClosed)
}
