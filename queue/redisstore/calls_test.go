package redisstore_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/redisstore/redistest"
)

// With people waiting, and slots coming free all the time, what a node asks of
// the store does not grow with them: a call gathers what comes in 50 ms.
func TestCallsDoNotGrowWithTheCrowd(t *testing.T) {
	const (
		crowd   = 10_000 // each of whom checks in once a second
		lasting = 3 * time.Second
	)
	server := redistest.Start(t, redistest.Options{})
	way := &wire{Store: open(t, server.URL())}
	ctx, now := context.Background(), func() queue.Instant { return queue.At(time.Now()) }
	room, err := queue.NewRoom(ctx, now(), queue.Config{
		Name: "shop", Store: way, Gather: 50 * time.Millisecond,
		Settings: queue.Settings{TotalActiveUsers: 500, NewUsersPerMinute: 1_000_000, SessionDuration: time.Second, RefreshInterval: time.Second},
	})
	require.NoError(t, err)
	for range 500 {
		room.Visit(ctx, now(), queue.Request{})
	}
	visitors := make([]queue.Ticket, crowd)
	for i := range visitors {
		visitors[i] = room.Visit(ctx, now(), queue.Request{}).Ticket
	}
	require.NoError(t, room.Sync(ctx, now()))

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
				assert.NoError(t, room.Sync(ctx, now()))
			}
		}
	})
	const hands = 100 // each of which waits while its visitor's claim is gathered
	var busy sync.WaitGroup
	for h := range hands {
		busy.Go(func() {
			for time.Since(began) < lasting {
				for i := h; i < crowd && time.Since(began) < lasting; i += hands {
					d := room.Visit(ctx, now(), queue.Request{Ticket: visitors[i]})
					if d.Issue {
						checkIns.Add(1)
						visitors[i] = d.Ticket
					}
					if d.Outcome == queue.Admitted {
						admitted.Add(1)
						visitors[i] = room.Visit(ctx, now(), queue.Request{NoWait: true}).Ticket // somebody else
					}
				}
				<-time.After(5 * time.Millisecond)
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
	assert.Greater(t, float64(checkIns.Load())/seconds, 3000.0, "or this test does not test it")
	assert.Greater(t, float64(admitted.Load())/seconds, 10.0, "or this test does not test it")
}
