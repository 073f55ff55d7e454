package memstore_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// lined is a room with an exact line and one slot, which is taken.
func lined(t testing.TB) *gate {
	t.Helper()
	g := &gate{TB: t, store: memstore.New(), node: 1, now: start}
	g.configure(queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 1000, SessionDuration: 10_000 * time.Hour, Method: queue.Line, LineDropout: time.Minute})
	g.enter(1 << 24)
	return g
}

// crowd has so many visitors, with ids like real ones, join.
func (g *gate) crowd(people int) []queue.Claim {
	g.Helper()
	random := rand.New(rand.NewPCG(7, 2021))
	claims := make([]queue.Claim, people)
	for i := range claims {
		binary.BigEndian.PutUint64(claims[i].ID[:], random.Uint64())
		binary.BigEndian.PutUint64(claims[i].ID[8:], random.Uint64())
	}
	for some := range slices.Chunk(claims, 10_000) {
		g.putAll(some) // who join
		g.putAll(some) // and come back
		g.now = g.now.Add(100 * time.Millisecond)
	}
	return claims
}

func (g *gate) putAll(claims []queue.Claim) []queue.Grant {
	g.Helper()
	grants := make([]queue.Grant, len(claims))
	_, err := g.store.Admit(g.Context(), "shop", g.report(queue.Report{}), claims, grants)
	require.NoError(g, err)
	return grants
}

// BenchmarkLineCheckIn is a check-in in an exact line, by those who wait in
// order, or in any.
func BenchmarkLineCheckIn(b *testing.B) {
	for _, people := range []int{1000, 1_000_000} {
		for _, order := range []string{"in order", "in any order"} {
			b.Run(fmt.Sprintf("waiting=%d/%s", people, order), func(b *testing.B) {
				g := lined(b)
				claims, i, due := g.crowd(people), 0, 0
				if order == "in any order" {
					rand.Shuffle(people, func(i, j int) { claims[i], claims[j] = claims[j], claims[i] })
				}
				step, grants, p := max(1, people/20_000), make([]queue.Grant, 1), queue.Report{Node: 1, Seq: 1 << 40}
				b.ReportAllocs()
				for b.Loop() {
					if due++; due%step == 0 { // each checks in every 20 seconds
						g.now++
					}
					p.Seq, p.Now = p.Seq+1, g.now
					if _, err := g.store.Admit(b.Context(), "shop", &p, claims[i:i+1], grants); err != nil {
						b.Fatal(err)
					}
					if i++; i == people {
						i = 0
					}
				}
				require.Equal(b, people, g.look().Present)
			})
		}
	}
}

// BenchmarkLineJoin is a newcomer who joins a million, and one who stays.
func BenchmarkLineJoin(b *testing.B) {
	g := lined(b)
	g.crowd(1_000_000)
	c := make([]queue.Claim, 1)
	b.ReportAllocs()
	for b.Loop() {
		binary.BigEndian.PutUint64(c[0].ID[:], rand.Uint64())
		g.putAll(c)
	}
}

// wave has so many of ten times as many drop out of the line at once, while one
// of the others goes on checking in, and hands on how long each call took and how
// many it took out.
func wave(t testing.TB, leavers int, each func(took time.Duration, out int)) {
	t.Helper()
	g := lined(t)
	stay := g.crowd(10 * leavers)[leavers:]
	g.now = g.now.Add(30 * time.Second)
	for some := range slices.Chunk(stay, 10_000) {
		g.putAll(some)
	}
	g.now = g.now.Add(30 * time.Second)
	one, ahead := stay[len(stay)-1:], 10*leavers-1
	for ahead >= len(stay) {
		began := time.Now()
		next := g.putAll(one)[0].Place.Ahead
		each(time.Since(began), ahead-next)
		ahead = next
	}
	require.Equal(t, len(stay)-1, ahead)
}

// BenchmarkLineWave is the longest that a call takes while 100,000 leave at once.
func BenchmarkLineWave(b *testing.B) {
	for b.Loop() {
		longest := time.Duration(0)
		wave(b, 100_000, func(took time.Duration, _ int) { longest = max(longest, took) })
		b.ReportMetric(float64(longest.Microseconds()), "µs/longest")
	}
}

func TestWaveOfLeaversHoldsNobodyUp(t *testing.T) {
	wave(t, 5000, func(_ time.Duration, out int) { assert.LessOrEqual(t, out, 500, "taken out by one call") })
}
