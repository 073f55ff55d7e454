package memstore

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// measured is over how many whole minutes the rate of admissions is measured where
// sessions last so long.
func measured(session time.Duration) int {
	return min(max(queue.RateWaves*(1+int(session/time.Minute)), queue.MinMeasured), queue.MaxMeasured)
}

// rates are the admissions of the last whole minutes in which people waited throughout.
// Those of other minutes show how many came, not how many the room has space for.
type rates struct {
	minutes [queue.MaxMeasured]rate
	next    int
}

type rate struct {
	minute   queue.Instant
	admitted int
}

// close adds a minute that has passed, if people waited throughout.
func (r *rates) close(minute queue.Instant, admitted int, queueing bool) {
	if minute == 0 || !queueing {
		return
	}
	r.minutes[r.next] = rate{minute: minute, admitted: admitted}
	r.next = (r.next + 1) % queue.MaxMeasured
}

// mean returns the mean of the minutes measured before now. It is not known without such
// minutes, and zero if nobody was admitted in the last few of them.
func (r *rates) mean(now queue.Instant, session time.Duration) (perMinute float64, known bool) {
	total, late, n := 0, 0, 0
	for _, m := range r.minutes {
		if m.minute == 0 || m.minute < now.Add(-time.Duration(measured(session))*time.Minute) {
			continue
		}
		total += m.admitted
		n++
		if m.minute >= now.Add(-queue.Lull*time.Minute) {
			late += m.admitted
		}
	}
	if n == 0 {
		return 0, false
	}
	if n >= queue.Lull && late == 0 {
		return 0, true
	}
	return float64(total) / float64(n), true
}
