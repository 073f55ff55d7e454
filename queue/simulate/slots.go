package simulate

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// slots measures how long slots stay open while people wait. A slot is open once its
// session has ended as its visitor was told, whether the store gives it on by then or not. Of
// as many slots as there are both open slots and people, the one that has been idle for
// longest counts as the one that is taken.
type slots struct {
	limits queue.Settings

	at      queue.Instant
	last    queue.Status
	active  int // sessions that last
	waiting int
	idle    int // open slots, as far as somebody waits for them
	since   []idleSince
	runs    []time.Duration // how long each was idle until it was taken or lapsed

	usedTime, idleTime float64 // slot-seconds while people waited
	heldTime           float64 // slot-seconds that were used, also while nobody waited
	taken, lapsed      int     // of the allowances of minutes that ended with people waiting
}

// idleSince is a number of slots that have been idle since the same moment.
type idleSince struct {
	at queue.Instant
	n  int
}

// look notes the room's status, how many sessions last, and how many people wait.
func (s *slots) look(now queue.Instant, status queue.Status, active, people int) {
	seconds := now.Sub(s.at).Seconds()
	s.heldTime += seconds * float64(s.active)
	if s.waiting > 0 {
		s.usedTime += seconds * float64(s.active)
		s.idleTime += seconds * float64(s.idle)
		if status.Now.Floor(time.Minute) != s.last.Now.Floor(time.Minute) {
			s.endMinute(now)
		}
	}
	s.at, s.last, s.active, s.waiting = now, status, active, people
	s.setIdle(now, min(s.open(), people))
}

// open is how many slots are open. By the store it may be fewer, where it waits for nodes to report
// that a session has ended.
func (s *slots) open() int {
	if free := s.limits.Slots() - s.last.Active; free > s.last.Open {
		return s.last.Open // by the allowance
	}
	return max(s.last.Open, min(s.limits.Slots()-s.active, s.limits.Allowance()-s.last.Admitted))
}

// endMinute takes up the minute that has ended. What it allowed and nobody took
// is lost where it was the allowance that held people up: a slot that the room
// has is still there.
func (s *slots) endMinute(now queue.Instant) {
	s.taken += s.last.Admitted
	if s.limits.Allowance()-s.last.Admitted <= s.limits.Slots()-s.last.Active {
		s.lapsed += s.idle
		s.setIdle(now, 0)
	}
}

// setIdle notes that so many slots are idle now.
func (s *slots) setIdle(now queue.Instant, idle int) {
	if idle > s.idle {
		s.since = append(s.since, idleSince{at: now, n: idle - s.idle})
	}
	for n := s.idle - idle; n > 0; {
		first := &s.since[0]
		ended := min(n, first.n)
		for range ended {
			s.runs = append(s.runs, now.Sub(first.at))
		}
		n -= ended
		if first.n -= ended; first.n == 0 {
			s.since = s.since[1:]
		}
	}
	s.idle = idle
}
