package memstore

import (
	"cmp"
	"slices"

	"github.com/anteroom-gate/anteroom/queue"
)

// leaving is a session that was revoked. It holds its slot until every node has heard
// of that.
type leaving struct {
	id    queue.ID
	since queue.Instant
	by    uint64 // the node that reported it
}

func (r *room) revoke(p queue.Session, by uint64) {
	s := r.sessions[p.ID]
	if r.lasts(s) && !slices.ContainsFunc(r.leaving, func(l leaving) bool { return l.id == p.ID }) {
		r.leaving = append(r.leaving, leaving{id: p.ID, since: r.now, by: by})
	}
	s.admitted = cmp.Or(s.admitted, r.now)
	r.sessions[p.ID] = s
	r.revoked[p.ID] = max(p.Expires, r.revoked[p.ID])
	if r.journal != nil {
		r.journal.revoked(p.ID, r.revoked[p.ID])
	}
}

// settleLeaving opens the slots of those of whose revocation every node has heard.
func (r *room) settleLeaving() {
	r.leaving = slices.DeleteFunc(r.leaving, func(l leaving) bool {
		s := r.sessions[l.id]
		switch {
		case !r.lasts(s):
			return true
		case r.nodes.heard(l.by, l.since, r.now), r.revoked[l.id] <= r.now:
			*r.end(s.expires)--
			r.active--
			r.sessions[l.id] = session{admitted: s.admitted}
			return true
		}
		return false
	})
}
