package endtoend_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// regulars are accepted visitors who ask all the time.
type regulars struct {
	mu     sync.Mutex
	took   []time.Duration // by each request since the last look
	faults []string
}

// regulars has n people enter, and ask at random gates until the crowd is over.
func (c *crowd) regulars(n int) *regulars {
	r := &regulars{}
	var entered sync.WaitGroup
	entered.Add(n)
	for i := range n {
		v := &visit{crowd: c, name: fmt.Sprintf("regular-%d", i)}
		c.people.Go(func() {
			a, err := v.ask(time.Now())
			assert.NoError(c.t, err)
			assert.True(c.t, a.in, "the room was empty")
			entered.Done()
			for v.pause(25 * time.Millisecond) {
				sent := time.Now()
				a, err := v.ask(sent)
				r.note(v, a, err, time.Since(sent))
			}
		})
	}
	entered.Wait()
	return r
}

func (r *regulars) note(v *visit, a reply, err error, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case v.ctx.Err() != nil:
	case err != nil:
		r.faults = append(r.faults, err.Error())
	case !a.in:
		r.faults = append(r.faults, v.name+" was sent out of the room")
	default:
		r.took = append(r.took, took)
	}
}

// times are what requests took: the median, and what one in a hundred exceeds.
type times struct{ median, p99 time.Duration }

// look waits for so many requests that begin now and returns what they took.
func (r *regulars) look(t *testing.T, requests int) times {
	t.Helper()
	r.mu.Lock()
	r.took = nil
	r.mu.Unlock()
	var took []time.Duration
	require.Eventually(t, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		took = slices.Clone(r.took)
		return len(took)+len(r.faults) >= requests
	}, patience, 10*time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Empty(t, r.faults, "accepted visitors notice nothing")
	require.NotEmpty(t, took)
	slices.Sort(took)
	return times{median: took[len(took)/2], p99: took[len(took)*99/100]}
}

// failing says whether all gates tell that the store fails, or that it does not.
func (s *nodes) failing(is bool) bool {
	metric, status := `fairdoor_store_failing{room="default"} 0`, `"ok"`
	if is {
		metric, status = `fairdoor_store_failing{room="default"} 1`, `"degraded"`
	}
	for _, g := range s.gates {
		if !strings.Contains(g.get("/readyz"), status) || !strings.Contains(g.get("/metrics"), metric) {
			return false
		}
	}
	return true
}

func TestAcceptedVisitorsDoNotNoticeThatTheStoreIsGone(t *testing.T) {
	for name, fault := range map[string]struct{ begin, end func(s *nodes) }{
		"it hangs":                  {func(s *nodes) { s.redis.Stop() }, func(s *nodes) { s.redis.Cont() }},
		"it ends and is back empty": {func(s *nodes) { s.redis.Kill() }, func(s *nodes) { s.redis.Restart(true) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := limits{active: 14, perMinute: 100_000, session: 3 * time.Second}
			s := serveNodes(t, 2, l)
			c := s.crowd()
			r := c.regulars(10)
			s.until("every gate has seen them", func() bool { return s.origin.seen() > 100 })
			before := r.look(t, 400)

			fault.begin(s)
			c.come("newcomer", 4, func(int) person { return person{} })
			s.until("readyz and metrics tell", func() bool { return s.failing(true) })
			for _, g := range s.gates {
				assert.Equal(t, 200, g.ready(), "others have the same store: the balancer is to go on")
			}
			s.until("newcomers are queued", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return len(c.waits) >= 4
			})
			during := r.look(t, 1600) // longer than a session
			c.mu.Lock()
			assert.Empty(t, c.admitted, "nobody new is let in")
			c.mu.Unlock()

			fault.end(s)
			s.until("it is told", func() bool { return s.failing(false) })
			after := r.look(t, 400)
			t.Logf("requests of accepted visitors took %v before, %v meanwhile, %v after", before, during, after)
			// A call to a store that hangs takes a tenth of a second, and more. The rest is what a busy machine does.
			assert.LessOrEqual(t, during.median, 2*before.median+5*time.Millisecond)
			assert.LessOrEqual(t, during.p99, before.p99+50*time.Millisecond)

			s.until("and the line moves again", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return len(c.admitted) == 4
			})
			c.end()
			c.noneLost()
			judgeLimits(t, s.origin.all(), l)
			for _, g := range s.gates {
				assert.Equal(t, 1, strings.Count(g.log.String(), `"msg":"store does not answer"`), "one line when it goes")
				assert.Equal(t, 1, strings.Count(g.log.String(), `"msg":"store answers again"`), "one line when it comes back")
			}
		})
	}
}

