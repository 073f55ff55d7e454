package waitlist_test

import (
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// rush does several things at once, each in several goroutines on two nodes, so often each.
func rush(times int, nodes []*waitlist.List, things ...func(l *waitlist.List)) {
	var running sync.WaitGroup
	for _, thing := range things {
		for _, l := range nodes {
			running.Go(func() {
				for range times {
					thing(l)
				}
			})
		}
	}
	running.Wait()
}

// Invariants W1 to W3 and W8 hold while sign-ups, releases, expiries, accepts and leaves come at
// the same time from two nodes.
func TestTheInvariantsHoldInARush(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		limits := settings(unconfirmed, capacity(15))
		w := newWorld(t, name, limits)
		nodes := []*waitlist.List{w.List, w.node(limits)}
		w.people(40)
		var hours, joined atomic.Int64
		now := func() time.Time { return start.Add(time.Duration(hours.Load()) * time.Hour) }
		some := func(l *waitlist.List, status waitlist.Status) int64 {
			page, err := l.Entries(ctx, waitlist.Search{Status: status, Most: 20})
			assert.NoError(t, err)
			if len(page.Entries) == 0 {
				return 0
			}
			return page.Entries[rand.IntN(len(page.Entries))].Number
		}
		rush(12, nodes,
			func(*waitlist.List) { w.holds(t, limits.Capacity) },
			func(l *waitlist.List) {
				_, err := l.Join(ctx, waitlist.SignUp{Email: email(1000 + int(joined.Add(1)))}, now())
				fine(t, err)
			},
			func(l *waitlist.List) { _, err := l.Release(ctx, 7, operator, now()); fine(t, err) },
			func(l *waitlist.List) { hours.Add(3); _, err := l.Sweep(ctx, now()); fine(t, err) },
			func(l *waitlist.List) {
				_, err := l.AcceptOwn(ctx, some(l, waitlist.Invited), now())
				fine(t, err, waitlist.ErrExpired, waitlist.ErrNotFound, waitlist.ErrUsed)
			},
			func(l *waitlist.List) { fine(t, l.Leave(ctx, some(l, waitlist.Accepted), now()), waitlist.ErrNotFound) },
		)
		w.now = now()
		w.sweep()
		w.release(limits.Capacity)
		w.holds(t, limits.Capacity)
		assert.Equal(t, limits.Capacity, w.number(`SELECT held FROM waitlists`))
		ended := w.number(`SELECT COUNT(*) FROM spots WHERE state IN ('expired', 'freed')`)
		assert.Positive(t, ended)
		assert.Equal(t, limits.Capacity+ended, w.number(`SELECT COUNT(*) FROM spots`), "W3: as many were released as the capacity and what has ended")
		for _, l := range nodes {
			require.NoError(t, l.Follow(ctx))
			w.ranksAreRight(t, l)
		}
	})
}

func TestOfTwoHundredParallelAcceptsOneSucceeds(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed, capacity(1)))
		w.people(3)
		w.release(1)
		token := w.token(email(0), waitlist.MailInvite)
		nodes := []*waitlist.List{w.List, w.node(settings(unconfirmed, capacity(1)))}
		var accepted, used atomic.Int64
		var running sync.WaitGroup
		for i := range 200 {
			running.Go(func() {
				switch _, err := nodes[i%2].Accept(ctx, token, w.now); {
				case err == nil:
					accepted.Add(1)
				case assert.ErrorIs(t, err, waitlist.ErrUsed):
					used.Add(1)
				}
			})
		}
		running.Wait()
		assert.EqualValues(t, 1, accepted.Load())
		assert.EqualValues(t, 199, used.Load())
		w.holds(t, 1)
	})
}

// Invariant W5, when retries come at the same time.
func TestParallelSignUpsOfOneAddressMakeOneEntry(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		nodes := []*waitlist.List{w.List, w.node(settings(unconfirmed))}
		numbers := sync.Map{}
		rush(10, nodes, func(l *waitlist.List) {
			p, err := l.Join(ctx, waitlist.SignUp{Email: "Ada@Example.com"}, w.now)
			if assert.NoError(t, err) {
				numbers.Store(p.Number, true)
			}
		})
		count := 0
		numbers.Range(func(any, any) bool { count++; return true })
		assert.Equal(t, 1, count)
		assert.Equal(t, 1, w.number(`SELECT COUNT(*) FROM entries`))
	})
}

func TestWhenTheDiskIsFullWhatWasAcknowledgedStaysAndNothingElse(t *testing.T) {
	w := newWorld(t, sqliteFile(t), settings(unconfirmed))
	require.NoError(t, w.LimitPages(20))
	acknowledged := map[string]bool{}
	var mu sync.Mutex
	var refused, n atomic.Int64
	rush(100, []*waitlist.List{w.List, w.List}, func(l *waitlist.List) {
		address := email(int(n.Add(1)))
		_, err := l.Join(ctx, waitlist.SignUp{Email: address}, w.now)
		if err != nil {
			refused.Add(1)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		acknowledged[address] = true
	})
	require.NotEmpty(t, acknowledged)
	require.Positive(t, refused.Load(), "the disk was not full")
	on := map[string]bool{}
	page, err := w.Entries(ctx, waitlist.Search{Most: 1000})
	require.NoError(t, err)
	for _, e := range page.Entries {
		on[e.Email] = true
	}
	assert.Equal(t, acknowledged, on)
	require.NoError(t, w.LimitPages(1000))
	w.join(waitlist.SignUp{Email: "after@example.com"})
	w.holds(t, 1)
}

func TestNodesThatStartAtTheSameTimeMakeTheTablesOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		var running sync.WaitGroup
		for range 5 {
			running.Go(func() {
				store, err := waitlist.Open(ctx, name)
				if assert.NoError(t, err) {
					_, err = store.List(ctx, "beta", settings())
					assert.NoError(t, err)
					assert.NoError(t, store.Close())
				}
			})
		}
		running.Wait()
		w := newWorld(t, name, settings(unconfirmed))
		migrations, err := filepath.Glob("migrations/*.sql")
		require.NoError(t, err)
		assert.Equal(t, len(migrations), w.number(`SELECT COUNT(*) FROM waitlist_migrations`))
		assert.Equal(t, 1, w.join(waitlist.SignUp{Email: "ada@example.com"}).Rank)
	})
}
