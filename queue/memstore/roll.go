package memstore

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/line"
)

// roll lists who is in the room and who is in line.
func (r *room) roll(ids []queue.ID) *queue.Roll {
	roll := &queue.Roll{Now: r.now, Kept: r.ago(r.settings.LineDropout)}
	seat := func(id queue.ID, s session) {
		if r.lasts(s) && r.revoked[id] <= r.now {
			roll.Seated = append(roll.Seated, queue.Seat{Session: queue.Session{ID: id, Expires: s.expires.Add(r.behind())}, AcceptedAt: r.acceptedAt(s)})
		}
	}
	if len(ids) == 0 {
		for id, s := range r.sessions {
			seat(id, s)
		}
		roll.Line = r.rollLine()
	}
	for _, id := range ids {
		seat(id, r.sessions[id])
		if e := r.inLine(id); e != nil {
			roll.Line = append(roll.Line, r.waiter(e))
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

// rollLine lists the first in line.
func (r *room) rollLine() []queue.Waiter {
	var list []queue.Waiter
	for e := range r.line.All() {
		if e.Until() > r.now {
			list = append(list, r.waiter(e))
		}
		if len(list) == queue.MaxRoll {
			break
		}
	}
	return list
}

func (r *room) waiter(e *line.Entry) queue.Waiter {
	ahead, _ := r.line.Ahead(e)
	p := queue.Place{Number: e.Number, Priority: e.Priority, Ahead: ahead, Length: r.line.Len()}
	return queue.Waiter{ID: e.ID, Place: p, Until: e.Until()}
}
