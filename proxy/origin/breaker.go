package origin

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// failuresToTrip is how many failures to answer in a row make an origin a failing one.
const failuresToTrip = 3

// breaker knows whether the origin is failing. While it is, a goroutine probes it; the first answer, to the probe or to
// a visitor, ends the failing and the goroutine with it. For an origin that is well an answer costs one atomic load.
type breaker struct {
	probe    func(context.Context) error
	interval time.Duration
	onChange func(failing bool, err error) // called with mu held, so that changes are told in their order

	failures atomic.Int32 // in a row; written with mu held
	failing  atomic.Bool  // written with mu held

	mu      sync.Mutex
	closed  bool
	stop    context.CancelFunc // ends the probing that is under way, if any
	probing sync.WaitGroup
}

func newBreaker(probe func(context.Context) error, interval time.Duration, onChange func(bool, error)) *breaker {
	return &breaker{probe: probe, interval: interval, onChange: onChange}
}

// answered takes note of an answer.
func (b *breaker) answered() {
	if b.failures.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures.Store(0)
	if !b.failing.Load() {
		return
	}
	b.failing.Store(false)
	b.halt()
	b.onChange(false, nil)
}

// failed takes note of a failure to answer, and tells whether the origin is failing now.
func (b *breaker) failed(err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failing.Load() {
		return true
	}
	if b.failures.Add(1) < failuresToTrip {
		return false
	}
	b.failing.Store(true)
	if !b.closed {
		ctx, stop := context.WithCancel(context.Background())
		b.stop = stop
		b.probing.Go(func() { b.watch(ctx) })
	}
	b.onChange(true, err)
	return true
}

// watch probes the origin until it answers or ctx ends.
func (b *breaker) watch(ctx context.Context) {
	ticker := time.NewTicker(b.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if b.probe(ctx) == nil && ctx.Err() == nil {
			b.answered()
			return
		}
	}
}

// halt ends the probing that is under way. mu is held.
func (b *breaker) halt() {
	if b.stop != nil {
		b.stop()
		b.stop = nil
	}
}

// close ends all probing, for good, and waits for it.
func (b *breaker) close() {
	b.mu.Lock()
	b.closed = true
	b.halt()
	b.mu.Unlock()
	b.probing.Wait()
}
