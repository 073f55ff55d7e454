//go:build soak

package endtoend_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// resumed is how soon people are let in again once a store is back that has
// forgotten everything: ten seconds are given to gates that say nothing.
const resumed = 12 * time.Second

func TestStoreThatForgetsEverythingLetsNobodyOverTheLimits(t *testing.T) {
	t.Parallel()
	l := limits{active: 20, perMinute: 100_000, session: 3 * time.Second}
	s := serveNodes(t, 3, l)
	c := s.crowd()
	c.come("visitor", 45, func(int) person { return person{delay: upTo(3 * time.Second), browse: upTo(2 * time.Second)} })
	// moves waits until somebody has been let in who asked from now on; all slots may be taken just
	// now.
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

func TestAGateIsReplacedUnderTwentyThousandRequests(t *testing.T) { replaceInAllWays(t, 20_000) }
