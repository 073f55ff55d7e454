package world

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// machineClock is the clock of a machine. It may be set, and may run too fast or too slow. The zero
// clock shows the time of the world.
type machineClock struct {
	mu      sync.Mutex
	stepped time.Duration // by how much it was set in all
	gained  time.Duration // by its rate, until it was turned
	turned  time.Time     // when its rate changed last
	rate    time.Duration // that it gains in a second
}

// steady is the time by a clock that is never set.
func (c *machineClock) steady() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.gains(time.Now()))
}

// gains is how far the clock is ahead at a moment by its rate.
func (c *machineClock) gains(now time.Time) time.Duration {
	if c.rate == 0 {
		return c.gained
	}
	return c.gained + time.Duration(float64(c.rate)*now.Sub(c.turned).Seconds())
}

// off is by how much the clock was set.
func (c *machineClock) off() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stepped
}

// wall is what the clock shows.
func (c *machineClock) wall() time.Time { return c.steady().Add(c.off()) }

// set sets the clock forward, or back.
func (c *machineClock) set(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stepped += by
}

// drift has the clock gain so much in a second from now on.
func (c *machineClock) drift(rate time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gained, c.turned, c.rate = c.gains(time.Now()), time.Now(), rate
}

// sinceBoot is how long the machine has been up, and a name of that time.
func (m *machine) sinceBoot() (boot uint64, up time.Duration) {
	return uint64(m.booted.UnixNano()), m.clock.steady().Sub(m.booted)
}

// setMachineClock sets the clock of a gate's machine, which a process that runs does not notice in
// what it measures.
func setMachineClock(w *world, f *Fault) {
	by := []time.Duration{100 * time.Millisecond, 3 * time.Second, time.Minute, time.Hour}[f.Size%4]
	if f.Size/4%2 == 0 {
		by = -by
	}
	w.note("the clock of gate %d is set by %v", f.Gate, by)
	w.machines[f.Gate-1].clock.set(by)
}

// mostDrift is by how much a clock gains or loses in a second at most: what is corrected by slewing
// is as much.
const mostDrift = 500 * time.Microsecond

// drawDrift draws a time in which a clock runs too fast or too slow.
func drawDrift(p *Plan, r *rand.Rand) Fault {
	return Fault{At: p.moment(r), Lasts: time.Duration(10+r.IntN(300)) * time.Second, Gate: 1 + r.IntN(p.Gates), Size: r.Uint64N(uint64(2*mostDrift) + 1)}
}

func drift(w *world, f *Fault) {
	clock, rate := &w.machines[f.Gate-1].clock, time.Duration(f.Size)-mostDrift
	w.note("the clock of gate %d gains %v a second", f.Gate, rate)
	clock.drift(rate)
	wait(f.Lasts)
	clock.drift(0)
	w.note("the clock of gate %d runs evenly", f.Gate)
}

// clocksDiffer says whether the clock of a gate may not be that of the world any more.
func (h *History) clocksDiffer() bool {
	return slices.ContainsFunc(h.Plan.Faults, func(f Fault) bool { return f.Kind == "clock drifts" || f.Kind == "clock of a machine set" })
}

// lasts is for how long a session surely lasts that is to last for so long by the clock of a gate.
func (h *History) lasts(session time.Duration) time.Duration {
	if !h.clocksDiffer() {
		return session
	}
	return session - time.Duration(float64(mostDrift)*session.Seconds())
}
