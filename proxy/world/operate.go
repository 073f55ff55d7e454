package world

import (
	"math/rand/v2"
	"time"
)

// drawRolling draws that all gates are restarted, as for a new version.
func drawRolling(p *Plan, r *rand.Rand) Fault {
	return Fault{At: p.moment(r), Lasts: time.Duration(p.Gates) * time.Duration(1+r.IntN(20)) * time.Second, Gate: 1}
}

// restartAll restarts the gates one after the other.
func restartAll(w *world, f *Fault) {
	each := f.Lasts / time.Duration(len(w.machines))
	for i := range w.machines {
		restartGate(w, &Fault{Lasts: each / 2, Gate: i + 1})
		wait(each / 2)
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
