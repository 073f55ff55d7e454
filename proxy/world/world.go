package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redismodel"
)

// world is a life of a plan.
type world struct {
	ctx     context.Context
	plan    *Plan
	history *History
	site    *site
	redis   *redismodel.Server // nil where gates keep journals

	post  *postOffice // nil where there is no waitlist
	dir   string      // where the record of waitlists and passes is
	links links
	push  *pushService // nil where nobody is called

	redisAhead atomic.Int64 // how far the clock of Redis is ahead, in nanoseconds
	machines   []*machine
	people     sync.WaitGroup
	faults     sync.WaitGroup
	wires      sync.WaitGroup // what serves connections to Redis
}

// Run lives a plan and returns what happened. One goroutine runs at a time, in the whole process.
func Run(t *testing.T, p Plan) *History {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would have goroutines wait while others go on: see collect
	var ticks atomic.Int64
	defer watch(p.Seed, &ticks)()
	for range 2 { // by which pools drop the timers of an earlier world, which must not be used in this one
		runtime.GC()
	}
	var h *History
	synctest.Test(t, func(t *testing.T) {
		cryptotest.SetGlobalRandom(t, p.Seed)
		h = live(t, &p, &ticks)
	})
	return h
}

// standstill is for how long, in real time, the time of a world may stand still.
const standstill = 2 * time.Minute

// watch ends the program if the time of a world stands still: if ticks does not grow. It returns
// what ends the watch.
func watch(seed uint64, ticks *atomic.Int64) (end func()) {
	var timer *time.Timer
	seen := int64(-1)
	timer = time.AfterFunc(standstill, func() {
		if now := ticks.Load(); now != seen {
			seen = now
			timer.Reset(standstill)
			return
		}
		tellStandstill(seed)
	})
	return func() { timer.Stop() }
}

// tellStandstill ends the program, as the time of a world stands still: that is so if a goroutine
// waits for a mutex while the one that holds it sleeps.
func tellStandstill(seed uint64) {
	stacks := make([]byte, 64<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	file := filepath.Join(os.TempDir(), fmt.Sprintf("world-%d.txt", seed))
	err := os.WriteFile(file, stacks, 0o600)
	var held []string
	for _, g := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(g, "sync.Mutex.Lock") || strings.Contains(g, "sync.RWMutex") {
			held = append(held, g)
		}
	}
	panic(fmt.Sprintf("the world of seed %d stands still; %d goroutines wait for a mutex, the first\n%s\nall goroutines: %s %v",
		seed, len(held), slices.Concat(held, []string{""})[0], file, err))
}

// live is Run within the bubble.
func live(t *testing.T, p *Plan, ticks *atomic.Int64) *History {
	w := &world{ctx: t.Context(), plan: p, history: newHistory(p), dir: t.TempDir()}
	w.site = &site{history: w.history, way: newLink(p.Seed, "site", 100*time.Microsecond, 2*time.Millisecond), work: newLink(p.Seed, "work", time.Millisecond, 40*time.Millisecond)}
	if p.Redis {
		redismodel.Quiet()
		w.redis = redismodel.New(func() time.Time { return time.Now().Add(time.Duration(w.redisAhead.Load())) }, "redis1")
	}
	if p.Waitlist != nil {
		w.post = newPostOffice(w)
	}
	if p.Calls != nil {
		w.push = newPushService(t, w)
	}
	for i := range p.Gates {
		m := &machine{world: w, number: i + 1, disk: newDisk(), wire: wire{world: w}}
		w.machines = append(w.machines, m)
		wait(time.Duration(i+1) * 7919 * time.Microsecond)
		if err := m.start(w.ctx); err != nil {
			t.Fatalf("starting gate %d: %v", m.number, err)
		}
	}
	for i := range p.Faults {
		w.faults.Go(func() { w.suffer(&p.Faults[i]) })
	}
	for i := range p.People {
		w.people.Go(func() { newVisitor(w, i).live() })
	}
	w.inviteAll()
	w.makePasses()
	over := make(chan struct{})
	w.faults.Go(func() { collect(over, ticks) })
	w.faults.Go(func() { w.measure(over) })
	w.people.Wait()
	close(over)
	w.faults.Wait()
	w.history.Ends = w.history.now()
	for _, m := range w.machines {
		m.stop()
	}
	wait(longestCall) // connections that a call asked for are still opened when the call has ended without them
	w.wires.Wait()
	return w.history
}

// Garbage is collected while everybody else waits.
const (
	collectEvery = 10*time.Second + 3
	heapMax      = 256 << 20
)

// collect collects garbage when there is much of it, until over is closed. It counts how often it
// has looked.
func collect(over <-chan struct{}, ticks *atomic.Int64) {
	ticker := time.NewTicker(collectEvery)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
			ticks.Add(1)
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapAlloc > heapMax {
				runtime.GC()
			}
		}
	}
}
