package simulate_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// crowds are ways for people to come, with limits that hold them up differently.
var crowds = []struct {
	name   string
	change func(*simulate.Config)
}{
	{"evenly", func(*simulate.Config) {}},
	{"by chance, at three gates", func(c *simulate.Config) {
		c.Arrivals, c.Nodes, c.StoreLatency = simulate.Poisson, 3, 2*time.Millisecond
	}},
	{"in a burst, at three gates", func(c *simulate.Config) {
		c.Arrivals, c.Nodes, c.StoreLatency = simulate.Burst, 3, 2*time.Millisecond
	}},
	{"in a spike", func(c *simulate.Config) { c.Arrivals = simulate.Spike }},
	{"ever more", func(c *simulate.Config) { c.Arrivals = simulate.Ramp }},
	{"evenly, while the limits change", func(c *simulate.Config) {
		c.Changes = []simulate.Change{
			{After: 12 * time.Minute, Setting: "total_active_users", Value: "120"},
			{After: 25 * time.Minute, Setting: "new_users_per_minute", Value: "30"},
		}
	}},
}

// coming has the i-th of the crowds come. In random it is larger: its waits are then long enough
// that the whole minutes, which are rounded up, do not matter.
func coming(method queue.Method, i int) func(*simulate.Config) {
	return func(c *simulate.Config) {
		c.Seed = 2024 + uint64(i)
		if method.Draws() {
			c.Seed, c.Visitors = 2026+uint64(i), 5000
		}
		crowds[i].change(c)
	}
}

// told is what became of the i-th of the crowds, which comes once for all tests.
func told(t *testing.T, method queue.Method, i int) *simulate.Result {
	t.Helper()
	once, _ := allTold.LoadOrStore([2]int{int(method), i}, sync.OnceValue(func() *simulate.Result {
		return run(t, method, coming(method, i))
	}))
	return once.(func() *simulate.Result)()
}

// allTold are the runs of told, by method and crowd.
var allTold sync.Map

func TestWaitsAndPlacesThatAreToldComeTrueWhereOrderIsKept(t *testing.T) {
	t.Parallel()
	for i, crowd := range crowds {
		for _, method := range []queue.Method{queue.FIFO, queue.Line} {
			t.Run(fmt.Sprintf("%s %s", method, crowd.name), func(t *testing.T) {
				t.Parallel()
				r := told(t, method, i)
				assert.LessOrEqual(t, r.ToldLater.ErrorShare, .15)
				assert.InDelta(t, 0, r.ToldLater.BiasShare, .1)
				assert.Positive(t, r.Places.Shown)
				assert.GreaterOrEqual(t, r.Places.Within10s, .95)
				assert.LessOrEqual(t, float64(r.Places.WronglyFirst), .001*float64(r.Places.Shown))
			})
		}
	}
}

// 67 people a second come, and five are let in: gates hear of each other's newcomers soon enough to
// tell the next their places.
func TestPlacesThatNewcomersAreToldInABurstAreRightAtSeveralGates(t *testing.T) {
	t.Parallel()
	for nodes, least := range map[int]float64{1: .99, 2: .95, 3: .95} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			t.Parallel()
			c := burst(5000)
			c.Visitors, c.Nodes, c.Seed = 4000, nodes, uint64(nodes)
			if nodes > 1 {
				c.StoreLatency = 2 * time.Millisecond
			}
			r, err := simulate.Run(t.Context(), c)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, r.Places.FirstWithin10s, least, "of the first answers")
			assert.GreaterOrEqual(t, r.Places.Within10s, least, "of all answers")
			if nodes == 1 {
				assert.LessOrEqual(t, math.Round(r.Places.MostRose*r.Order.AdmittedPerMinute/60), 1., "people by whom a place rose, by rounding")
			}
			assert.LessOrEqual(t, r.Places.MostRose, 10., "seconds of admissions by which a place rose")
			if r.Sharing != nil {
				assert.LessOrEqual(t, r.Sharing.Calls.PerNode, 3., "calls to the store a second and node")
			}
		})
	}
}

func TestPercentilesThatAreToldComeTrueInRandom(t *testing.T) {
	t.Parallel()
	for i, crowd := range crowds {
		t.Run(crowd.name, func(t *testing.T) {
			t.Parallel()
			r := told(t, queue.Random, i)
			assertComeTrue(t, r.ToldLater.Range)
			// Most newcomers could not know of limits that came later, and of a burst everybody
			// comes before a wait is known.
			if r.ToldAtFirst.Outdated == 0 && r.ToldAtFirst.Shown > 0 {
				assertComeTrue(t, r.ToldAtFirst.Range)
			}
		})
	}
}

