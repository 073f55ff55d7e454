package memstore

import (
	"math"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// sessionClock is the clock of a room's sessions, which does not pass while they stand still. Their ends are kept by it, so that the
// end of a hold changes none of them.
type sessionClock struct {
	stands queue.Instant // since when sessions stand still; 0 if they do not
	before time.Duration // how far the clock was behind before the first of holds
	holds  []pastHold    // the last of those that are over, at most MaxStandstills
}

// pastHold is a hold that is over.
type pastHold struct {
	until  queue.Instant
	behind time.Duration // how far the clock was behind from then on
}

// behind is how far the clock was behind after the last hold that is over.
func (c *sessionClock) behind() time.Duration { return c.behindAt(endOfTime) }

// behindAt is how far the clock was behind at a moment that was in no hold.
func (c *sessionClock) behindAt(at queue.Instant) time.Duration {
	for _, h := range slices.Backward(c.holds) {
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
		c.holds = append(c.holds, pastHold{until: now, behind: c.behind() + max(0, now.Sub(c.stands))})
		if len(c.holds) > queue.MaxStandstills {
			c.before, c.holds = c.holds[0].behind, c.holds[1:]
		}
		c.stands = 0
	default:
		return false
	}
	return true
}
