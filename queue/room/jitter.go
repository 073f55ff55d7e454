package room

import (
	"math/bits"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// interval draws the refresh interval that follows a check-in.
func (r *Room) interval(s *queue.Settings) time.Duration {
	least, most, step := s.Intervals()
	return least + r.below((most-least)/step+1)*step
}

// firstInterval draws the refresh interval of somebody who joins. In Random it ends
// at any moment of the second interval, so that nobody can choose the moments of
// their draws by when they join: where sessions last for whole intervals, slots come
// free at the same moments of each, and whoever comes just after them would be let
// in several times as often as others.
func (r *Room) firstInterval(s *queue.Settings) time.Duration {
	interval := r.interval(s)
	if s.Method == queue.Random {
		interval += r.below(s.RefreshInterval/time.Millisecond) * time.Millisecond
	}
	return interval
}

// below draws a number from 0 to n-1.
func (r *Room) below(n time.Duration) time.Duration {
	drawn, _ := bits.Mul64(r.uint64(), uint64(n))
	return time.Duration(drawn)
}
