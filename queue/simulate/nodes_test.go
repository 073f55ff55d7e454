package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// share simulates nodes that share a store: the article's experiment in half the time, with twice
// the slots.
func share(t *testing.T, nodes int, change func(*simulate.Config)) *simulate.Result {
	t.Helper()
	c := simulate.Article()
	c.Visitors, c.Nodes, c.StoreLatency = 2000, nodes, 5*time.Millisecond
	c.Over, c.Room.TotalActiveUsers, c.Room.NewUsersPerMinute = 15*time.Minute, 400, 400
	if change != nil {
		change(&c)
	}
	r, err := simulate.Run(t.Context(), c)
	require.NoError(t, err)
	require.NotNil(t, r.Sharing)
	assert.Equal(t, r.People.People, r.People.Admitted+r.People.GaveUp, "everybody's story ends")
	assert.Zero(t, r.People.Interrupted)
	return r
}

func TestNodesThatShareAStoreNeverLetTooManyIn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*simulate.Config){
		"in fifo":         func(*simulate.Config) {},
		"in random":       func(c *simulate.Config) { c.Room.Method = queue.Random },
		"at sticky nodes": func(c *simulate.Config) { c.Sticky = true },
		"held by the allowance": func(c *simulate.Config) {
			c.Room.TotalActiveUsers, c.Room.NewUsersPerMinute = 10_000, 120
		},
		"with a slow store": func(c *simulate.Config) { c.StoreLatency = 200 * time.Millisecond },
		"all coming at once, some leaving": func(c *simulate.Config) {
			c.Spoofed, c.GiveUp, c.Bots, c.Spammers = true, .2, .05, .1
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, nodes := range []int{3, 10} {
				r := share(t, nodes, change)
				assert.Zero(t, r.Limits.OverActive, "%d nodes", nodes)
				assert.Zero(t, r.Limits.OverPerMinute, "%d nodes", nodes)
				assert.Zero(t, r.Sharing.FailedCalls)
				assert.Greater(t, r.Slots.UsedShare, .94)
				assert.Less(t, r.Slots.LapsedShare, .03)
			}
		})
	}
}

// A slot is idle from the end of its session, as the visitor was told it, until somebody has it.
// Where order is kept, that has to be the next in line, who comes to the second; that holds while
// many wait.
func TestSlotsAreGivenOnSoonAfterTheirSessionsEnd(t *testing.T) {
	t.Parallel()
	for method, median := range map[queue.Method]float64{queue.FIFO: 1, queue.Line: 1, queue.Random: .5} {
		for _, nodes := range []int{1, 20} {
			t.Run(fmt.Sprintf("%s at %d gates", method, nodes), func(t *testing.T) {
				t.Parallel()
				c := simulate.Article()
				c.Room.Method, c.Visitors, c.Over, c.Nodes, c.StoreLatency = method, 1500, 10*time.Minute, nodes, 2*time.Millisecond
				r, err := simulate.Run(t.Context(), c)
				require.NoError(t, err)
				assert.Zero(t, r.Limits.OverActive)
				assert.Zero(t, r.Limits.OverPerMinute)
				assert.LessOrEqual(t, r.Slots.IdleP50, median)
			})
		}
	}
}

// Somebody who asks ten times an interval, and most often with an old ticket, is
// at a node that does not know them each time if nothing keeps them at one.
func TestAskingAtManyNodesGainsNothingWhereVisitorsAreKeptAtOne(t *testing.T) {
	t.Parallel()
	odds := func(sticky bool) float64 {
		r := share(t, 10, func(c *simulate.Config) {
			c.Over, c.Room.TotalActiveUsers, c.Room.NewUsersPerMinute = 30*time.Minute, 200, 200
			c.Visitors, c.Room.Method, c.Spammers, c.Sticky = 3000, queue.Random, .2, sticky
		})
		require.NotNil(t, r.Spammers)
		assert.Greater(t, r.Spammers.Admitted, 400)
		t.Logf("sticky %t: odds %.3f, p %.3g", sticky, r.Spammers.OddsRatio, r.Spammers.P)
		return r.Spammers.OddsRatio
	}
	assert.Less(t, odds(true), 1.1)
	assert.Less(t, odds(false), 1.5, "a ticket tells each node when its next check-in is due")
}

