package simulate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// What gates say themselves of the waits that they told is judged by what the same crowd was told
// and waited.
func TestGatesScoreTheirWaitsAsTheyWere(t *testing.T) {
	t.Parallel()
	for i, crowd := range crowds {
		for _, method := range []queue.Method{queue.FIFO, queue.Line, queue.Random} {
			t.Run(fmt.Sprintf("%s %s", method, crowd.name), func(t *testing.T) {
				t.Parallel()
				r := told(t, method, i)
				if method.KeepsOrder() && r.ToldAtFirst.Shown == 0 { // all came before a wait was known
					r = run(t, method, func(c *simulate.Config) {
						coming(method, i)(c)
						c.Room.TotalActiveUsers = 2000
					})
				}
				truth, score := r.ToldAtFirst, r.Score
				if truth.Shown == 0 { // all came before a wait was known
					assert.Zero(t, score.Visitors)
					return
				}
				share := func(n int) float64 { return float64(n) / float64(score.Visitors) }
				assert.Greater(t, share(score.Near), .25, "the alert FairdoorWaitsNotTrue is about worse days")
				if truth.Outdated > 0 {
					return // the truth leaves out what was told before the limits changed
				}
				within := .03
				if r.Sharing != nil {
					within = .06 // in a burst, visitors may have been told otherwise at the gate that they came to
				}
				assert.InEpsilon(t, truth.Shown, score.Visitors, .03)
				assert.InDelta(t, truth.InTime, share(score.InTime), within)
				if truth.Range != nil {
					assert.InDelta(t, truth.Range.By25, share(score.By25), within)
					assert.InDelta(t, truth.Range.By75, share(score.By75), within)
				}
			})
		}
	}
}
