package queue

import (
	"fmt"
	"slices"
	"time"
)

// Pacing is how a minute's allowance is released while people wait.
type Pacing uint8

// The ways of pacing; the zero value is PacingAuto.
const (
	PacingAuto   Pacing = iota // PacingRandom for Random, PacingEarly where order is kept, else PacingMinute
	PacingMinute               // all at the start of the calendar minute
	PacingEven                 // evenly through the minute
	PacingRandom               // each slot at a random moment of the minute
	PacingEarly                // evenly in the first seconds of the minute: see EarlyTime
)

var pacingNames = []string{"auto", "minute", "even", "random", "early"}

// EarlyTime is how long PacingEarly takes to release a minute's allowance. Visitors are told whole
// seconds, so those who come for one moment come within a second, in any order: an allowance that
// is released at once would be taken in no order.
const EarlyTime = 12 * time.Second

// Choices returns the names of all ways of pacing.
func (Pacing) Choices() []string { return pacingNames }

// String returns the pacing's name as configuration files spell it.
func (p Pacing) String() string { return nameOf(pacingNames, int(p)) }

// MarshalText returns the pacing's name.
func (p Pacing) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText accepts the names that String returns.
func (p *Pacing) UnmarshalText(text []byte) error { return choose(p, pacingNames, "pacing", text) }

// Occupancy is what keeps a visitor in the room.
type Occupancy uint8

// The kinds of occupancy; the zero value is BySession.
const (
	BySession    Occupancy = iota // SessionDuration from their last request
	ByConnection                  // an open websocket or stream, and LineGrace after it has closed
)

var occupancyNames = []string{"session", "connection"}

// Choices returns the names of all kinds of occupancy.
func (Occupancy) Choices() []string { return occupancyNames }

// String returns the kind's name as configuration files spell it.
func (o Occupancy) String() string { return nameOf(occupancyNames, int(o)) }

// MarshalText returns the kind's name.
func (o Occupancy) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText accepts the names that String returns.
func (o *Occupancy) UnmarshalText(text []byte) error {
	return choose(o, occupancyNames, "occupancy", text)
}

// ErrorPolicy says who enters while the store does not answer. It never affects people
// who are in already.
type ErrorPolicy uint8

// The policies; the zero value is Hold.
const (
	Hold     ErrorPolicy = iota // nobody new
	Share                       // this node's share of the slots that were open when the store last answered
	AdmitAll                    // everyone
)

var policyNames = []string{"hold", "share", "open"}

// Choices returns the names of all policies.
func (ErrorPolicy) Choices() []string { return policyNames }

// String returns the policy's name as configuration files spell it.
func (p ErrorPolicy) String() string { return nameOf(policyNames, int(p)) }

// MarshalText returns the policy's name.
func (p ErrorPolicy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText accepts the names that String returns.
func (p *ErrorPolicy) UnmarshalText(text []byte) error {
	return choose(p, policyNames, "on_store_error", text)
}

// ActiveHold says what becomes of those who are in, while a room is held.
type ActiveHold uint8

// The ways to hold those who are in; the zero value is HoldOff. With the others nobody new is let
// in.
const (
	HoldOff    ActiveHold = iota // they come and go as always
	HoldEnding                   // their sessions run to their end, and are not renewed
	HoldNow                      // their requests are held, and their sessions stand still until the hold ends
)

var holdNames = []string{"off", "ending", "now"}

// Choices returns the names of all ways to hold those who are in.
func (ActiveHold) Choices() []string { return holdNames }

// String returns the way's name as configuration files spell it.
func (h ActiveHold) String() string { return nameOf(holdNames, int(h)) }

// MarshalText returns the way's name.
func (h ActiveHold) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText accepts the names that String returns.
func (h *ActiveHold) UnmarshalText(text []byte) error {
	return choose(h, holdNames, "hold_active", text)
}

// SoldOutPolicy says what becomes of a room when the origin says that nothing is left.
type SoldOutPolicy uint8

// The policies; the zero value is KeepOpen.
const (
	KeepOpen   SoldOutPolicy = iota // it goes on as always
	CloseToAll                      // nobody is let in and nobody gets a place; those who are in stay
)

var soldOutNames = []string{"keep", "close"}

// Choices returns the names of all policies.
func (SoldOutPolicy) Choices() []string { return soldOutNames }

// String returns the policy's name as configuration files spell it.
func (p SoldOutPolicy) String() string { return nameOf(soldOutNames, int(p)) }

// MarshalText returns the policy's name.
func (p SoldOutPolicy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText accepts the names that String returns.
func (p *SoldOutPolicy) UnmarshalText(text []byte) error {
	return choose(p, soldOutNames, "on_sold_out", text)
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

// choose sets a value to that whose name is the text; what says what the names are of.
func choose[T ~uint8](to *T, names []string, what string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("unknown %s %q: want one of %v", what, text, names)
	}
	*to = T(i)
	return nil
}
