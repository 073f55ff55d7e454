package room

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Present is somebody who waits, as this node knows them: whoever has checked in here lately.
type Present struct {
	Short   [8]byte       // the first half of their id
	Arrived queue.Instant // the bucket that they count in
	Due     queue.Instant // when their next check-in is due
}

// Presents yields those who wait and have checked in at this node lately, in no order. Those in an
// exact line are not among them: the Roster has them.
func (r *Room) Presents(now time.Time) func(yield func(Present) bool) {
	return r.visits.presence.all(r.clock.at(now))
}

// all yields everybody who is counted at a moment. Each shard is held while it is gone through.
func (p *presence) all(at queue.Instant) func(yield func(Present) bool) {
	return func(yield func(Present) bool) {
		for i := range p.shards {
			for _, one := range p.shards[i].all(at) {
				if !yield(one) {
					return
				}
			}
		}
	}
}

func (s *presenceShard) all(at queue.Instant) []Present {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Present
	for i := range s.table.entries {
		if e := &s.table.entries[i]; e.until > ticksOf(at, s.start) && !hasEntered(e) && !hasLeft(e) {
			list = append(list, Present{Short: e.key, Arrived: s.bucketOf(e), Due: afterTicks(s.start, dueTicks(e))})
		}
	}
	return list
}
