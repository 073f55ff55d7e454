package room_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// crowd is a room of the method with so many people in line, whom the one who is
// in keeps out.
type crowd struct {
	*room.Room
	in      queue.Ticket   // of who is in
	waiting []queue.Ticket // in order
	now     queue.Instant  // when the last of them came
}

func newCrowd(b *testing.B, method queue.Method, people int) *crowd {
	b.Helper()
	s := settings(1, 1)
	s.SessionDuration, s.RefreshJitter, s.Method = 24*time.Hour, .05, method
	c := &crowd{Room: newRoom(b, s, memstore.New()), waiting: make([]queue.Ticket, 0, people), now: start}
	c.in = c.Visit(context.Background(), c.now.Time(), room.Request{}).Ticket
	for len(c.waiting) < people {
		c.waiting = append(c.waiting, c.Visit(context.Background(), c.now.Time(), room.Request{}).Ticket)
		if len(c.waiting)%1000 == 0 {
			c.now = c.now.Add(time.Millisecond)
			c.round(b, c.now)
		}
	}
	return c
}

// round begins another round of check-ins: who is in stays, and the room is in
// sync.
func (c *crowd) round(b *testing.B, now queue.Instant) {
	b.Helper()
	c.Touch(now.Time(), c.in)
	require.NoError(b, c.Sync(context.Background(), now.Time()))
}

// longestInterval is the refresh interval of a crowd with its jitter: everyone is
// due after it, and still counted.
const longestInterval = 21 * time.Second

// BenchmarkCheckIn is the decision about a returning visitor who is due, is
// counted anew and goes on waiting.
func BenchmarkCheckIn(b *testing.B) {
	for _, people := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprintf("waiting=%d", people), func(b *testing.B) {
			c := newCrowd(b, queue.FIFO, people)
			now, i := c.now, 0
			b.ReportAllocs()
			for b.Loop() {
				if i%people == 0 {
					now = now.Add(longestInterval)
					c.round(b, now)
				}
				t := &c.waiting[i%people]
				*t = c.Visit(context.Background(), now.Time(), room.Request{Ticket: *t}).Ticket
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
			c := newCrowd(b, queue.Line, people)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				now := c.now.Add(longestInterval + longestInterval/time.Duration(people)*time.Duration(i))
				if i%people == 0 {
					c.round(b, now)
				}
				t := &c.waiting[i%people]
				d := c.Visit(context.Background(), now.Time(), room.Request{Ticket: *t})
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
	c := newCrowd(b, queue.FIFO, 1_000_000)
	var next atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		share := len(c.waiting) / runtime.GOMAXPROCS(0)
		part := c.waiting[(int(next.Add(1))-1)*share:][:share]
		now := c.now
		for i := 0; pb.Next(); i++ {
			if i%len(part) == 0 {
				now = now.Add(longestInterval)
			}
			t := &part[i%len(part)]
			*t = c.Visit(context.Background(), now.Time(), room.Request{Ticket: *t}).Ticket
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
			d := openOn(b, settings(math.MaxInt32, math.MaxInt32), store)
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
	const buckets = 700
	s := settings(1, 1)
	s.SessionDuration, s.RefreshInterval, s.QueueTicketTTL = 24*time.Hour, 12*time.Hour, 24*time.Hour
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
				d.room.Leave(d.now.Time(), t)
				d.waits(t)
			}
			d.now++
			b.StartTimer()
			d.sync()
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
