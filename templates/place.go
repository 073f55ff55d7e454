package templates

import (
	"time"
)

// Visitor has the values of a page or a JSON answer that are one visitor's own.
type Visitor struct {
	// LastUpdated is the time of the last check-in, and ArrivedAt that of the arrival. They
	// are written in UTC, to the millisecond.
	LastUpdated, ArrivedAt time.Time
	// BucketID is the bucket that the visitor's place is in: the time at which it begins. It is
	// written while visitors wait.
	BucketID time.Time
	// RefreshSeconds is how many seconds later the next check-in counts. It is written as
	// 1 at least.
	RefreshSeconds int
	// LeftSeconds is how many seconds are left of that. It is written as 1 at least.
	LeftSeconds int
	// ClaimUntil is until when a slot is kept for the visitor. It is written, in UTC, where
	// Data has ClaimRequired.
	ClaimUntil time.Time
	// PlacedAt is the moment that the visitor's place goes by: that of the arrival, or the one
	// that was drawn for it. It is written where the method orders by arrival, and not while the
	// order is still to be drawn.
	PlacedAt time.Time
	// Entry is the name of the visitor's entry in a draw: letters and digits. It is written where
	// Data has Drawn.
	Entry string
	// SupportCode is what the visitor tells people who help them. It is written while visitors check in,
	// who all have one.
	SupportCode SupportCode
	// Address is the path and query of the page, as a browser that asks for it writes them;
	// "" is "/". JSON does not have it.
	Address string
	// Place is the visitor's place in the line, where the method keeps order. Other pages
	// do not show it.
	Place Place
}

// SupportCode is a code such as 7F3K-Q2M9; the zero one is written as nothing.
type SupportCode [9]byte

// Place is a visitor's place in the line. Only an exact line has ticket numbers. Numbers
// below zero count as zero.
type Place struct {
	TicketNumber uint64 // counts up as visitors join; 0 for none
	// FirstWaitingNumber is the lowest ticket number of those who wait with the default
	// priority, LastWaitingNumber the highest that was given out. They are 0 if they are
	// not known.
	FirstWaitingNumber, LastWaitingNumber uint64

	Position    int // 1 is next; 0 is not known, and then the wait is not known either
	UsersQueued int // in line altogether
	// WaitTimeKnown says that WaitTime, in minutes, is an estimate, and can be shown.
	WaitTimeKnown bool
	WaitTime      int
}

// Shape is what a page can depend on in a place, besides the numbers themselves: a template
// can ask whether a number is zero, and a long wait is put into other words than a short one.
type Shape uint16

const (
	hasNumber Shape = 1 << iota
	hasFirst
	hasLast
	hasPosition
	hasAhead
	hasQueued
	hasWait
	// From here on the bits are a number, the kind of wait: none, a minute, minutes, whole
	// hours, hours and minutes, and these last two beyond longWait.
	waitUnit
)

// Shape returns the place's shape. Places with one shape fit into the same [Rendered].
func (p Place) Shape() Shape {
	p = p.resolved()
	shape := Shape(0)
	set := func(flag Shape, on bool) {
		if on {
			shape |= flag
		}
	}
	set(hasNumber, p.TicketNumber > 0)
	set(hasFirst, p.FirstWaitingNumber > 0)
	set(hasLast, p.LastWaitingNumber > 0)
	set(hasPosition, p.Position > 0)
	set(hasAhead, p.ahead() > 0)
	set(hasQueued, p.UsersQueued > 0)
	set(hasWait, p.WaitTimeKnown)
	return shape + waitUnit*p.waitShape()
}

func (p Place) waitShape() Shape {
	switch hours, whole := p.WaitTime >= 60, p.WaitTime%60 == 0; {
	case p.WaitTime < 2:
		return Shape(p.WaitTime)
	case !hours:
		return 2
	case p.WaitTime <= longWait && whole:
		return 3
	case p.WaitTime <= longWait:
		return 4
	case whole:
		return 5
	default:
		return 6
	}
}

func (p Place) ahead() int { return max(p.Position-1, 0) }

// resolved returns p without contradictions, as Data describes.
func (p Place) resolved() Place {
	p.Position = max(p.Position, 0)
	p.UsersQueued = max(p.UsersQueued, p.Position)
	if p.Position == 0 || !p.WaitTimeKnown {
		p.WaitTimeKnown, p.WaitTime = false, 0
	}
	p.WaitTime = max(p.WaitTime, 0)
	return p
}

// number is the value of the place that goes into a gap. The place has to be resolved.
func (p *Place) number(v ownValue) uint64 {
	switch v {
	case position:
		return uint64(p.Position)
	case usersAhead:
		return uint64(p.ahead())
	case usersQueued:
		return uint64(p.UsersQueued)
	case waitTime:
		return uint64(p.WaitTime)
	case waitTimeHours:
		return uint64(p.WaitTime / 60)
	case waitTimeHourMinutes:
		return uint64(p.WaitTime % 60)
	case firstWaitingNumber:
		return p.FirstWaitingNumber
	case lastWaitingNumber:
		return p.LastWaitingNumber
	default:
		return p.TicketNumber
	}
}
