package memstore

import "errors"

// maintainJournal brings the journal up to date at a Sync. It records the counts about
// once a second while people wait. It writes the journal anew when sessions in it have
// ended, so that a restart does not hold slots for people who left long ago.
func (r *room) maintainJournal() error {
	j := r.journal
	if j == nil {
		return nil
	}
	if r.now.Sub(j.counted) >= countsInterval && (r.present() > 0 || r.cells.present > 0 || j.cells > 0) {
		j.counts(&r.cells, r.boundaries.list, r.now)
	}
	j.numbers(r.line.numbers)
	if j.rewriteDue(r.now, r.sessions.ended, r.settings.SessionDuration) {
		return r.compact()
	}
	return errors.Join(j.write(), j.rest())
}

// mendJournal writes a journal anew that lacks something. While it cannot, the store answers no
// call, also none that has nothing to write: else it would seem to come back and go with each.
func (r *room) mendJournal() error {
	if r.journal == nil || !r.journal.stale {
		return nil
	}
	return r.compact()
}

// compact replaces the journal by one of all that still matters.
func (r *room) compact() error {
	r.sweep()
	j := r.journal
	j.pending, j.numbered = nil, numbers{} // what is recorded below has all of it
	if err := j.configured(r.current); err != nil {
		return err
	}
	for id, s := range r.sessions.known {
		if s.expires <= r.sessionsNow() {
			s.expires = 0
		}
		j.session(id, s)
	}
	for id, until := range r.revoked {
		j.revoked(id, until)
	}
	for id, n := range r.notes.said {
		j.note(id, n)
	}
	j.minute(r.allowance.minute, r.allowance.admitted)
	j.stock(r.stock)
	j.items(r.stock.Items)
	j.sessionClock(&r.ofSessions)
	j.numbers(r.line.numbers)
	j.gaps(r.gaps)
	if r.recoversAt() != 0 || r.lost != 0 && r.lost >= r.allowance.minute {
		j.lost(r.lost)
	}
	j.counts(&r.cells, r.boundaries.list, r.now)
	if err := j.rewrite(r.now); err != nil {
		return err
	}
	r.sessions.ended = 0
	return nil
}
