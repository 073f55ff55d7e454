package room

import "time"

// timing is all that a room knows of time: the node's clock, and how to wait.
type timing struct {
	now  func() time.Time
	wait func(ready <-chan struct{}, atMost time.Duration)
}

// newTiming takes a Config's Clock and Wait. Where it has none, time passes as it really
// does, from now on.
func newTiming(c *Config, now time.Time) timing {
	t := timing{now: c.Clock, wait: c.Wait}
	if t.now == nil {
		began := time.Now()
		t.now = func() time.Time { return now.Add(time.Since(began)) }
	}
	if t.wait == nil {
		t.wait = waitFor
	}
	return t
}

// waitFor waits in real time: see Config.Wait.
func waitFor(ready <-chan struct{}, atMost time.Duration) {
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

// callLock is a mutex that is held through calls to the store: whoever wants it
// waits as the room waits, so that time can pass meanwhile that is not real.
type callLock struct {
	timing
	free chan struct{} // holds a token while nobody has the lock
}

func newCallLock(t timing) callLock {
	l := callLock{timing: t, free: make(chan struct{}, 1)}
	l.unlock()
	return l
}

// lockAt takes the lock at now, and returns the moment at which it has it: a call that
// waited for another to end is made later than now.
func (l *callLock) lockAt(now time.Time) time.Time {
	select {
	case <-l.free:
		return now
	default:
		l.wait(l.free, 0)
		return l.now()
	}
}

func (l *callLock) lock()   { l.lockAt(time.Time{}) }
func (l *callLock) unlock() { l.free <- struct{}{} }
