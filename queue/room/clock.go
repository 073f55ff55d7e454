package room

import (
	"sync"
	"time"
)

// timing is all that a room knows of time: the node's clock, and how to wait.
type timing struct {
	now  func(told time.Time) time.Time // in a call that was told that moment, or an earlier one
	wait func(ready <-chan struct{}, atMost time.Duration)
}

// newTiming takes a Config's Clock and Wait.
func newTiming(c *Config) timing {
	t := timing{now: new(toldClock).now, wait: c.Wait}
	if c.Clock != nil {
		t.now = func(time.Time) time.Time { return c.Clock() }
	}
	if t.wait == nil {
		t.wait = WaitFor
	}
	return t
}

// toldClock is a clock that shows the latest moment that it was told.
type toldClock struct {
	mu     sync.Mutex
	latest time.Time
}

func (c *toldClock) now(told time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if told.After(c.latest) {
		c.latest = told
	}
	return c.latest
}

// WaitFor waits by the process's timers, as a room does without a Config.Wait: until it has
// received from ready, or until atMost has passed, if that is positive.
func WaitFor(ready <-chan struct{}, atMost time.Duration) {
	var over <-chan time.Time
	if atMost > 0 {
		timer := time.NewTimer(atMost)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-ready:
	case <-over:
	}
}

// callLock is a mutex that is held through calls to the store: the goroutines that want it
// wait as the room waits, so that time can pass meanwhile that is not real.
type callLock struct {
	timing
	free chan struct{} // holds a token while nobody has the lock
}

func newCallLock(t timing) callLock {
	l := callLock{timing: t, free: make(chan struct{}, 1)}
	l.unlock()
	return l
}

func (l *callLock) lock() {
	select {
	case <-l.free:
	default:
		l.wait(l.free, 0)
	}
}

func (l *callLock) unlock() { l.free <- struct{}{} }
