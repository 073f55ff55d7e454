package queue

import (
	"slices"
	"time"
)

// minute is the calendar minute that new_users_per_minute counts by.
const minute = time.Minute

// Open is the one rule's count of open slots: never negative.
func Open(s Settings, active, released, admitted int) int {
	if s.QueueAll || s.Method == Reject {
		return 0
	}
	return max(0, min(s.TotalActiveUsers-active, released-admitted))
}

// Pacer releases the allowance of each calendar minute as a room's pacing says.
// Not safe for concurrent use.
type Pacer struct {
	Seed uint64 // of the random moments; one room's nodes share it

	minute    Instant
	allowance int
	moments   []time.Duration // of the minute, in order
}

// maxMoments bounds the work of a minute: PacingRandom releases a larger
// allowance in so many equal parts.
const maxMoments = 4096

// Released returns how much of the minute's allowance is there at now, and when
// there will be more. With nobody waiting it is all there.
func (p *Pacer) Released(s Settings, now Instant, waiting bool) (released int, next Instant) {
	start, total := now.Floor(minute), int64(s.NewUsersPerMinute)
	next = start.Add(minute)
	pacing := s.Pace()
	if !waiting || pacing == PacingMinute {
		return int(total), next
	}
	if pacing == PacingEven {
		const millis = int64(minute / time.Millisecond)
		n := total*int64(now-start)/millis + 1 // the first at the start of the minute
		return int(n), start + Instant((n*millis+total-1)/total)
	}
	if p.minute != start || p.allowance != s.NewUsersPerMinute {
		p.minute, p.allowance, p.moments = start, s.NewUsersPerMinute, drawMoments(p.Seed, start, s.NewUsersPerMinute)
	}
	passed, _ := slices.BinarySearch(p.moments, now.Sub(start)+1)
	if passed < len(p.moments) {
		next = start.Add(p.moments[passed])
	}
	return int(total * int64(passed) / int64(len(p.moments))), next
}

// drawMoments draws when the parts of a minute's allowance are released.
func drawMoments(seed uint64, start Instant, allowance int) []time.Duration {
	x := seed ^ uint64(start)
	moments := make([]time.Duration, min(allowance, maxMoments))
	for i := range moments {
		x = splitmix(x)
		moments[i] = time.Duration(x%uint64(minute/time.Millisecond)) * time.Millisecond
	}
	slices.Sort(moments)
	return moments
}

// splitmix is one step of the SplitMix64 generator (Steele, Lea, Flood 2014).
func splitmix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
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
