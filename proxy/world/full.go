package world

import (
	"math/rand/v2"
	"time"
)

// drawFull draws a disk that is full, or fails, for a while.
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

// failDisk has whatever is written to a disk fail.
func failDisk(w *world, f *Fault) {
	d := w.machines[f.Gate-1].disk
	w.note("nothing can be written to the disk of gate %d", f.Gate)
	d.fail(true)
	wait(f.Lasts)
	d.fail(false)
	w.note("the disk of gate %d can be written", f.Gate)
}
