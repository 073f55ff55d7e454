package room

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

const (
	// clockJump is how far the store's clock may step between two answers
	// without being taken for a fault.
	clockJump = 5 * time.Second
	// clockJumps is how many answers in a row make a new clock believed.
	clockJumps = 5
)

// storeClock tells the store's time by the node's clock. Nothing else turns the one
// into the other. The store has read its clock at some moment of a call: as long as that
// explains what it shows, nothing is changed. So the clock is not the further ahead the
// longer calls take, and cannot drive a store that goes by the clocks of its nodes.
type storeClock struct {
	ahead atomic.Int64 // of the node's clock, in milliseconds

	mu    sync.Mutex // guards the following, and changes of ahead
	jumps int        // answers in a row whose clock does not fit
}

// span is the time of a call to the store, by the node's clock.
type span struct{ began, ended time.Time }

// at is the store's time at a moment of the node's.
func (c *storeClock) at(now time.Time) queue.Instant {
	return queue.At(now) + queue.Instant(c.ahead.Load())
}

// off is by how much the store's clock, which a call has shown, is ahead of this one; 0 if
// it showed that at some moment of the call.
func (c *storeClock) off(call span, shown queue.Instant) time.Duration {
	return max(shown.Sub(c.at(call.ended)), 0) + min(shown.Sub(c.at(call.began)), 0)
}

// set takes over what a call has shown of the store's clock.
func (c *storeClock) set(call span, shown queue.Instant) {
	c.ahead.Add(c.off(call, shown).Milliseconds())
}

// follow takes in what a call has shown of the store's clock, and says whether it goes by
// that. After a jump it stays with the old clock, by which tickets go on being
// judged, until the new one has been told often enough.
func (c *storeClock) follow(call span, shown queue.Instant) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off(call, shown).Abs() > clockJump && c.jumps < clockJumps {
		c.jumps++
		return false
	}
	c.set(call, shown)
	c.jumps = 0
	return true
}
