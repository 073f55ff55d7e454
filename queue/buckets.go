package queue

import (
	"cmp"
	"slices"
	"time"
)

const (
	// longestBucket is how long a bucket is at most where the settings leave that open.
	longestBucket = time.Minute
	// leastBucket is the shortest bucket that can be set.
	leastBucket = time.Second
)

// Where a store cuts buckets, a bucket holds at most a CutShare-th of the people who are ahead of
// it, or as many as are admitted in CutTime. So the order is fine near the head, and the number of
// buckets grows with the logarithm of the crowd.
const (
	CutShare = 16
	CutTime  = 2 * time.Second

	// ArrivalTime is the length of the buckets in which newcomers are counted. Where a bucket ends
	// into which people are arriving, one of these ends.
	ArrivalTime = 200 * time.Millisecond

	// CutInterval is how often a store looks for buckets to cut, at most.
	CutInterval = 200 * time.Millisecond

	// MaxBoundaries is how many boundaries a room has at most.
	MaxBoundaries = 512
)

// Boundaries are where the fine buckets of a room begin, in order. Besides, one begins at every
// multiple of [Settings.LongestBucket].
type Boundaries []Boundary

// Boundary is the beginning of a bucket.
type Boundary struct {
	At Instant

	// Settles is when everybody in the bucket is counted there, if a longer bucket was cut:
	// until they check in they are counted where that one begins. It is 0 where a bucket ended into
	// which people were arriving, and where the longer bucket begins itself.
	Settles Instant
}

// Find returns which is the first boundary at a moment or after it, and whether it is at that
// moment.
func (b Boundaries) Find(at Instant) (int, bool) {
	return slices.BinarySearchFunc(b, at, func(b Boundary, at Instant) int { return cmp.Compare(b.At, at) })
}

// CutsBuckets reports whether the store cuts buckets as finely as the order needs. If Bucket is
// set, all who arrive within one are equal instead.
func (s *Settings) CutsBuckets() bool { return s.Bucket == 0 && s.Method.OrdersBuckets() }

// LongestBucket is how long a bucket is at most: every bucket ends at a multiple of it.
func (s *Settings) LongestBucket() time.Duration {
	if s.Bucket == 0 {
		return longestBucket
	}
	return s.Bucket
}

// ArrivalBucket is where a visitor who arrived then is counted until their first check-in. Where
// the store cuts buckets, that is an interval of ArrivalTime: so the store and the nodes know
// finely when people came, whatever boundaries each node has heard of.
func (s *Settings) ArrivalBucket(arrived Instant) Instant {
	if s.CutsBuckets() {
		return arrived.Floor(ArrivalTime)
	}
	return arrived.Floor(s.LongestBucket())
}

// BucketOf is the bucket of a visitor who arrived then: the moment at which it begins.
func (s *Settings) BucketOf(arrived Instant, fine Boundaries) Instant {
	bucket := arrived.Floor(s.LongestBucket())
	if !s.CutsBuckets() {
		return bucket
	}
	next, found := fine.Find(arrived)
	switch {
	case found:
		return arrived
	case next > 0:
		return max(bucket, fine[next-1].At)
	}
	return bucket
}
