package queue

import "time"

// ActiveEvent is the event that a room goes by just now: from the start of its prequeue, or from
// its own start if it has none, to its end. The zero ActiveEvent is none. Package event has what is
// known of events besides.
type ActiveEvent struct {
	Name string `json:"name"`

	Prequeue Instant `json:"prequeue,omitempty"` // when the prequeue begins; 0 without one
	Start    Instant `json:"start"`
	End      Instant `json:"end"`

	Prequeueing bool `json:"prequeueing,omitempty"` // the event has not started
	HoldsNew    bool `json:"holds,omitempty"`       // QueueAll is set for the prequeue alone
	Shuffle     bool `json:"shuffle,omitempty"`     // those who come in the prequeue have places in a random order
	Page        bool `json:"page,omitempty"`        // it has a page of its own
}

// Shuffling reports whether the places that are taken now are in a random order, which nobody knows
// yet.
func (e *ActiveEvent) Shuffling() bool { return e.Prequeueing && e.Shuffle }

// Draws reports whether a place that is held at a moment, by a visitor who arrived then, is to be
// drawn: it was taken in the shuffled prequeue, which goes on.
func (e *ActiveEvent) Draws(arrived, at Instant) bool {
	return e.Shuffling() && arrived >= e.Prequeue && at < e.Start
}

// Drew reports whether somebody who arrived then came in the shuffled prequeue, which is over at a
// moment.
func (e *ActiveEvent) Drew(arrived, at Instant) bool {
	return e.Shuffle && e.Prequeue != 0 && arrived >= e.Prequeue && arrived < e.Start && at >= e.Start
}

// continues reports whether the places that were drawn in the prequeue of before are those of e.
func (e *ActiveEvent) continues(before *ActiveEvent) bool {
	return e.Shuffle && e.Name == before.Name && e.Prequeue == before.Prequeue
}

// MinutesUntilStart are the minutes from now to the start, rounded up.
func (e *ActiveEvent) MinutesUntilStart(now Instant) int { return minutesUntil(now, e.Start) }

// MinutesUntilEnd are the minutes from now to the end, rounded up.
func (e *ActiveEvent) MinutesUntilEnd(now Instant) int { return minutesUntil(now, e.End) }

func minutesUntil(now, then Instant) int {
	return int((then.Sub(now) + time.Minute - 1) / time.Minute)
}

// HeldByOperators reports whether operators hold every new visitor, and not only a prequeue.
func (s *Settings) HeldByOperators() bool { return s.QueueAll && !s.Event.HoldsNew }
