package room

import (
	"crypto/sha256"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// SubjectID is the id of a subject in a room: half of a SHA-256 sum over both
// names. It needs no secret, for ids leave the gate in sealed tickets, and else
// to the operator only.
func SubjectID(room, subject string) queue.ID {
	sum := sha256.Sum256([]byte("anteroom subject\x00" + room + "\x00" + subject))
	return queue.ID(sum[:len(queue.ID{})])
}

// subject is what a node remembers of somebody whom the site has named: they may
// come with any device, and so with any ticket or none, under the same id.
type subject struct {
	arrived   queue.Instant // when they joined; 0 while they have no place in line
	checkedIn queue.Instant
	admitted  queue.Instant // when they were last let in: places from before are used
	number    uint64
	interval  uint32 // in milliseconds, from checkedIn on
	priority  int16
}

// ticket is that of the subject's place.
func (u *subject) ticket(id queue.ID) queue.Ticket {
	return queue.Ticket{State: queue.Waiting, ID: id, ArrivedAt: u.arrived, LastCheckIn: u.checkedIn,
		RefreshInterval: time.Duration(u.interval) * time.Millisecond, Number: u.number, Priority: u.priority}
}

// latest is when something was last heard of the subject.
func (u *subject) latest() queue.Instant { return max(u.checkedIn, u.admitted) }

// remember takes the ticket for that of the subject's place. The caller holds mu.
func (s *waiterShard) remember(t *queue.Ticket) {
	if s.subjects == nil {
		s.subjects = map[queue.ID]subject{}
	}
	s.subjects[t.ID] = subject{arrived: t.ArrivedAt, checkedIn: t.LastCheckIn, admitted: s.subjects[t.ID].admitted,
		number: t.Number, interval: uint32(t.RefreshInterval.Milliseconds()), priority: t.Priority}
}

// letIn takes down that the subject was let in: the place they had is used. The
// caller holds mu.
func (s *waiterShard) letIn(id queue.ID, at queue.Instant) {
	if s.subjects == nil {
		s.subjects = map[queue.ID]subject{}
	}
	u := s.subjects[id]
	u.arrived, u.admitted = 0, max(u.admitted, at)
	s.subjects[id] = u
}

// knows reports whether id is a subject's. The caller holds mu.
func (s *waiterShard) knows(id queue.ID) bool {
	_, ok := s.subjects[id]
	return ok
}

// counted is when the visitor of a ticket arrived as they are counted: a subject
// may have come earlier, or later, with another device. The caller holds mu.
func (s *waiterShard) counted(t *queue.Ticket) queue.Instant {
	if u := s.subjects[t.ID]; u.arrived != 0 {
		return u.arrived
	}
	return t.ArrivedAt
}

// forgetSubjects forgets the subjects of whom nothing was heard since. The caller
// holds mu.
func (s *waiterShard) forgetSubjects(since queue.Instant) {
	for id, u := range s.subjects {
		if u.latest() < since {
			delete(s.subjects, id)
		}
	}
}

// isSubject says whether a ticket is one that a subject was given here, who may
// come without being named.
func (r *Room) isSubject(t *queue.Ticket) bool {
	if t.State == queue.None || !r.hasSubjects.Load() {
		return false
	}
	sh := r.waiters.shard(t.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.knows(t.ID)
}

// joinsAgain is the place that a subject has already when they are about to join:
// with another device, they were first. Of a place that has ended, they are
// counted no more. The caller holds mu.
func (r *Room) joinsAgain(now queue.Instant, sh *waiterShard, s *queue.Settings, id queue.ID) (queue.Ticket, bool) {
	u := sh.subjects[id]
	if u.arrived == 0 {
		return queue.Ticket{}, false
	}
	t := u.ticket(id)
	if r.placeEnds(s, &t) > now {
		return t, true
	}
	if e := sh.table.find(short(id), ticksOf(now, r.start)); e != nil && !left(e) {
		sh.change(s.BucketOf(u.arrived), e.until, -1)
	}
	return queue.Ticket{}, false
}

// noteSubject takes down, for a subject, what the store said of their claim.
func (r *Room) noteSubject(now queue.Instant, p *Pending, g queue.Grant) {
	id := p.request.Subject
	if id == (queue.ID{}) || !g.LetIn() && g.Verdict != queue.Used {
		return
	}
	at := now
	if g.Verdict == queue.Used {
		at = p.ticket.ArrivedAt
	}
	sh := r.waiters.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.letIn(id, at)
}

// checkSubject is check for a visitor whom the site has named. Whatever ticket
// they bring, they have the subject's place, and the subject's slot.
func (r *Room) checkSubject(now queue.Instant, s *queue.Settings, q *Request) (Decision, *Pending) {
	r.hasSubjects.Store(true)
	if r.isRevoked(q.Subject, now) {
		return r.banned(now, s, q), nil
	}
	brought := q.Ticket
	if brought.ID != q.Subject {
		r.uncount(now, brought)
	}
	end, in := r.sessions.expires(now, q.Subject), brought.State == queue.Accepted && brought.ID == q.Subject
	switch {
	case in && max(brought.Expires, end) > now:
	case end > now:
		return r.accept(now, s, q, queue.Ticket{ID: q.Subject}, queue.Grant{Verdict: queue.Held, AcceptedAt: now, Expires: end}), nil
	default:
		q.Ticket = r.ticketOf(now, s, q)
	}
	d, p := r.check(now, s, q)
	if p != nil {
		p.issue = p.issue || p.ticket != brought
		return d, p
	}
	if d.Outcome == Queued || d.Outcome == Admitted {
		d.Issue = d.Issue || d.Ticket != brought
	}
	return d, nil
}

// ticketOf is the ticket that counts for a subject: that of the place they have
// by what this node remembers and by the ticket they bring, the earlier of both;
// else the one they bring, if it is theirs and was not used.
func (r *Room) ticketOf(now queue.Instant, s *queue.Settings, q *Request) queue.Ticket {
	sh := r.waiters.shard(q.Subject)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	u, brought := sh.subjects[q.Subject], q.Ticket
	theirs := brought.ID == q.Subject && brought.State != queue.None && brought.LastCheckIn <= now.Add(skew)
	if theirs && brought.State == queue.Waiting && (brought.ArrivedAt <= u.admitted || r.placeEnds(s, &brought) <= now) {
		theirs = false
	}
	known := u.ticket(q.Subject)
	switch {
	case u.arrived != 0 && r.placeEnds(s, &known) > now:
		if theirs && brought.State == queue.Waiting {
			known.ArrivedAt = min(known.ArrivedAt, brought.ArrivedAt)
		}
		return known
	case theirs:
		return brought
	}
	return queue.Ticket{}
}

// banned answers a subject whose session was revoked: under their name they take
// neither a slot nor a place until the revocation ends.
func (r *Room) banned(now queue.Instant, s *queue.Settings, q *Request) Decision {
	switch {
	case s.RejectsAll():
		return Decision{Outcome: Rejected, Drop: q.Ticket.State != queue.None}
	case q.NoWait:
		return Decision{Outcome: Busy, Ticket: q.Ticket}
	}
	return Decision{Outcome: Queued,
		Ticket: queue.Ticket{State: queue.Waiting, ID: q.Subject, ArrivedAt: now, LastCheckIn: now, RefreshInterval: r.interval(s)}}
}
