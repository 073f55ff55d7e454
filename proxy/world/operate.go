package world

import (
	"math/rand/v2"
	"time"
)

// drawRolling draws that all gates are restarted, as for a new version.
func drawRolling(p *Plan, r *rand.Rand) Fault {
	return Fault{At: p.moment(r), Lasts: time.Duration(100+r.IntN(10_000)) * time.Millisecond, Gate: 1}
}

// restartAll restarts the gates one after the other.
func restartAll(w *world, f *Fault) {
	for i := range w.machines {
		restartGate(w, &Fault{Lasts: f.Lasts, Gate: i + 1})
		wait(f.Lasts)
	}
}

// drawMoment draws a fault that happens in a moment.
func drawMoment(p *Plan, r *rand.Rand) Fault {
	return Fault{At: p.moment(r), Gate: 1 + r.IntN(p.Gates), Size: r.Uint64()}
}

// reload has a gate take up its file again, as SIGHUP does.
func reload(w *world, f *Fault) {
	p := w.machines[f.Gate-1].now.Load()
	if p == nil {
		return
	}
	w.note("gate %d takes up its file again", f.Gate)
	if err := p.gate.Configure(w.ctx, p.config); err != nil {
		w.note("gate %d goes on with the old file: %v", f.Gate, err)
	}
}
