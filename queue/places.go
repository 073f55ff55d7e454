package queue

import "time"

// Places says how long places in line last that are older than a configuration.
type Places struct {
	// Longest is how long a place lasted at most by earlier settings, as far as visitors
	// may still have tickets from their time.
	Longest time.Duration

	// Since is the earliest last check-in with which a place is still worth something.
	// When new settings make places last longer, stores have already forgotten who used
	// places that had ended by the old ones.
	Since Instant
}

// memoryMargin is how much longer than any place lasts a store remembers who was let in:
// nodes may be a little late to learn of a configuration, or of the time.
const memoryMargin = 10 * time.Second

// Remembers is how long a store remembers who was let in: for as long as a ticket from
// before the admission may still be brought.
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
	if now.Sub(c.At) > c.Places.Longest { // no ticket from before c is left
		next.Longest = c.Settings.PlaceLasts()
	}
	if s.PlaceLasts() > lasted {
		next.Since = max(next.Since, now.Add(-lasted))
	}
	return next
}
