package simulate

import (
	"math"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
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

// ByTheArticle returns c with waits by the formula of the 2021 article: each minute somebody is let
// in with a chance of those who were let in during the last minute, divided by those who wait.
func ByTheArticle(c Config) Config {
	type sample struct {
		at    queue.Instant
		letIn int
	}
	var minute []sample
	c.estimate = func(r *run) estimate.Wait {
		minute = append(minute, sample{r.now, r.people.Admitted})
		for minute[0].at <= r.now.Add(-time.Minute) {
			minute = minute[1:]
		}
		letIn := r.people.Admitted - minute[0].letIn
		if letIn == 0 || r.inLine == 0 {
			return estimate.Wait{}
		}
		chance := min(float64(letIn)/float64(r.inLine), 1-1e-9)
		minutes := func(p float64) int { return int(max(1, math.Ceil(math.Log(1-p)/math.Log(1-chance)))) }
		return estimate.Wait{Known: true, Minutes: minutes(.5), P25: minutes(.25), P50: minutes(.5), P75: minutes(.75)}
	}
	return c
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
