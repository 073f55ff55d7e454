package memstore

import (
	"maps"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// longest is how long a session lasts at most.
const longest = 24 * time.Hour

// restore takes up what the journal had, at the first report. The journal has no renewals: so
// whoever was let in holds a slot until one session duration after the start. Whoever was in line
// counts until they had time for a check-in, unless the gate was away for longer than a place
// lasts, which goes by running time in an exact line. Places in an exact line come back with their
// visitors' tickets, and nobody is let in until there was time for that; newcomers get higher
// numbers than any that was given out.
func (r *room) restore(now queue.Instant) {
	found := r.restored
	if found.sessions == nil {
		return
	}
	r.restored = restored{}
	r.now = max(now, found.latest)
	r.closed.ended = r.now
	r.allowance.minute = r.now.Floor(queue.AllowancePeriod)
	if found.minute == r.allowance.minute {
		r.allowance.admitted = found.admitted
	}
	r.ofSessions = found.clock
	if r.settings.HoldsActive() && r.ofSessions.stands == 0 {
		r.ofSessions.stands = r.current.Standstill.Since
	}
	r.stock = r.stock.Later(found.stock)
	r.goByStock()
	r.line.numbers, r.lost = found.numbers, found.lost
	r.restoreGaps(&found)
	r.restoreSessions(found.sessions)
	maps.Copy(r.revoked, found.revoked)
	maps.Copy(r.notes.said, found.notes)
	if found.loss != nil {
		r.noteLoss(found.loss)
	}
	r.restoreLine(&found)
}

// restoreSessions takes up the sessions that still matter. One that was given for a lease may
// have become a whole one since.
func (r *room) restoreSessions(sessions map[queue.ID]session) {
	for id, s := range sessions {
		from := r.sessionsNow()
		if r.settings.FixedSessions() {
			from = r.began(s)
		}
		if s.expires != 0 {
			s.expires = max(s.expires, min(from.Add(r.settings.SessionLasts(r.slack)), r.settings.LastMoment(r.began(s))))
		}
		if r.sessions.matters(s, r.remembersFrom()) {
			r.sessions.extend(id, s.expires, s.admitted)
		}
	}
}

// closure is a time in which nobody could check in, because the store was closed: from began,
// when the journal had the counts for the last time, to ended. Whoever was in line then counts
// until back at least, in cells that nobody else is counted in: so whoever comes back is taken
// out of them, and counts once.
type closure struct{ began, ended, back queue.Instant }

// movedFrom is the cell that a claimant is to be taken out of; the zero Cell if the store has
// lost the count of them.
func (c closure) movedFrom(claim queue.Claim) queue.Cell {
	switch {
	case claim.LastCheckIn >= c.ended:
		return claim.Moved
	case c.back == 0 || claim.Moved == queue.Cell{}:
		return queue.Cell{}
	case claim.Moved.Until <= c.began: // their stream may have checked in for them since, which no ticket tells
		return queue.Cell{Bucket: claim.Cell.Bucket, Until: c.back}
	}
	return c.extend(claim.Moved)
}

// extend is the cell in which people count who were in line in another.
func (c closure) extend(was queue.Cell) queue.Cell {
	if was.Until > c.began {
		was.Until = max(was.Until, c.back)
	}
	return was
}

// restoreLine counts those who were in line.
func (r *room) restoreLine(found *restored) {
	if !r.settings.Method.HasExactLine() && found.counted.Add(r.settings.QueueTicketTTL) < r.now {
		return
	}
	back := r.now.Add(r.settings.ReturnsWithin() + r.settings.CheckInSlack())
	r.closed.began, r.closed.back = found.counted, back.Ceil(time.Second)+1 // when no other window ends
	r.boundaries.list = found.boundaries
	for _, c := range found.cells {
		r.cells.change(r.closed.extend(c.Cell), c.People, r.now)
	}
	if r.cells.present > 0 {
		r.line.unknown = r.now
	}
}

// noteLoss has the room recover from a journal that has lost records.
func (r *room) noteLoss(reason error) {
	r.lost, r.line.unknown = r.now, r.now
	if r.settings.Method.HasExactLine() {
		r.line.numbers.last += queue.LostNumbers
	}
	if r.onLoss != nil {
		r.onLoss(r.name, reason)
	}
}

// recoversAt is when each session that a damaged journal has lost is known again, by
// its ticket, or has ended; zero if that is past, or nothing was lost. Until then
// nobody is let in. Those near the head of the line are present again by then, too.
func (r *room) recoversAt() queue.Instant {
	if r.lost == 0 {
		return 0
	}
	lasts := max(r.settings.SessionLasts(r.slack), r.settings.ReturnsWithin())
	if r.current.Version == 0 { // nobody has asked for the room since
		lasts = longest
	}
	at := r.lost.Add(lasts)
	if at <= r.now {
		return 0
	}
	return at
}
