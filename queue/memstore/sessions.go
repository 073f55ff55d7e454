package memstore

import (
	"math/bits"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// sessions are who is in a room, and who was.
type sessions struct {
	*clocks
	slack   time.Duration // how much longer sessions count that may have been renewed
	journal *journal

	known   map[queue.ID]session
	active  int
	ends    timeline[int] // how many active ones end, by the sessions' clock
	endedBy queue.Instant // up to which the slots of sessions that have ended are open, by the sessions' clock
	checks  endChecks     // with a journal
	ended   int           // how many have ended since the journal was written anew
	swept   int           // how many were left by the last sweep
}

// session is one that holds a slot until expires, or one that has ended. It is kept
// until no ticket from before its admission is valid any more.
type session struct {
	expires  queue.Instant // by the sessions' clock
	admitted queue.Instant // by this store, or when the session was first reported
}

// lasts reports whether a session holds its slot.
func (s *sessions) lasts(of session) bool { return of.expires > s.endedBy }

// extend makes the session of id last until expires at least, by the sessions' clock.
func (s *sessions) extend(id queue.ID, expires, admitted queue.Instant) {
	was := s.known[id]
	lasted := s.lasts(was)
	if lasted {
		if expires <= was.expires {
			return
		}
		s.close(was)
	}
	next := session{expires: expires, admitted: admitted}
	s.known[id] = next
	if s.lasts(next) {
		if !lasted && s.journal != nil {
			s.checks.add(id, expires.Add(s.slack), s.sessionsNow())
		}
		*s.ends.get(expires)++
		s.active++
	}
}

// close opens the slot of a session that lasts.
func (s *sessions) close(of session) {
	*s.ends.get(of.expires)--
	s.active--
}

// set has an id have another session in place of one that lasts: one that has ended, or none.
func (s *sessions) set(id queue.ID, ended session) {
	s.close(s.known[id])
	s.known[id] = ended
	if ended == (session{}) {
		delete(s.known, id)
	}
}

// count counts a session that a node reports, whose end is by the sessions' clock. The journal gets
// those that it does not know to be active.
func (s *sessions) count(id queue.ID, expires queue.Instant) {
	was := s.known[id]
	admitted := was.admitted
	if admitted == 0 {
		admitted = s.sessionsStand()
	}
	s.extend(id, expires, admitted)
	if next := s.known[id]; !s.lasts(was) && s.lasts(next) {
		s.journal.session(id, next)
	}
}

// end opens the slots of the sessions that had ended by a moment of their clock. The journal has
// those before anybody else is given their slots: a restart would assume that they were renewed.
func (s *sessions) end(by queue.Instant) {
	s.endedBy = max(s.endedBy, by)
	s.ends.expire(s.endedBy, func(n int) { s.active, s.ended = s.active-n, s.ended+n })
	s.checks.expire(s.sessionsNow(), func(ids []queue.ID) {
		for _, id := range ids {
			switch of, known := s.known[id]; {
			case !known:
			case s.lasts(of):
				s.checks.add(id, of.expires.Add(s.slack), s.sessionsNow())
			default:
				s.journal.session(id, session{admitted: of.admitted})
			}
		}
	})
}

// sweep forgets the sessions that have ended, and were admitted before a moment.
func (s *sessions) sweep(before queue.Instant) {
	for id, of := range s.known {
		if !s.matters(of, before) {
			delete(s.known, id)
		}
	}
	s.swept = len(s.known)
}

// matters reports whether a session holds its slot, or was admitted after a moment before which no
// ticket is still brought.
func (s *sessions) matters(of session, before queue.Instant) bool {
	return s.lasts(of) || of.admitted > before
}

// nextEnd is when the next slot may come free: when its session ends, or once all nodes may have
// reported that it has; zero without any.
func (s *sessions) nextEnd(occupancy queue.Occupancy) queue.Instant {
	for _, e := range s.ends.entries {
		at := e.at.Add(s.behind())
		switch {
		case e.value == 0:
			continue
		case occupancy != queue.BySession:
			return at.Add(s.slack)
		case e.at > s.sessionsNow():
			return at
		}
		return min(at.Add(s.slack), s.now.Add(queue.ReportTime))
	}
	return 0
}

// endsWithin counts the sessions that end within each of EndSteps.
func (s *sessions) endsWithin() (ends [len(queue.EndSteps)]int) {
	n, step := 0, 0
	for _, e := range s.ends.entries {
		for e.at > s.sessionsNow().Add(queue.EndSteps[step]) {
			ends[step] = n
			if step++; step == len(ends) {
				return ends
			}
		}
		n += e.value
	}
	for ; step < len(ends); step++ {
		ends[step] = n
	}
	return ends
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
