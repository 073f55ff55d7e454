package room

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// revocations are the sessions that were ended, each until when its tickets are void.
// Reading them needs no lock.
type revocations struct {
	inForce atomic.Pointer[map[queue.ID]queue.Instant] // nil without any; the map does not change

	mu         sync.Mutex // held while they change
	unreported []queue.Session
}

// has reports whether tickets of id are void at a moment.
func (r *revocations) has(id queue.ID, at queue.Instant) bool {
	revoked := r.inForce.Load()
	return revoked != nil && (*revoked)[id] > at
}

// copies is how many of those in force are of copies of tickets that have moved, and not of
// sessions.
func (r *revocations) copies(at queue.Instant) (n int) {
	revoked := r.inForce.Load()
	if revoked == nil {
		return 0
	}
	for id, until := range *revoked {
		if id.IsCopy() && until > at {
			n++
		}
	}
	return n
}

// add puts one in force that the store is to be told.
func (r *revocations) add(at queue.Instant, ended queue.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.putInForce(at, []queue.Session{ended})
	r.unreported = append(r.unreported, ended)
}

// learn puts those in force that the store tells of.
func (r *revocations) learn(at queue.Instant, revoked []queue.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.putInForce(at, revoked)
}

// putInForce adds to the revocations in force: none is taken back before its end,
// whatever a store has forgotten. The caller holds mu.
func (r *revocations) putInForce(at queue.Instant, more []queue.Session) {
	known := r.inForce.Load()
	if known == nil && len(more) == 0 {
		return
	}
	revoked := map[queue.ID]queue.Instant{}
	if known != nil {
		maps.Copy(revoked, *known)
		maps.DeleteFunc(revoked, func(_ queue.ID, until queue.Instant) bool { return until <= at })
	}
	for _, s := range more {
		revoked[s.ID] = max(s.Expires, revoked[s.ID])
	}
	if len(revoked) == 0 {
		r.inForce.Store(nil)
		return
	}
	r.inForce.Store(&revoked)
}

// drain takes those that are unreported.
func (r *revocations) drain() []queue.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.unreported
	r.unreported = nil
	return list
}

// all are those in force.
func (r *revocations) all() []queue.Session {
	revoked := r.inForce.Load()
	if revoked == nil {
		return nil
	}
	list := make([]queue.Session, 0, len(*revoked))
	for id, until := range *revoked {
		list = append(list, queue.Session{ID: id, Expires: until})
	}
	return list
}
