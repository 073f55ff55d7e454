package world

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// change is what a write has changed of a file, as long as it may be in the machine's memory only.
type change struct {
	at   time.Time
	from int64
	text []byte // what was written
	size int64  // of the file afterwards
}

// page is what a disk writes as a whole.
const page = 4096

// lose has a file be as it is after the machine has lost power, by n: each of its pages, and its
// size, are as they were at some moment of the time that may be lost.
func (c *content) lose(n uint64, now time.Time, atMost time.Duration) {
	moment := func(of uint64) time.Time { return now.Add(-time.Duration(mix(n, of) % uint64(atMost+1))) }
	size, end := int64(len(c.synced)), moment(0)
	for _, w := range c.changes {
		if !w.at.After(end) {
			size = w.size
		}
	}
	text := slices.Grow(slices.Clone(c.synced), int(max(0, size-int64(len(c.synced)))))[:size]
	clear(text[min(len(text), len(c.synced)):])
	for _, w := range c.changes {
		for i, b := range w.text {
			if at := w.from + int64(i); at < size && !w.at.After(moment(1+uint64(at/page))) {
				text[at] = b
			}
		}
	}
	c.text, c.synced, c.changes = text, slices.Clone(text), nil
}

// losePower has the disk be as it is after the machine has lost power.
func (d *disk) losePower(n uint64, atMost time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, path := range slices.Sorted(maps.Keys(d.files)) {
		d.files[path].lose(mix(n, uint64(i)), time.Now(), atMost)
	}
}

// mostLost is how old a write may be that the system has not written to the disk: it does so after
// thirty seconds, and looks every five.
const mostLost = 35 * time.Second

// drawPower draws a loss of power.
func drawPower(p *Plan, r *rand.Rand) Fault {
	lasts := []time.Duration{5 * time.Second, 20 * time.Second, 2 * time.Minute}
	return Fault{At: p.moment(r), Lasts: lasts[r.IntN(len(lasts))], Gate: 1 + r.IntN(p.Gates), Size: r.Uint64()}
}

// losePower has the machine of a gate lose power, and start again.
func losePower(w *world, f *Fault) {
	m := w.machines[f.Gate-1]
	w.note("the machine of gate %d loses power", f.Gate)
	if !m.kill(m.now.Load()) {
		return
	}
	m.disk.losePower(f.Size, time.Duration(f.Size%uint64(mostLost)))
	wait(f.Lasts)
	m.booted = m.clock.steady()
	w.restart(m)
}
