package redisstore_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// vast are limits that no benchmark reaches, with sessions that end.
func vast() queue.Settings {
	return queue.Settings{TotalActiveUsers: 10_000_000, NewUsersPerMinute: 100_000_000, SessionDuration: 10 * time.Second}
}

func clock() queue.Instant { return queue.At(time.Now()) }

// BenchmarkAdmit measures newcomers into an open room: as many at once as
// goroutines, whose claims go to the store together. Of one alone, it tells the
// median beside that of a bare script of four keys through the same client, in
// turns.
func BenchmarkAdmit(b *testing.B) {
	server := redistest.Start(b, redistest.Options{})
	store := open(b, server.URL())
	for _, hands := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("newcomers=%d", hands), func(b *testing.B) {
			r, err := room.New(context.Background(), clock().Time(), room.Config{
				Name: fmt.Sprint("shop", hands), Store: store, Settings: vast(), Gather: 50 * time.Millisecond,
			})
			require.NoError(b, err)
			left := atomic.Int64{}
			left.Store(int64(b.N))
			b.ResetTimer()
			var group sync.WaitGroup
			for range hands {
				group.Go(func() {
					for left.Add(-1) >= 0 {
						enter(b, r)
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "admissions/s")
		})
	}
	b.Run("against a bare script", func(b *testing.B) { benchmarkAgainstBare(b, store.Client(), store) })
}

// enter has a newcomer come until they are let in.
func enter(b *testing.B, r *room.Room) {
	for r.Visit(context.Background(), clock().Time(), room.Request{Ask: room.Ask{Place: room.NoPlace}}).Outcome != room.Admitted {
		if err := r.Sync(context.Background(), clock().Time()); err != nil {
			b.Log(err)
		}
	}
}

func benchmarkAgainstBare(b *testing.B, client redis.UniversalClient, store queue.Store) {
	r, err := room.New(context.Background(), clock().Time(), room.Config{
		Name: "alone", Store: store, Settings: vast(), Gather: 50 * time.Millisecond,
	})
	require.NoError(b, err)
	bare := redis.NewScript(`
redis.call('HSET', KEYS[1], 'a', ARGV[1]); redis.call('ZADD', KEYS[2], 1, ARGV[1])
redis.call('HSET', KEYS[3], 'a', ARGV[1]); return redis.call('GET', KEYS[4])`)
	keys := []string{"{b}1", "{b}2", "{b}3", "{b}4"}
	var ours, theirs []time.Duration
	for b.Loop() {
		began := time.Now()
		enter(b, r)
		ours = append(ours, time.Since(began))
		began = time.Now()
		if err := bare.Run(context.Background(), client, keys, "x").Err(); err != redis.Nil { //nolint:errorlint // Run returns it bare
			require.NoError(b, err)
		}
		theirs = append(theirs, time.Since(began))
	}
	b.ReportMetric(median(ours), "p50-µs")
	b.ReportMetric(median(theirs), "bare-p50-µs")
	b.ReportMetric(median(ours)/median(theirs), "ratio")
}

// BenchmarkSync measures a node's report and view, with people in so many
// buckets.
func BenchmarkSync(b *testing.B) {
	server := redistest.Start(b, redistest.Options{})
	store := open(b, server.URL())
	for _, buckets := range []int{60, 1000} {
		b.Run(fmt.Sprintf("buckets=%d", buckets), func(b *testing.B) {
			ctx, room := context.Background(), fmt.Sprint("shop", buckets)
			require.NoError(b, store.Configure(ctx, room, queue.Configuration{Version: 1, Settings: vast().WithDefaults()}))
			p := &queue.Report{Node: 1, Seq: 1, Version: 1}
			for i := range buckets {
				cell := queue.Cell{Bucket: clock().Floor(time.Minute).Add(-time.Duration(i) * time.Minute), Until: clock().Add(time.Hour)}
				p.Cells = append(p.Cells, queue.CellChange{Cell: cell, People: 10})
			}
			_, err := store.Sync(ctx, room, p)
			require.NoError(b, err)
			for b.Loop() {
				p = &queue.Report{Node: 1, Seq: p.Seq + 1, Version: 1, Cells: p.Cells[:10]}
				v, err := store.Sync(ctx, room, p)
				require.NoError(b, err)
				require.Len(b, v.Buckets, buckets)
			}
		})
	}
}
