package simulate_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// slowSite is a crowd that is too large for its origin, which the limits alone would let in.
func slowSite() simulate.Config {
	c := simulate.Article()
	c.Visitors, c.Over, c.Browse = 6000, 15*time.Minute, 2*time.Minute
	c.Room.TotalActiveUsers, c.Room.NewUsersPerMinute, c.Room.SessionDuration = 2000, 1000, 30*time.Second
	c.OriginCapacity, c.OriginLatency = 150, 100*time.Millisecond
	return c
}

func TestAdmissionControlHoldsTheLatencyOfAnOriginThatGetsSlow(t *testing.T) {
	t.Parallel()
	c := slowSite()
	open, err := simulate.Run(context.Background(), c)
	require.NoError(t, err)
	assert.Greater(t, open.Origin.P95, .6)
	assert.InDelta(t, 1, open.Origin.LowestFactor, 0)

	const bound = 400 * time.Millisecond
	c.Room.AdmissionControlLatency = bound
	for _, at := range []struct {
		method queue.Method
		nodes  int
	}{{queue.FIFO, 1}, {queue.FIFO, 4}, {queue.Random, 4}, {queue.Line, 4}} {
		c.Room.Method, c.Nodes = at.method, at.nodes
		r, err := simulate.Run(context.Background(), c)
		require.NoError(t, err)
		assert.LessOrEqual(t, r.Origin.P95, 1.05*bound.Seconds(), "%v at %d nodes", at.method, at.nodes)
		assert.Greater(t, r.Origin.P95, .75*bound.Seconds(), "no more is held back than is needed")
		assert.Less(t, r.Origin.OverShare, .3)
		assert.Less(t, r.Origin.Worst, 1.5*bound.Seconds())
		assert.Greater(t, r.Origin.LowestFactor, 0.)
		assert.Greater(t, r.Origin.LastFactor, 10*r.Origin.LowestFactor, "it recovers")
		assert.Equal(t, c.Visitors, r.People.Admitted, "everybody gets in")
		assert.Zero(t, r.People.Interrupted, "sessions that exist are not touched")
		assert.Zero(t, max(r.Limits.OverActive, r.Limits.OverPerMinute))
		assert.Less(t, r.ToldLater.Unknown, r.ToldLater.Shown/10, "the waits are known once it has been slow twice")
		if at.method == queue.Random {
			assert.InDelta(t, .5, r.ToldLater.InTime, .15)
			continue
		}
		assert.Greater(t, r.ToldLater.InTime, .5)
		assert.LessOrEqual(t, r.ToldLater.ErrorShare, .15)
		assert.InDelta(t, 0, r.ToldLater.BiasShare, .1)
	}
}
