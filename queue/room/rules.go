package room

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// answerKeeps is for how long a touch keeps the slot of a fixed session. It leaves
// nodes that share a store some syncs to tell it.
const answerKeeps = 6 * time.Second

// rules are what a node goes by under one configuration: its settings, and what
// follows from them. They do not change.
type rules struct {
	queue.Settings
	configuration queue.Configuration
	method        *method
	slack         time.Duration // how much longer than it is told the store counts sessions
	rememberFor   time.Duration // for how long it is remembered who was let in
	early         time.Duration // by how much a check-in that counts may be early
}

func newRules(c queue.Configuration, slack time.Duration) *rules {
	r := &rules{Settings: c.Settings, configuration: c, method: methodOf(&c.Settings), slack: slack, rememberFor: c.Remembers()}
	if slack > 0 && c.Settings.Method.KeepsOrder() { // the clocks of nodes differ by the time of a call, and asking early gains nothing
		r.early = tick
	}
	return r
}

// placeOver reports whether the visitor of a waiting ticket cannot come back to their place
// any more. Of a visitor who goes back, only the time of their session counts: see goBack.
func (r *rules) placeOver(t *queue.Ticket, at queue.Instant) bool {
	if t.GoesBack() {
		return false
	}
	return t.LastCheckIn <= r.configuration.Places.Since || r.PlaceEnds(t) <= at
}

// sessionsAt is the moment by which sessions last or have ended: while those who are in are held,
// the beginning of the hold.
func (r *rules) sessionsAt(at queue.Instant) queue.Instant {
	if r.HoldsActive() {
		return min(at, r.configuration.Standstill.Since)
	}
	return at
}

// startMatters reports whether a session ends at a time from its admission, however often its visitor
// comes.
func (r *rules) startMatters() bool { return r.MaxSession > 0 || r.FixedSessions() }

// sessionLasts is how long a session outlives what renews it.
func (r *rules) sessionLasts() time.Duration { return r.SessionLasts(r.slack) }

// extends reports whether an answer that is under way extends its visitor's session, rather than
// keep the slot alone.
func (r *rules) extends() bool { return r.Occupancy == queue.ByConnection || r.Renews() }

// touchLasts is for how long a touch keeps a session, or the slot of a fixed one.
func (r *rules) touchLasts() time.Duration {
	if !r.extends() {
		return min(answerKeeps, r.sessionLasts())
	}
	return r.sessionLasts()
}

// touchEvery is how often an answer that is under way is touched.
func (r *rules) touchEvery() time.Duration { return r.touchLasts() / 3 }

// touchIn is when such an answer is touched for the first time, if so much is left of its
// visitor's session: well before the session ends. Where connections keep people in, the
// time that is left does not matter.
func (r *rules) touchIn(left time.Duration) time.Duration {
	every := r.touchEvery()
	switch {
	case left <= 0 || r.Occupancy == queue.ByConnection:
		return every
	case !r.extends():
		return max(left-every, left/2)
	}
	return min(every, left/2)
}
