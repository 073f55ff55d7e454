package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// allowance is how much garbage is let lie while the heap is small, in bytes.
const allowance = 256 << 20

// collectLess has the garbage of a small heap collected a quarter as often, which
// saves a fifth of the gate's processor time for a few megabytes, and of one made
// large by open connections more often than Go does. GOGC, if set, is obeyed
// instead.
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

// garbagePercent is how much garbage there may be, in percent of what is in use:
// 400 at most and 50 at least, in steps that are not taken for every little change.
func garbagePercent(inUse uint64) int {
	percent := allowance * 100 / max(inUse, 1)
	return int(min(max(percent/25*25, 50), 400))
}
