package memstore

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// longest is what a session lasts at most.
const longest = 24 * time.Hour

// restore takes up what the journal told, at the first report. Renewals are not
// in it: whoever it says was let in holds a slot until one session duration
// after the start, and whoever was in line counts for one more interval,
// unless the gate was away for longer than a place lasts. Places in an exact line
// come back with their visitors' tickets, and nobody is let in until they have had
// the time for it; newcomers get higher numbers than any that was given out.
func (r *room) restore(now queue.Instant) {
	told := r.restored
	if told.sessions == nil {
		return
	}
	r.restored = restored{}
	r.now = max(now, told.latest)
	r.minute = r.now.Floor(queue.AllowancePeriod)
	if told.minute == r.minute {
		r.admitted = told.admitted
	}
	for id, s := range told.sessions {
		if s.expires != 0 && !r.settings.FixedSessions() {
			s.expires = max(s.expires, r.now.Add(r.settings.SessionLasts(r.slack)))
		}
		if r.matters(s) {
			r.extend(id, s.expires, s.admitted)
		}
	}
	for id, until := range told.revoked {
		r.revoked[id] = until
	}
	r.numbers, r.since, r.lost = told.numbers, r.now, told.lost
	if told.loss != nil {
		r.loses(told.loss)
	}
	r.restoreLine(&told)
}

// restoreLine takes up who was in line.
func (r *room) restoreLine(told *restored) {
	if told.counted.Add(r.settings.QueueTicketTTL) < r.now {
		return
	}
	for _, c := range told.cells {
		c.Until = max(c.Until, r.now.Add(r.settings.RefreshInterval*5/4))
		r.cells.change(c.Cell, c.People, r.now)
	}
	if r.cells.present > 0 {
		r.unknown = r.now
	}
}

// loses notes that the journal has lost records.
func (r *room) loses(reason error) {
	r.lost, r.unknown = r.now, r.now
	if r.onLoss != nil {
		r.onLoss(r.name, reason)
	}
}

// recovered is when the sessions that a damaged journal did not tell of are known
// again, by their tickets, or have ended: until then nobody is let in. Those in line
// are present again by then, too. It is zero where there is nothing to wait for.
func (r *room) recovered() queue.Instant {
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

// allowanceUsed is how much of this minute's allowance counts as used: all that was
// admitted, and what a journal that was lost in this minute may have told of. A slot
// was given away once, and again when a session had passed.
func (r *room) allowanceUsed() int {
	if r.lost == 0 || r.lost < r.minute {
		return r.admitted
	}
	times := 1 + int(r.lost.Sub(r.minute)/max(time.Second, r.settings.SessionLasts(r.slack)))
	return r.admitted + min(r.settings.NewUsersPerMinute, r.settings.TotalActiveUsers*times)
}
