package feature

import (
	"context"
	"math"
	"sync"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Seats are the connections that keep their visitors in a room whose occupancy is by connection.
// When a session ends before its connection, the connection is cut.
type Seats struct {
	mu    sync.Mutex
	taken map[queue.ID]map[*Seat]struct{}
}

// Seat is one such connection.
type Seat struct {
	of     *Seats
	ticket queue.Ticket
	cut    context.CancelFunc
}

// Take takes in the connection of a visitor with a ticket, which cut ends.
func (s *Seats) Take(t queue.Ticket, cut context.CancelFunc) *Seat {
	seat := &Seat{s, t, cut}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == nil {
		s.taken = map[queue.ID]map[*Seat]struct{}{}
	}
	if s.taken[t.ID] == nil {
		s.taken[t.ID] = map[*Seat]struct{}{}
	}
	s.taken[t.ID][seat] = struct{}{}
	return seat
}

// Leave takes out a connection that has ended.
func (s *Seat) Leave() {
	of, id := s.of, s.ticket.ID
	of.mu.Lock()
	defer of.mu.Unlock()
	s.cut()
	delete(of.taken[id], s)
	if len(of.taken[id]) == 0 {
		delete(of.taken, id)
	}
}

// CutCopies ends the connections that the seat's visitor has by its ticket, or by copies of it that
// have moved less often.
func (s *Seat) CutCopies() { s.of.CutCopies(&s.ticket) }

// Cut ends all connections of a visitor.
func (s *Seats) Cut(id queue.ID) { s.CutCopies(&queue.Ticket{ID: id, Moved: math.MaxUint8}) }

// CutCopies ends the connections that a visitor has by a ticket, or by copies of it that have moved
// less often: on other devices those by a ticket that has moved on go on.
func (s *Seats) CutCopies(t *queue.Ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for seat := range s.taken[t.ID] {
		if seat.ticket.Moved <= t.Moved {
			seat.cut()
		}
	}
}
