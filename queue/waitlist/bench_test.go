package waitlist_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// million is how many are on the list in the benchmarks.
const million = 1_000_000

// crowded is a world with many people on the list.
func crowded(t testing.TB, name string, s waitlist.Settings, people int) *world {
	t.Helper()
	w := newWorld(t, name, s)
	w.crowd(people)
	began := time.Now()
	w.List = w.node(s)
	t.Logf("reading who waits took %s", time.Since(began))
	return w
}

// crowd puts people on a list that is empty. One in ten has been brought forward. Their rows are as
// those that Join makes.
func (w *world) crowd(people int) {
	w.t.Helper()
	for _, statement := range []string{
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d)
			INSERT INTO entries (waitlist, number, version, status, priority, email, email_key, mailbox, referral_code, joined_at)
			SELECT 'beta', i, 1, 'waiting', CASE i %% 10 WHEN 0 THEN i %% 50 ELSE 0 END,
				'p' || (CAST(i AS BIGINT) * 7919 %% 1000003) || '@example.com', 'p' || (CAST(i AS BIGINT) * 7919 %% 1000003) || '@example.com', 'p' || (CAST(i AS BIGINT) * 7919 %% 1000003) || '@example.com',
				'c' || (CAST(i AS BIGINT) * 104729 %% 1000003), 1 FROM n`,
		`UPDATE waitlists SET last_entry = %[1]d, version = 1`,
	} {
		_, err := w.raw.ExecContext(ctx, fmt.Sprintf(statement, people))
		require.NoError(w.t, err)
	}
}

// BenchmarkRank asks for ranks among a million.
func BenchmarkRank(b *testing.B) {
	w := crowded(b, sqliteFile(b), settings(unconfirmed), million)
	times := make([]time.Duration, 0, b.N)
	for b.Loop() {
		number := 1 + rand.Int64N(million)
		began := time.Now()
		w.Rank(number)
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns")
}

// BenchmarkEntry asks for the whole entry of somebody among a million, with the rank.
func BenchmarkEntry(b *testing.B) {
	w := crowded(b, sqliteFile(b), settings(unconfirmed), million)
	times := make([]time.Duration, 0, b.N)
	for b.Loop() {
		number := 1 + rand.Int64N(million)
		began := time.Now()
		_, err := w.Entry(ctx, number, w.now)
		times = append(times, time.Since(began))
		require.NoError(b, err)
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns")
}

// BenchmarkJoin signs people up behind a million, from as many clients as come at once in a rush,
// each durable before its answer.
func BenchmarkJoin(b *testing.B) {
	for _, s := range []struct {
		name     string
		settings waitlist.Settings
	}{{"confirmed", settings()}, {"unconfirmed", settings(unconfirmed)}} {
		b.Run(s.name, func(b *testing.B) {
			w := crowded(b, sqliteFile(b), s.settings, million)
			b.ResetTimer()
			var n atomic.Int64
			b.SetParallelism(100)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, err := w.Join(ctx, waitlist.SignUp{Email: fmt.Sprintf("new%d@example.org", n.Add(1))}, w.now)
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "joins/s")
		})
	}
}

// BenchmarkRelease invites 10,000 of a million.
func BenchmarkRelease(b *testing.B) {
	for _, database := range []struct {
		name string
		open func() string
	}{{"SQLite", func() string { return sqliteFile(b) }}, {"PostgreSQL", func() string { return postgres.Database(b) }}} {
		b.Run(database.name, func(b *testing.B) {
			w := crowded(b, database.open(), settings(), million)
			for b.Loop() {
				require.Equal(b, 10_000, w.release(10_000))
			}
		})
	}
}
