package room

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
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
	remember      time.Duration // for how long it is remembered who was let in
}

func newRules(c queue.Configuration, slack time.Duration) *rules {
	return &rules{Settings: c.Settings, configuration: c, method: methodOf(&c.Settings), slack: slack, remember: c.Remembers()}
}

// placeOver reports whether the place of a waiting ticket can be come back to no
// more.
func (u *rules) placeOver(t *queue.Ticket, at queue.Instant) bool {
	return t.LastCheckIn <= u.configuration.Places.Since || u.PlaceEnds(t) <= at
}

// sessionLasts is how long a session outlives what renews it.
func (u *rules) sessionLasts() time.Duration { return u.SessionLasts(u.slack) }

// touchLasts is how long what a touch keeps outlives it.
func (u *rules) touchLasts() time.Duration {
	if u.FixedSessions() {
		return min(answerKeeps, u.SessionDuration)
	}
	return u.sessionLasts()
}

// touchEvery is how often an answer that is under way is touched.
func (u *rules) touchEvery() time.Duration { return u.touchLasts() / 3 }

// touchIn is when such an answer is touched for the first time, where so much is
// left of its visitor's session: well before that ends. Where connections keep
// people in, an answer is none for being the last of a session.
func (u *rules) touchIn(left time.Duration) time.Duration {
	every := u.touchEvery()
	switch {
	case left <= 0 || u.Occupancy == queue.ByConnection:
		return every
	case u.FixedSessions():
		return max(left-every, left/2)
	}
	return min(every, left/2)
}
