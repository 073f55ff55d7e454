package memstore

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

const (
	// forgetInterval is how often the store looks for rooms to forget, and how long
	// after its last report a room is taken for one that nobody uses: a node reports
	// every second.
	forgetInterval = 10 * time.Second
)

// forget drops the rooms that nobody uses and in which nothing matters any more, with
// their journals. It finds those of earlier processes, too. The caller holds mu.
func (s *Store) forget(now queue.Instant) {
	if now.Sub(s.looked) < forgetInterval {
		return
	}
	s.looked = now
	s.openFound(now)
	for name, r := range s.rooms {
		if now.Sub(r.seen) < forgetInterval || !r.over(now) {
			continue
		}
		if s.disk != nil && s.disk.forget(name) != nil {
			continue // until the next look
		}
		delete(s.rooms, name)
	}
}

// openFound opens, once, those rooms of earlier processes that may be forgotten. The
// caller holds mu.
func (s *Store) openFound(now queue.Instant) {
	for _, name := range s.found {
		if s.rooms[name] != nil {
			continue
		}
		r, err := s.open(name)
		switch {
		case err != nil: // whoever uses the room gets the error
		case r.fleeting():
			r.seen = now
		default:
			delete(s.rooms, name)
		}
	}
	s.found = nil
}

// fleeting reports whether the room may be forgotten once nobody uses it; so may one
// that has no configuration.
func (r *room) fleeting() bool { return r.settings.Fleeting || r.current.Version == 0 }

// over reports whether the room, which nobody uses, can be forgotten. The caller holds
// the store's mu.
func (r *room) over(now queue.Instant) bool {
	if !r.mu.TryLock() {
		return false
	}
	defer r.mu.Unlock()
	if !r.fleeting() {
		return false
	}
	r.restore(now)
	r.advance(now)
	r.sweep()
	if r.journal != nil && r.journal.rest() != nil {
		return false // until the next look
	}
	if len(r.sessions.known)+len(r.revoked)+r.sessions.active+r.allowanceUsed()+r.present() > 0 || r.recoversAt() != 0 {
		return false
	}
	plain := len(r.current.Overrides) == 0 && r.line.numbers == (numbers{})
	return plain || now.Sub(r.seen) >= max(r.settings.SessionDuration, r.current.Remembers())+queue.RoomKept
}
