package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// How much garbage may lie around before it is collected, in bytes, at least and, as a rule,
// at most.
const (
	leastGarbage = 64 << 20
	mostGarbage  = 96 << 20
)

// collectLess has Go collect the garbage of a small heap less often, which saves a fifth of
// the gate's processor time and costs some megabytes. It has Go collect that of a large
// heap, as open connections make it, more often. If GOGC is set, that counts instead.
func collectLess() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(garbagePercent(0))
	ended := make(chan struct{})
	var tasks sync.WaitGroup
	tasks.Go(func() {
		ticker := time.NewTicker(200 * time.Millisecond) // a crowd may come within a second
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

// inUse is the size of the stacks and of what the last collection has left of the heap, in
// bytes.
func inUse() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64()
}

// garbagePercent is how much garbage there may be, in percent of what is in use: 25 at least
// and 400 at most, or up to 1000 where that is still little. It changes in steps, so that
// not every little change sets it anew.
func garbagePercent(inUse uint64) int {
	least, most := leastGarbage*100/max(inUse, 1), mostGarbage*100/max(inUse, 1)
	percent := max(min(most, 400), min(least, 1000))
	return int(max(percent/25*25, 25))
}
