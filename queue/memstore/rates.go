package memstore

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// The admissions per minute are taken over so many whole minutes: several session
// durations, for people leave in the waves in which they came.
const (
	leastMeasured = queue.MinMeasured
	mostMeasured  = queue.MaxMeasured
	waves         = queue.RateWaves
)

func measured(session time.Duration) int {
	return min(max(waves*(1+int(session/time.Minute)), leastMeasured), mostMeasured)
}

// lull is how many minutes without an admission make the past say nothing of the
// wait.
const lull = queue.Lull

// rates are the admissions of the last whole minutes in which people waited
// throughout: others say what came, not what fits.
type rates struct {
	minutes [mostMeasured]rate
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
	r.next = (r.next + 1) % mostMeasured
}

// mean returns the mean of the last minutes before now, by how long sessions last;
// none if nobody was admitted in the last of them.
func (r *rates) mean(now queue.Instant, session time.Duration) (perMinute float64, known bool) {
	total, late, n := 0, 0, 0
	for _, m := range r.minutes {
		if m.minute == 0 || m.minute < now.Add(-time.Duration(measured(session))*time.Minute) {
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
