package line_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/line"
)

const waiters = 1_000_000

// randomIDs returns different ids in no order.
func randomIDs(n int) []queue.ID {
	random := rand.New(rand.NewPCG(7, 2021))
	ids := make([]queue.ID, n)
	for i := range ids {
		binary.BigEndian.PutUint64(ids[i][:], random.Uint64())
		binary.BigEndian.PutUint64(ids[i][8:], random.Uint64())
	}
	return ids
}

func lineOf(ids []queue.ID) *line.Line {
	l := new(line.Line)
	for i, id := range ids {
		l.Add(id, 0, uint64(i), 0, 60_000)
	}
	return l
}

// BenchmarkFind is a look-up among a million, by id.
func BenchmarkFind(b *testing.B) {
	ids := randomIDs(waiters)
	l, i := lineOf(ids), 0
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	b.ReportAllocs()
	for b.Loop() {
		if l.Find(ids[i]) == nil {
			b.Fatal("not in line")
		}
		if i++; i == len(ids) {
			i = 0
		}
	}
}

// BenchmarkComeAndGo is a waiter who leaves a line of a million and another who joins it.
func BenchmarkComeAndGo(b *testing.B) {
	ids := randomIDs(2 * waiters)
	l, i, number := lineOf(ids[:waiters]), 0, uint64(waiters)
	b.ReportAllocs()
	for b.Loop() {
		l.Remove(l.Find(ids[i]))
		number++
		l.Add(ids[(i+waiters)%len(ids)], 0, number, 0, 60_000)
		if i++; i == len(ids) {
			i = 0
		}
	}
}

// BenchmarkGrowth is a line that grows to a million: the bytes that a waiter takes, at the end and
// at the most, the longest that one of them waits to be added, and the time of a garbage
// collection.
func BenchmarkGrowth(b *testing.B) {
	ids := randomIDs(waiters)
	for b.Loop() {
		before := heap()
		l, longest, most := new(line.Line), time.Duration(0), 0.0
		for i, id := range ids {
			began := time.Now()
			l.Add(id, 0, uint64(i), 0, 60_000)
			longest = max(longest, time.Since(began))
			if n := i + 1; n >= waiters/4 && n%(waiters/40) == 0 {
				most = max(most, float64(heap()-before)/float64(n))
			}
		}
		b.ReportMetric(float64(heap()-before)/waiters, "B/waiter")
		b.ReportMetric(most, "B/waiter-at-most")
		b.ReportMetric(float64(longest.Microseconds()), "µs/longest")
		began := time.Now()
		runtime.GC()
		b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms/gc")
		runtime.KeepAlive(l)
	}
}

// heap is how many bytes live.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
