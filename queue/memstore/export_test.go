package memstore

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Gaps are the times in which no gate ran that a store remembers.
type Gaps = gaps

// With returns the gaps and a later one.
func (g gaps) With(from, until queue.Instant) Gaps { return g.with(gap{from, until}) }

// Ago returns the moment since which so much running time has passed.
func (g gaps) Ago(span time.Duration, now queue.Instant) queue.Instant { return g.ago(span, now) }

// FailWrites makes writing the journal of a room fail until mend is called, as
// on a full disk: the directory takes no new file either.
func FailWrites(s *Store, room string) (mend func(), err error) {
	r, err := s.room(room)
	if err != nil {
		return nil, err
	}
	path := r.journal.path
	r.journal.path = "/dev/null/none"
	return func() { r.journal.path = path }, r.journal.rest()
}

// Rooms is how many rooms the store has in memory.
func Rooms(s *Store) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rooms)
}
