package queue_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/memstore"
)

// crowd is a room with so many people in line and nobody let in any more.
func crowd(b *testing.B, people int) (*queue.Room, []queue.Ticket, queue.Instant) {
	b.Helper()
	now := start
	room, err := queue.NewRoom(context.Background(), now, queue.Config{
		Name: "shop", Store: memstore.New(),
		Settings: queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 1, SessionDuration: time.Hour, RefreshJitter: .15},
	})
	require.NoError(b, err)
	tickets := make([]queue.Ticket, 0, people)
	for len(tickets) < people {
		d := room.Visit(context.Background(), now, queue.Request{})
		if d.Outcome == queue.Queued {
			tickets = append(tickets, d.Ticket)
		}
		if len(tickets)%1000 == 0 {
			now = now.Add(time.Millisecond)
			require.NoError(b, room.Sync(context.Background(), now))
		}
	}
	return room, tickets, now
}

// BenchmarkCheckIn is the decision about a returning visitor who is due, is
// counted anew and goes on waiting.
func BenchmarkCheckIn(b *testing.B) {
	for _, people := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprintf("waiting=%d", people), func(b *testing.B) {
			room, tickets, now := crowd(b, people)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				if i%people == 0 {
					now = now.Add(24 * time.Second)
					require.NoError(b, room.Sync(context.Background(), now))
				}
				t := &tickets[i%people]
				*t = room.Visit(context.Background(), now, queue.Request{Ticket: *t}).Ticket
				i++
			}
		})
	}
}

// BenchmarkCheckInContended is BenchmarkCheckIn on all processors.
func BenchmarkCheckInContended(b *testing.B) {
	room, tickets, now := crowd(b, 1_000_000)
	var next atomic.Int64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		part := tickets[int(next.Add(1)-1)*len(tickets)/16:]
		part = part[:len(tickets)/16]
		mine := now
		for i := 0; pb.Next(); i++ {
			if i%len(part) == 0 {
				mine = mine.Add(24 * time.Second)
			}
			t := &part[i%len(part)]
			*t = room.Visit(context.Background(), mine, queue.Request{Ticket: *t}).Ticket
		}
	})
}

// BenchmarkStay is the decision about a visitor who is in.
func BenchmarkStay(b *testing.B) {
	ctx := context.Background()
	room := newRoom(b, queue.Settings{TotalActiveUsers: 1000, NewUsersPerMinute: 1000}, memstore.New())
	d := room.Visit(ctx, start, queue.Request{})
	require.Equal(b, queue.Admitted, d.Outcome)
	b.ReportAllocs()
	for b.Loop() {
		room.Visit(ctx, start, queue.Request{Ticket: d.Ticket})
	}
}

// BenchmarkMemory reports the bytes that a waiting visitor and an active
// session take in the gate, store and all.
func BenchmarkMemory(b *testing.B) {
	heap := func() float64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	const people = 1_000_000
	for _, c := range []struct {
		name   string
		active int
	}{{"waiting", 1}, {"active", 2 * people}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				room := newRoom(b, queue.Settings{TotalActiveUsers: c.active, NewUsersPerMinute: c.active, SessionDuration: time.Hour}, memstore.New())
				for range people {
					room.Visit(context.Background(), start, queue.Request{})
				}
				require.NoError(b, room.Sync(context.Background(), start))
				b.ReportMetric((heap()-before)/people, "B/visitor")
				runtime.KeepAlive(room)
			}
		})
	}
}
