package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// The tables of the 2021 design article that this queue follows: limits of
// 10,000 and 2,000 a minute, 7,000 active, 2,500 waiting over three minutes.
var (
	articleLimits  = settings(10_000, 2_000)
	articleBuckets = []queue.BucketCount{
		{Bucket: start, Waiting: 500},
		{Bucket: start.Add(time.Minute), Waiting: 1000},
		{Bucket: start.Add(2 * time.Minute), Waiting: 1000},
	}
	articleReserved = []int{500, 1000, 500}
)

func TestArticleReservesTheOpenSlotsForThoseWhoJoinedFirst(t *testing.T) {
	assert.Equal(t, 2000, queue.Open(articleLimits, 7000, 2000, 0))
	table := queue.Reserve(2000, articleBuckets)
	for i, row := range table {
		assert.Equal(t, articleReserved[i], row.ReservedSlots, row.Bucket.Time())
	}
	assert.Equal(t, []int{0, 500, 1500}, []int{table[0].Ahead, table[1].Ahead, table[2].Ahead})
}

// articleRoom is a room as the article has it, as far as its store knows.
func articleRoom(t *testing.T, buckets []queue.BucketCount) *door {
	t.Helper()
	store := memstore.New()
	require.NoError(t, store.Configure(t.Context(), "shop", queue.Configuration{Version: 1, Settings: articleLimits}))
	report := &queue.Report{Node: 1, Seq: 1, Now: start}
	for i := range 7000 {
		id := queue.ID{byte(i), byte(i >> 8), 2: 1}
		report.Sessions = append(report.Sessions, queue.Session{ID: id, Expires: start.Add(time.Hour)})
	}
	for _, b := range buckets {
		cell := queue.Cell{Bucket: b.Bucket, Until: start.Add(time.Hour)}
		report.Cells = append(report.Cells, queue.CellChange{Cell: cell, People: b.Waiting})
	}
	_, err := store.Sync(t.Context(), "shop", report)
	require.NoError(t, err)
	return openOn(t, articleLimits, store)
}

func TestArticleTableIsWhatARoomTells(t *testing.T) {
	n := articleRoom(t, articleBuckets).stand()
	assert.Equal(t, 7000, n.Active)
	assert.Equal(t, 2000, n.Open)
	assert.Equal(t, queue.Reserve(2000, articleBuckets), n.Buckets)
}

func TestArticleLetsExactlyThoseInWhoseSlotsAreReserved(t *testing.T) {
	s := articleLimits
	d, line := closed(t, s, 500, 1000, 1000)
	d.configure(s)
	d.pass(interval)
	for _, bucket := range []int{2, 1, 0} {
		assert.Equal(t, articleReserved[bucket], d.checkIns(line[bucket]), "bucket %d", bucket)
	}
	assert.Equal(t, room.Queued, d.arrive().Outcome)
}

func TestArticleLeavesWhatNobodyWaitsForToNewcomers(t *testing.T) {
	d := articleRoom(t, []queue.BucketCount{{Bucket: start, Waiting: 200}})
	entered := 0
	for range 2500 {
		if d.arrive().Outcome == room.Admitted {
			entered++
		}
	}
	assert.Equal(t, 1800, entered)
}
