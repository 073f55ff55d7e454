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

// crowd is a room of the method with so many people in line and nobody let in any
// more.
func crowd(b *testing.B, method queue.Method, people int) (*queue.Room, []queue.Ticket, queue.Instant) {
	b.Helper()
	now := start
	s := settings(1, 1)
	s.SessionDuration, s.RefreshJitter, s.Method = 10_000*time.Hour, .05, method
	room := newRoom(b, s, memstore.New())
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

// longestInterval is the refresh interval of a crowd with its jitter: everyone is
// due after it, and still counted.
const longestInterval = 21 * time.Second

// BenchmarkCheckIn is the decision about a returning visitor who is due, is
// counted anew and goes on waiting.
func BenchmarkCheckIn(b *testing.B) {
	for _, people := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprintf("waiting=%d", people), func(b *testing.B) {
			room, tickets, now := crowd(b, queue.FIFO, people)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				if i%people == 0 {
					now = now.Add(longestInterval)
					require.NoError(b, room.Sync(context.Background(), now))
				}
				t := &tickets[i%people]
				*t = room.Visit(context.Background(), now, queue.Request{Ticket: *t}).Ticket
				i++
			}
		})
	}
}

// BenchmarkLineCheckIn is a check-in in an exact line, where each is put to the
// store and told its place. They are spread over the interval.
func BenchmarkLineCheckIn(b *testing.B) {
	for _, people := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprintf("waiting=%d", people), func(b *testing.B) {
			room, tickets, began := crowd(b, queue.Line, people)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				now := began.Add(longestInterval + longestInterval/time.Duration(people)*time.Duration(i))
				if i%people == 0 {
					require.NoError(b, room.Sync(context.Background(), now))
				}
				t := &tickets[i%people]
				d := room.Visit(context.Background(), now, queue.Request{Ticket: *t})
				if d.Place.Ahead != i%people {
					b.Fatalf("at %d: %+v", i, d)
				}
				*t = d.Ticket
				i++
			}
		})
	}
}

// BenchmarkCheckInContended is BenchmarkCheckIn on all processors, a million
// waiting.
func BenchmarkCheckInContended(b *testing.B) {
	room, tickets, now := crowd(b, queue.FIFO, 1_000_000)
	var next atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		share := len(tickets) / runtime.GOMAXPROCS(0)
		part := tickets[(int(next.Add(1))-1)*share:][:share]
		mine := now
		for i := 0; pb.Next(); i++ {
			if i%len(part) == 0 {
				mine = mine.Add(longestInterval)
			}
			t := &part[i%len(part)]
			*t = room.Visit(context.Background(), mine, queue.Request{Ticket: *t}).Ticket
		}
	})
}

// BenchmarkStay is the decision about a visitor who is in.
func BenchmarkStay(b *testing.B) {
	d := open(b, settings(1000, 1000))
	in := d.enter()
	b.ReportAllocs()
	for b.Loop() {
		d.visit(in)
	}
}

// BenchmarkAdmission is a newcomer who takes a slot, by a store in memory and
// by one that keeps a journal.
func BenchmarkAdmission(b *testing.B) {
	durable, err := memstore.Open(b.TempDir())
	require.NoError(b, err)
	for name, store := range map[string]queue.Store{"memory": memstore.New(), "journal": durable} {
		b.Run(name, func(b *testing.B) {
			d := openOn(b, settings(1<<40, 1<<40), store)
			b.ReportAllocs()
			for b.Loop() {
				d.arrive()
			}
		})
	}
	require.NoError(b, durable.Close())
}

// BenchmarkSync is a sync of a room that people wait in since so many minutes,
// with nothing new to report and with a thousand check-ins.
func BenchmarkSync(b *testing.B) {
	const buckets = 1000
	s := settings(1, 1)
	s.SessionDuration, s.RefreshInterval, s.QueueTicketTTL = 365*24*time.Hour, 24*time.Hour, 48*time.Hour
	d := full(b, s)
	tickets := make([]queue.Ticket, buckets)
	for i := range tickets {
		tickets[i] = d.join()
		d.pass(time.Minute)
	}
	require.Len(b, d.stand().Buckets, buckets)
	b.Run("nothing new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.sync()
		}
	})
	b.Run("all buckets changed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			for _, t := range tickets {
				d.room.Leave(d.now, t)
				d.waits(t)
			}
			d.now++
			b.StartTimer()
			d.sync()
		}
	})
}

// BenchmarkTicket is the binary form, which a codec encrypts.
func BenchmarkTicket(b *testing.B) {
	b.Run("encode", func(b *testing.B) {
		buffer := make([]byte, 0, 64)
		b.ReportAllocs()
		for b.Loop() {
			_, err := waitingTicket.AppendBinary(buffer)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		form, err := waitingTicket.AppendBinary(nil)
		require.NoError(b, err)
		var t queue.Ticket
		b.ReportAllocs()
		for b.Loop() {
			if err := t.UnmarshalBinary(form); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMemory reports the bytes that a waiting visitor and an active
// session take in the gate at most, store and all, while a million come.
func BenchmarkMemory(b *testing.B) {
	const people = 1_000_000
	for _, c := range []struct {
		name  string
		slots int
	}{{"waiting", 1}, {"active", people}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(float64(fill(b, people/4, people, c.slots)), "B/visitor")
			}
		})
	}
}
