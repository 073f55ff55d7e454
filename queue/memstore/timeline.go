package memstore

import (
	"slices"

	"github.com/anteroom-gate/anteroom/queue"
)

// timeline keeps values by the instant at which they end, in order. New ends
// come near its tail and ends pass at its head.
type timeline[T any] struct {
	entries []entry[T]
}

type entry[T any] struct {
	at    queue.Instant
	value T
}

// find returns where the value for at is, or would be.
func (t *timeline[T]) find(at queue.Instant) (int, bool) {
	return slices.BinarySearchFunc(t.entries, at, func(e entry[T], at queue.Instant) int { return int(e.at - at) })
}

// get returns the value that ends at the instant, made zero if there is none.
func (t *timeline[T]) get(at queue.Instant) *T {
	i, ok := t.find(at)
	if !ok {
		t.entries = slices.Insert(t.entries, i, entry[T]{at: at})
	}
	return &t.entries[i].value
}

// pass hands out the values that have ended by now, oldest first.
func (t *timeline[T]) pass(now queue.Instant, ended func(T)) {
	n := 0
	for n < len(t.entries) && t.entries[n].at <= now {
		ended(t.entries[n].value)
		n++
	}
	clear(t.entries[:n])
	t.entries = t.entries[n:] // the room before it goes when the tail needs more
}

// line counts the people present in a room by cell.
type line struct {
	windows timeline[map[queue.Instant]int] // by bucket, under the end of the window
	buckets []queue.BucketCount             // with people present, oldest first
	present int
}

// change counts people more in the cell, never fewer than none. What lies in a
// window that has passed is past.
func (l *line) change(c queue.Cell, people int, now queue.Instant) {
	if c.Until <= now {
		return
	}
	window := l.windows.get(c.Until)
	if *window == nil {
		*window = map[queue.Instant]int{}
	}
	people = max(people, -(*window)[c.Bucket])
	(*window)[c.Bucket] += people
	l.add(c.Bucket, people)
}

// advance takes out those whose windows have passed.
func (l *line) advance(now queue.Instant) {
	l.windows.pass(now, func(window map[queue.Instant]int) {
		for bucket, people := range window {
			l.add(bucket, -people)
		}
	})
}

// empties is when the last who are present now will have left if nobody checks
// in; only meaningful while people are present.
func (l *line) empties() queue.Instant {
	for _, window := range slices.Backward(l.windows.entries) {
		for _, people := range window.value {
			if people > 0 {
				return window.at
			}
		}
	}
	return 0
}

func (l *line) add(bucket queue.Instant, people int) {
	if people == 0 {
		return
	}
	l.present += people
	i, ok := slices.BinarySearchFunc(l.buckets, bucket, func(b queue.BucketCount, at queue.Instant) int { return int(b.Bucket - at) })
	if !ok {
		l.buckets = slices.Insert(l.buckets, i, queue.BucketCount{Bucket: bucket})
	}
	l.buckets[i].Waiting += people
	if l.buckets[i].Waiting == 0 {
		l.buckets = slices.Delete(l.buckets, i, i+1)
	}
}
