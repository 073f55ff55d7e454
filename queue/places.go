package queue

import "time"

// Places says how long places in line last that are older than a configuration.
type Places struct {
	// Longest is how long a place lasted at most by earlier settings, as far as visitors
	// may still have tickets from their time.
	Longest time.Duration

	// Since voids places: one whose visitor has not checked in after it is worth nothing. It is set
	// when new settings make places last longer, because stores have forgotten by then which of the
	// older ones were used.
	Since Instant

	// From CancelledFrom to CancelledUntil was a shuffled prequeue that was cancelled before its
	// event started. Those who arrived in it wait in the order of their arrival, whatever place
	// they have drawn by their ticket.
	CancelledFrom, CancelledUntil Instant

	// From DrawnFrom to DrawnUntil was the last shuffled prequeue whose event has started, also
	// once that is over.
	DrawnFrom, DrawnUntil Instant

	// StartMoved is when the start of a shuffled prequeue's event was last moved; 0 for never.
	StartMoved Instant
}

// Undraws reports whether a place is worth nothing that was drawn for a visitor who came then.
func (p *Places) Undraws(came Instant) bool {
	return came >= p.CancelledFrom && came < p.CancelledUntil
}

// goByEvents takes in that an event follows another at a moment.
func (p *Places) goByEvents(before, next *ActiveEvent, now Instant) {
	if before.Shuffling() && now < before.Start && !next.continues(before) {
		if p.CancelledUntil == 0 {
			p.CancelledFrom = before.Prequeue
		}
		p.CancelledUntil = now.Add(Lately) // by which all nodes know of it
	}
	if next.Shuffling() && next.Prequeue < p.CancelledUntil { // another one, or the same one again
		p.CancelledUntil = next.Prequeue
	}
	if p.CancelledUntil <= p.CancelledFrom {
		p.CancelledFrom, p.CancelledUntil = 0, 0
	}
	if before.Shuffling() && next.Shuffle && next.Start != before.Start {
		p.StartMoved = now
	}
	if next.Shuffle && !next.Prequeueing {
		p.DrawnFrom, p.DrawnUntil = next.Prequeue, next.Start
	}
}

// DrawEnded is when the event started in whose shuffled prequeue somebody came then; 0 if they came
// in none, or if it had not started at a moment.
func (c *Configuration) DrawEnded(came, at Instant) Instant {
	switch e, p := &c.Settings.Event, &c.Places; {
	case e.Drew(came, at):
		return e.Start
	case came >= p.DrawnFrom && came < p.DrawnUntil:
		return p.DrawnUntil
	}
	return 0
}

// PresentFrom is by when somebody has to have checked in who counts as present when an event
// started. If its start was moved to so soon that event streams could not end before it, tickets
// count that are as young as those of streams may be.
func (c *Configuration) PresentFrom(start Instant) Instant {
	present := c.Settings.PresentFrom(start)
	if c.Places.StartMoved > present {
		present = min(present, start.Add(-c.Settings.PlaceKept()/2))
	}
	return present
}

// MemoryMargin is how much longer than any place lasts a store remembers who was let in:
// nodes may be a little late to learn of a configuration, or of the time.
const MemoryMargin = 10 * time.Second

// Remembers is how long a store remembers who was let in: for as long as a ticket from before the
// admission may still be brought. In a room that has had an exact line that is running time.
func (c *Configuration) Remembers() time.Duration { return c.PlacesLast() + MemoryMargin }

// PlacesLast is for how long any ticket that is about may still be worth a place after its last
// check-in.
func (c *Configuration) PlacesLast() time.Duration {
	return max(c.Settings.PlaceLasts(), c.Places.Longest)
}

// PlacesUnder returns the Places of the settings that follow c at now, when places are worth
// something whose last check-in was after [View.Kept].
func (c *Configuration) PlacesUnder(s *Settings, now, kept Instant) Places {
	if c.Version == 0 {
		return Places{}
	}
	lasted := c.PlacesLast()
	next := c.Places
	next.Longest = lasted
	if now.Sub(c.At) > c.Places.Longest { // no ticket from before c is left
		next.Longest = c.Settings.PlaceLasts()
	}
	if s.PlaceLasts() > lasted {
		next.Since = max(next.Since, kept)
	}
	next.goByEvents(&c.Settings.Event, &s.Event, now)
	return next
}
