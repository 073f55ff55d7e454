package memstore

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// measured is how many whole minutes the admissions per minute are taken over.
const measured = 5

// rates are the admissions of the last whole minutes in which people waited
// throughout: others say what came, not what fits.
type rates struct {
	minutes [measured]rate
	next    int
}

type rate struct {
	minute   queue.Instant
	admitted int
}

// close notes a minute that has passed; one that was not queueing throughout
// says nothing.
func (r *rates) close(minute queue.Instant, admitted int, queueing bool) {
	if minute == 0 || !queueing {
		return
	}
	r.minutes[r.next] = rate{minute: minute, admitted: admitted}
	r.next = (r.next + 1) % measured
}

// mean returns the mean of the measured minutes that are not long past now.
func (r *rates) mean(now queue.Instant) (perMinute float64, known bool) {
	total, n := 0, 0
	for _, m := range r.minutes {
		if m.minute >= now.Add(-measured*time.Minute) && m.minute != 0 {
			total += m.admitted
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return float64(total) / float64(n), true
}
