//go:build !race

package events_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/events"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// sale is an event with a shuffled prequeue, which goes on.
func sale(starts time.Time) queue.ActiveEvent {
	return queue.ActiveEvent{Name: "sale", Prequeue: queue.At(starts.Add(-time.Hour)), Start: queue.At(starts), End: queue.At(starts.Add(time.Hour)),
		Prequeueing: true, HoldsNew: true, Shuffle: true}
}

// endings are how long after start each of the streams has ended that are opened at start.
type endings struct {
	mu    sync.Mutex
	after []time.Duration
}

// openMany opens streams at the present of a test in virtual time, which is start.
func openMany(t *testing.T, h *events.Hub, of events.Room, began time.Time, streams int) *endings {
	e := &endings{}
	for i := range streams {
		p := open(t, h, of, queue.ID{byte(i), byte(i >> 8)})
		go func() {
			<-p.ended
			e.mu.Lock()
			defer e.mu.Unlock()
			e.after = append(e.after, time.Since(began))
		}()
	}
	return e
}

// sleep lets virtual time go by.
func sleep(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestStreamsOfAShuffledPrequeueEndOneAfterAnotherBeforeTheStart(t *testing.T) {
	const streams = 600
	for name, c := range map[string]struct {
		then        func(e *queue.ActiveEvent) // two minutes before the start
		from, until time.Duration
		ended       int
	}{
		"as planned": {nil, 577500 * time.Millisecond, 597 * time.Second, streams},
		"when the start is put off": {func(e *queue.ActiveEvent) { e.Start = e.Start.Add(time.Minute) },
			637500 * time.Millisecond, 657 * time.Second, streams},
		"when it begins earlier": {func(e *queue.ActiveEvent) { e.Start = e.Start.Add(-110 * time.Second) },
			480 * time.Second, 487 * time.Second, streams},
		"not when it begins at once": {func(e *queue.ActiveEvent) { e.Start = e.Start.Add(-118 * time.Second) }, 0, 0, 0},
		"not when it is cancelled":   {func(e *queue.ActiveEvent) { *e = queue.ActiveEvent{} }, 0, 0, 0},
		"not when it is in order":    {func(e *queue.ActiveEvent) { e.Shuffle = false }, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				h := events.NewHub(events.Config{Clock: func() time.Time { return start.Add(time.Since(began)) }, Uint64: rand.Uint64, Turn: atOnce, Survive: func(string) {}, Detach: attached})
				run(t, h)
				of := newRoom(queue.FIFO)
				of.numbers.Settings.Event = sale(start.Add(10 * time.Minute))
				e := openMany(t, h, of, began, streams)
				sleep(8*time.Minute - time.Since(began))
				require.Empty(t, e.after)
				if c.then != nil {
					of.do(func() {
						n := *of.numbers
						c.then(&n.Settings.Event)
						of.numbers = &n
					})
				}
				sleep(11*time.Minute - time.Since(began))
				require.Len(t, e.after, c.ended)
				spread := (c.until - c.from) / 10
				tenths := make([]int, 11)
				for _, after := range e.after {
					require.GreaterOrEqual(t, after, c.from)
					tenths[(after-c.from)/spread]++
				}
				for i, n := range tenths[:10] {
					assert.InDelta(t, c.ended/10, n, 45, "in tenth %d", i)
				}
			})
		})
	}
}

func TestAStreamThatIsOpenedShortlyBeforeTheStartGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		h := events.NewHub(events.Config{Clock: func() time.Time { return start.Add(time.Since(began)) }, Uint64: rand.Uint64, Turn: atOnce, Survive: func(string) {}, Detach: attached})
		run(t, h)
		of := newRoom(queue.FIFO)
		of.numbers.Settings.Event = sale(start.Add(22 * time.Second))
		e := openMany(t, h, of, began, 20)
		sleep(time.Minute)
		assert.Empty(t, e.after, "their tickets tell that they are present")
	})
}
