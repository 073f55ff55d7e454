package memstore

import (
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// boundaries are where the fine buckets of a room begin, in order.
type boundaries struct {
	list   queue.Boundaries // views share it: it is replaced, never changed
	looked queue.Instant    // when the store last looked for buckets to cut
}

// cutBuckets cuts buckets that hold too many people for so few ahead of them, and drops boundaries behind which nobody is any more.
// redisstore's boundaries.lua does the same.
func (r *room) cutBuckets() {
	b := &r.boundaries
	if !r.settings.CutsBuckets() {
		*b = boundaries{}
		return
	}
	if r.now.Sub(b.looked) >= queue.CutInterval {
		b.looked, b.list = r.now, r.cutSegments(r.segments())
	}
}

// segment is the time between two boundaries, with the people who are counted in it.
type segment struct {
	queue.Boundary
	end     queue.Instant
	settled bool // everybody in it is counted by both boundaries
	fine    bool // it begins with a boundary, and not only with a multiple of the longest bucket
	people  int
}

// cutSegments returns the boundaries that the segments should have. One into which people are arriving now ends with the last arrival
// bucket that is over. One that is older is cut into equal parts of its time.
func (r *room) cutSegments(segments []segment) queue.Boundaries {
	least, ahead, now := r.leastCut(), 0, r.now.Floor(queue.ArrivalTime)
	next := make(queue.Boundaries, 0, len(segments)+1)
	for _, s := range segments {
		most, spare := max(least, ahead/queue.CutShare), queue.MaxBoundaries-len(next)
		open := s.end > r.now
		parts := min((s.people+most-1)/most, int(s.end-s.At), spare)
		switch {
		case !open && s.settled && parts > 1:
			next = append(next, queue.Boundary{At: s.At})
			for i := 1; i < parts; i++ {
				next = append(next, queue.Boundary{At: s.At + (s.end-s.At)*queue.Instant(i)/queue.Instant(parts), Cut: r.now})
			}
		case s.fine && spare > 0 && (s.people > 0 || open || !s.settled):
			next = append(next, s.Boundary)
		}
		if open && s.people > most && s.At < now && spare > 1 {
			next = append(next, queue.Boundary{At: now})
		}
		ahead += s.people
	}
	return next
}

// leastCut is how many people may be in any bucket: as many as are admitted in CutTime.
func (r *room) leastCut() int {
	lasts := r.settings.SessionLasts(r.slack)
	perMinute, known := r.rates.mean(r.minute, lasts)
	if !known {
		perMinute = min(float64(r.settings.NewUsersPerMinute), float64(r.settings.TotalActiveUsers)*millis(time.Minute)/millis(lasts))
	}
	return max(1, int(perMinute*millis(queue.CutTime)/millis(time.Minute)))
}

func millis(d time.Duration) float64 { return float64(d.Milliseconds()) }

// segments are the times between the boundaries, and between multiples of the longest bucket, in which people are counted.
func (r *room) segments() []segment {
	longest := r.settings.LongestBucket()
	settled := r.now.Add(-r.settings.ReturnsWithin() - r.slack)
	list := make([]segment, 0, len(r.boundaries.list)+8)
	for _, b := range r.boundaries.list {
		list = append(list, segment{Boundary: b, fine: true})
	}
	for _, c := range r.cells.buckets {
		list = append(list, segment{Boundary: queue.Boundary{At: c.Bucket.Floor(longest)}})
	}
	slices.SortStableFunc(list, func(a, b segment) int { return int(a.At - b.At) })
	list = slices.CompactFunc(list, func(a, b segment) bool { return a.At == b.At })
	counted := r.cells.buckets
	for i := range list {
		s := &list[i]
		s.end, s.settled = s.At.Floor(longest).Add(longest), s.Cut <= settled
		if i+1 < len(list) && list[i+1].At <= s.end {
			s.end, s.settled = list[i+1].At, s.settled && list[i+1].Cut <= settled
		}
		for len(counted) > 0 && counted[0].Bucket < s.end {
			s.people += counted[0].Waiting
			counted = counted[1:]
		}
	}
	return list
}
