package simulate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// run simulates the article's experiment with changes, and checks what must
// hold in every one.
func run(t *testing.T, method queue.Method, change func(*simulate.Config)) *simulate.Result {
	t.Helper()
	c := simulate.Article()
	c.Room.Method = method
	c.Visitors = 3000 // enough for the shapes, with most of an hour of queueing
	change(&c)
	r, err := simulate.Run(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, r.People.People, r.People.Admitted+r.People.GaveUp+r.People.Rejected, "everybody's story ends")
	assert.Zero(t, r.Limits.OverActive)
	assert.Zero(t, r.Limits.OverPerMinute)
	assert.Zero(t, r.Limits.OutOfTurn)
	return r
}

// byArrival returns people's waits in minutes, by the minute of their arrival.
func byArrival(r *simulate.Result) [][]float64 {
	waits := make([][]float64, 30)
	for a := range r.Admissions() {
		minute := int(a.Arrived / time.Minute)
		waits[minute] = append(waits[minute], a.Waited.Minutes())
	}
	for _, w := range waits {
		slices.Sort(w)
	}
	return waits
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// correlation is Pearson's, of values with their index.
func correlation(values []float64) float64 {
	var xy, xx, yy float64
	mx, my := float64(len(values)-1)/2, mean(values)
	for i, v := range values {
		dx, dy := float64(i)-mx, v-my
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	return xy / math.Sqrt(xx*yy)
}

func TestInFIFOTheWaitGrowsLinearlyWithTheArrivalMinute(t *testing.T) {
	t.Parallel()
	for name, spoofed := range map[string]bool{"uniform": false, "spoofed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, queue.FIFO, func(c *simulate.Config) { c.Spoofed = spoofed })
			var means []float64
			for minute, waits := range byArrival(r) {
				means = append(means, mean(waits))
				spread := waits[len(waits)*95/100] - waits[len(waits)*5/100]
				assert.Less(t, spread, .1*r.Wait.Max/60, "people of minute %d get in together", minute)
			}
			assert.Greater(t, correlation(means), .99)
			// Slots may be open to two buckets at once; those of the later one
			// then need not wait for the last of the earlier.
			assert.Greater(t, r.Order.TauBuckets, .995)
			assert.Greater(t, r.Order.Tau, .95)
			assert.Nil(t, r.Draw)
		})
	}
}

func TestInLineEverybodyGetsInInOrderOfArrival(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*simulate.Config){
		"all stay":         func(*simulate.Config) {},
		"some leave":       func(c *simulate.Config) { c.GiveUp, c.Patience = .3, 2*time.Minute },
		"with spammers":    func(c *simulate.Config) { c.Spammers, c.Bots = .1, .05 },
		"on several gates": func(c *simulate.Config) { c.Nodes, c.StoreLatency = 3, 2*time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, queue.Line, func(c *simulate.Config) {
				c.Visitors = 2000
				change(c)
			})
			assert.Greater(t, r.Order.Tau, .98, "two whose turn has come get in as they check in")
		})
	}
	one := run(t, queue.Line, func(c *simulate.Config) {
		c.Visitors, c.Room.TotalActiveUsers, c.Room.SessionDuration, c.Browse = 200, 1, 10*time.Second, time.Second
	})
	assert.Greater(t, one.Order.Tau, .999, "with one slot at a time, but for those who come while nobody waits")
}

func TestInRandomTheWaitDoesNotDependOnTheArrivalMinute(t *testing.T) {
	t.Parallel()
	r := run(t, queue.Random, func(c *simulate.Config) { c.Spoofed = true })
	thenDark(t, r)
	assert.InDelta(t, 0, r.Order.Tau, .03)
	assert.Greater(t, r.Draw.P, 1e-4)
	assert.InDelta(t, 29, r.Draw.Freedom, 0)
	var means []float64
	for _, waits := range byArrival(r) {
		means = append(means, mean(waits))
	}
	for minute, m := range means {
		assert.InDelta(t, mean(means), m, .25*mean(means), "minute %d", minute)
	}
}

// thenDark checks for the article's heat map: hot colours along the lowest wait,
// very dark ones in wait buckets 1 and 2, a second wave, and a dark bucket 5.
func thenDark(t *testing.T, r *simulate.Result) {
	t.Helper()
	var waves [6]int
	cohorts := map[time.Duration]bool{}
	for a := range r.Admissions() {
		if minute := int(a.Waited / time.Minute); minute < len(waves) {
			waves[minute]++
			if minute == 0 {
				cohorts[a.Arrived.Truncate(time.Minute)] = true
			}
		}
	}
	assert.Greater(t, waves[0], 190)
	assert.Greater(t, len(cohorts), 25, "of nearly every arrival minute")
	assert.Less(t, waves[1]+waves[2], 20)
	assert.Greater(t, waves[3]+waves[4], 180)
	assert.Less(t, waves[5], 20)
}

