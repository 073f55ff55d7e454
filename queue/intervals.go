package queue

import "time"

// leastJitter is the least jitter of the refresh intervals in Random. Without any,
// slots and check-ins could come in one rhythm, in which some are always just too
// late for a slot and others just in time.
const leastJitter = .15

// Intervals are the refresh intervals to draw from: from least to most, in steps.
// They are whole seconds where there are several of these, since visitors are told
// whole seconds, and whoever keeps to an interval that was rounded up checks in
// less often than who asks all the time. In Random, where each check-in is a
// chance, there are always several.
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
