package queue

import "time"

// leastJitter is the least jitter of refresh intervals where every check-in is a draw.
// Without jitter, slots could open and visitors check in at the same rhythm: then some
// would always be just too late for a slot, and others just in time.
const leastJitter = .15

// Intervals are the refresh intervals to draw from: from least to most, in steps. Visitors
// are told whole seconds. So the intervals are whole seconds, where there are several
// such: else a visitor who keeps to an interval that was rounded up would check in less
// often than one who asks all the time. Where every check-in is a draw, there are always
// several.
func (s *Settings) Intervals() (least, most, step time.Duration) {
	spread := time.Duration(float64(s.RefreshInterval) * s.RefreshJitter).Truncate(time.Millisecond)
	if s.Method.Draws() {
		spread = max(spread, time.Duration(float64(s.RefreshInterval)*leastJitter), time.Second)
	}
	least, most = s.RefreshInterval-spread, s.RefreshInterval+spread
	if first, last := max(WholeSeconds(least), time.Second), most.Truncate(time.Second); first < last {
		return first, last, time.Second
	}
	return least, most, time.Millisecond
}
