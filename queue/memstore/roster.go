package memstore

import "github.com/fairdoor-gate/fairdoor/queue"

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
		roster.Line, roster.More = r.line.roster()
	}
	for _, id := range ids {
		seat(id, r.sessions.known[id])
		if e := r.line.find(id); e != nil {
			roster.Line = append(roster.Line, r.line.waiter(e))
		}
	}
	roster.Sort()
	roster.Truncated = len(roster.More) == queue.MaxMore
	if most := max(len(ids), queue.MaxRoster); len(roster.Seated) > most {
		more := roster.Seated[most:]
		roster.Seated, roster.Truncated = roster.Seated[:most], roster.Truncated || len(more) >= queue.MaxMore
		for _, s := range more[:min(len(more), queue.MaxMore)] {
			roster.More = append(roster.More, s.ID)
		}
	}
	for i, w := range roster.Line {
		roster.Line[i].Note = r.notes.said[w.ID].text
	}
	return roster
}
