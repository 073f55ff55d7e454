package redisstore_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// With people waiting, and a slot coming free every other millisecond, what a node
// asks of the store does not grow with them: a call gathers what comes in 50 ms.
func TestCallsDoNotGrowWithTheCrowd(t *testing.T) {
	const (
		crowd   = 13_500 // each of whom checks in once a second
		lasting = 3 * time.Second
	)
	server := redistest.Start(t, redistest.Options{})
	way := &wire{Store: open(t, server.URL())}
	ctx, now := context.Background(), func() queue.Instant { return queue.At(time.Now()) }
	settings := queue.Settings{
		TotalActiveUsers: 1_000_000, NewUsersPerMinute: 30_000, Pacing: queue.PacingEven, RefreshInterval: time.Second, RefreshJitter: .5, QueueAll: true,
		Bucket: time.Minute, // of which all are, so that each of them may claim
	}
	r, err := room.New(ctx, now().Time(), room.Config{Name: "shop", Store: way, Gather: 50 * time.Millisecond, Settings: settings})
	require.NoError(t, err)
	visitors := make([]queue.Ticket, crowd)
	for i := range visitors {
		visitors[i] = r.Visit(ctx, now().Time(), room.Request{}).Ticket
	}
	settings.QueueAll = false
	require.NoError(t, r.Sync(ctx, now().Time()))
	// What this minute has released already is said to be taken.
	minute := now().Floor(time.Minute)
	taken := queue.Admissions{Minute: minute, Visitors: int(now().Sub(minute) * 30_000 / time.Minute)}
	_, err = way.Sync(ctx, "shop", &queue.Report{Node: 1, Seq: 1, Now: now(), Admitted: taken})
	require.NoError(t, err)
	require.NoError(t, r.Configure(ctx, now().Time(), queue.Configuration{Settings: settings}))
	require.NoError(t, r.Sync(ctx, now().Time()))

	var checkIns, admitted atomic.Int64
	way.calls.Store(0)
	began := time.Now()
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Second):
				assert.NoError(t, r.Sync(ctx, now().Time()))
			}
		}
	})
	const hands = 2000 // each of which waits while its visitor's claim is gathered
	var busy sync.WaitGroup
	for h := range hands {
		busy.Go(func() {
			for time.Since(began) < lasting {
				for i := h; i < crowd && time.Since(began) < lasting; i += hands {
					d := r.Visit(ctx, now().Time(), room.Request{Ticket: visitors[i]})
					if d.Issue {
						checkIns.Add(1)
						visitors[i] = d.Ticket
					}
					if d.Outcome == room.Admitted {
						admitted.Add(1)
						visitors[i] = r.Visit(ctx, now().Time(), room.Request{}).Ticket // somebody else
					}
				}
				<-time.After(50 * time.Millisecond)
			}
		})
	}
	busy.Wait()
	close(done)
	group.Wait()
	seconds := time.Since(began).Seconds()
	perSecond := float64(way.calls.Load()) / seconds
	t.Logf("%.0f check-ins and %.0f admissions a second: %.1f calls a second",
		float64(checkIns.Load())/seconds, float64(admitted.Load())/seconds, perSecond)
	assert.LessOrEqual(t, perSecond, 25.0)
	assert.Greater(t, perSecond, 2.0, "slots come free all the time")
	assert.Greater(t, float64(checkIns.Load())/seconds, 500.0, "or this test does not test it")
	assert.Greater(t, float64(admitted.Load())/seconds, 100.0, "or this test does not test it")
}
