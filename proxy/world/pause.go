package world

import (
	"math/rand/v2"
	"time"
)

// stand is a time in which a process stands still.
type stand struct {
	clock time.Time     // what it shows all the time
	over  chan struct{} // is closed at the end
}

// run waits while the process stands still: whatever comes to it or goes from it waits so. What it
// does by itself meanwhile has no effect, and knows the moment at which the process stopped.
func (p *process) run() {
	shake()
	if s := p.stands.Load(); s != nil {
		p.turns.wait(s.over, 0)
	}
}

// now is the time by the clock that the process was given.
func (p *process) now() time.Time {
	shake()
	if s := p.stands.Load(); s != nil {
		return s.clock
	}
	if late := p.late.Swap(nil); late != nil && late.used.Equal(time.Now()) {
		return late.read
	}
	return p.on.clock.steady().Add(p.off)
}

// halt has the process stand still. It returns what has it go on; nil if it stands still or has
// ended.
func (p *process) halt() (goOn func()) {
	s := &stand{clock: p.now(), over: make(chan struct{})}
	if p.dead.Load() || !p.stands.CompareAndSwap(nil, s) {
		return nil
	}
	return func() {
		if p.stands.CompareAndSwap(s, nil) {
			close(s.over)
		}
	}
}

// wake has a process go on that stands still.
func (p *process) wake() {
	if s := p.stands.Swap(nil); s != nil {
		close(s.over)
	}
}

// drawPause draws a pause of a gate.
func drawPause(p *Plan, r *rand.Rand) Fault {
	f := drawWayCut(p, r)
	if r.IntN(2) == 0 {
		f.Lasts = 100*time.Millisecond + time.Duration(r.Int64N(int64(80*time.Second)))
	}
	return f
}

// pause has a gate stand still for a time, as SIGSTOP does.
func pause(w *world, f *Fault) {
	p := w.machines[f.Gate-1].now.Load()
	if p == nil {
		return
	}
	if goOn := p.halt(); goOn != nil {
		w.note("gate %d stands still for %v", f.Gate, f.Lasts)
		wait(f.Lasts)
		w.note("gate %d goes on", f.Gate)
		goOn()
	}
}
