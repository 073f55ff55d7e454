package waitlist_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

const held = `SELECT held FROM waitlists`

func TestManyOwedSpotsAreGivenInParts(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := crowded(t, name, settings(capacity(210)), 430)
		require.Equal(t, 210, w.release(430))
		require.NoError(t, w.Pause(ctx, operator, w.now))
		w.after(48 * time.Hour)
		assert.Equal(t, 210, w.sweep().Expired)
		require.NoError(t, w.Resume(ctx, operator, w.now))
		assert.Equal(t, 100, w.number(held), "a transaction is bounded")
		w.join(waitlist.SignUp{Email: "ada@example.com"})
		assert.Equal(t, 200, w.number(held))
		w.sweep()
		assert.Equal(t, 210, w.number(held))
		w.holds(t, 210)
		assert.Zero(t, must(w.Numbers(ctx)).Owed)
	})
}

func TestWhatIsOwedGoesBeforeAReleaseOfManyAndAPlanGoesOn(t *testing.T) {
	w := crowded(t, postgres.Database(t), settings(capacity(150)), 700)
	w.release(150)
	smaller, larger := settings(capacity(1)), settings(capacity(1000))
	require.NoError(t, w.Configure(smaller))
	w.after(48 * time.Hour)
	w.sweep()
	assert.Equal(t, 1, w.number(held), "there is room for one")
	require.NoError(t, w.Configure(larger))
	assert.Equal(t, 120, w.release(120))
	assert.Equal(t, 150+120, w.number(held), "those to whom spots are due, and those of the release")
	w.holds(t, 1000)
	for range 2 {
		must(w.Schedule(ctx, waitlist.Plan{Size: 110, At: w.now}, operator, w.now))
	}
	assert.Equal(t, 220, w.sweep().Released)
	assert.Empty(t, must(w.Plans(ctx)))
}

func TestATransactionThatHasTakenLongBeginsNoFurtherJob(t *testing.T) {
	w := newWorld(t, sqliteFile(t), settings(unconfirmed))
	w.SetTurn(0)
	var running sync.WaitGroup
	for i := range 50 {
		running.Go(func() {
			_, err := w.Join(ctx, waitlist.SignUp{Email: email(i)}, w.now)
			assert.NoError(t, err)
		})
	}
	running.Wait()
	assert.Equal(t, 50, w.number(`SELECT version FROM waitlists`), "each had its own transaction")
}

func TestAJobThatFailsTakesBackNoOtherAndWhatNobodyWaitsForIsNotDone(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		for round := range 10 {
			until, cancel := context.WithCancel(ctx)
			var running sync.WaitGroup
			for i := range 5 {
				running.Go(func() {
					_, err := w.Join(ctx, waitlist.SignUp{Email: email(10*round + i)}, w.now)
					assert.NoError(t, err)
				})
				running.Go(func() {
					err := w.Hold(ctx, w.now, func() error { cancel(); return assert.AnError })
					assert.ErrorIs(t, err, assert.AnError)
				})
				running.Go(func() {
					err := w.Hold(until, w.now, func() error { assert.NoError(t, until.Err()); return nil })
					assert.True(t, err == nil || errors.Is(err, context.Canceled), err)
				})
			}
			running.Wait()
			cancel()
		}
		_, total := w.Rank(0)
		assert.Equal(t, 50, total)
	})
}

func TestANodeThatIsStuckInATransactionHoldsNobodyUpForLong(t *testing.T) {
	name := postgres.Database(t)
	w := newWorld(t, name+"&idle_in_transaction_session_timeout=300", settings(unconfirmed))
	other := (&world{t: t, name: name}).node(settings(unconfirmed))
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- w.Hold(ctx, w.now, func() error { close(begun); <-goOn; return nil })
	}()
	<-begun
	_, err := other.Join(ctx, waitlist.SignUp{Email: "ada@example.com"}, w.now)
	require.NoError(t, err)
	close(goOn)
	require.Error(t, <-ended, "the node has lost the transaction")
	assert.Equal(t, 2, w.join(waitlist.SignUp{Email: "ben@example.com"}).Rank, "and it works again")
}

