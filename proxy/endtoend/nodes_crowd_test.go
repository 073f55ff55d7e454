package endtoend_test

import (
	"math/rand/v2"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestKilledGateTakesNobodysPlaceAlong(t *testing.T) {
	t.Parallel()
	l := limits{active: 20, perMinute: 100_000, session: 3 * time.Second}
	s := serveNodes(t, 3, l)
	c := s.crowd()
	c.come("early", 40, func(int) person { return person{delay: upTo(1500 * time.Millisecond), browse: upTo(2 * time.Second)} })
	s.until("a line has formed and moves", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.joined) == 40 && len(c.admitted) > l.active
	})
	c.breaking(true)
	killed := time.Now()
	victim := s.gates[rand.N(len(s.gates))]
	victim.kill()
	var left []*gate
	for _, g := range s.gates {
		if g != victim {
			left = append(left, g)
		}
	}
	s.only(left...)
	// Whoever asked the dead one last asks another.
	seen := s.origin.seen()
	s.until("the others go on", func() bool { return s.origin.seen() > seen+5 })
	c.breaking(false)
	c.come("late", 10, func(int) person { return person{delay: upTo(time.Second)} })
	c.over()
	c.noneLost()
	admissions := judgeLimits(t, s.origin.all(), l)
	// What only the dead one knew is known again once everyone has asked.
	asked := killed.Add(settled + 1500*time.Millisecond)
	judgeOrder(t, admissions, known(c.waits), c.joined, l, func(at time.Time) bool { return at.After(killed) && at.Before(asked) })
	assert.Len(t, c.admitted, 50)
}

// restart ends a gate as a balancer has time for that checks it, and starts it with a program.
func (s *nodes) restart(g *gate, program string) {
	s.t.Helper()
	told := time.Now()
	g.signal(syscall.SIGTERM)
	g.until("it says that it is not ready", func() bool { return g.ready() == http.StatusServiceUnavailable })
	resp, err := http.Get(g.url)
	if assert.NoError(s.t, err, "and it still accepts") {
		resp.Body.Close()
	}
	assert.Zero(s.t, g.exit())
	assert.GreaterOrEqual(s.t, time.Since(told), 500*time.Millisecond)
	g.program = program
	g.start()
	s.until("the balancer sends it visitors again", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.ready) == len(s.gates)
	})
}

func TestRollingRestartLosesNoPlaceAndNoRequest(t *testing.T) {
	t.Parallel()
	l := limits{active: 20, perMinute: 100_000, session: 3 * time.Second}
	s := serveNodes(t, 2, l, "--drain-delay", "500ms", "--shutdown-grace", "5s")
	s.check(50 * time.Millisecond)
	c := s.crowd()
	c.come("visitor", 35, func(int) person { return person{delay: upTo(2 * time.Second), browse: upTo(3 * time.Second)} })
	c.come("spammer", 5, func(int) person { return person{delay: upTo(2 * time.Second), every: 50 * time.Millisecond} })
	s.until("a line has formed", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.joined) >= 35
	})
	for _, g := range s.gates {
		s.restart(g, "")
	}
	c.over()
	c.noneLost()
	admissions := judgeLimits(t, s.origin.all(), l)
	judgeOrder(t, admissions, known(c.waits), c.joined, l, nil)
	assert.Len(t, c.admitted, 40)
}
