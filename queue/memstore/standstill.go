package memstore

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// sessionsNow is the moment by which sessions last or have ended. While they stand still it does not pass.
func (r *room) sessionsNow() queue.Instant {
	if r.stands != 0 {
		return min(r.now, r.stands)
	}
	return r.now
}

// stood is for how long sessions have stood still by now.
func (r *room) stood() time.Duration { return r.now.Sub(r.sessionsNow()) }

// standStill has sessions stand still, or go on, as the configuration wants it.
func (r *room) standStill() {
	switch holds := r.current.Settings.HoldsActive(); {
	case holds && r.stands == 0:
		r.stands = r.now
	case !holds && r.stands != 0:
		r.postpone(r.stood())
		r.stands = 0
	}
}

// postpone has each session that lasts begin and end later by so much.
func (r *room) postpone(by time.Duration) {
	for id, s := range r.sessions {
		if r.lasts(s) {
			r.sessions[id] = session{expires: s.expires.Add(by), admitted: s.admitted.Add(by)}
		}
	}
	for i := range r.ends.entries {
		r.ends.entries[i].at = r.ends.entries[i].at.Add(by)
	}
	if r.journal != nil {
		r.journal.stale = true
	}
}

// learnStock takes in what a node has heard from the origin.
func (r *room) learnStock(s queue.Stock) {
	if s.At <= r.stock.At {
		return
	}
	if r.journal != nil && (s.Left != r.stock.Left || !r.stock.Known()) {
		r.journal.stock(s)
	}
	r.stock = s
	r.goByStock()
}

// goByStock holds everyone new while the room is sold out.
func (r *room) goByStock() {
	r.settings = r.current.Settings
	if r.settings.SoldOut(r.stock) {
		r.settings.QueueAll = true
	}
}
