package world

import (
	"math/rand/v2"
	"time"
)

// drawFull draws a disk that is full for a while.
func drawFull(p *Plan, r *rand.Rand) Fault {
	return Fault{At: p.moment(r), Lasts: time.Second + time.Duration(r.Int64N(int64(40*time.Second))), Gate: 1 + r.IntN(p.Gates)}
}

// full has a disk be full.
func full(w *world, f *Fault) {
	d := w.machines[f.Gate-1].disk
	w.note("the disk of gate %d is full", f.Gate)
	d.fill(true)
	wait(f.Lasts)
	d.fill(false)
	w.note("the disk of gate %d has space", f.Gate)
}
