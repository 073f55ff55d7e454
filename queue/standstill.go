package queue

// Standstill is when those who are in are held, by HoldNow. Meanwhile the sessions of a room stand
// still: none ends, and afterwards each lasts for as long as it would have lasted, and counts as
// admitted later by the time of the hold.
type Standstill struct {
	Since Instant // when the hold in force began; 0 for none
	Began Instant // the beginning of the last hold that is over; 0 for none
	Until Instant // its end
}

// StandstillUnder returns the Standstill of the settings that follow c at now.
func (c *Configuration) StandstillUnder(s *Settings, now Instant) Standstill {
	next := c.Standstill
	switch {
	case s.HoldsActive() && next.Since == 0:
		next.Since = now
	case !s.HoldsActive() && next.Since != 0:
		next = Standstill{Began: next.Since, Until: now}
	}
	return next
}

// Postponed is when the session of somebody who was let in at a moment counts as begun, if it
// lasted into the last hold.
func (s *Standstill) Postponed(accepted Instant) Instant {
	if accepted > s.Began {
		return accepted
	}
	return accepted.Add(s.Until.Sub(s.Began))
}
