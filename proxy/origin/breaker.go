package origin

import (
	"context"
	"hash/maphash"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// breaker knows whether the origin is failing. A single visitor's failure does not show it. After a
// failure a goroutine watches the origin until nothing has failed for a window. The origin fails
// while it answers neither the gate's own probe nor an admitted visitor, or while most of the
// admitted visitors get no answer (see mostFail). While nothing has failed, an answer costs one
// atomic load.
type breaker struct {
	probe    func(context.Context) error
	interval time.Duration
	onChange func(failing bool, err error) // called with mu held, so that the calls are in the order of the changes
	seed     maphash.Seed

	checking atomic.Bool           // its health is asked for all the time, which goes before the probe; written with mu held
	watching atomic.Bool           // a goroutine watches the origin; written with mu held
	failing  atomic.Bool           // written with mu held
	suspect  atomic.Bool           // something has failed since the last probe
	answers  atomic.Bool           // an admitted visitor has been answered since the last probe began
	halves   [2]tally              // of the window
	current  atomic.Uint32         // the half that counts now
	latest   atomic.Pointer[error] // the last failure

	mu    sync.Mutex
	ill   bool            // the health path is not answered well
	well  bool            // it was the last time
	mute  bool            // neither the last probe was answered nor an admitted visitor since it began
	ended context.Context // ends when the breaker is closed
	end   context.CancelFunc
	watch sync.WaitGroup
}

func newBreaker(probe func(context.Context) error, interval time.Duration, onChange func(bool, error)) *breaker {
	b := &breaker{probe: probe, interval: interval, onChange: onChange, seed: maphash.MakeSeed()}
	b.ended, b.end = context.WithCancel(context.Background())
	return b
}

// answered counts an answer to a request.
func (b *breaker) answered(r *http.Request) {
	if !b.watching.Load() {
		return
	}
	w, ok := witnessOf(r)
	if !ok {
		return
	}
	b.half().answered.add(w.visitor)
	if !b.answers.Load() {
		b.answers.Store(true)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.mute = false
		b.judge()
	}
}

// failed counts a failure to answer a request.
func (b *breaker) failed(r *http.Request, err error) {
	half := b.half()
	if w, ok := witnessOf(r); ok {
		half.failed.add(w.visitor)
		half.clients.add(w.client)
		half.paths.add(maphash.String(b.seed, r.URL.Path))
	}
	b.latest.Store(&err)
	half.any.Store(true)
	b.suspect.Store(true)
	if b.watching.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.watching.Load() && b.ended.Err() == nil {
		b.watching.Store(true)
		b.watch.Go(b.observe)
	}
}

func (b *breaker) half() *tally { return &b.halves[b.current.Load()] }

// observe watches the origin until nothing has failed for a window.
func (b *breaker) observe() {
	ticker := time.NewTicker(b.interval)
	defer ticker.Stop()
	for tick := 1; ; tick++ {
		b.examine()
		if tick%(windowTicks/2) == 0 {
			b.nextHalf()
		}
		if b.stopWatching() {
			return
		}
		select {
		case <-b.ended.Done():
			return
		case <-ticker.C:
		}
	}
}

// check asks for the origin's health every interval, whether anything has failed or not.
func (b *breaker) check(health func(context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.checking.Load() || b.ended.Err() != nil {
		return
	}
	b.checking.Store(true)
	b.well = true
	b.watch.Go(func() {
		ticker := time.NewTicker(b.interval)
		defer ticker.Stop()
		for {
			b.heed(health(b.ended))
			select {
			case <-b.ended.Done():
				return
			case <-ticker.C:
			}
		}
	})
}

// heed judges the origin by the answer to a check. What the check says counts once it has said it
// twice in a row.
func (b *breaker) heed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended.Err() != nil {
		return
	}
	well := err == nil
	if well == b.well {
		b.ill = !well
	}
	b.well = well
	if !well {
		b.latest.Store(&err)
	}
	b.judge()
}

// examine probes the origin, if it fails or something has failed, and judges it. It does not probe
// one whose health is asked for: what that says counts by heed alone.
func (b *breaker) examine() {
	var err error
	if (b.suspect.Swap(false) || b.failing.Load()) && !b.checking.Load() {
		b.answers.Store(false)
		err = b.probe(b.ended)
	}
	if b.ended.Err() != nil { // the end broke the probe off: it shows nothing
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mute = err != nil && !b.answers.Load()
	b.judge()
}

// judge finds out whether the origin fails, and reports a change. mu is held.
func (b *breaker) judge() {
	failing := b.ill || b.mute || mostFail(&b.halves)
	if failing == b.failing.Load() {
		return
	}
	b.failing.Store(failing)
	if failing {
		b.onChange(true, *b.latest.Load())
	} else {
		b.onChange(false, nil)
	}
}

// nextHalf begins the next half of the window, in the place of the older one.
func (b *breaker) nextHalf() {
	next := 1 - b.current.Load()
	b.halves[next].clear()
	b.current.Store(next)
}

// stopWatching ends the watching if there is nothing to watch any more, and reports whether it did.
func (b *breaker) stopWatching() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failing.Load() || b.halves[0].any.Load() || b.halves[1].any.Load() {
		return false
	}
	b.watching.Store(false)
	// A request that has failed just now may have found the origin still watched.
	if b.suspect.Load() {
		b.watching.Store(true)
		return false
	}
	return true
}

// close ends the watching for good, and waits until it has ended.
func (b *breaker) close() {
	b.mu.Lock()
	b.end()
	b.mu.Unlock()
	b.watch.Wait()
}
