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

// sessionsStand is the moment at which the sessions' clock stands, or now.
func (r *room) sessionsStand() queue.Instant {
	if r.clock.stands != 0 {
		return min(r.now, r.clock.stands)
	}
	return r.now
}

// sessionsNow is the moment by which sessions last or have ended, by their clock.
func (r *room) sessionsNow() queue.Instant { return r.sessionsStand().Add(-r.clock.behind()) }

// behind is how far the sessions' clock is behind now.
func (r *room) behind() time.Duration { return r.now.Sub(r.sessionsNow()) }

// began is when a session began, by the sessions' clock.
func (r *room) began(s session) queue.Instant {
	return s.admitted.Add(-r.clock.behindAt(s.admitted))
}

// acceptedAt is when a session counts as begun: later than it was admitted by the holds that are over.
func (r *room) acceptedAt(s session) queue.Instant { return r.began(s).Add(r.clock.behind()) }

// standStill has sessions stand still, or go on, as the configuration wants it.
func (r *room) standStill() {
	if r.clock.follow(r.current.Settings.HoldsActive(), r.now) && r.journal != nil {
		r.journal.sessionClock(&r.clock)
	}
}

// learnStock takes in what a node has heard from the origin.
func (r *room) learnStock(s queue.Stock) {
	if s.At <= r.stock.At {
		return
	}
	if r.journal != nil && (s.Left != r.stock.Left || !r.stock.Known()) {
		r.journal.stock(s)
	}
	r.stock = s
	r.goByStock()
}

// goByStock holds everyone new while the room is sold out.
func (r *room) goByStock() {
	r.settings = r.current.Settings
	if r.settings.SoldOut(r.stock) {
		r.settings.QueueAll = true
	}
}
