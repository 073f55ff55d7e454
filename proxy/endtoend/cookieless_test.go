//go:build soak

package endtoend_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestWhoKeepsNoCookiesHoldsNobodyUp has clients without cookies fill an empty room,
// leave a burst of places in its exact line behind them, and go on asking. Visitors who
// come once the slots are free again are in after an interval, as in fifo.
func TestWhoKeepsNoCookiesHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	l := limits{active: 10, perMinute: 100_000, session: 2 * time.Second}
	for store, begin := range map[string]func(t *testing.T, flags ...string) (*crowd, *journal){
		"in memory": func(t *testing.T, flags ...string) (*crowd, *journal) {
			g, log := serveLimits(t, l, flags...)
			return newCrowd(t, g.url, l), log
		},
		"in Redis": func(t *testing.T, flags ...string) (*crowd, *journal) {
			s := serveNodes(t, 2, l, flags...)
			return s.crowd(), s.origin
		},
	} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			c, log := begin(t, "--queueing-method", "line")
			once := func(delay time.Duration) person {
				return person{delay: delay, every: 2 * patience, forget: true}
			}
			c.come("burst", 200, func(int) person { return once(upTo(2 * time.Second)) })
			c.come("drip", 20, func(i int) person { return once(time.Duration(i) * time.Second) })
			// The slots are given away for a session, two seconds of slack and some syncs.
			free := 6 * time.Second
			c.come("visitor", 6, func(i int) person { return person{delay: free + time.Duration(i)*300*time.Millisecond} })
			assert.Eventually(t, func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return len(c.entered("visitor")) == 6
			}, patience, 50*time.Millisecond)
			c.end()
			for name, took := range c.entered("visitor") {
				assert.Less(t, took, 3*time.Second, "%s was kept out", name)
			}
			judgeLimits(t, log.all(), l)
		})
	}
}

// entered tells how long those of a kind who are in have waited. The caller holds mu
// while people come.
func (c *crowd) entered(kind string) map[string]time.Duration {
	took := map[string]time.Duration{}
	for name, at := range c.admitted {
		if len(name) > len(kind) && name[:len(kind)] == kind {
			took[name] = at.Sub(c.joined[name])
		}
	}
	return took
}
