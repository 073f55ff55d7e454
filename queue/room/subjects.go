package room

import (
	"crypto/sha256"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// SubjectID is the id of a subject in a room: half of a SHA-256 sum over both names. It has no
// secret in it, so that all nodes and the operator's tools find it alike. Names can be guessed, and
// so the id leaves the gate in sealed tickets, and else to the operator only: what others see is a
// keyed hash of it.
func SubjectID(room, subject string) queue.ID {
	sum := sha256.Sum256([]byte("fairdoor subject\x00" + room + "\x00" + subject))
	return queue.ID(sum[:len(queue.ID{})])
}

// subject is what a node remembers of somebody whom the site has named: they may
// come with any device, and so with any ticket or none, under the same id.
type subject struct {
	arrived   queue.Instant // when they joined; 0 while they have no place in line
	came      queue.Instant // CameAt of their ticket
	checkedIn queue.Instant
	admitted  queue.Instant // when they were last let in: places from before are used
	number    uint64
	interval  uint32 // in milliseconds, from checkedIn on
	priority  int16
}

// ticket is that of the subject's place.
func (sub *subject) ticket(id queue.ID) queue.Ticket {
	return queue.Ticket{State: queue.Waiting, ID: id, ArrivedAt: sub.arrived, CameAt: sub.came, LastCheckIn: sub.checkedIn,
		RefreshInterval: time.Duration(sub.interval) * time.Millisecond, Number: sub.number, Priority: sub.priority}
}

// place is the ticket of a subject's place, if they have one.
func (s *presenceShard) place(at queue.Instant, rules *rules, id queue.ID) (queue.Ticket, bool) {
	sub := s.subjects[id]
	if sub.arrived == 0 {
		return queue.Ticket{}, false
	}
	t := sub.ticket(id)
	if entry := s.find(id, at); entry != nil && !hasLeft(entry) {
		t.CountIn(queue.Cell{Bucket: s.bucketOf(entry), Until: afterTicks(s.start, entry.until)})
	}
	return t, !rules.placeOver(&t, at)
}

// keepPlace is the ticket of the place that a subject who joins has already. One whose
// place is over is counted there no more.
func (s *presenceShard) keepPlace(at queue.Instant, rules *rules, id queue.ID) (queue.Ticket, bool) {
	t, ok := s.place(at, rules, id)
	if !ok && t.State == queue.Waiting {
		if entry := s.find(id, at); entry != nil && !hasLeft(entry) {
			s.change(s.bucketOf(entry), entry.until, -1)
		}
	}
	return t, ok
}

// forgetSubjects forgets the subjects of whom nothing was heard since a moment.
func (s *presenceShard) forgetSubjects(since queue.Instant) {
	for id, sub := range s.subjects {
		if max(sub.checkedIn, sub.admitted) < since {
			delete(s.subjects, id)
		}
	}
}

// remember takes the ticket for that of its subject's place. The caller holds the
// shard's lock.
func (p *presence) remember(s *presenceShard, t *queue.Ticket) {
	p.write(s, t.ID, subject{arrived: t.ArrivedAt, came: t.CameAt, checkedIn: t.LastCheckIn, admitted: s.subjects[t.ID].admitted,
		number: t.Number, interval: uint32(t.RefreshInterval.Milliseconds()), priority: t.Priority})
}

// rememberEntry takes in that a subject was let in: the place they had is used. The
// caller holds the shard's lock.
func (p *presence) rememberEntry(s *presenceShard, id queue.ID, at queue.Instant) {
	sub := s.subjects[id]
	sub.arrived, sub.came, sub.admitted = 0, 0, max(sub.admitted, at)
	p.write(s, id, sub)
}

func (p *presence) write(s *presenceShard, id queue.ID, sub subject) {
	if s.subjects == nil {
		s.subjects = map[queue.ID]subject{}
		p.hasSubjects.Store(true)
	}
	s.subjects[id] = sub
}

// isSubject says whether a ticket is one that a subject was given here, who may
// come without being named.
func (p *presence) isSubject(t *queue.Ticket) bool {
	if t.State == queue.None || !p.hasSubjects.Load() {
		return false
	}
	s := p.shard(t.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.subjects[t.ID]
	return ok
}

// keep takes the ticket for that of its subject's place.
func (p *presence) keep(t *queue.Ticket) {
	s := p.shard(t.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	p.remember(s, t)
}

// enterSubject takes in that a subject was let in: places from before are used.
func (p *presence) enterSubject(at queue.Instant, id queue.ID) {
	s := p.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	p.rememberEntry(s, id, at)
}

// subjectTicket is the ticket that counts for a subject: that of the place they have
// by what this node remembers and by the ticket they bring, the earlier of both;
// else the one they bring, if it is theirs and was not used.
func (p *presence) subjectTicket(at queue.Instant, rules *rules, id queue.ID, brought queue.Ticket) queue.Ticket {
	s := p.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if brought.ID != id || brought.State == queue.None || brought.LastCheckIn > at.Add(skew) {
		brought = queue.Ticket{}
	}
	if brought.State == queue.Waiting && (brought.AcceptedAt == 0 && brought.UsedFrom() <= s.subjects[id].admitted || rules.placeOver(&brought, at)) {
		brought = queue.Ticket{}
	}
	place, ok := s.place(at, rules, id)
	if !ok {
		return brought
	}
	if brought.State != queue.Waiting {
		return place
	}
	first := place
	if brought.ArrivedAt < place.ArrivedAt {
		first = brought
	}
	if brought.LastCheckIn > place.LastCheckIn { // at another node
		place = brought
	}
	place.ArrivedAt, place.CameAt = first.ArrivedAt, first.CameAt
	return place
}
