package world

import (
	"cmp"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// turns have goroutines of a gate that could go on at the same moment do so one after the other, in
// the order in which they began to wait. How long a turn takes depends on nobody who waits at other
// moments.
type turns struct {
	mu    sync.Mutex
	last  waiter // who began last
	ready *ready // those that could go on at the latest moment
}

// waiter is one of those who have begun to wait at a moment.
type waiter struct {
	moment int64 // in nanoseconds
	place  int   // among those of that moment
}

func (w waiter) compare(o waiter) int {
	return cmp.Or(cmp.Compare(w.moment, o.moment), cmp.Compare(w.place, o.place))
}

// ready are those who could go on at one moment.
type ready struct {
	moment  int64
	waiters []waiter
}

// next returns what waits for the next turn.
func (t *turns) next() (take func()) {
	shake()
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now().UnixNano(); now == t.last.moment {
		t.last.place++
	} else {
		t.last = waiter{moment: now}
	}
	w := t.last
	return func() { t.take(w) }
}

// turnLasts is how far turns are apart, roughly.
const turnLasts = 10007 * time.Nanosecond

// take waits until all who are before a waiter have gone on. A nanosecond later all who could go on
// at this moment are known.
func (t *turns) take(w waiter) {
	now := time.Now().UnixNano()
	t.mu.Lock()
	if t.ready == nil || t.ready.moment != now {
		t.ready = &ready{moment: now}
	}
	together := t.ready
	together.waiters = append(together.waiters, w)
	t.mu.Unlock()
	wait(time.Nanosecond)
	before := 0
	for _, o := range together.waiters {
		if o.compare(w) < 0 {
			before++
		}
	}
	wait(time.Duration(before)*turnLasts + time.Duration(mix(uint64(w.moment), uint64(w.place))%uint64(turnLasts))) //nolint:gosec // a hash
}

// wait is how goroutines of a gate wait: see proxy.Options.
func (t *turns) wait(ready <-chan struct{}, atMost time.Duration) {
	take := t.next()
	room.WaitFor(ready, atMost)
	take()
}