// The formula knows the last minute and who waits; the room also knows whom it will let in when,
// and how many are still coming.
func TestPercentilesAreTruerThanByTheFormulaOfTheArticle(t *testing.T) {
	t.Parallel()
	for i, crowd := range crowds {
		if crowd.name != "evenly" && crowd.name != "in a spike" {
			continue
		}
		t.Run(crowd.name, func(t *testing.T) {
			t.Parallel()
			off := func(r *simulate.Result) float64 {
				told := r.ToldLater.Range
				t.Logf("%.1f %.1f %.1f", 100*told.By25, 100*told.By50, 100*told.By75)
				return math.Abs(told.By25-.25) + math.Abs(told.By50-.5) + math.Abs(told.By75-.75)
			}
			formula := run(t, queue.Random, func(c *simulate.Config) {
				coming(queue.Random, i)(c)
				*c = simulate.ByTheArticle(*c)
			})
			assert.Less(t, off(told(t, queue.Random, i)), off(formula))
		})
	}
}

// Of those who come to a room that has let nobody in before, half are let in within the minute that
// they are told first, or before it, and half in it or later, to 5 points, where people look around
// for a third as long as is guessed, or for up to three times as long. Where all come at once,
// nobody can know, and nobody is told.
func TestFirstWaitsComeTrueAtAColdStart(t *testing.T) {
	t.Parallel()
	const people = 2000
	for name, comes := range map[string]func(i int, chance float64) time.Duration{
		"all at once": func(_ int, chance float64) time.Duration { return time.Duration(chance * float64(20*time.Second)) },
		"in waves": func(i int, chance float64) time.Duration {
			return time.Duration(i%5)*5*time.Minute + time.Duration(chance*float64(20*time.Second))
		},
		"within 12 minutes": func(_ int, chance float64) time.Duration { return time.Duration(chance * float64(12*time.Minute)) },
		"within 25 minutes": func(_ int, chance float64) time.Duration { return time.Duration(chance * float64(25*time.Minute)) },
	} {
		for i, looks := range []time.Duration{20 * time.Second, time.Minute, 3 * time.Minute} { // a minute is guessed
			nodes := 1 + i
			t.Run(fmt.Sprintf("%s, looking around for %v, gates: %d", name, looks, nodes), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(1, 7))
				stays := make([]simulate.Stay, people)
				for i := range stays {
					stays[i] = simulate.Stay{At: comes(i, rng.Float64()).Truncate(time.Millisecond),
						For: time.Duration(rng.ExpFloat64() * float64(looks)).Truncate(time.Millisecond)}
				}
				slices.SortFunc(stays, func(a, b simulate.Stay) int { return cmp.Compare(a.At, b.At) })
				c := simulate.Article().Replay(stays)
				if c.Nodes = nodes; nodes > 1 {
					c.StoreLatency = 2 * time.Millisecond
				}
				r, err := simulate.Run(t.Context(), c)
				require.NoError(t, err)
				told := &r.ToldAtFirst
				if name == "all at once" {
					assert.Zero(t, told.Shown, "people who are told by a guess")
					return
				}
				t.Logf("%d told, %.2f in time, %.2f sooner", told.Shown, told.InTime, told.Sooner)
				assert.Greater(t, told.Shown, 200)
				assert.GreaterOrEqual(t, told.InTime, .45, "by the minutes that they were told")
				assert.LessOrEqual(t, told.Sooner, .55, "a minute before, or sooner")
			})
		}
	}
}

// Of 5,000 who come within a minute and whom only new_users_per_minute holds up, as many are let in
// by the percentiles that they are told first, to 6 points: nobody can know for how long a crowd
// will go on coming.
func TestFirstPercentilesComeTrueInABurst(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{1, 3} {
		c := burst(5000)
		c.Room.Method, c.Nodes, c.StoreLatency = queue.Random, nodes, time.Duration(nodes-1)*time.Millisecond
		r, err := simulate.Run(t.Context(), c)
		require.NoError(t, err)
		first := r.ToldAtFirst.Range
		assert.InDelta(t, .25, first.By25, .06, "gates: %d", nodes)
		assert.InDelta(t, .5, first.By50, .06, "gates: %d", nodes)
		assert.InDelta(t, .75, first.By75, .06, "gates: %d", nodes)
		assert.Greater(t, r.ToldAtFirst.Shown, 4000, "gates: %d", nodes)
	}
}

func assertComeTrue(t *testing.T, r *simulate.Range) {
	t.Helper()
	assert.InDelta(t, .25, r.By25, .05)
	assert.InDelta(t, .5, r.By50, .05)
	assert.InDelta(t, .75, r.By75, .05)
}

func TestAChangeThatCannotBeMadeIsReported(t *testing.T) {
	t.Parallel()
	for text, problem := range map[string]string{
		"10m:queueing_method=line":    "queueing_method is not a setting that can be changed in a simulation",
		"10m:nonsense=1":              "nonsense is not a setting",
		"10m:total_active_users=0":    "at least 1",
		"-10m:total_active_users=100": "must be after the start",
	} {
		c := simulate.Article()
		c.Changes = make([]simulate.Change, 1)
		assert.NoError(t, c.Changes[0].UnmarshalText([]byte(text)))
		assert.ErrorContains(t, c.Validate(), problem, text)
	}
	for _, text := range []string{"total_active_users=100", "10m:total_active_users", "soon:total_active_users=100"} {
		assert.Error(t, new(simulate.Change).UnmarshalText([]byte(text)), text)
	}
}
