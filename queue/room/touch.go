package room

import (
	"context"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// answerKeeps is for how long a touch keeps the slot of a fixed session. It leaves
// nodes that share a store some syncs to tell it.
const answerKeeps = 6 * time.Second

// Touch keeps an accepted visitor's session active at now: for an answer of theirs
// that is still under way. It returns whether the session lasts; one that is over
// stays over.
//
// A fixed session is not extended. Its slot alone is kept while the answer lasts, so
// that nobody else is let in meanwhile; the visitor's next request finds the session
// over.
func (r *Room) Touch(now time.Time, t queue.Ticket) bool {
	at := r.storeTime(now)
	s := r.settings.Load()
	switch {
	case t.State != queue.Accepted || r.isRevoked(t.ID, at):
		return false
	case t.Uncounted:
		return t.Expires > at
	case t.Expires <= at && r.sessions.expires(at, t.ID) <= at && r.answers.expires(at, t.ID) <= at:
		return false
	case s.FixedSessions():
		r.answers.renew(at, t.ID, at.Add(r.touchLasts(s)))
	default:
		r.sessions.renew(at, t.ID, at.Add(r.touchLasts(s)))
	}
	return true
}

// touchLasts is how long what a touch keeps outlives it.
func (r *Room) touchLasts(s *queue.Settings) time.Duration {
	if s.FixedSessions() {
		return min(answerKeeps, s.SessionDuration)
	}
	return s.SessionLasts(r.slack)
}

// TouchIn is how long after now an answer that is under way is to be touched for the
// first time, well before its visitor's session ends. Where connections keep people
// in, an answer is none for being the last of a session.
func (r *Room) TouchIn(now time.Time, t queue.Ticket) time.Duration {
	s, every := r.settings.Load(), r.TouchEvery()
	left := t.Expires.Sub(r.storeTime(now))
	switch {
	case left <= 0 || s.Occupancy == queue.ByConnection:
		return every
	case s.FixedSessions():
		return max(left-every, left/2)
	}
	return min(every, left/2)
}

// TouchEvery is how often an answer is touched from then on.
func (r *Room) TouchEvery() time.Duration { return r.touchLasts(r.settings.Load()) / 3 }

// Connect keeps the seat of a visitor whose connection has been made at now, and
// says whether they have it. A store that gates share counts a seat for longer
// than these know of it, and is asked then.
func (r *Room) Connect(ctx context.Context, now time.Time, t queue.Ticket) bool {
	return r.Touch(now, t) || r.renewed(ctx, now, queue.Claim{ID: t.ID, NoSlot: true, NoPlace: true, Renew: true}) == nil && r.Touch(now, t)
}
