package world

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// drawKill draws a kill -9 of a gate that keeps a journal: in the middle of a write, or at any
// other moment.
func drawKill(p *Plan, r *rand.Rand) Fault {
	return Fault{At: p.moment(r), Lasts: []time.Duration{100 * time.Millisecond, 2 * time.Second, 30 * time.Second}[r.IntN(3)], Gate: 1 + r.IntN(p.Gates), Size: r.Uint64N(600)}
}

// kill has a gate die when it has written so many bytes more, or has just let somebody in, or soon,
// and start again.
func kill(w *world, f *Fault) {
	m := w.machines[f.Gate-1]
	p := m.now.Load()
	if p == nil {
		return
	}
	died, seen := make(chan struct{}, 1), make(chan struct{})
	if f.Size%3 > 0 {
		p.mount.dieAfter(int(f.Size), func() { died <- struct{}{} })
	} else {
		p.seen.Store(&seen)
	}
	soon := time.NewTimer(2*time.Second + time.Duration(f.Size))
	defer soon.Stop()
	select {
	case <-died:
		w.note("gate %d is killed as it writes", f.Gate)
	case <-seen:
		wait(afterAnswer)
		w.note("gate %d is killed as it has just let somebody in", f.Gate)
	case <-soon.C:
	}
	if m.kill(p) {
		wait(f.Lasts)
		w.restart(m)
	}
}

// afterAnswer is how much later a gate is killed than the site has seen somebody: they have the
// answer by then.
const afterAnswer = 5*time.Millisecond + 13

// restartGate stops a gate in order, and starts it again.
func restartGate(w *world, f *Fault) {
	m := w.machines[f.Gate-1]
	w.note("gate %d is stopped", f.Gate)
	if m.stop() {
		wait(f.Lasts)
		w.restart(m)
	}
}

// restart starts a gate on a machine, again and again until it starts.
func (w *world) restart(m *machine) {
	for {
		err := m.start(w.ctx)
		if err == nil {
			return
		}
		w.note("gate %d does not start: %v", m.number, err)
		wait(time.Second)
	}
}

// note notes what a fault does.
func (w *world) note(format string, args ...any) {
	w.history.add(Event{What: Broke, Who: nobody, Text: fmt.Sprintf(format, args...)})
}
