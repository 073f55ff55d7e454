package memstore

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// roster lists who is in the room and who is in line.
func (r *room) roster(ids []queue.ID) *queue.Roster {
	roster := &queue.Roster{Now: r.now, Kept: r.ago(r.settings.LineDropout)}
	seat := func(id queue.ID, s session) {
		if r.sessions.lasts(s) && r.revoked[id] <= r.now {
			roster.Seated = append(roster.Seated, queue.Seat{Session: queue.Session{ID: id, Expires: s.expires.Add(r.behind())}, AcceptedAt: r.acceptedAt(s), Note: r.notes.said[id].text})
		}
	}
	if len(ids) == 0 {
		for id, s := range r.sessions.known {
			seat(id, s)
		}
		roster.Line = r.line.roster()
	}
	for _, id := range ids {
		seat(id, r.sessions.known[id])
		if e := r.line.find(id); e != nil {
			roster.Line = append(roster.Line, r.line.waiter(e))
		}
	}
	slices.SortFunc(roster.Seated, func(a, b queue.Seat) int {
		return cmp.Or(cmp.Compare(a.AcceptedAt, b.AcceptedAt), bytes.Compare(a.ID[:], b.ID[:]))
	})
	slices.SortFunc(roster.Line, func(a, b queue.Waiter) int { return cmp.Compare(a.Ahead, b.Ahead) })
	roster.Seated = roster.Seated[:min(len(roster.Seated), queue.MaxRoster)]
	roster.Line = roster.Line[:min(len(roster.Line), queue.MaxRoster)]
	for i, w := range roster.Line {
		roster.Line[i].Note = r.notes.said[w.ID].text
	}
	return roster
}
