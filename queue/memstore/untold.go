package memstore

import (
	"maps"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// untold are the admissions that nobody was told of, because the answer to the claim was lost. None
// is in the journal: a store that has one takes a grant back where it returns an error.
type untold struct {
	admitted map[queue.ID]queue.Instant // when they were admitted, or a millisecond later once they were told
	latest   queue.Instant              // the latest of those who were not told; 0 for none
}

// add takes in an admission that nobody was told of, as far as is known here.
func (u *untold) add(id queue.ID, admitted queue.Instant) {
	u.admitted[id] = max(u.admitted[id], admitted)
	u.latest = max(u.latest, admitted)
}

// tell takes in that a visitor was told of their latest admission; 0 if it is not known.
func (u *untold) tell(id queue.ID, admitted queue.Instant) {
	if admitted != 0 {
		u.admitted[id] = max(u.admitted[id], admitted.Add(time.Millisecond))
	}
}

// forget forgets the admissions before a moment.
func (u *untold) forget(before queue.Instant) {
	maps.DeleteFunc(u.admitted, func(_ queue.ID, admitted queue.Instant) bool { return admitted < before })
}

// noteLost takes in that a claim comes again, because its answer was lost. If it was granted, its
// visitor was not told: it was if they were admitted in the call that the node made before.
func (r *room) noteLost(c queue.Claim) {
	if admitted := r.sessions.known[c.ID].admitted; c.HeldOnly && !c.Newcomer() && r.repeatOf != 0 && admitted == r.repeatOf {
		r.untold.add(c.ID, admitted)
	}
}
