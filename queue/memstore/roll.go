package memstore

import (
	"cmp"
	"slices"

	"github.com/anteroom-gate/anteroom/queue"
)

// roll lists who is in the room.
func (r *room) roll(ids []queue.ID) *queue.Roll {
	roll := &queue.Roll{Now: r.now}
	for id, s := range r.sessions {
		if r.lasts(s) && (len(ids) == 0 || slices.Contains(ids, id)) {
			roll.Seated = append(roll.Seated, queue.Seat{Session: queue.Session{ID: id, Expires: s.expires}, AcceptedAt: s.admitted})
		}
	}
	slices.SortFunc(roll.Seated, func(a, b queue.Seat) int {
		return cmp.Or(cmp.Compare(a.AcceptedAt, b.AcceptedAt), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	roll.Seated = roll.Seated[:min(len(roll.Seated), queue.MaxRoll)]
	return roll
}
