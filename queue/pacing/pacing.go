// Package pacing releases the allowance of a calendar minute: at once, evenly, or at random
// moments.
package pacing

import (
	"math"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// MaxParts bounds the work of a minute: at random moments a larger allowance is released in
// so many equal parts.
const MaxParts = 4096

// A Lehmer generator (Park, Miller 1988) draws the random moments: the next number is Factor
// times the last one, modulo Prime. Lua, which has no integers beyond 2^53, gets the same
// numbers.
const (
	Factor = 48271
	Prime  = 1<<31 - 1
)

// Pacer releases the allowance of each calendar minute as a room's pacing says. Not safe
// for concurrent use.
type Pacer struct {
	Seed uint64 // of the random moments

	random uint64        // the last number that was drawn; 0 for none
	minute queue.Instant // whose moments these are
	passed int           // how many parts of the allowance are released
	moment float64       // when the next part is released, in milliseconds from the start of the minute
}

// Released returns how much of the minute's allowance is there at now, and when there will
// be more. While nobody waits, all of it is there.
func (p *Pacer) Released(s queue.Settings, now queue.Instant, waiting bool) (released int, next queue.Instant) {
	start, total := now.Floor(queue.AllowancePeriod), int64(s.Allowance())
	inForce := s.PacingInForce()
	next = start.Add(queue.AllowancePeriod)
	within := spread(inForce)
	if !waiting || inForce != queue.PacingRandom && now >= start.Add(within) {
		return int(total), next
	}
	if inForce != queue.PacingRandom {
		millis := within.Milliseconds()
		n := total*int64(now-start)/millis + 1 // the first at the start of the minute
		if n < total {
			next = start + queue.Instant((n*millis+total-1)/total)
		}
		return int(n), next
	}
	parts := min(s.Allowance(), MaxParts)
	p.advance(start, int64(now-start), parts)
	if p.passed < parts {
		next = start + queue.Instant(p.moment)
	}
	return int(total * int64(min(p.passed, parts)) / int64(parts)), next
}

// spread is the time from the start of the minute within which a pacing releases the allowance.
func spread(p queue.Pacing) time.Duration {
	switch p {
	case queue.PacingMinute:
		return 0
	case queue.PacingEarly:
		return queue.EarlyTime
	default:
		return queue.AllowancePeriod
	}
}

// Expected returns how much of the minute's allowance is expected to be there at a moment while
// people wait.
func Expected(s *queue.Settings, at queue.Instant) int {
	within, into, total := spread(s.PacingInForce()), at.Sub(at.Floor(queue.AllowancePeriod)), int64(s.Allowance())
	if into >= within {
		return int(total)
	}
	return int(total*int64(into)/int64(within)) + 1
}

// Slow releases an allowance bit by bit while admissions are slowed, beside a Pacer: as many in a
// minute as [queue.Slowed] says, from nothing on, and what nobody takes for a minute at most. Its
// zero value slows nothing. redisstore's slowed.lua does the same.
type Slow struct {
	at    queue.Instant // until when it has released; 0 while nothing is slowed
	spare float64       // that was released and not taken
	rate  float64       // a minute
}

// Advance releases what is due at now, when admissions are slowed by the factor.
func (s *Slow) Advance(now queue.Instant, perMinute int, factor float64) {
	if factor >= 1 {
		*s = Slow{}
		return
	}
	s.rate = queue.Slowed(perMinute, factor)
	if s.at != 0 {
		s.spare = min(s.rate, s.spare+s.rate*float64(now-s.at)/float64(queue.AllowancePeriod.Milliseconds()))
	}
	s.at = now
}

// Take takes so many; a negative number gives them back.
func (s *Slow) Take(n int) {
	if s.at != 0 {
		s.spare = max(0, s.spare-float64(n))
	}
}

// Limit bounds an allowance, of which there is more at a moment.
func (s *Slow) Limit(allowance int, more queue.Instant) (int, queue.Instant) {
	n := int(s.spare)
	if s.at == 0 || n > allowance {
		return allowance, more
	}
	next := s.at + queue.Instant(math.Ceil((float64(n)+1-s.spare)/s.rate*float64(queue.AllowancePeriod.Milliseconds())))
	if n == allowance {
		next = max(next, more)
	}
	return n, next
}

// advance counts the parts of the allowance whose moments have passed. The moments are random
// and in order: that of the first of k parts is the least of k draws from what is left of
// the minute. redisstore's pacing.lua does the same.
func (p *Pacer) advance(start queue.Instant, into int64, parts int) {
	if p.random == 0 {
		p.random = p.Seed%(Prime-1) + 1
	}
	if p.minute != start {
		p.minute, p.passed, p.moment = start, 0, 0
		p.draw(parts)
	}
	for p.passed < parts && int64(p.moment) <= into {
		if p.passed++; p.passed < parts {
			p.draw(parts - p.passed)
		}
	}
}

// draw moves on to the moment of the next part.
func (p *Pacer) draw(left int) {
	p.random = p.random * Factor % Prime
	rest := float64(queue.AllowancePeriod/time.Millisecond) - p.moment
	p.moment += rest * (1 - math.Pow(float64(p.random)/Prime, 1/float64(left)))
}
