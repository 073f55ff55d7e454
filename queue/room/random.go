package room

import (
	"math/bits"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// random is a source of random numbers, from which ids and intervals are drawn.
type random func() uint64

// id draws the id of a new visitor.
func (draw random) id() queue.ID {
	var id queue.ID
	hi, lo := draw(), draw()
	for i := range 8 {
		id[i], id[8+i] = byte(hi>>(8*i)), byte(lo>>(8*i))
	}
	return id
}

// interval draws the refresh interval that follows a check-in.
func (draw random) interval(s *queue.Settings) time.Duration {
	least, most, step := s.Intervals()
	return least + draw.below((most-least)/step+1)*step
}

// about draws the refresh interval that follows a check-in of somebody who asks after about so long,
// if that is longer than others do.
func (draw random) about(s *queue.Settings, rarely time.Duration) time.Duration {
	interval := draw.interval(s)
	if rarely <= s.RefreshInterval {
		return interval
	}
	return queue.WholeSeconds(time.Duration(float64(rarely) * float64(interval) / float64(s.RefreshInterval)))
}

// firstInterval draws the refresh interval of somebody who joins. In Random it ends
// at any moment of the second interval, so that nobody can choose the moments of
// their draws by when they join. Without that, where sessions last for whole intervals,
// slots would come free at the same moments of each interval, and visitors who come just
// after these would be let in several times as often as others.
func (draw random) firstInterval(s *queue.Settings) time.Duration {
	interval := draw.interval(s)
	if s.Method.Draws() {
		interval += draw.below(s.RefreshInterval/time.Millisecond) * time.Millisecond
	}
	return interval
}

// below draws a number from 0 to n-1.
func (draw random) below(n time.Duration) time.Duration {
	drawn, _ := bits.Mul64(draw(), uint64(n))
	return time.Duration(drawn)
}