// In one run, the store hangs and answers in turns. What one accepted visitor in a
// hundred waits for grows by less than 5 ms: where the gates made them wait, they
// would in every turn, and a tenth of a second at least, whatever else the machine
// does in some.
func TestAcceptedVisitorsAreNoSlowerWhileTheStoreHangs(t *testing.T) {
	const turns, requests = 4, 500
	s := serveNodes(t, 2, limits{active: 14, perMinute: 100_000, session: 3 * time.Second})
	c := s.crowd()
	r := c.regulars(10)
	c.come("newcomer", 6, func(int) person { return person{every: 200 * time.Millisecond, browse: upTo(2 * time.Second)} })
	var calm, hanging [turns]time.Duration
	for i := range turns {
		calm[i] = r.look(t, requests).p99
		s.redis.Stop()
		s.until("the store does not answer", func() bool { return s.failing(true) })
		hanging[i] = r.look(t, requests).p99
		s.redis.Cont()
		s.until("the store answers", func() bool { return s.failing(false) })
	}
	c.end()
	slices.Sort(calm[:])
	slices.Sort(hanging[:])
	t.Logf("p99 of accepted visitors: %v while the store answers, %v while it hangs", calm, hanging)
	assert.LessOrEqual(t, hanging[0], calm[turns/2]+5*time.Millisecond)
}

// A gate that cannot reach its store at the start says so and ends: it would know
// neither who is in nor how it is configured. Those that run go on.
func TestGateDoesNotStartWithoutItsStore(t *testing.T) {
	t.Parallel()
	s := serveNodes(t, 1, limits{active: 5, perMinute: 100, session: 3 * time.Second})
	for name, fault := range map[string]struct{ begin, end func() }{
		"it hangs":        {s.redis.Stop, s.redis.Cont},
		"nobody is there": {s.redis.Kill, func() { s.redis.Restart(true) }},
	} {
		fault.begin()
		began := time.Now()
		late := newGate(t, s.gates[0].env, s.gates[0].args[7:]...) // without its own addresses and directory
		late.launch()
		assert.Equal(t, 1, late.exit(), name)
		assert.Regexp(t, `^(\{.*\n)*fairdoor: opening the store: .*\n$`, late.log.String(), name)
		assert.Less(t, time.Since(began), patience/2, name)
		s.until("the store does not answer", func() bool { return s.failing(true) })
		assert.Equal(t, 200, s.gates[0].ready(), name)
		fault.end()
		s.until("the store answers", func() bool { return s.failing(false) })
	}
	for line := range strings.Lines(s.gates[0].log.String()) {
		assert.True(t, json.Valid([]byte(line)), line)
	}
	assert.Equal(t, 2, strings.Count(s.gates[0].log.String(), "store does not answer"), "it is told once a fault")
}

// resumed is how soon people are let in again once a store is back that has
// forgotten everything: ten seconds are given to gates that say nothing.
const resumed = 12 * time.Second

func TestStoreThatForgetsEverythingLetsNobodyOverTheLimits(t *testing.T) {
	t.Parallel()
	l := limits{active: 20, perMinute: 100_000, session: 3 * time.Second}
	s := serveNodes(t, 3, l)
	c := s.crowd()
	c.come("visitor", 45, func(int) person { return person{delay: upTo(3 * time.Second), browse: upTo(2 * time.Second)} })
	// moves waits until somebody has been let in who asked from now on; all slots may be taken just now.
	moves := func(what string, within time.Duration) {
		t.Helper()
		from := time.Now()
		require.Eventually(t, func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, entered := range c.admitted {
				if entered.After(from) {
					return true
				}
			}
			return false
		}, within+l.session+settled, 10*time.Millisecond, what)
		t.Logf("%s after %v", what, time.Since(from).Round(10*time.Millisecond))
	}
	s.until("the room is full and the line moves", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.joined) == 45 && len(c.admitted) > l.active
	})
	s.redis.Do("FLUSHALL")
	moves("with all gates there somebody is let in again", 3*time.Second)

	s.only(s.gates[:2]...)
	c.breaking(true)
	s.gates[2].kill()
	s.redis.Restart(true)
	c.breaking(false)
	moves("with one gate gone as well somebody is let in again", resumed)
	c.over()
	c.noneLost()
	admissions := judgeLimits(t, s.origin.all(), l)
	judgeOrder(t, admissions, known(c.waits), c.joined, l, nil)
	assert.Len(t, c.admitted, 45)
}