func TestHalfTheWaitersWalkingAwayLeavesHardlyASlotIdle(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*simulate.Config){
		"without a goodbye":   func(c *simulate.Config) { c.Goodbye = 0 },
		"half with a goodbye": func(c *simulate.Config) { c.Goodbye = .5 },
		"impatient":           func(c *simulate.Config) { c.Goodbye, c.Patience = 0, time.Minute },
		"held by the allowance": func(c *simulate.Config) {
			c.Goodbye, c.Room.TotalActiveUsers, c.Room.NewUsersPerMinute = 0, 10_000, 60
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, queue.FIFO, func(c *simulate.Config) {
				c.Visitors, c.GiveUp, c.Patience = 4500, .6, 2*time.Minute
				change(c)
			})
			assert.InDelta(t, .5, float64(r.People.GaveUp)/float64(r.People.People), .06)
			assert.Less(t, r.Slots.LapsedShare, .03)
			if r.Limits.MostActive == 200 { // an allowance that comes all at once takes a moment to be used
				assert.Greater(t, r.Slots.UsedShare, .97)
			}
			const interval, longest, slack = 20.0, 23.0, 2.5
			assert.LessOrEqual(t, r.Slots.IdleP50, interval)
			assert.LessOrEqual(t, r.Slots.IdleMax, 2*(longest+slack))
		})
	}
}

func TestAskingMoreOftenGainsNothing(t *testing.T) {
	t.Parallel()
	for _, method := range []queue.Method{queue.FIFO, queue.Random} {
		t.Run(method.String(), func(t *testing.T) {
			t.Parallel()
			r := run(t, method, func(c *simulate.Config) { c.Spammers, c.Seed = .2, 2 })
			require.NotNil(t, r.Spammers)
			assert.Greater(t, r.Spammers.Admitted, 400)
			assert.Less(t, r.Spammers.OddsRatio, 1.1)
		})
	}
}

func TestBotsTakeNoSlotFromPeopleWhoWait(t *testing.T) {
	t.Parallel()
	r := run(t, queue.Random, func(c *simulate.Config) { c.Visitors, c.Bots = 2000, .3 })
	assert.Greater(t, r.People.BotRequests, 20_000)
	assert.Less(t, r.People.BotAdmissions, 200, "before the line forms, and no more")
}

func TestPassthroughLetsEveryoneInAndRejectNobody(t *testing.T) {
	t.Parallel()
	in := run(t, queue.Passthrough, func(*simulate.Config) {})
	assert.Equal(t, 3000, in.People.Admitted)
	assert.Zero(t, in.Wait.Max)
	out := run(t, queue.Reject, func(*simulate.Config) {})
	assert.Equal(t, 3000, out.People.Rejected)
}

func TestARecordedCrowdComesAndStaysAsItDid(t *testing.T) {
	t.Parallel()
	c := simulate.Article().Replay([]simulate.Stay{{At: 0, For: 30 * time.Second}, {At: 10 * time.Second}, {At: 59 * time.Second, For: time.Minute}})
	c.Room.SessionDuration, c.Room.ConfirmWithin, c.Room.TotalActiveUsers = 4*time.Second, time.Second, 1
	r, err := simulate.Run(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, 3, r.People.Admitted)
	assert.Zero(t, r.People.Interrupted, "sessions are renewed, however short they are")
	arrivals, waits := []float64{}, []float64{}
	for _, v := range r.Visits {
		arrivals, waits = append(arrivals, v.Arrived.Seconds()), append(waits, v.Waited.Seconds())
	}
	assert.Equal(t, []float64{0, 10, 59}, arrivals)
	assert.Zero(t, waits[0])
	assert.InDelta(t, 30+4-10, waits[1], 25, "until the first has gone, at their next check-in")
	assert.Greater(t, waits[1], 23.)
	assert.InDelta(t, 119, r.LastedSeconds, 1)

	c.Stays = c.Stays[:2]
	require.ErrorContains(t, c.Validate(), "arrivals is recorded")
}

func TestASessionShorterThanAPageViewEndsWhileBrowsing(t *testing.T) {
	t.Parallel()
	r := run(t, queue.FIFO, func(c *simulate.Config) {
		c.Room.SessionDuration, c.Visitors, c.Room.TotalActiveUsers = time.Second, 400, 1
	})
	assert.Positive(t, r.People.Interrupted)
}