func TestThoseWhoWaitForTheListGiveUpTogether(t *testing.T) {
	w := newWorld(t, postgres.Database(t)+"&lock_timeout=300", settings(unconfirmed))
	stuck, err := w.raw.BeginTx(ctx, nil)
	require.NoError(t, err)
	_, err = stuck.ExecContext(ctx, `UPDATE waitlists SET version = version`)
	require.NoError(t, err)
	var running sync.WaitGroup
	began := time.Now()
	for i := range 60 {
		running.Go(func() {
			_, err := w.Join(ctx, waitlist.SignUp{Email: email(i)}, w.now)
			assert.Error(t, err)
		})
	}
	running.Wait()
	assert.Less(t, time.Since(began), 9*time.Second, "one after the other they need 18")
	require.NoError(t, stuck.Rollback())
	assert.Equal(t, 1, w.join(waitlist.SignUp{Email: "ada@example.com"}).Total)
}

func TestSessionsHaveTimeLimits(t *testing.T) {
	w := newWorld(t, postgres.Database(t)+"&default_transaction_isolation=serializable&lock_timeout=5s", settings())
	for name, want := range map[string]string{
		"idle_in_transaction_session_timeout": "10s", "lock_timeout": "5s", "statement_timeout": "1min", "transaction_isolation": "read committed",
	} {
		assert.Equal(t, want, must(w.Session(name)), name)
	}
}

func TestALeaseWhoseCallerHasGoneHarmsNobody(t *testing.T) {
	w := newWorld(t, postgres.Database(t), settings())
	w.join(waitlist.SignUp{Email: "ada@example.com"})
	w.join(waitlist.SignUp{Email: "ben@example.com"})
	stuck, err := w.raw.BeginTx(ctx, nil)
	require.NoError(t, err)
	_, err = stuck.ExecContext(ctx, `SELECT 1 FROM outbox FOR UPDATE`)
	require.NoError(t, err)
	until, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		mails, err := w.Lease(until, 10, time.Minute, w.now)
		assert.Empty(t, mails)
		ended <- err
	}()
	require.Eventually(t, func() bool {
		return w.number(`SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE outbox%'`) == 1
	}, 10*time.Second, 10*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.NoError(t, stuck.Rollback())
	w.join(waitlist.SignUp{Email: "eve@example.com"})
	assert.Len(t, must(w.Lease(ctx, 10, time.Minute, w.now)), 1, "the two are leased")
}

// Invariant W8: invites expire by the database's clock.
func TestAClockThatIsWrongMakesNoInviteShorterOrLonger(t *testing.T) {
	w := newWorld(t, postgres.Database(t), settings(unconfirmed, capacity(1)))
	fast, slow := w.node(settings(unconfirmed, capacity(1))), w.node(settings(unconfirmed, capacity(1)))
	require.NoError(t, fast.SetClock(func() time.Time { return time.Now().Add(time.Minute) }))
	require.NoError(t, slow.SetClock(func() time.Time { return time.Now().Add(-time.Minute) }))
	people := w.people(2)
	w.release(1)
	w.after(48*time.Hour - 30*time.Second)
	_, err := fast.Sweep(ctx, w.now.Add(time.Minute))
	require.NoError(t, err)
	e, err := fast.Entry(ctx, people[0].Number, w.now.Add(time.Minute))
	require.NoError(t, err)
	assert.Equal(t, waitlist.Invited, e.Status, "it has half a minute left")
	token := w.token(email(0), waitlist.MailInvite)
	_, err = fast.Invitation(ctx, token, w.now.Add(time.Minute))
	require.NoError(t, err)
	w.after(time.Minute)
	_, err = slow.Accept(ctx, token, w.now.Add(-time.Minute))
	require.ErrorIs(t, err, waitlist.ErrExpired)
	assert.Equal(t, waitlist.Invited, w.entry(people[1].Number).Status, "the spot has gone on")
	w.after(47*time.Hour + 58*time.Minute)
	_, err = fast.AcceptOwn(ctx, people[1].Number, w.now.Add(time.Minute))
	assert.NoError(t, err)
}
