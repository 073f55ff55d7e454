package simulate

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Start is when runs begin.
var Start = start

// ChiSquareTail is chiSquareTail.
var ChiSquareTail = chiSquareTail

// DrawArrivals is a pattern's draw.
func DrawArrivals(c Config) []time.Duration {
	return c.Arrivals.draw(c.Visitors, c.Over, random(c, streamCrowd))
}

// CheckLimits is what the limits make of requests that were let through.
func CheckLimits(s queue.Settings, requests func(letThrough func(queue.Instant, queue.ID))) Limits {
	l := newLimits(s)
	requests(func(now queue.Instant, id queue.ID) { l.letThrough(now, now, &queue.Ticket{ID: id}) })
	return l.result()
}

// WatchSlots is what the slots make of the statuses of a room.
func WatchSlots(s queue.Settings, course func(look func(queue.Instant, queue.Status, int))) Slots {
	w := slots{limits: s}
	course(func(now queue.Instant, status queue.Status, waiting int) { w.look(now, status, status.Active, waiting) })
	return w.result()
}

// DrawTest puts people of the given cohorts at risk, lets those in who win, and
// returns the test of the draw.
func DrawTest(people int, cohort func(i int) int, spams, wins func(i int) bool) (*Draw, float64) {
	c := Article()
	d := newDraw(&run{Config: c})
	crowd := make([]visitor, people)
	for i := range crowd {
		v := &crowd[i]
		v.arrived = start.Add(c.Over * time.Duration(cohort(i)) / cohorts)
		if spams(i) {
			v.kind = spamNewest
		}
		d.joined(start, v)
	}
	for i := range crowd {
		if wins(i) {
			d.wins(start.Add(90*time.Second), &crowd[i])
		}
	}
	d.advance(start.Add(3 * time.Minute))
	ratio, _ := d.odds.ratio()
	return d.result(), ratio
}
