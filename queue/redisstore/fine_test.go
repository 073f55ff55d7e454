package redisstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// million is a million people in line, who came within forty minutes and check in every twenty
// seconds, as a node that has all of them counts them. They came in groups.
type million struct {
	*busyNodes
	clock    *clocked
	settings queue.Settings
	seq      uint64
	now      queue.Instant
	view     *queue.View
	where    []queue.Cell // of each group
	come     int          // groups that have come
	cells    int          // that the last report had changed
}

const (
	groupsASecond = 4
	groups        = 40 * 60 * groupsASecond
	inGroup       = 1_000_000 / groups
	untilNext     = 20 * groupsASecond // groups, from one check-in to the next
)

// newMillion has a million come to a store. Those who came in the given time before it was there
// come in one second.
func newMillion(t *testing.T, bucket, before time.Duration) *million {
	t.Helper()
	clock, server := newClock(t)
	m := &million{
		busyNodes: &busyNodes{TB: t, server: server}, clock: clock, now: start.Add(before),
		settings: queue.Settings{TotalActiveUsers: 75_000, NewUsersPerMinute: 25_000, Bucket: bucket}.WithDefaults(),
		view:     &queue.View{}, where: make([]queue.Cell, groups),
	}
	m.sync(nil)
	require.NoError(t, clock.Configure(context.Background(), "shop", queue.Configuration{Version: 1, Settings: m.settings}))
	for second := int(before / time.Second); second < groups/groupsASecond+60; second++ {
		m.second(min(groups, second*groupsASecond))
	}
	return m
}

// second lets a second pass, in which those of the groups that have come are counted that are due.
func (m *million) second(come int) {
	m.now = m.now.Add(time.Second)
	sums := map[queue.Cell]int{}
	for due := range groupsASecond {
		for i := (int(m.now/1000)*groupsASecond + due) % untilNext; i < m.come; i += untilNext {
			m.checkIn(i, sums)
		}
	}
	for ; m.come < come; m.come++ {
		m.checkIn(m.come, sums)
	}
	var changes []queue.CellChange
	for c, people := range sums {
		changes = append(changes, queue.CellChange{Cell: c, People: people})
	}
	m.sync(changes)
}

// checkIn counts a group that checks in now.
func (m *million) checkIn(i int, sums map[queue.Cell]int) {
	if was := m.where[i]; was.Until > m.now {
		sums[was] -= inGroup
	}
	arrived := start.Add(time.Duration(i) * time.Second / groupsASecond)
	bucket := m.settings.BucketOf(arrived, m.view.Boundaries)
	if m.where[i] == (queue.Cell{}) {
		bucket = m.settings.ArrivalBucket(arrived)
	}
	m.where[i] = queue.Cell{Bucket: bucket, Until: m.now.Add(25 * time.Second).Ceil(2500 * time.Millisecond)}
	sums[m.where[i]] += inGroup
}

func (m *million) sync(changes []queue.CellChange) {
	m.Helper()
	m.clock.set(m.now)
	m.seq++
	m.cells = len(changes)
	var err error
	m.view, err = m.clock.Sync(context.Background(), "shop", &queue.Report{Node: 1, Seq: m.seq, Now: m.now, Version: m.view.Configuration.Version, Cells: changes})
	require.NoError(m, err)
}

// Fine buckets cost the store little more than buckets of a minute do.
func TestFineBucketsOfAMillionAreFew(t *testing.T) {
	t.Parallel()
	fine, coarse := newMillion(t, 0, 0), newMillion(t, time.Minute, 40*time.Minute)
	require.InDelta(t, 1_000_000, fine.view.Present, inGroup*groups/50)
	t.Logf("%d boundaries, %d cells changed a second; %d bytes, %d with buckets of a minute", len(fine.view.Boundaries), fine.cells, usedMemory(t, fine.server), usedMemory(t, coarse.server))
	assert.Empty(t, coarse.view.Boundaries)
	assert.Less(t, len(fine.view.Boundaries), 200)
	assert.Less(t, usedMemory(t, fine.server)-usedMemory(t, coarse.server), int64(4<<20))

	took := fine.took()
	t.Logf("%v of the server's time a second, %v with buckets of a minute", took, coarse.took())
	assert.Less(t, took, 20*time.Millisecond, "many times what it takes")
}

// took is what a sync takes of the server, at the least: on a busy machine others take longer.
func (m *million) took() time.Duration {
	m.Helper()
	least := time.Hour
	for range 20 {
		_, before := m.commands()
		m.second(groups)
		_, after := m.commands()
		least = min(least, after-before)
	}
	return least
}
