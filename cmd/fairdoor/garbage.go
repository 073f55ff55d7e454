package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"go.uber.org/zap"
)

// How much garbage may lie around before it is collected, in bytes: at least, as a rule at
// most, and at most while collections are frequent.
const (
	leastGarbage = 64 << 20
	mostGarbage  = 96 << 20
	busyGarbage  = 192 << 20
)

// Collections are frequent from the first of these rates on, and until they come at less than
// the second one, in collections a second. In each of them, requests wait.
const (
	frequent = 1.0
	rare     = 0.3
)

// looks is how often the garbage is looked at: a crowd may come within a second.
const looks = 200 * time.Millisecond

// memoryShare is the share of the memory there is up to which garbage may lie around.
const memoryShare = 0.9

// limitMemory has Go collect garbage as often as it must, so that the program stays within the memory
// that its cgroup, or else the machine, has; it returns up to how many bytes. If GOMEMLIMIT is set,
// that counts instead.
func limitMemory(log *zap.Logger) int64 {
	_, err := memlimit.Set(memlimit.WithRatio(memoryShare), memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)))
	if err != nil {
		log.Warn("how much memory there is was not found out; set GOMEMLIMIT", zap.Error(err))
	}
	return debug.SetMemoryLimit(-1) // which changes nothing
}

// collectLess has Go collect the garbage of a small heap less often, which saves a fifth of
// the gate's processor time and costs some megabytes. It has Go collect that of a large
// heap, as open connections make it, more often. If GOGC is set, that counts instead.
func collectLess() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	var g garbage
	now := g.percent(0, 0)
	debug.SetGCPercent(now)
	ended := make(chan struct{})
	var tasks sync.WaitGroup
	tasks.Go(func() {
		ticker := time.NewTicker(looks)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				if next := g.percent(inUse()); next != now {
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
// bytes, and how many collections there have been.
func inUse() (size, collections uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64(), samples[2].Value.Uint64()
}

// garbage follows how often garbage is collected.
type garbage struct {
	collections uint64  // at the last look
	rate        float64 // of them, a second, over the last seconds
	busy        bool    // they are frequent
}

// percent is how much garbage there may be, in percent of what is in use: 25 at least and 400
// at most, or up to 1000 where that is still little. It changes in steps, so that not every
// little change sets it anew.
func (g *garbage) percent(inUse, collections uint64) int {
	const per = 3 * time.Second
	g.rate += float64(collections-g.collections)/per.Seconds() - g.rate*looks.Seconds()/per.Seconds()
	g.collections = collections
	most := uint64(mostGarbage)
	if g.busy = g.rate > frequent || g.busy && g.rate > rare; g.busy {
		most = busyGarbage
	}
	most, least := most*100/max(inUse, 1), leastGarbage*100/max(inUse, 1)
	percent := max(min(most, 400), min(least, 1000))
	return int(max(percent/25*25, 25))
}
