package memstore

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

const (
	// leastRewrite is the shortest time between two compactions of a journal.
	leastRewrite = 5 * time.Second
	// skew is how far the clock may have been set back while the gate was away.
	// What a journal tells of later times was noted by a clock gone wrong, whose
	// tickets are not trusted either.
	skew = time.Minute
)

// keep brings the journal up to date at a Sync: the counts about once a second
// while people wait, and all of it anew when sessions in it have ended, so that
// a restart does not hold slots for people long gone.
func (r *room) keep() error {
	j := r.journal
	if j == nil {
		return nil
	}
	if (r.cells.present > 0 || j.cells > 0) && r.now.Sub(j.counted) >= countsInterval {
		j.counts(&r.cells, r.now)
	}
	r.journalNumbers()
	if err := j.write(); err != nil {
		return err
	}
	due := r.now.Sub(j.rewritten) >= max(leastRewrite, r.settings.SessionDuration/4)
	if !j.stale && (!due || r.ended == 0 && j.size < maxSize) {
		return nil
	}
	if err := r.compact(); err != nil {
		return err
	}
	if err := j.rewrite(r.now); err != nil {
		return fmt.Errorf("compacting the journal: %w", err)
	}
	r.ended = 0
	return nil
}

// written are the sessions that the journal takes for active, by when to look
// whether they have ended: some time before they do, and the nearer their end is,
// the less, so that there are few such times and a renewal costs nothing here.
type written struct{ timeline[[]queue.ID] }

func (w *written) hang(id queue.ID, ends, now queue.Instant) {
	coarse := max(0, bits.Len64(uint64(max(0, ends-now)))-10)
	list := w.get(ends >> coarse << coarse)
	*list = append(*list, id)
}

// writeEnds has the journal tell which sessions have ended, before anybody else is
// given their slots: a restart would take them for renewed.
func (r *room) writeEnds() {
	r.written.pass(r.now, func(ids []queue.ID) {
		for _, id := range ids {
			switch s, known := r.sessions[id]; {
			case !known:
			case r.lasts(s):
				r.written.hang(id, s.expires.Add(r.slack), r.now)
			default:
				r.journal.admitted(id, s.admitted, 0)
			}
		}
	})
}

// compact records all that still matters.
func (r *room) compact() error {
	r.sweep()
	if err := r.journal.configured(r.current); err != nil {
		return err
	}
	for id, s := range r.sessions {
		if s.expires <= r.now {
			s.expires = 0
		}
		r.journal.admitted(id, s.admitted, s.expires)
	}
	for id, until := range r.revoked {
		r.journal.revoked(id, until)
	}
	r.journal.minute(r.minute, r.admitted)
	r.journal.numbers(r.numbers)
	r.journal.counts(&r.cells, r.now)
	return nil
}

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
	future := now.Add(skew)
	r.now = now
	if latest := max(told.counted, told.minute); latest <= future {
		r.now = max(now, latest)
	}
	r.minute = r.now.Floor(minute)
	if told.minute == r.minute {
		r.admitted = told.admitted
	}
	for id, s := range told.sessions {
		if s.expires != 0 && !r.settings.FixedSessions() {
			s.expires = max(s.expires, r.now.Add(r.settings.SessionLasts(r.slack)))
		}
		if r.matters(s) && s.admitted <= future {
			r.extend(id, s.expires, s.admitted)
		}
	}
	for id, until := range told.revoked {
		r.revoked[id] = until
	}
	r.numbers = told.numbers
	r.since = r.now
	if told.counted.Add(r.settings.QueueTicketTTL) < r.now || told.counted > future {
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
