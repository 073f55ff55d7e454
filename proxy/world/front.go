package world

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// front is the way between the balancer and a machine. The zero front lets everything pass.
type front struct {
	mu    sync.Mutex
	cut   bool
	count int
	open  map[int]context.CancelFunc // connections, by how many came before
}

// connect returns what a connection lives in, and what to call when it is not needed any more. It
// breaks when the front is cut.
func (f *front) connect(lives context.Context) (ctx context.Context, done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx, end := context.WithCancel(lives)
	number := f.count
	f.count++
	if f.open == nil {
		f.open = map[int]context.CancelFunc{}
	}
	f.open[number] = end
	return ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.open, number)
		end()
	}
}

// passes says whether the balancer reaches the machine.
func (f *front) passes() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.cut
}

// set cuts the front, or makes it whole. It returns the ends of the connections that a cut breaks,
// in the order in which they began.
func (f *front) set(cut bool) (broken []context.CancelFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut = cut
	if cut {
		for _, number := range slices.Sorted(maps.Keys(f.open)) {
			broken = append(broken, f.open[number])
		}
	}
	return broken
}

// drawWayCut draws a cut of one of a gate's ways.
func drawWayCut(p *Plan, r *rand.Rand) Fault {
	lasts := []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second, 15 * time.Second, 80 * time.Second}
	return Fault{At: p.moment(r), Lasts: lasts[r.IntN(len(lasts))] + time.Duration(r.Int64N(int64(time.Second))), Gate: 1 + r.IntN(p.Gates)}
}

// cutFront cuts a gate off from the balancer: what is under way is lost, and nothing is sent to the
// gate any more.
func cutFront(w *world, f *Fault) {
	front := &w.machines[f.Gate-1].front
	w.note("gate %d is cut off from the balancer for %v", f.Gate, f.Lasts)
	for _, end := range front.set(true) {
		end()
		wait(101 * time.Nanosecond)
	}
	wait(f.Lasts)
	front.set(false)
	w.note("the balancer reaches gate %d", f.Gate)
}

// cutSite cuts a gate off from the site.
func cutSite(w *world, f *Fault) {
	m := w.machines[f.Gate-1]
	w.note("gate %d is cut off from the site for %v", f.Gate, f.Lasts)
	m.siteless.Store(true)
	wait(f.Lasts)
	m.siteless.Store(false)
	w.note("gate %d reaches the site", f.Gate)
}
