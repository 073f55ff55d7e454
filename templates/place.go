package templates

import (
	"time"
)

// Visitor is what is one visitor's own in a page or JSON answer.
type Visitor struct {
	// LastUpdated is when they last checked in and it counted; it is written in UTC,
	// to the millisecond.
	LastUpdated time.Time
	// RefreshSeconds is after how many seconds from then the next check-in counts;
	// it is written as at least 1.
	RefreshSeconds int
	// Place is theirs in an exact line; the pages of other rooms do not show it.
	Place Place
}

// Place is a visitor's own place in the exact line of a room whose method is
// "line". Numbers below zero count as zero.
type Place struct {
	TicketNumber uint64 // counted up as visitors join; 0 for none
	// FirstWaitingNumber is the lowest ticket number of those who wait with the
	// default priority, LastWaitingNumber the highest that was given out; 0 where
	// that is not known.
	FirstWaitingNumber, LastWaitingNumber uint64

	Position    int // 1 is next; 0 is not known, and then no wait is either
	UsersQueued int // in line altogether
	// WaitTimeKnown says that WaitTime, in minutes, is an estimate worth showing.
	WaitTimeKnown bool
	WaitTime      int
}

// Shape says how a place reads, whatever its numbers are: a template can ask
// whether one is zero, and a wait of many minutes is put into other words.
type Shape uint16

const (
	hasNumber Shape = 1 << iota
	hasFirst
	hasLast
	hasPosition
	hasAhead
	hasQueued
	hasWait
	// The next values are no flags; they number the kinds of wait: none, a minute, minutes, whole
	// hours, hours and minutes, and these two beyond longWait.
	waitUnit
)

// Shape returns the place's shape. Places of one shape can be filled into the
// same [Rendered].
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

// resolved returns p with its contradictions resolved, as Data does.
func (p Place) resolved() Place {
	p.Position = max(p.Position, 0)
	p.UsersQueued = max(p.UsersQueued, p.Position)
	if p.Position == 0 || !p.WaitTimeKnown {
		p.WaitTimeKnown, p.WaitTime = false, 0
	}
	p.WaitTime = max(p.WaitTime, 0)
	return p
}

// number is the value of the place, which is expected to be resolved, that goes
// into a cut.
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
