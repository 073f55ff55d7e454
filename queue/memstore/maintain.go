package memstore

import (
	"errors"
	"math/bits"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// leastRewrite is the shortest time between two compactions of a journal.
const leastRewrite = 5 * time.Second

// maintainJournal brings the journal up to date at a Sync. It records the counts about
// once a second while people wait. It writes the journal anew when sessions in it have
// ended, so that a restart does not hold slots for people who left long ago.
func (r *room) maintainJournal() error {
	j := r.journal
	if j == nil {
		return nil
	}
	if r.now.Sub(j.counted) >= countsInterval {
		r.journalCounts()
	}
	r.journalNumbers()
	if !r.compactionDue() {
		return errors.Join(j.write(), j.closeFile())
	}
	if err := r.compact(); err != nil {
		return err
	}
	r.ended = 0
	return nil
}

// mendJournal writes a journal anew that lacks something. While it cannot, the store answers no call, also none that
// has nothing to write: else it would seem to come back and go with each.
func (r *room) mendJournal() error {
	if r.journal == nil || !r.journal.stale {
		return nil
	}
	return r.compact()
}

// journalCounts records who is in line, if anybody is or was.
func (r *room) journalCounts() {
	if r.present() > 0 || r.cells.present > 0 || r.journal.cells > 0 {
		r.journal.counts(&r.cells, r.boundaries.list, r.now)
	}
}

// compactionDue reports whether the journal lacks something, or has much in it that no
// longer matters.
func (r *room) compactionDue() bool {
	j := r.journal
	rested := r.now.Sub(j.rewritten) >= max(leastRewrite, r.settings.SessionDuration/4)
	return j.stale || rested && (r.ended > 0 || j.size >= maxSize)
}

// endChecks are the sessions that are active by the journal, by the moment at which to
// check whether they have ended. That is some time before they do, and the nearer their
// end is, the less: so there are few such moments, and a renewal costs nothing here.
type endChecks struct{ timeline[[]queue.ID] }

func (c *endChecks) add(id queue.ID, ends, now queue.Instant) {
	coarse := max(0, bits.Len64(uint64(max(0, ends-now)))-10)
	list := c.get(ends >> coarse << coarse)
	*list = append(*list, id)
}

// journalEnds records which sessions have ended before anybody else is given their
// slots: a restart would assume that they were renewed.
func (r *room) journalEnds() {
	r.checks.pass(r.sessionsNow(), func(ids []queue.ID) {
		for _, id := range ids {
			switch s, known := r.sessions[id]; {
			case !known:
			case r.lasts(s):
				r.checks.add(id, s.expires.Add(r.slack), r.sessionsNow())
			default:
				r.journal.session(id, session{admitted: s.admitted})
			}
		}
	})
}

// compact replaces the journal by one of all that still matters.
func (r *room) compact() error {
	r.sweep()
	j := r.journal
	j.pending = nil // what is recorded below has all of it
	if err := j.configured(r.current); err != nil {
		return err
	}
	for id, s := range r.sessions {
		if s.expires <= r.sessionsNow() {
			s.expires = 0
		}
		j.session(id, s)
	}
	for id, until := range r.revoked {
		j.revoked(id, until)
	}
	j.minute(r.minute, r.admitted)
	j.stock(r.stock)
	j.sessionClock(&r.clock)
	j.numbers(r.numbers)
	j.gaps(r.gaps)
	if r.recoversAt() != 0 || r.lost != 0 && r.lost >= r.minute {
		j.lost(r.lost)
	}
	j.counts(&r.cells, r.boundaries.list, r.now)
	if err := j.rewrite(r.now); err != nil {
		return unwritten("writing the journal anew", err)
	}
	return nil
}
