package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// How much garbage is let lie, in bytes: so much in any case, and no more than so
// much as a rule.
const (
	leastGarbage = 64 << 20
	mostGarbage  = 256 << 20
)

// collectLess has the garbage of a small heap collected more rarely than Go does,
// which saves a fifth of the gate's processor time for some megabytes, and of one
// made large by open connections more often. GOGC, if set, is obeyed instead.
func collectLess() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(garbagePercent(0))
	ended := make(chan struct{})
	var tasks sync.WaitGroup
	tasks.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		now := garbagePercent(0)
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				if next := garbagePercent(inUse()); next != now {
					now = next
					debug.SetGCPercent(next)
				}
			}
		}
	})
	return func() {
		close(ended)
		tasks.Wait()
	}
}

// inUse is what the last collection left of the heap, and the stacks, in bytes.
func inUse() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64()
}

// garbagePercent is how much garbage there may be, in percent of what is in use,
// in steps that are not taken for every little change: up to 400, or 1000 where
// that is little all the same, and 50 at least.
func garbagePercent(inUse uint64) int {
	least, most := leastGarbage*100/max(inUse, 1), mostGarbage*100/max(inUse, 1)
	percent := max(min(most, 400), min(least, 1000))
	return int(max(percent/25*25, 50))
}
