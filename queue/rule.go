package queue

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// AllowancePeriod is the calendar minute that new_users_per_minute counts by.
const AllowancePeriod = time.Minute

// Slots is how many visitors may be active at once. Whatever decides by that limit reads it here.
func (s *Settings) Slots() int { return s.TotalActiveUsers }

// Allowance is how many visitors may be admitted in a calendar minute. Whatever decides by that
// limit reads it here.
func (s *Settings) Allowance() int { return s.NewUsersPerMinute }

// AllowedRate is how many visitors the limits let in, a minute, where each of them keeps a slot for
// so long.
func (s *Settings) AllowedRate(slotKept time.Duration) float64 {
	return min(float64(s.Allowance()), float64(s.Slots())*float64(time.Minute)/float64(slotKept))
}

// Open is the one rule's count of open slots. It is never negative.
func Open(s Settings, active, released, admitted int) int {
	if s.AdmitsNobody() {
		return 0
	}
	return max(0, min(s.Slots()-active, released-admitted))
}

// Slowed is how many a minute are admitted when admissions are slowed by a factor: at least one, so
// that somebody probes whether the origin is better. A factor that is not between 0 and 1 slows
// nothing.
func Slowed(perMinute int, factor float64) float64 {
	if factor <= 0 || factor >= 1 {
		return float64(perMinute)
	}
	return max(1, float64(perMinute)*factor)
}

// Reserved is a bucket with the slots that the rule keeps for it.
type Reserved struct {
	BucketCount
	Ahead         int // people present in earlier buckets
	ReservedSlots int // clamp(open - ahead, 0, waiting)
}

// Reserve returns, for each bucket, how many open slots the rule keeps for those present in
// it, where earlier buckets are ahead.
func Reserve(open int, buckets []BucketCount) []Reserved {
	table := make([]Reserved, len(buckets))
	ahead := 0
	for i, b := range buckets {
		table[i] = Reserved{BucketCount: b, Ahead: ahead, ReservedSlots: max(0, min(open-ahead, b.Waiting))}
		ahead += b.Waiting
	}
	return table
}

// InOrder returns the order in which the one rule decides claims that go together: earlier
// buckets first and newcomers last. Where every check-in is a draw, the buckets do not
// matter. Claims that are equal stay in their order.
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
