package queue

import (
	"math/bits"
	"time"
)

// leastJitter is the least jitter of the refresh intervals in Random. Without any,
// slots and check-ins could come in one rhythm, in which some are always just too
// late for a slot and others just in time.
const leastJitter = .15

// intervals are the refresh intervals to draw from: from least to most, in steps.
// They are whole seconds where there are several of these, since visitors are told
// whole seconds, and whoever keeps to an interval that was rounded up checks in
// less often than who asks all the time. In Random, where each check-in is a
// chance, there are always several.
func (s *Settings) intervals() (least, most, step time.Duration) {
	spread := time.Duration(float64(s.RefreshInterval) * s.RefreshJitter).Truncate(time.Millisecond)
	if s.Method == Random {
		spread = max(spread, time.Duration(float64(s.RefreshInterval)*leastJitter), time.Second)
	}
	least, most = s.RefreshInterval-spread, s.RefreshInterval+spread
	if first, last := max(Told(least), time.Second), most.Truncate(time.Second); first < last {
		return first, last, time.Second
	}
	return least, most, time.Millisecond
}

// interval draws the refresh interval that follows a check-in.
func (r *Room) interval(s *Settings) time.Duration {
	least, most, step := s.intervals()
	return least + r.below((most-least)/step+1)*step
}

// firstInterval draws the refresh interval of somebody who joins. In Random it ends
// at any moment of the second interval, so that nobody can choose the moments of
// their draws by when they join: where sessions last for whole intervals, slots come
// free at the same moments of each, and whoever comes just after them would be let
// in several times as often as others.
func (r *Room) firstInterval(s *Settings) time.Duration {
	interval := r.interval(s)
	if s.Method == Random {
		interval += r.below(s.RefreshInterval/time.Millisecond) * time.Millisecond
	}
	return interval
}

// below draws a number from 0 to n-1.
func (r *Room) below(n time.Duration) time.Duration {
	drawn, _ := bits.Mul64(r.uint64(), uint64(n))
	return time.Duration(drawn)
}
