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
			for in := false; !in; { // at once, unless the machine is too busy for the store to answer in time
				a, err := v.ask(time.Now())
				assert.NoError(c.t, err)
				if in = a.in; !in && !v.pause(time.Second) {
					break
				}
			}
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
			// A call to a store that hangs takes a tenth of a second, and more. The rest is what a
			// busy machine does.
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
				gone, back := strings.Count(g.log.String(), `"msg":"store does not answer"`), strings.Count(g.log.String(), `"msg":"store answers again"`)
				assert.Equal(t, gone, back, "a line when it goes, and one when it comes back")
				assert.Contains(t, []int{1, 2, 3}, gone, "and not one for each of hundreds of calls that fail; on a busy machine the store is late once or twice by itself")
			}
		})
	}
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
		assert.Less(t, time.Since(began), patience, name)
		s.until("the store does not answer", func() bool { return s.failing(true) })
		assert.Equal(t, 200, s.gates[0].ready(), name)
		fault.end()
		s.until("the store answers", func() bool { return s.failing(false) })
	}
	for line := range strings.Lines(s.gates[0].log.String()) {
		assert.True(t, json.Valid([]byte(line)), line)
	}
	s.until("each loss is told once, and its end", func() bool {
		log := s.gates[0].log.String()
		away := strings.Count(log, "store does not answer")
		return away >= 2 && strings.Count(log, "store answers again") == away
	})
}
