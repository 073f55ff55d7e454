package memstore

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// roll lists who is in the room and who is in line.
func (r *room) roll(ids []queue.ID) *queue.Roll {
	roll := &queue.Roll{Now: r.now, Kept: r.ago(r.settings.LineDropout)}
	seat := func(id queue.ID, s session) {
		if r.sessions.lasts(s) && r.revoked[id] <= r.now {
			roll.Seated = append(roll.Seated, queue.Seat{Session: queue.Session{ID: id, Expires: s.expires.Add(r.behind())}, AcceptedAt: r.acceptedAt(s)})
		}
	}
	if len(ids) == 0 {
		for id, s := range r.sessions.known {
			seat(id, s)
		}
		roll.Line = r.line.roll()
	}
	for _, id := range ids {
		seat(id, r.sessions.known[id])
		if e := r.line.find(id); e != nil {
			roll.Line = append(roll.Line, r.line.waiter(e))
		}
	}
	slices.SortFunc(roll.Seated, func(a, b queue.Seat) int {
		return cmp.Or(cmp.Compare(a.AcceptedAt, b.AcceptedAt), bytes.Compare(a.ID[:], b.ID[:]))
	})
	slices.SortFunc(roll.Line, func(a, b queue.Waiter) int { return cmp.Compare(a.Ahead, b.Ahead) })
	roll.Seated = roll.Seated[:min(len(roll.Seated), queue.MaxRoll)]
	roll.Line = roll.Line[:min(len(roll.Line), queue.MaxRoll)]
	return roll
}
