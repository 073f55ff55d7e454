package memstore

import (
	"math"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// sessionClock is the clock of a room's sessions, which does not pass while they stand still. Their
// ends are kept by it, so that the end of a standstill changes none of them.
type sessionClock struct {
	stands queue.Instant // since when sessions stand still; 0 if they do not
	before time.Duration // how far the clock was behind before the first of those in past
	past   []standstill  // the last of those that are over, at most MaxStandstills
}

// standstill is a time in which sessions stood still, and which is over.
type standstill struct {
	until  queue.Instant
	behind time.Duration // how far the clock was behind from then on
}

// behind is how far the clock was behind after the last standstill.
func (c *sessionClock) behind() time.Duration { return c.behindAt(endOfTime) }

// behindAt is how far the clock was behind at a moment in no standstill.
func (c *sessionClock) behindAt(at queue.Instant) time.Duration {
	for _, h := range slices.Backward(c.past) {
		if h.until <= at {
			return h.behind
		}
	}
	return c.before
}

const endOfTime = queue.Instant(math.MaxInt64)

// follow has the clock stand, or go on from now. It returns whether that is a change.
func (c *sessionClock) follow(stands bool, now queue.Instant) bool {
	switch {
	case stands && c.stands == 0:
		c.stands = now
	case !stands && c.stands != 0:
		c.past = append(c.past, standstill{until: now, behind: c.behind() + max(0, now.Sub(c.stands))})
		if len(c.past) > queue.MaxStandstills {
			c.before, c.past = c.past[0].behind, c.past[1:]
		}
		c.stands = 0
	default:
		return false
	}
	return true
}
