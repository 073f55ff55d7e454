package memstore

import (
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// boundaries are where the fine buckets of a room begin, in order.
type boundaries struct {
	*clocks
	settings *queue.Settings
	slack    time.Duration // how much longer than reported windows count

	list   queue.Boundaries // views share it: it is replaced, never changed
	looked queue.Instant    // when the store last looked for buckets to cut
}

// cut cuts buckets that hold too many people for so few ahead of them, while so many are admitted
// in a minute, and drops boundaries behind which nobody is any more. redisstore's boundaries.lua
// does the same.
func (b *boundaries) cut(buckets []queue.BucketCount, perMinute float64) {
	if !b.settings.CutsBuckets() {
		b.looked, b.list = 0, nil
		return
	}
	if b.now.Sub(b.looked) >= queue.CutInterval {
		least := max(1, int(perMinute*millis(queue.CutTime)/millis(time.Minute))) // as many as are admitted in CutTime may be in any bucket
		b.looked, b.list = b.now, b.cutSegments(b.segments(buckets), least)
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

// cutSegments returns the boundaries that the segments should have. One into which people are
// arriving now ends with the last arrival bucket that is over. One that is older is cut into equal
// parts of its time.
func (b *boundaries) cutSegments(segments []segment, least int) queue.Boundaries {
	ahead, now, returning := 0, b.now.Floor(queue.ArrivalTime), b.settings.Returning()
	next := make(queue.Boundaries, 0, len(segments)+1)
	for _, s := range segments {
		most, spare := max(least, ahead/queue.CutShare), queue.MaxBoundaries-len(next)
		open := s.end > b.now
		parts := min((s.people+most-1)/most, int(s.end-s.At), spare)
		switch {
		case !open && s.settled && parts > 1:
			next = append(next, queue.Boundary{At: s.At})
			settles := b.now.Add(returning.Within(ahead+s.people) + b.slack)
			for i := 1; i < parts; i++ {
				next = append(next, queue.Boundary{At: s.At + (s.end-s.At)*queue.Instant(i)/queue.Instant(parts), Settles: settles})
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

func millis(d time.Duration) float64 { return float64(d.Milliseconds()) }

// segments are the times between the boundaries, and between multiples of the longest bucket, in
// which people are counted.
func (b *boundaries) segments(buckets []queue.BucketCount) []segment {
	longest := b.settings.LongestBucket()
	list := make([]segment, 0, len(b.list)+8)
	for _, fine := range b.list {
		list = append(list, segment{Boundary: fine, fine: true})
	}
	for _, c := range buckets {
		if at := c.Bucket.Floor(longest); len(list) == 0 || list[len(list)-1].At != at {
			list = append(list, segment{Boundary: queue.Boundary{At: at}})
		}
	}
	slices.SortStableFunc(list, func(a, b segment) int { return int(a.At - b.At) })
	list = slices.CompactFunc(list, func(a, b segment) bool { return a.At == b.At })
	for i := range list {
		s := &list[i]
		s.end, s.settled = s.At.Floor(longest).Add(longest), s.Settles <= b.now
		if i+1 < len(list) && list[i+1].At <= s.end {
			s.end, s.settled = list[i+1].At, s.settled && list[i+1].Settles <= b.now
		}
		for len(buckets) > 0 && buckets[0].Bucket < s.end {
			s.people += buckets[0].Waiting
			buckets = buckets[1:]
		}
	}
	return list
}
