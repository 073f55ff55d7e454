package redisstore_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// crowd is a node of a room with an exact line that many wait in.
type crowd struct {
	testing.TB
	store queue.Store
	seq   uint64
	size  int
}

// newCrowd has so many people join the line of a room without a free slot, and come
// back.
func newCrowd(t testing.TB, store queue.Store, size int, s queue.Settings) *crowd {
	t.Helper()
	c := &crowd{TB: t, store: store}
	s.TotalActiveUsers, s.NewUsersPerMinute, s.Method, s.QueueAll, s.LineDropout = 1, 1, queue.Line, true, time.Minute
	require.NoError(t, store.Configure(context.Background(), "shop", queue.Configuration{Version: 1, Settings: s.WithDefaults()}))
	c.join(size)
	return c
}

// join has so many more people join and come back, in thousands.
func (c *crowd) join(people int) {
	c.Helper()
	claims := make([]queue.Claim, 1000)
	for before := c.size; c.size < before+people; c.size += len(claims) {
		for k := range claims {
			claims[k] = queue.Claim{ID: c.id(c.size + k)}
		}
		c.admit(claims...) // who join
		_, status := c.admit(claims...)
		require.Equal(c, c.size+len(claims), status.Present)
	}
}

// id returns an id that looks drawn at random.
func (c *crowd) id(i int) (id queue.ID) {
	binary.BigEndian.PutUint64(id[:], uint64(i+1)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(id[8:], uint64(i+1)*0xbf58476d1ce4e5b9)
	return id
}

func (c *crowd) admit(claims ...queue.Claim) (queue.Grant, queue.Status) {
	c.Helper()
	c.seq++
	grants := make([]queue.Grant, len(claims))
	status, err := c.store.Admit(context.Background(), "shop", &queue.Report{Node: 1, Seq: c.seq}, claims, grants)
	require.NoError(c, err)
	return grants[0], status
}

// checkIn has person i of the crowd check in.
func (c *crowd) checkIn(i int) {
	c.Helper()
	claim := queue.Claim{ID: c.id(i), Cell: queue.Cell{Bucket: 60_000, Until: 60_000}, ArrivedAt: 1, LastCheckIn: 1, Number: uint64(i + 1)}
	g, _ := c.admit(claim)
	require.Equal(c, queue.Place{Number: uint64(i + 1), Ahead: i, Length: c.size}, g.Place)
}

// BenchmarkLineCheckIn measures a check-in alone beside a bare ZRANK of the same
// person through the same client, in turns.
func BenchmarkLineCheckIn(b *testing.B) {
	for _, size := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprintf("waiting=%d", size), func(b *testing.B) {
			store := open(b, redistest.Start(b, redistest.Options{}).URL())
			c := newCrowd(b, store, size, queue.Settings{LineDropout: time.Hour})
			order := "fairdoor:{shop}:order"
			var ours, theirs []time.Duration
			i := 0
			for b.Loop() {
				i = (i + 7919) % size
				id := c.id(i)
				began := time.Now()
				c.checkIn(i)
				ours = append(ours, time.Since(began))
				began = time.Now()
				rank, err := store.Client().ZRank(context.Background(), order, string(id[:8])).Result()
				theirs = append(theirs, time.Since(began))
				require.NoError(b, err)
				require.EqualValues(b, i, rank)
			}
			b.ReportMetric(median(ours), "p50-µs")
			b.ReportMetric(median(theirs), "zrank-p50-µs")
			b.ReportMetric(median(ours)/median(theirs), "ratio")
		})
	}
}

// BenchmarkRoster lists a line of 100,000: in one call the first, with the ids of those behind them,
// and then 1,000 of these.
func BenchmarkRoster(b *testing.B) {
	store := open(b, redistest.Start(b, redistest.Options{}).URL())
	newCrowd(b, store, 100_000, queue.Settings{LineDropout: time.Hour})
	var first, asked []time.Duration
	for b.Loop() {
		began := time.Now()
		roster, err := store.Roster(context.Background(), "shop", nil)
		first = append(first, time.Since(began))
		require.NoError(b, err)
		require.Len(b, roster.More, queue.MaxMore)
		began = time.Now()
		some, err := store.Roster(context.Background(), "shop", roster.More[:queue.MaxRoster])
		asked = append(asked, time.Since(began))
		require.NoError(b, err)
		require.Len(b, some.Line, queue.MaxRoster)
	}
	b.ReportMetric(median(first), "first-µs")
	b.ReportMetric(median(asked), "asked-µs")
}

