package queue

import (
	"slices"
	"time"
)

const (
	// longestBucket is how long a bucket is at most where the settings leave that open.
	longestBucket = time.Minute
	// leastBucket is the shortest bucket that can be set.
	leastBucket = time.Second
)

// Where a store cuts buckets, a bucket holds at most a CutShare-th of the people who are ahead of it, or as many as are admitted in
// CutTime. So the order is fine near the head, and the number of buckets grows with the logarithm of the crowd.
const (
	CutShare = 8
	CutTime  = 2 * time.Second

	// CutInterval is how often a store looks for buckets to cut, at most.
	CutInterval = 200 * time.Millisecond

	// MaxBoundaries is how many boundaries a room has at most.
	MaxBoundaries = 512
)

// Boundaries are the moments at which the fine buckets of a room begin, in order. Besides, one begins at every multiple of
// [Settings.LongestBucket].
type Boundaries []Instant

// CutsBuckets reports whether the store cuts buckets as finely as the order needs. If Bucket is set, all who arrive within one are
// equal instead.
func (s *Settings) CutsBuckets() bool { return s.Bucket == 0 && s.Method.OrdersBuckets() }

// LongestBucket is how long a bucket is at most: every bucket ends at a multiple of it.
func (s *Settings) LongestBucket() time.Duration {
	if s.Bucket == 0 {
		return longestBucket
	}
	return s.Bucket
}

// BucketOf is the bucket of a visitor who arrived then: the moment at which it begins.
func (s *Settings) BucketOf(arrived Instant, fine Boundaries) Instant {
	bucket := arrived.Floor(s.LongestBucket())
	if !s.CutsBuckets() {
		return bucket
	}
	next, found := slices.BinarySearch(fine, arrived)
	switch {
	case found:
		return arrived
	case next > 0:
		return max(bucket, fine[next-1])
	}
	return bucket
}