func TestEveryArrivalPatternComesToAnEnd(t *testing.T) {
	t.Parallel()
	for _, pattern := range []simulate.Arrivals{simulate.Uniform, simulate.Poisson, simulate.Burst, simulate.Spike, simulate.Ramp} {
		t.Run(pattern.String(), func(t *testing.T) {
			t.Parallel()
			for _, spoofed := range []bool{false, true} {
				run(t, queue.FIFO, func(c *simulate.Config) { c.Arrivals, c.Visitors, c.Spoofed = pattern, 500, spoofed })
			}
		})
	}
}

func TestTheSameSeedGivesTheSameResult(t *testing.T) {
	t.Parallel()
	written := func(seed uint64) string {
		c := simulate.Article()
		c.Visitors, c.Over, c.GiveUp, c.Bots, c.Spammers, c.Seed, c.Room.Method = 400, 5*time.Minute, .2, .05, .1, seed, queue.Random
		c.Room.TotalActiveUsers, c.Room.NewUsersPerMinute = 50, 50
		r, err := simulate.Run(t.Context(), c)
		require.NoError(t, err)
		out, err := json.Marshal(r)
		require.NoError(t, err)
		var text bytes.Buffer
		require.NoError(t, simulate.WriteSummary(&text, c, []*simulate.Result{r}))
		return string(out) + text.String()
	}
	once, again := written(1), written(1)
	assert.Equal(t, once, again)
	assert.NotEqual(t, written(1), written(2))
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := simulate.Article()
	c.Progress = func(done, total int) {
		assert.Equal(t, c.Visitors, total)
		if done > 100 {
			cancel()
		}
	}
	_, err := simulate.Run(ctx, c)
	require.ErrorIs(t, err, context.Canceled)
}

func TestProgressEndsWithEveryone(t *testing.T) {
	t.Parallel()
	last := -1
	run(t, queue.FIFO, func(c *simulate.Config) {
		c.Visitors = 300
		c.Progress = func(done, _ int) {
			assert.GreaterOrEqual(t, done, last)
			last = done
		}
	})
	assert.Equal(t, 300, last)
}

func TestValidateNamesEveryFault(t *testing.T) {
	t.Parallel()
	good := simulate.Article()
	require.NoError(t, good.Validate())
	for fault, change := range map[string]func(*simulate.Config){
		"total_active_users is 0":                     func(c *simulate.Config) { c.Room.TotalActiveUsers = 0 },
		"queue_all is on":                             func(c *simulate.Config) { c.Room.QueueAll = true },
		"visitors is 0":                               func(c *simulate.Config) { c.Visitors = 0 },
		"arrivals is unknown":                         func(c *simulate.Config) { c.Arrivals = 99 },
		"over is 0s":                                  func(c *simulate.Config) { c.Over = 0 },
		"browse is -1s":                               func(c *simulate.Config) { c.Browse = -time.Second },
		"give_up is 1.5":                              func(c *simulate.Config) { c.GiveUp = 1.5 },
		"give_up is NaN":                              func(c *simulate.Config) { c.GiveUp = math.NaN() },
		"patience is 0s":                              func(c *simulate.Config) { c.GiveUp, c.Patience = .5, 0 },
		"goodbye is 2":                                func(c *simulate.Config) { c.Goodbye = 2 },
		"bots is 1: must leave":                       func(c *simulate.Config) { c.Bots = 1 },
		"spammers is 0.6: must leave":                 func(c *simulate.Config) { c.Bots, c.Spammers = .5, .6 },
		"spam_rate is 1":                              func(c *simulate.Config) { c.Spammers, c.SpamRate = .1, 1 },
		"nodes is 0":                                  func(c *simulate.Config) { c.Nodes = 0 },
		"store_latency is 1s":                         func(c *simulate.Config) { c.StoreLatency = time.Second },
		"node_deaths is 1: needs":                     func(c *simulate.Config) { c.NodeDeaths = 1 },
		"store_failures is -1":                        func(c *simulate.Config) { c.StoreFailures = -1 },
		"on_store_error is open":                      func(c *simulate.Config) { c.StoreFailures, c.Room.OnStoreError = 1, queue.AdmitAll },
		"latency is 1m0s":                             func(c *simulate.Config) { c.Latency = time.Minute },
		"refresh_interval is 1ms, which is too short": func(c *simulate.Config) { c.Room.RefreshInterval = time.Millisecond },
	} {
		c := good
		change(&c)
		require.ErrorContains(t, c.Validate(), fault)
		_, err := simulate.Run(t.Context(), c)
		require.ErrorContains(t, err, fault)
	}
}

func BenchmarkSimulate(b *testing.B) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random} {
		b.Run(method.String(), func(b *testing.B) {
			c := simulate.Article()
			c.Room.Method = method
			requests := 0
			for b.Loop() {
				r, err := simulate.Run(b.Context(), c)
				require.NoError(b, err)
				requests += r.People.Requests
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests), "ns/request")
		})
	}
}
