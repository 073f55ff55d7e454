package queue

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// AllowancePeriod is the calendar minute that new_users_per_minute counts by.
const AllowancePeriod = time.Minute

// Open is the one rule's count of open slots: never negative.
func Open(s Settings, active, released, admitted int) int {
	if s.AdmitsNobody() {
		return 0
	}
	return max(0, min(s.TotalActiveUsers-active, released-admitted))
}

// Pacer releases the allowance of each calendar minute as a room's pacing says.
// Not safe for concurrent use.
type Pacer struct {
	Seed uint64 // of the random moments

	random  uint64  // the last number that was drawn; 0 for none
	minute  Instant // that the rest is about
	passed  int     // how many parts of the allowance are released
	instant float64 // of the minute, in milliseconds, at which the next one is
}

// Released returns how much of the minute's allowance is there at now, and when
// there will be more. With nobody waiting it is all there.
func (p *Pacer) Released(s Settings, now Instant, waiting bool) (released int, next Instant) {
	start, total := now.Floor(AllowancePeriod), int64(s.NewUsersPerMinute)
	next = start.Add(AllowancePeriod)
	pacing := s.PacingInForce()
	if !waiting || pacing == PacingMinute {
		return int(total), next
	}
	if pacing == PacingEven {
		const millis = int64(AllowancePeriod / time.Millisecond)
		n := total*int64(now-start)/millis + 1 // the first at the start of the minute
		return int(n), start + Instant((n*millis+total-1)/total)
	}
	parts := min(s.NewUsersPerMinute, MaxMoments)
	p.pass(start, int64(now-start), parts)
	if p.passed < parts {
		next = start + Instant(p.instant)
	}
	return int(total * int64(min(p.passed, parts)) / int64(parts)), next
}

// pass counts the parts of the allowance whose moments have passed. The moments are random and in order: that of the first of k is the
// least of k draws from what is left of the minute. pacing.lua does the same.
func (p *Pacer) pass(start Instant, into int64, parts int) {
	if p.random == 0 {
		p.random = p.Seed%(LehmerPrime-1) + 1
	}
	if p.minute != start {
		p.minute, p.passed, p.instant = start, 0, 0
		p.draw(parts)
	}
	for p.passed < parts && int64(p.instant) <= into {
		if p.passed++; p.passed < parts {
			p.draw(parts - p.passed)
		}
	}
}

// draw moves on to the moment of the next of the parts that are left.
func (p *Pacer) draw(left int) {
	p.random = p.random * LehmerFactor % LehmerPrime
	rest := float64(AllowancePeriod/time.Millisecond) - p.instant
	p.instant += rest * (1 - math.Pow(float64(p.random)/LehmerPrime, 1/float64(left)))
}

// Reserved is a bucket with the slots that the rule keeps for it.
type Reserved struct {
	BucketCount
	Ahead         int // people present in earlier buckets
	ReservedSlots int // clamp(open - ahead, 0, waiting)
}

// Reserve tabulates how the rule keeps open slots for those present in fifo.
func Reserve(open int, buckets []BucketCount) []Reserved {
	table := make([]Reserved, len(buckets))
	ahead := 0
	for i, b := range buckets {
		table[i] = Reserved{BucketCount: b, Ahead: ahead, ReservedSlots: max(0, min(open-ahead, b.Waiting))}
		ahead += b.Waiting
	}
	return table
}

// InOrder returns the order in which the one rule decides claims that go together:
// earlier buckets first and newcomers last; in random, where a bucket is no merit,
// newcomers last only. Others stay as they are given.
func InOrder(m Method, claims []Claim) []int {
	rank := func(i int) Instant {
		switch {
		case claims[i].Newcomer():
			return math.MaxInt64
		case m.Draws():
			return 0
		}
		return claims[i].Cell.Bucket
	}
	order := make([]int, len(claims))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return order
}
