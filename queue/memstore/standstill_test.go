package memstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestAGateThatCrashesInAHoldLosesNobody(t *testing.T) {
	s, hold := settings(), settings()
	s.OnSoldOut, hold.OnSoldOut, hold.HoldActive = queue.CloseToAll, queue.CloseToAll, queue.HoldNow
	g := run(t, t.TempDir(), s, 0)
	g.enter(1)
	g.at(10 * time.Second)
	g.configure(hold)
	g.sync(queue.Report{Stock: queue.Stock{At: g.now, Left: 0, Items: `[{}]`}})
	g.at(time.Hour)
	assert.Equal(t, 1, g.look().Active)
	after := g.crashes(hold, 2*time.Hour)
	v := after.look()
	assert.Equal(t, 1, v.Active)
	assert.Equal(t, 0, v.Stock.Left)
	assert.True(t, v.Stock.Known(), "what is left outlives the crash")
	assert.Equal(t, queue.Items(`[{}]`), v.Stock.Items)
	after.at(3 * time.Hour)
	after.configure(s)
	assert.Equal(t, 1, after.look().Active)
	again := after.crashes(s, 3*time.Hour+time.Second)
	assert.Equal(t, 1, again.look().Active)
	again.at(3*time.Hour + 2*time.Minute)
	assert.Zero(t, again.look().Active)
}

func TestAGateThatCrashesAfterAHoldKnowsWhenFixedSessionsEnd(t *testing.T) {
	s := settings()
	s.DisableSessionRenewal = true
	hold := s
	hold.HoldActive = queue.HoldNow
	g := run(t, t.TempDir(), s, 0)
	g.enter(1)
	g.configure(hold)
	g.look()
	g.at(time.Hour)
	g.configure(s)
	g.look()
	for _, at := range []time.Duration{time.Hour + 5*time.Second, time.Hour + 10*time.Second} {
		g = g.crashes(s, at)
		require.Equal(t, 1, g.look().Active)
	}
	g.at(time.Hour + s.SessionDuration - time.Millisecond)
	assert.Equal(t, 1, g.look().Active)
	g.at(time.Hour + s.SessionDuration)
	assert.Zero(t, g.look().Active)
}
