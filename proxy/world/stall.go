package world

import (
	"math/rand/v2"
	"time"
)

// lateRead is a time that a goroutine has read, and uses later: it was held up in between.
type lateRead struct{ read, used time.Time }

// Bounds of how long a goroutine is held up on a machine that is busy.
const (
	leastStall = 50 * time.Millisecond
	mostStall  = 500 * time.Millisecond
)

// stall holds a goroutine up if the machine is busy, in one of three cases.
func (m *machine) stall() {
	if !m.busy.Load() {
		return
	}
	if n := mix(m.world.plan.Seed+uint64(m.number), m.stalls.Add(1)); n%3 == 0 {
		wait(leastStall + time.Duration(n>>8%uint64(mostStall-leastStall)))
	}
}

// begin has the goroutine of a request be held up after it has read the clock for the first time,
// and before it uses what it has read: the first to read it at this moment is that goroutine.
func (p *process) begin() {
	if !p.on.busy.Load() {
		return
	}
	read := p.now()
	p.on.stall()
	p.run()
	p.late.Store(&lateRead{read, time.Now()})
}

// drawStalls draws a time in which a machine is busy.
func drawStalls(p *Plan, r *rand.Rand) Fault {
	return Fault{At: p.moment(r), Lasts: time.Duration(20+r.IntN(280)) * time.Second, Gate: 1 + r.IntN(p.Gates)}
}

// stalls has goroutines of a gate be held up between reading a clock and using it.
func stalls(w *world, f *Fault) {
	m := w.machines[f.Gate-1]
	w.note("the machine of gate %d is busy", f.Gate)
	m.busy.Store(true)
	wait(f.Lasts)
	m.busy.Store(false)
	w.note("the machine of gate %d is idle", f.Gate)
}
