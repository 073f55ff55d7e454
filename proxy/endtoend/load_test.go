package endtoend_test

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
