package memstore

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// clocks are the times that a room and its parts go by: the store's, running time, and that of the
// sessions.
type clocks struct {
	now        queue.Instant // by the store's clock
	gaps       gaps          // of running time
	ofSessions sessionClock
}

// ago returns the moment since which so much running time has passed.
func (c *clocks) ago(span time.Duration) queue.Instant { return c.gaps.ago(span, c.now) }

// sessionsStand is the moment at which the sessions' clock stands, or now.
func (c *clocks) sessionsStand() queue.Instant {
	if c.ofSessions.stands != 0 {
		return min(c.now, c.ofSessions.stands)
	}
	return c.now
}

// sessionsNow is the moment by which sessions last or have ended, by their clock.
func (c *clocks) sessionsNow() queue.Instant { return c.sessionsStand().Add(-c.ofSessions.behind()) }

// behind is how far the sessions' clock is behind now.
func (c *clocks) behind() time.Duration { return c.now.Sub(c.sessionsNow()) }

// began is when a session began, by the sessions' clock.
func (c *clocks) began(s session) queue.Instant {
	return s.admitted.Add(-c.ofSessions.behindAt(s.admitted))
}

// acceptedAt is when a session counts as begun: later than it was admitted by the standstills that
// are over.
func (c *clocks) acceptedAt(s session) queue.Instant { return c.began(s).Add(c.ofSessions.behind()) }
