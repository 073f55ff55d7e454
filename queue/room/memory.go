package room

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// memory is what the configuration in force says of places from before.
type memory struct {
	since queue.Instant // as in Places
	lasts time.Duration // how long it is remembered who was let in
}

// placeEnds is until when the place of a waiting ticket can be come back to.
func (r *Room) placeEnds(s *queue.Settings, t *queue.Ticket) queue.Instant {
	if t.LastCheckIn <= r.memory.Load().since {
		return 0
	}
	return s.PlaceEnds(t)
}
