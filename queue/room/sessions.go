package room

import (
	"math"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// sessions are the accepted visitors whom this node has seen: until when each may
// stay, whose slots are kept for an answer under way, and whose session was ended.
type sessions struct {
	seen    sessionTable
	answers sessionTable // what keeps the slots of sessions that have ended in their time
	revoked revocations
}

func newSessions(start queue.Instant) *sessions {
	return &sessions{seen: sessionTable{start: start}, answers: sessionTable{start: start}}
}

// expires returns until when id may stay, as far as this node knows; zero for an id
// whose session is over or was never seen.
func (s *sessions) expires(at queue.Instant, id queue.ID) queue.Instant {
	return s.seen.expires(at, id)
}

// learn takes in what the store says: that id may stay until a moment.
func (s *sessions) learn(at queue.Instant, id queue.ID, until queue.Instant) {
	s.seen.learn(at, id, until)
}

// add takes in that id may stay until a moment, which the store is to be told.
func (s *sessions) add(at queue.Instant, id queue.ID, until queue.Instant) { s.seen.add(at, id, until) }

// begin takes in that id may stay until a moment, which the store is told for the first time: it is
// to count them until then at least.
func (s *sessions) begin(at queue.Instant, id queue.ID, until queue.Instant) {
	s.seen.renew(at, id, math.MaxInt64, until)
}

// renew has id, who was known to stay until a moment, stay for a session from now on, or until
// the last moment of one that began at accepted. The store is to be told. It returns false if
// the session may have ended meanwhile: see sessionTable.prolong.
func (s *sessions) renew(at queue.Instant, rules *rules, id queue.ID, accepted, known queue.Instant) (until queue.Instant, lasts bool) {
	until = at.Add(rules.SessionDuration)
	if last := rules.LastMoment(accepted); last <= until.Add(tick) { // a renewal is rounded up, by less than a tick
		until = min(until, last)
		return until, s.seen.prolong(at, id, known, until)
	}
	return until, s.seen.renew(at, id, known, until)
}

// prolong has id, who was known to stay until a moment, stay until a later one. The store is
// to be told. It returns false if the session may have ended meanwhile.
func (s *sessions) prolong(at queue.Instant, id queue.ID, known, until queue.Instant) (lasts bool) {
	return s.seen.prolong(at, id, known, until)
}

// touch keeps the session of an accepted visitor, or the slot alone of one that is not
// renewed any more, for an answer of theirs that is under way. It returns whether the session
// lasts, or an answer that ends by itself keeps the slot.
func (s *sessions) touch(at queue.Instant, rules *rules, t *queue.Ticket) bool {
	if t.State != queue.Accepted || s.isRevoked(t.ID, at) || s.hasMoved(t, at) {
		return false
	}
	if t.Uncounted {
		return t.Expires > at || s.seen.expires(at, t.ID) > at
	}
	known := max(t.Expires, s.seen.expires(at, t.ID), s.answers.expires(at, t.ID))
	if known <= at {
		return false
	}
	until, last := at.Add(rules.touchLasts()), rules.LastMoment(t.AcceptedAt)
	capped := last <= until.Add(tick)
	switch {
	case !rules.extends() || rules.Occupancy == queue.BySession && capped:
		return s.answers.renew(at, t.ID, known, until)
	case capped:
		return s.seen.prolong(at, t.ID, known, last) && last > at
	default:
		return s.seen.renew(at, t.ID, known, until)
	}
}

// isRevoked reports whether the session of id was ended, and tickets that tell of it
// are void.
func (s *sessions) isRevoked(id queue.ID, at queue.Instant) bool { return s.revoked.has(id, at) }

// revoke ends the session that an accepted ticket tells of. Tickets of the id are void
// until any that there may be has expired, and for so long at least.
func (s *sessions) revoke(at queue.Instant, t *queue.Ticket, atLeast time.Duration) {
	until := max(t.Expires, s.seen.expires(at, t.ID), at.Add(atLeast))
	s.revoked.add(at, queue.Session{ID: t.ID, Expires: until})
	s.remove(at, t.ID)
}

// learnRevoked takes in the sessions that the store says were ended.
func (s *sessions) learnRevoked(at queue.Instant, ended []queue.Session) {
	s.revoked.learn(at, ended)
	for _, e := range ended {
		s.remove(at, e.ID)
	}
}

func (s *sessions) remove(at queue.Instant, id queue.ID) {
	s.seen.remove(at, id)
	s.answers.remove(at, id)
}

// drain takes the unreported sessions and revocations.
func (s *sessions) drain(at queue.Instant) (lasting, revoked []queue.Session) {
	return s.answers.drain(at, s.seen.drain(at, nil)), s.revoked.drain()
}

// final is the moment up to which no session is renewed any more that had ended by then: that of
// the last drain.
func (s *sessions) final() queue.Instant { return queue.Instant(s.seen.drained.Load()) }

// all are all sessions and revocations that last.
func (s *sessions) all(at queue.Instant) (lasting, revoked []queue.Session) {
	return s.answers.all(at, s.seen.all(at, nil)), s.revoked.all()
}

// trim gives memory of one shard back after many sessions have ended.
func (s *sessions) trim(shard int, at queue.Instant) {
	s.seen.trim(shard, at)
	s.answers.trim(shard, at)
}
