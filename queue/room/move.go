package room

import (
	"errors"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// A place moves to another device with its ticket. The id stays, so that there is one place and one
// slot whatever happens. The ticket counts how often it has moved, and the copies that have not are
// revoked: all nodes hear of that as they do of sessions that were ended.

// What a move is refused for.
var (
	ErrMoved    = errors.New("the place has moved already, or often enough")
	ErrTooMoved = errors.New("too many places have moved")
)

// MostMoves is how often a ticket moves at most.
const MostMoves = 5

// mostMoved is how many copies of tickets are revoked at a time at most: each node is told of all
// of them at each sync.
const mostMoved = 2000

// hasMoved reports whether the ticket is a copy of one that has moved on.
func (s *sessions) hasMoved(t *queue.Ticket, at queue.Instant) bool {
	return t.State != queue.None && s.revoked.inForce.Load() != nil && s.isRevoked(t.Copy(), at)
}

// hasMoved reports whether the visitor's ticket is a copy of one that has moved on.
func (v visit) hasMoved() bool { return v.sessions.hasMoved(&v.Ticket, v.at) }

// follow makes the ticket that of the device that it has moved to.
func (s *sessions) follow(t *queue.Ticket, at queue.Instant) {
	for t.Moved < MostMoves && s.hasMoved(t, at) {
		t.Moved++
	}
}

// mayMove says why a ticket cannot move, as far as this node knows; nil if it can.
func (vs *visits) mayMove(at queue.Instant, t *queue.Ticket) error {
	revoked := &vs.sessions.revoked
	switch {
	case t.Moved >= MostMoves || revoked.has(t.Copy(), at) || revoked.has(t.ID, at):
		return ErrMoved
	case revoked.copies(at) >= mostMoved:
		return ErrTooMoved
	}
	return nil
}

// move is [Room.Move], but for the syncs. The copies of the ticket are void until none of them can
// be worth anything: the one that moves may be from before its visitor was let in.
func (vs *visits) move(now time.Time, t *queue.Ticket) error {
	at := vs.clock.at(now)
	if err := vs.mayMove(at, t); err != nil {
		return err
	}
	rules := vs.conditions.rules.Load()
	until := max(at.Add(rules.PlaceLasts()), at.Add(rules.sessionLasts()), t.Expires, vs.sessions.expires(at, t.ID))
	vs.sessions.revoked.add(at, queue.Session{ID: t.Copy(), Expires: until})
	t.Moved++
	return nil
}

// movedAs is the decision about the visitor of a ticket that has moved as often as the one that
// they brought.
func (d Decision) movedAs(brought *queue.Ticket) Decision {
	if brought.Moved != 0 && d.Ticket.ID == brought.ID && d.Outcome != Moved {
		d.Ticket.Moved = brought.Moved
	}
	return d
}
