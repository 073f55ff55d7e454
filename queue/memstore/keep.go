package memstore

import (
	"fmt"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// leastRewrite is the shortest time between two compactions of a journal.
const leastRewrite = 5 * time.Second

// keep brings the journal up to date at a Sync: the counts about once a second
// while people wait, and all of it anew when sessions in it have ended, so that
// a restart does not hold slots for people long gone.
func (r *room) keep() error {
	j := r.journal
	if j == nil {
		return nil
	}
	if (r.line.present > 0 || j.cells > 0) && r.now.Sub(j.counted) >= countsInterval {
		j.counts(&r.line, r.now)
	}
	if err := j.write(); err != nil {
		return err
	}
	if r.now.Sub(j.rewritten) < max(leastRewrite, r.settings.SessionDuration/4) || r.ended == 0 && j.size < maxSize {
		return nil
	}
	r.sweep()
	for id, s := range r.sessions {
		if s.admitted != 0 || s.expires > r.now {
			j.admitted(id, s.admitted, s.expires)
		}
	}
	for id, until := range r.revoked {
		j.revoked(id, until)
	}
	j.counts(&r.line, r.now)
	if err := j.rewrite(r.now); err != nil {
		return fmt.Errorf("compacting the journal: %w", err)
	}
	r.ended = 0
	return nil
}

// restore takes up what the journal told, at the first report. Renewals are not
// in it: whoever it says was let in holds a slot until one session duration
// after the start, and whoever was in line counts for one more interval,
// unless the gate was away for longer than a place lasts.
func (r *room) restore(now queue.Instant) {
	told := r.restored
	if told.sessions == nil {
		return
	}
	r.restored = restored{}
	r.now = max(now, told.counted)
	r.minute = r.now.Floor(minute)
	for id, s := range told.sessions {
		if s.admitted >= r.minute {
			r.admitted++
		}
		if !r.settings.DisableSessionRenewal {
			s.expires = max(s.expires, r.now.Add(r.settings.SessionDuration))
		}
		if r.matters(s) {
			r.extend(id, s.expires, s.admitted)
		}
	}
	for id, until := range told.revoked {
		r.revoked[id] = until
	}
	if told.counted.Add(r.settings.QueueTicketTTL) < r.now {
		return
	}
	for _, c := range told.cells {
		c.Until = max(c.Until, r.now.Add(r.settings.RefreshInterval*5/4))
		r.line.change(c.Cell, c.People, r.now)
	}
}
