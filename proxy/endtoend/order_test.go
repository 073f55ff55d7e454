//go:build soak

package endtoend_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// told are flags by which a crowd has the default intervals and buckets.
var told = []string{"--bucket", "0s", "--refresh-interval", "20s", "--refresh-jitter", ".15"}

// A crowd that comes at once, and keeps to the intervals that it is told, is let in in the order in
// which it came.
func TestABurstIsLetInInItsOrderAtTwoGates(t *testing.T) {
	t.Parallel()
	l := limits{active: 60, perMinute: 100_000, session: 4 * time.Second}
	s := serveNodes(t, 2, l, told...)
	comesAtOnce(t, s.crowd(), s.origin, 250, 40*time.Millisecond, l.session+2*time.Second) // for which the store waits for reports
}

// comesAtOnce has people come, one after another, to a room that holds a slot for so long.
func comesAtOnce(t *testing.T, c *crowd, log *journal, people int, gap, slot time.Duration) {
	t.Helper()
	c.come("one", people, func(i int) person { return person{delay: time.Duration(i) * gap} })
	c.over()
	c.noneLost()
	admissions := judgeLimits(t, log.all(), c.limits)
	require.Equal(t, people, len(admissions), "people who were let in") //nolint:testifylint // the list is long
	tenSeconds := int(10 * time.Second * time.Duration(c.limits.active) / slot)
	judgeBurst(t, admissions, c.joined, tenSeconds)

	took, least := admissions[people-1].seen.Sub(admissions[0].seen), slot*time.Duration(people)/time.Duration(c.limits.active)
	t.Logf("all were in after %v; %v if no slot were ever open", took, least)
	assert.Less(t, took, 2*least, "slots are used")
}

// judgeBurst asserts that few were let in in another order than that of their arrival, and nobody
// while more people waited who had come before than a bound.
func judgeBurst(t *testing.T, admissions []admission, joined map[string]time.Time, bound int) {
	t.Helper()
	opposite, most := 0, 0
	for i, a := range admissions {
		before := 0
		for _, later := range admissions[i+1:] {
			if joined[later.visitor].Before(joined[a.visitor]) {
				before++
			}
		}
		opposite, most = opposite+before, max(most, before)
	}
	pairs := len(admissions) * (len(admissions) - 1) / 2
	tau := 1 - 2*float64(opposite)/float64(pairs)
	t.Logf("Kendall tau is %.3f; somebody was let in before %d who had come earlier", tau, most)
	assert.Greater(t, tau, .8, "in a crowd as small as this, a second in another order is much")
	assert.LessOrEqual(t, most, bound)
}
