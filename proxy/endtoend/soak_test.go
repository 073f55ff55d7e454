//go:build soak

package endtoend_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRandomRoomGivesNothingToWhoAsksMoreOften(t *testing.T) {
	t.Parallel()
	l := limits{active: 10, perMinute: 100_000, session: time.Second}
	g, log := serveLimits(t, l, "--queueing-method", "random")
	c := newCrowd(t, g.url, l)
	const polite, spammers, drawn = 90, 30, 60
	soon := func() time.Duration { return upTo(time.Second) }
	c.come("polite", polite, func(int) person { return person{delay: soon()} })
	c.come("spammer", spammers, func(i int) person {
		return person{delay: soon(), every: 100 * time.Millisecond, replay: i%2 == 0}
	})
	g.until("enough have been let in", func() bool { return log.seen() >= l.active+drawn })
	c.end()

	admissions := judgeLimits(t, log.all(), l)
	won, of := 0, 0
	for _, a := range admissions {
		if a.sent.After(c.joined[a.visitor]) { // from the line, and not as the first to come
			of++
			if strings.HasPrefix(a.visitor, "spammer") {
				won++
			}
		}
	}
	require.GreaterOrEqual(t, of, drawn/2)
	// Drawn without replacement: the hypergeometric distribution.
	const people = polite + spammers
	share := float64(spammers) / people
	mean := float64(of) * share
	deviation := math.Sqrt(mean * (1 - share) * (people - float64(of)) / (people - 1))
	t.Logf("of %d who were drawn %d asked all the time; %.1f ± %.1f would be fair", of, won, mean, deviation)
	assert.LessOrEqual(t, float64(won), mean+4*deviation)
}

func TestAllowanceOfTheMinuteSurvivesCrashes(t *testing.T) {
	t.Parallel()
	l := limits{active: 1000, perMinute: 24, session: time.Minute}
	g, log := serveLimits(t, l)
	c := newCrowd(t, g.url, l)
	c.come("visitor", 80, func(int) person { return person{delay: upTo(3 * time.Second)} })
	for _, admitted := range []int{8, 16} {
		g.until("some have been let in", func() bool { return log.seen() >= admitted })
		c.breaking(true)
		g.kill()
		g.start()
		c.breaking(false)
	}
	g.until("all of the allowance is used", func() bool { return log.seen() >= l.perMinute })
	g.until("everyone else has asked in vain", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.joined) == 80 && len(c.waits) > 200
	})
	c.end()
	judgeLimits(t, log.all(), l)
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
