package room

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

const (
	// clockJump is how far the store's clock may step between two answers
	// without being taken for a fault.
	clockJump = 5 * time.Second
	// clockJumps is how many answers in a row make a new clock believed.
	clockJumps = 5
)

// storeClock tells the store's time by the node's clock. Nothing else turns the one
// into the other.
type storeClock struct {
	ahead atomic.Int64 // of the node's clock, in milliseconds

	mu    sync.Mutex // guards the following, and changes of ahead
	jumps int        // answers in a row whose clock does not fit
}

// at is the store's time at a moment of the node's.
func (c *storeClock) at(now time.Time) queue.Instant {
	return queue.At(now) + queue.Instant(c.ahead.Load())
}

// set takes over what the store's clock shows at now.
func (c *storeClock) set(now time.Time, shown queue.Instant) {
	c.ahead.Store(int64(shown - queue.At(now)))
}

// follow takes in what the store's clock shows at now, and says whether it goes by
// that. After a jump it stays with the old clock, by which tickets go on being
// judged, until the new one has been told often enough.
func (c *storeClock) follow(now time.Time, shown queue.Instant) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if shown.Sub(c.at(now)).Abs() > clockJump && c.jumps < clockJumps {
		c.jumps++
		return false
	}
	c.set(now, shown)
	c.jumps = 0
	return true
}
