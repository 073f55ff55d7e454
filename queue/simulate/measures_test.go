package simulate_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

func TestChiSquareTailAgreesWithTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x       float64
		freedom int
		p       float64
	}{
		{3.841, 1, .05}, {6.635, 1, .01}, {18.307, 10, .05}, {42.557, 29, .05}, {49.588, 29, .01}, {17.708, 29, .95},
		{0, 5, 1}, {7, 0, 1},
	} {
		assert.InDelta(t, c.p, simulate.ChiSquareTail(c.x, c.freedom), 1e-4, "%v with %d", c.x, c.freedom)
	}
}

func TestTheDrawIsJudgedAsItIs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	cohort := func(i int) int { return i % 30 }
	spams := func(i int) bool { return i%7 == 0 }
	small, trials := 0, 400
	for range trials {
		winners := rng.Perm(900)[:300]
		slices.Sort(winners)
		d, _ := simulate.DrawTest(900, cohort, spams, func(i int) bool {
			_, won := slices.BinarySearch(winners, i)
			return won
		})
		assert.Equal(t, 300, d.Winners)
		if d.P < .05 {
			small++
		}
	}
	assert.InDelta(t, .05*float64(trials), small, 20, "a fair draw without replacement is suspected one time in twenty")

	favoured, _ := simulate.DrawTest(9000, cohort, spams, func(i int) bool { return rng.Float64() < .1+.3*float64(i%30)/30 })
	assert.Less(t, favoured.P, 1e-6)
	_, odds := simulate.DrawTest(9000, cohort, spams, func(i int) bool {
		return spams(i) && rng.Float64() < .5 || rng.Float64() < .2
	})
	assert.InDelta(t, .6/.4/(.2/.8), odds, .8)
}

func TestLimitsAreCountedByWhatWasLetThrough(t *testing.T) {
	t.Parallel()
	s := queue.Settings{TotalActiveUsers: 2, NewUsersPerMinute: 3, SessionDuration: time.Minute}
	got := simulate.CheckLimits(s, func(letThrough func(queue.Instant, queue.ID)) {
		at := func(seconds int, id uint64) {
			var key queue.ID
			binary.BigEndian.PutUint64(key[:], id)
			letThrough(simulate.Start.Add(time.Duration(seconds)*time.Second), key)
		}
		at(0, 1)
		at(30, 1) // lasts until 90
		at(40, 2) // until 100
		at(89, 3) // one too many
		at(150, 4)
		at(151, 5)
		at(152, 6) // three of a minute, and again one too many
		at(215, 7)
		at(216, 1) // a new session
		at(217, 2)
		at(218, 3)
	})
	assert.Equal(t, simulate.Limits{MostActive: 4, MostPerMinute: 4, OverActive: 2, OverPerMinute: 1}, got)
}

func TestASlotIsIdleWhileSomebodyWaitsForIt(t *testing.T) {
	t.Parallel()
	s := queue.Settings{TotalActiveUsers: 3, NewUsersPerMinute: 2}
	got := simulate.WatchSlots(s, func(look func(queue.Instant, queue.Status, int)) {
		at := func(seconds, active, admitted, open, waiting int) {
			now := simulate.Start.Add(time.Duration(seconds) * time.Second)
			look(now, queue.Status{Now: now, Active: active, Admitted: admitted, Open: open}, waiting)
		}
		at(0, 0, 0, 2, 0)
		at(10, 0, 0, 2, 1) // one of them is wanted now
		at(14, 1, 1, 1, 0) // and taken after 4 s
		at(20, 1, 1, 1, 5)
		at(60, 1, 0, 2, 5) // nobody took the other: it lapsed after 40 s
		at(62, 3, 2, 0, 3) // both after 2 s
		at(70, 3, 2, 0, 3)
	})
	assert.InDelta(t, 2, got.IdleP50, 1e-9)
	assert.InDelta(t, 40, got.IdleMax, 1e-9)
	assert.InDelta(t, .5, got.LapsedShare, 1e-9)
	used, idle := 1.0*40+1*2+3*8, 4.0+40+2*2
	assert.InDelta(t, used/(used+idle), got.UsedShare, 1e-9)
}

func TestArrivalsComeInOrderAndInTime(t *testing.T) {
	t.Parallel()
	within := map[simulate.Arrivals]time.Duration{simulate.Uniform: time.Hour, simulate.Burst: 36 * time.Second,
		simulate.Spike: time.Hour, simulate.Ramp: time.Hour, simulate.Poisson: 2 * time.Hour}
	for pattern, end := range within {
		c := simulate.Config{Visitors: 1000, Over: time.Hour, Arrivals: pattern}
		at := simulate.DrawArrivals(c)
		assert.Len(t, at, 1000)
		assert.True(t, slices.IsSorted(at))
		assert.GreaterOrEqual(t, at[0], time.Duration(0))
		assert.LessOrEqual(t, at[999], end, pattern.String())
	}
	spike := simulate.DrawArrivals(simulate.Config{Visitors: 1000, Over: time.Hour, Arrivals: simulate.Spike})
	middle := 0
	for _, at := range spike {
		if at >= 29*time.Minute && at < 31*time.Minute {
			middle++
		}
	}
	assert.InDelta(t, 517, middle, 30)

	var a simulate.Arrivals
	assert.NoError(t, a.UnmarshalText([]byte("spike")))
	assert.Equal(t, simulate.Spike, a)
	assert.ErrorContains(t, a.UnmarshalText([]byte("flood")), `unknown arrival pattern "flood"`)
}
