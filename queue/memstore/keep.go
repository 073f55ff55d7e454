package memstore

import (
	"errors"
	"fmt"
	"math/bits"
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
	if (r.cells.present > 0 || j.cells > 0) && r.now.Sub(j.counted) >= countsInterval {
		j.counts(&r.cells, r.now)
	}
	r.journalNumbers()
	due := r.now.Sub(j.rewritten) >= max(leastRewrite, r.settings.SessionDuration/4)
	if !j.stale && (!due || r.ended == 0 && j.size < maxSize) {
		return errors.Join(j.write(), j.rest())
	}
	j.pending = nil // compact says it all
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
				r.journal.session(id, session{admitted: s.admitted})
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
		r.journal.session(id, s)
	}
	for id, until := range r.revoked {
		r.journal.revoked(id, until)
	}
	r.journal.minute(r.minute, r.admitted)
	r.journal.numbers(r.numbers)
	if r.recovered() != 0 || r.lost != 0 && r.lost >= r.minute {
		r.journal.lost(r.lost)
	}
	r.journal.counts(&r.cells, r.now)
	return nil
}
