package memstore

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pacing"
)

// allowance is what is left of new_users_per_minute, and how fast people were admitted.
type allowance struct {
	minute   queue.Instant // the calendar minute
	admitted int           // in it
	idle     bool          // nobody waited at some moment of it
	rates    rates
	slow     pacing.Slow
	pacer    pacing.Pacer
}

// begin begins a minute that has begun since the last one, in whole.
func (a *allowance) begin(minute queue.Instant) {
	if minute == a.minute {
		return
	}
	a.rates.close(a.minute, a.admitted, !a.idle)
	a.minute, a.admitted, a.idle = minute, 0, false
}

// take counts so many admissions, or takes back as many.
func (a *allowance) take(visitors int) {
	a.admitted += visitors
	a.slow.Take(visitors)
}

// left is how many may be admitted now, if so many have been used, and when more may be. Once
// nobody waits any more, the whole allowance is there: that is at empties at the earliest, which is
// nil for a caller who does not ask when.
func (a *allowance) left(s *queue.Settings, used int, now queue.Instant, waiting bool, empties func() queue.Instant) (visitors int, more queue.Instant) {
	released, more := a.pacer.Released(*s, now, waiting)
	if released < s.Allowance() && empties != nil {
		more = min(more, empties())
	}
	return a.slow.Limit(released-used, more)
}

// rate is how many people a minute were admitted in the last whole minutes in which people waited,
// of sessions that last so long.
func (a *allowance) rate(session time.Duration) (perMinute float64, known bool) {
	return a.rates.mean(a.minute, session)
}

// expected is the rate, or without one what the limits allow.
func (a *allowance) expected(s *queue.Settings, session time.Duration) float64 {
	if perMinute, known := a.rate(session); known {
		return perMinute
	}
	return s.AllowedRate(session)
}

// used is how many admissions of this minute count: those that are known, and if the journal was
// lost in it, as many as there may have been before. Each slot can have been given away once, and
// again after each session duration.
func (a *allowance) used(s *queue.Settings, lost queue.Instant, slack time.Duration) int {
	if lost == 0 || lost < a.minute {
		return a.admitted
	}
	times := 1 + int(lost.Sub(a.minute)/max(time.Second, s.SessionLasts(slack)))
	return a.admitted + min(s.Allowance(), s.Slots()*times)
}
