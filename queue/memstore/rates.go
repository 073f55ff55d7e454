package memstore

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// measured is how many whole minutes the admissions per minute are taken over:
// several session durations, as a rule, for people leave in the waves in which
// they came.
const measured = 15

// lull is how many minutes without an admission make the past say nothing of the
// wait.
const lull = 5

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

// mean returns the mean of the measured minutes that are not long past now; none
// if nobody was admitted in the last of them.
func (r *rates) mean(now queue.Instant) (perMinute float64, known bool) {
	total, late, n := 0, 0, 0
	for _, m := range r.minutes {
		if m.minute == 0 || m.minute < now.Add(-measured*time.Minute) {
			continue
		}
		total += m.admitted
		n++
		if m.minute >= now.Add(-lull*time.Minute) {
			late += m.admitted
		}
	}
	if n == 0 {
		return 0, false
	}
	if n >= lull && late == 0 {
		return 0, true
	}
	return float64(total) / float64(n), true
}
