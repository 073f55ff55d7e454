package memstore

import (
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// revocation is that of a session, which holds its slot until every node has heard of it.
type revocation struct {
	id    queue.ID
	since queue.Instant
	by    uint64 // the node that reported it
}

func (r *room) revoke(p queue.Session, by uint64) {
	s := r.sessions.known[p.ID]
	switch {
	case !r.sessions.lasts(s): // their place is used from now on
		s.admitted = r.now
		r.sessions.known[p.ID] = s
	case !slices.ContainsFunc(r.unheard, func(u revocation) bool { return u.id == p.ID }):
		r.unheard = append(r.unheard, revocation{id: p.ID, since: r.now, by: by})
	}
	r.revoked[p.ID] = max(p.Expires, r.revoked[p.ID])
	r.journal.session(p.ID, s)
	r.journal.revoked(p.ID, r.revoked[p.ID])
}

// openRevoked opens the slots of the sessions whose revocation every node has heard of.
func (r *room) openRevoked() {
	r.unheard = slices.DeleteFunc(r.unheard, func(u revocation) bool {
		s := r.sessions.known[u.id]
		switch {
		case !r.sessions.lasts(s):
			return true
		case r.nodes.heard(u.by, u.since, r.now), r.revoked[u.id] <= r.now:
			r.sessions.set(u.id, session{admitted: s.admitted})
			return true
		}
		return false
	})
}
