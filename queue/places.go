package queue

import "time"

// Places says of the places in line from before a configuration how long they last.
type Places struct {
	// Longest is how long a place lasted at most by earlier settings whose tickets
	// visitors may still have.
	Longest time.Duration

	// Since is when a place must have been checked in at to be worth anything: when
	// the settings made places last longer, stores had forgotten by whom older ones
	// were used.
	Since Instant
}

// memoryMargin is how much longer than any place lasts it is remembered who was let
// in: nodes may be a little late to learn of a configuration, or of the time.
const memoryMargin = 10 * time.Second

// Remembers is how long a store remembers who was let in: for as long as any ticket
// from before can be brought.
func (c *Configuration) Remembers() time.Duration {
	return max(c.Settings.PlaceLasts(), c.Places.Longest) + memoryMargin
}

// PlacesUnder returns the Places of the settings that follow c at now.
func (c *Configuration) PlacesUnder(s *Settings, now Instant) Places {
	if c.Version == 0 {
		return Places{}
	}
	lasted := max(c.Settings.PlaceLasts(), c.Places.Longest)
	next := Places{Longest: lasted, Since: c.Places.Since}
	if now.Sub(c.At) > c.Places.Longest { // of the tickets from before c none is left
		next.Longest = c.Settings.PlaceLasts()
	}
	if s.PlaceLasts() > lasted {
		next.Since = max(next.Since, now.Add(-lasted))
	}
	return next
}