// median returns it in microseconds.
func median(list []time.Duration) float64 {
	slices.Sort(list)
	return float64(list[len(list)/2].Nanoseconds()) / 1000
}

// BenchmarkLineLeavers has 100,000 of 101,000 people leave at once, and measures
// the check-ins of the others until all those are taken out.
func BenchmarkLineLeavers(b *testing.B) {
	const leavers, staying = 100_000, 1000
	var worst time.Duration
	var calls int
	for b.Loop() {
		b.StopTimer()
		store := newClocked(open(b, redistest.Start(b, redistest.Options{}).URL()))
		c := newCrowd(b, store, leavers+staying, queue.Settings{})
		store.set(start.Add(30 * time.Second))
		for i := range staying {
			c.checkIn(leavers + i)
		}
		store.set(start.Add(61 * time.Second))
		require.NoError(b, store.wind(context.Background(), "shop"))
		b.StartTimer()
		for left := leavers; left > 0; calls++ {
			c.seq++
			claim := queue.Claim{ID: c.id(leavers + calls%staying)}
			began := time.Now()
			status, err := store.Store.Admit(context.Background(), "shop", &queue.Report{Node: 1, Seq: c.seq}, []queue.Claim{claim}, make([]queue.Grant, 1))
			took := time.Since(began)
			require.NoError(b, err)
			worst = max(worst, took)
			left = status.Present - staying
		}
	}
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(calls), "mean-ms")
}

// BenchmarkLineCheckInTogether measures what a check-in costs Redis in service:
// 64 visitors at a time check in through a room, whose claims go together, beside
// as many who ask for a bare ZRANK each. The time is that of Redis's processor.
func BenchmarkLineCheckInTogether(b *testing.B) {
	const size, hands = 10_000, 64
	ctx := context.Background()
	store := open(b, redistest.Start(b, redistest.Options{}).URL())
	r, err := room.New(ctx, clock().Time(), room.Config{Name: "shop", Store: store, Settings: queue.Settings{
		TotalActiveUsers: 1, NewUsersPerMinute: 1, Method: queue.Line, QueueAll: true, LineDropout: time.Hour,
	}})
	require.NoError(b, err)
	tickets := make([]queue.Ticket, size)
	together(hands, size, func(i int) { tickets[i] = r.Visit(ctx, clock().Time(), room.Request{}).Ticket })
	order := "fairdoor:{shop}:order"
	ours, theirs, n := 0., 0., 0
	var took time.Duration
	for b.Loop() {
		before, start := processorTime(b, store), time.Now()
		together(hands, size, func(i int) {
			d := r.Visit(ctx, clock().Time(), room.Request{Ticket: tickets[i]})
			assert.NotZero(b, d.Place.Number)
			tickets[i] = d.Ticket
		})
		took += time.Since(start)
		between := processorTime(b, store)
		together(hands, size, func(i int) {
			assert.NoError(b, store.Client().ZRank(ctx, order, string(tickets[i].ID[:8])).Err())
		})
		after := processorTime(b, store)
		ours, theirs, n = ours+between-before, theirs+after-between, n+size
	}
	b.ReportMetric(float64(n)/took.Seconds(), "check-ins/s")
	b.ReportMetric(1e6*ours/float64(n), "redis-µs/check-in")
	b.ReportMetric(1e6*theirs/float64(n), "redis-µs/zrank")
	b.ReportMetric(ours/theirs, "ratio")
}

// together has so many hands do all of a number of things.
func together(hands, things int, do func(i int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range hands {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(things); i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	group.Wait()
}

// processorTime is what the server has taken so far, in seconds.
func processorTime(b *testing.B, s *redisstore.Store) (sum float64) {
	b.Helper()
	info, err := s.Client().Info(context.Background(), "cpu").Result()
	require.NoError(b, err)
	for _, name := range []string{"used_cpu_sys:", "used_cpu_user:"} {
		_, text, _ := strings.Cut(info, name)
		text, _, _ = strings.Cut(text, "\r\n")
		seconds, err := strconv.ParseFloat(text, 64)
		require.NoError(b, err)
		sum += seconds
	}
	return sum
}
