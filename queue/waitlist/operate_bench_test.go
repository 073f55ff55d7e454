package waitlist_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// BenchmarkEntries lists pages of a million: the first, one in the middle of equal priorities, and
// those of searches.
func BenchmarkEntries(b *testing.B) {
	for _, database := range []struct {
		name string
		open func() string
	}{{"SQLite", func() string { return sqliteFile(b) }}, {"PostgreSQL", func() string { return postgres.Database(b) }}} {
		b.Run(database.name, func(b *testing.B) {
			w := crowded(b, database.open(), settings(), million)
			for _, s := range []struct {
				name   string
				search waitlist.Search
			}{
				{"first", waitlist.Search{}},
				{"middle", waitlist.Search{After: 500_001}},
				{"status", waitlist.Search{Status: waitlist.Waiting, After: 500_001}},
				{"text", waitlist.Search{Text: "p123456@example.com"}},
			} {
				b.Run(s.name, func(b *testing.B) {
					for b.Loop() {
						_, err := w.Entries(ctx, s.search)
						require.NoError(b, err)
					}
				})
			}
			b.Run("Numbers", func(b *testing.B) {
				for b.Loop() {
					_, err := w.Numbers(ctx)
					require.NoError(b, err)
				}
			})
		})
	}
}

// BenchmarkExport exports a million.
func BenchmarkExport(b *testing.B) {
	w := crowded(b, sqliteFile(b), settings(), million)
	for b.Loop() {
		require.NoError(b, w.Export(ctx, io.Discard, operator, w.now))
	}
}
