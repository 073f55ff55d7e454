package endtoend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serveLimits starts a gate with the limits in front of a journal.
func serveLimits(t *testing.T, l limits, flags ...string) (*gate, *journal) {
	t.Helper()
	log := &journal{}
	origin := httptest.NewServer(log)
	t.Cleanup(origin.Close)
	return serve(t, nil, append([]string{
		"--origin", origin.URL, "--total-active-users", fmt.Sprint(l.active), "--new-users-per-minute", fmt.Sprint(l.perMinute),
		"--session-duration", l.session.String(), "--refresh-interval", "1s", "--refresh-jitter", "0", "--bucket", "1s",
		"--queue-ticket-ttl", "1m",
	}, flags...)...), log
}

func upTo(d time.Duration) time.Duration { return rand.N(d) }

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

func TestCrashLosesNobodysPlace(t *testing.T) {
	t.Parallel()
	l := limits{active: 15, perMinute: 100_000, session: 2 * time.Second}
	g, log := serveLimits(t, l)
	c := newCrowd(t, g.url, l)
	c.come("early", 60, func(int) person { return person{delay: upTo(1500 * time.Millisecond), browse: upTo(time.Second)} })
	g.until("a line has formed and moves", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.joined) == 60 && len(c.admitted) > l.active
	})
	c.breaking(true)
	crashed := time.Now()
	g.kill()
	g.start()
	back := time.Now()
	c.breaking(false)
	c.come("late", 15, func(int) person { return person{delay: upTo(time.Second)} })
	c.over()
	c.noneLost()

	settled := back.Add(2 * time.Second) // everyone who waits has asked again
	admissions := judgeLimits(t, log.all(), l)
	judgeOrder(t, admissions, c.waits, c.joined, l, func(at time.Time) bool { return at.After(crashed) && at.Before(settled) })
	assert.Len(t, c.admitted, 75)
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
