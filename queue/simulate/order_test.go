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

// burst is a crowd of 5,000 who come within a minute to a room that lets 300 in a minute.
func burst(total int) simulate.Config {
	c := simulate.Article()
	c.Visitors, c.Over = 5000, time.Minute
	c.Room.TotalActiveUsers, c.Room.NewUsersPerMinute = total, 300
	return c
}

// waves is a crowd of 5,000 who come within a minute to a room whose slots are for a fixed time,
// and come free as they were taken.
func waves(total int, session time.Duration) simulate.Config {
	c := burst(total)
	c.Room.NewUsersPerMinute, c.Room.SessionDuration, c.Room.DisableSessionRenewal, c.Browse = 5000, session, true, session*3/4
	return c
}

func arriving(a simulate.Arrivals) simulate.Config {
	c := simulate.Article()
	c.Visitors, c.Arrivals = 3000, a
	return c
}

// A crowd that comes at once is let in in the order in which it came, without that slots stay
// empty: with any limits, at one gate and at three. Nobody gets ahead of more people than are
// admitted in ten seconds.
func TestABurstIsLetInInItsOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config simulate.Config
		nodes  int
		giveUp float64
	}{
		{"few slots", burst(300), 1, 0},
		{"few slots, and half give up", burst(300), 3, .5},
		{"some slots", burst(1000), 3, 0},
		{"some slots, and half give up", burst(1000), 1, .5},
		{"slots for everyone", burst(5000), 1, 0},
		{"all at once", arriving(simulate.Burst), 3, 0},
		{"a spike", arriving(simulate.Spike), 1, 0},
		{"slots that come free in a wave", waves(500, 100*time.Second), 1, 0},
		{"slots that come free in a large wave", waves(1000, 200*time.Second), 3, 0},
		{"a spike, and half give up", arriving(simulate.Spike), 3, .5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.config.GiveUp, c.config.Seed = c.giveUp, uint64(len(t.Name()))
			if c.nodes > 1 {
				c.config.Nodes, c.config.StoreLatency = c.nodes, 2*time.Millisecond
			}
			holdsOrder(t, c.config)
		})
	}
}

// keepsInOrder requires that nobody was let in before more people who had come earlier than are
// admitted in ten seconds on the average. Visitors are told whole seconds: where slots come free in
// a wave, those of one second come in any order.
func keepsInOrder(t *testing.T, r *simulate.Result) {
	t.Helper()
	assert.LessOrEqual(t, float64(r.Order.MostOvertaken), max(r.Order.AdmittedPerMinute/6, float64(r.Order.MostPerSecond)),
		"%.1f seconds of admissions", r.Order.OvertakenSeconds)
}

// The allowance says nothing of the pace of a room whose slots hold people up.
func TestThePaceIsThatOfTheAdmissionsFromTheLine(t *testing.T) {
	t.Parallel()
	r := run(t, queue.FIFO, func(c *simulate.Config) {
		c.Visitors, c.Over, c.Room.TotalActiveUsers, c.Room.NewUsersPerMinute = 300, time.Minute, 50, 1000
	})
	first, last, waited := time.Hour, time.Duration(0), 0
	for a := range r.Admissions() {
		if a.Waited > 0 {
			first, last, waited = min(first, a.Arrived), max(last, a.Arrived+a.Waited), waited+1
		}
	}
	assert.InEpsilon(t, float64(waited)/(last-first).Minutes(), r.Order.AdmittedPerMinute, .01)
	assert.InEpsilon(t, float64(r.Order.MostOvertaken)/(r.Order.AdmittedPerMinute/60), r.Order.OvertakenSeconds, 1e-9)
}

func TestABurstIsLetInInTheOrderOfAnExactLine(t *testing.T) {
	t.Parallel()
	c := burst(1000)
	c.Room.Method, c.Seed = queue.Line, 20
	holdsOrder(t, c)
}

func holdsOrder(t *testing.T, c simulate.Config) {
	t.Helper()
	r, err := simulate.Run(context.Background(), c)
	require.NoError(t, err)
	tau, used := .99, .99
	if c.GiveUp > 0 {
		tau, used = .98, .97
	}
	assert.GreaterOrEqual(t, r.Order.Tau, tau, "Kendall tau")
	assert.GreaterOrEqual(t, r.Slots.UsedShare, used, "of the slot-time")
	keepsInOrder(t, r)
	assert.Less(t, r.Slots.LapsedShare, .01, "of the allowance")
	assert.Zero(t, r.Limits.OverActive+r.Limits.OverPerMinute+r.Limits.OutOfTurn)
	if r.Sharing != nil {
		assert.Less(t, r.Sharing.Calls.PerNode, 3., "calls to the store a second and node")
	}
}

// What a pacing is shows in when those who wait are let in within a minute.
func TestAMinutesAllowanceIsTakenAsThePacingReleasesIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method       queue.Method
		pacing, want queue.Pacing
		first        float64 // of those who are let in in a minute, in its first quarter
	}{
		"random by itself":   {queue.Random, queue.PacingAuto, queue.PacingRandom, .25},
		"random at once":     {queue.Random, queue.PacingMinute, queue.PacingMinute, 1},
		"fifo by itself":     {queue.FIFO, queue.PacingAuto, queue.PacingEarly, 1},
		"fifo bit by bit":    {queue.FIFO, queue.PacingEven, queue.PacingEven, .25},
		"fifo at any moment": {queue.FIFO, queue.PacingRandom, queue.PacingRandom, .25},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := burst(10_000)
			config.Visitors = 3000
			config.Room.Method, config.Room.Pacing = c.method, c.pacing
			r, err := simulate.Run(t.Context(), config)
			require.NoError(t, err)
			assert.Equal(t, c.want, r.Slots.Pacing)
			assert.InDelta(t, c.first, r.Slots.ByQuarter[0], .08)
			assert.InDelta(t, (1-c.first)/3, r.Slots.ByQuarter[2], .04)
		})
	}
}
