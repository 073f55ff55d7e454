package memstore

import (
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
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

// expire takes out the values that have ended by now, and calls ended with each, oldest
// first.
func (t *timeline[T]) expire(now queue.Instant, ended func(T)) {
	n := 0
	for n < len(t.entries) && t.entries[n].at <= now {
		ended(t.entries[n].value)
		n++
	}
	clear(t.entries[:n])
	t.entries = t.entries[n:] // when the array is full, append leaves behind what has passed
}

// cells counts the people present in a room by cell.
type cells struct {
	windows timeline[map[queue.Instant]int] // by bucket, under the end of the window
	buckets []queue.BucketCount             // with people present, oldest first
	present int
}

// change counts so many people more in the cell, or fewer, but never fewer than none. A
// cell whose window has passed counts no more.
func (p *cells) change(c queue.Cell, people int, now queue.Instant) {
	if c.Until <= now {
		return
	}
	window := p.windows.get(c.Until)
	if *window == nil {
		*window = map[queue.Instant]int{}
	}
	people = max(people, -(*window)[c.Bucket])
	(*window)[c.Bucket] += people
	p.add(c.Bucket, people)
}

// advance takes out the cells whose windows have passed.
func (p *cells) advance(now queue.Instant) {
	p.windows.expire(now, func(window map[queue.Instant]int) {
		for bucket, people := range window {
			p.add(bucket, -people)
		}
	})
}

// empties is when nobody is present any more if nobody checks in; only meaningful while
// people are present.
func (p *cells) empties() queue.Instant {
	for _, window := range slices.Backward(p.windows.entries) {
		for _, people := range window.value {
			if people > 0 {
				return window.at
			}
		}
	}
	return 0
}

func (p *cells) add(bucket queue.Instant, people int) {
	if people == 0 {
		return
	}
	p.present += people
	i, ok := slices.BinarySearchFunc(p.buckets, bucket, func(b queue.BucketCount, at queue.Instant) int { return int(b.Bucket - at) })
	if !ok {
		p.buckets = slices.Insert(p.buckets, i, queue.BucketCount{Bucket: bucket})
	}
	p.buckets[i].Waiting += people
	if p.buckets[i].Waiting == 0 {
		p.buckets = slices.Delete(p.buckets, i, i+1)
	}
}