// A node that dies takes what it has not reported with it: the last requests of
// visitors who then ask no more end their sessions later by the origin's log than
// by the store. Few of those whom it had not reported ask no more.
func TestNodesThatDieGiveAwayNoMoreThanTheyHadNotReported(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{3, 20} {
		for seed := range uint64(2) {
			r := share(t, nodes, func(c *simulate.Config) { c.NodeDeaths, c.Seed = 20, seed })
			assert.Equal(t, 20, r.Sharing.NodeDeaths)
			assert.Positive(t, r.Sharing.LostRenewals)
			assert.LessOrEqual(t, r.Limits.OverActive, min(2, r.Sharing.LostRenewals))
			assert.Zero(t, r.Limits.OverPerMinute)
			assert.Greater(t, r.Slots.UsedShare, .95)
		}
	}
}

func TestStoreThatFailsLetsNobodyInTooMany(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{1, 3, 20} {
		r := share(t, nodes, func(c *simulate.Config) { c.StoreFailures = 10 })
		assert.Equal(t, 10, r.Sharing.StoreFailures)
		assert.Positive(t, r.Sharing.FailedCalls)
		assert.Zero(t, r.Limits.OverActive)
		assert.Zero(t, r.Limits.OverPerMinute)
	}
}

func TestCallsToTheStoreDoNotGrowWithTheCrowd(t *testing.T) {
	t.Parallel()
	for _, method := range []queue.Method{queue.FIFO, queue.Random} {
		r := share(t, 2, func(c *simulate.Config) {
			c.Visitors, c.Over, c.Room.Method = 10_000, time.Minute, method
			c.Room.TotalActiveUsers, c.Room.NewUsersPerMinute = 7_000, 4_000
			c.Room.Pacing = queue.PacingEven
		})
		assert.LessOrEqual(t, r.Sharing.Calls.MostPerNode, 25, method)
		assert.Greater(t, r.Sharing.Calls.MostPerNode, 10, "slots come free all the time")
	}
}

func TestTheSameSeedGivesTheSameResultOnManyNodes(t *testing.T) {
	t.Parallel()
	written := func(seed uint64) string {
		r := share(t, 7, func(c *simulate.Config) {
			c.Visitors, c.Over, c.NodeDeaths, c.StoreFailures, c.Seed = 600, 5*time.Minute, 3, 2, seed
		})
		out, err := json.Marshal(r)
		require.NoError(t, err)
		return string(out)
	}
	once, again := written(1), written(1)
	assert.Equal(t, once, again)
	assert.NotEqual(t, written(1), written(2))
}

// With so slow a store, most nodes die while a call of theirs is under way.
func TestWhoseNodeDiesAsksAnotherOnce(t *testing.T) {
	t.Parallel()
	r := share(t, 5, func(c *simulate.Config) { c.NodeDeaths, c.StoreLatency = 100, 500*time.Millisecond })
	assert.Equal(t, 100, r.Sharing.NodeDeaths)
	assert.Greater(t, r.Sharing.LostRequests, 20)
}

// Requests that wait as their node dies, or as the run ends, end with it.
func TestNoRequestOutlivesItsRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // fails if anything is left
		ctx, cancel := context.WithCancel(t.Context())
		c := simulate.Article()
		c.Visitors, c.Over, c.Nodes, c.StoreLatency, c.NodeDeaths = 600, time.Minute, 3, 200*time.Millisecond, 5
		c.Progress = func(done, _ int) {
			if done > 100 {
				cancel()
			}
		}
		_, err := simulate.Run(ctx, c)
		require.ErrorIs(t, err, context.Canceled)
	})
}
