// Package handover hands over to one goroutine what is made while requests are answered: a disk or a
// pipe that takes nothing holds up no request, and some of it is lost then.
package handover

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Most is how many values wait at most.
	Most = 4096
	// lookEvery is how often it is looked whether values are lost.
	lookEvery = time.Second
	// tellEvery is how often it is told at most that values are lost.
	tellEvery = time.Minute
	// last is how long the last values may take: a pipe that nobody reads does not hold up the end.
	last = time.Second
)

// Queue has the values that wait to be taken. It is made by New. Give may be called concurrently.
type Queue[T any] struct {
	take  func(T) error
	wait  chan T
	lost  atomic.Int64
	ended atomic.Bool // no goroutine takes values any more

	taking sync.Mutex // held by who takes values then
}

// New returns a queue of values, which take takes one by one. A value that it fails to take is lost.
func New[T any](take func(T) error) *Queue[T] {
	return &Queue[T]{take: take, wait: make(chan T, Most)}
}

// Give hands over a value, or loses it. It never waits while Run runs. After that the value is taken
// before Give returns: requests may outlive what is beside them.
func (q *Queue[T]) Give(value T) {
	select {
	case q.wait <- value:
	default:
		q.lost.Add(1)
	}
	if q.ended.Load() {
		q.rest()
	}
}

// rest takes the values that wait. Who finds others at it leaves it to them: they look again.
func (q *Queue[T]) rest() {
	for len(q.wait) > 0 && q.taking.TryLock() {
		for more := true; more; {
			select {
			case value := <-q.wait:
				q.takeOne(value)
			default:
				more = false
			}
		}
		q.taking.Unlock()
	}
}

// Run takes values until ctx has ended, and then those that wait, for a second at most. It tells how
// many have been lost: as that begins, once a minute while it goes on, and at the end, with those that
// still wait then.
func (q *Queue[T]) Run(ctx context.Context, now func() time.Time, tell func(lost int64)) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		q.run(ctx)
	}()
	var at time.Time // when it told last
	var told int64
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticker.C:
			if lost := q.lost.Load(); lost > told && now().Sub(at) >= tellEvery {
				told, at = lost, now()
				tell(lost)
			}
		}
	}
	waiting := 0
	select {
	case <-ended:
	case <-time.After(last):
		waiting = len(q.wait)
	}
	if lost := q.lost.Load() + int64(waiting); lost > told {
		tell(lost)
	}
}

func (q *Queue[T]) run(ctx context.Context) {
	for {
		select {
		case value := <-q.wait:
			q.takeOne(value)
		case <-ctx.Done():
			q.ended.Store(true)
			q.rest()
			return
		}
	}
}

func (q *Queue[T]) takeOne(value T) {
	if q.take(value) != nil {
		q.lost.Add(1)
	}
}
