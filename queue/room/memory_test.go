//go:build !race

package room_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

func TestVisitorsTakeLittleMemory(t *testing.T) {
	assert.LessOrEqual(t, fill(t, 50_000, 200_000, 1), int64(32), "bytes of a waiting visitor")
	exact := settings(1, 1)
	exact.Method, exact.SessionDuration = queue.Line, time.Hour
	assert.LessOrEqual(t, fillBy(t, 50_000, 200_000, exact, memstore.New()), int64(200), "bytes of a place in an exact line")
	assert.LessOrEqual(t, fill(t, 20_000, 60_000, 60_000), int64(128), "bytes of an active session")

	durable, err := memstore.Open(t.TempDir())
	require.NoError(t, err)
	defer durable.Close()
	everyone := settings(60_000, 60_000)
	everyone.SessionDuration = time.Hour
	assert.LessOrEqual(t, fillBy(t, 20_000, 60_000, everyone, durable), int64(144), "bytes of one that a journal tells the end of")
}

func TestNewcomersTakeLittleMemoryHoweverLongTheStoreIsAway(t *testing.T) {
	d, store := openFallible(t, settings(1, 1), queue.Hold)
	d.enter()
	store.fail(errGone, nil)
	d.fails(errGone)
	before := heap()
	for range 300_000 {
		d.now = d.now.Add(time.Millisecond)
		d.join()
	}
	took := heap() - before
	t.Logf("%d bytes of each", took/300_000)
	assert.Less(t, took, int64(300_000*24))
	runtime.KeepAlive(d)
}

func TestMemoryIsGivenBackAfterACrowdHasLeft(t *testing.T) {
	const people = 200_000
	for _, method := range []queue.Method{queue.FIFO, queue.Line} {
		before := heap()
		s := settings(1, 1)
		s.Method = method
		d := full(t, s)
		d.joins(people)
		d.sync()
		crowded := heap() - before
		for range 1000 {
			d.pass(200 * time.Millisecond)
		}
		left := heap() - before
		assert.Less(t, left, crowded/4, "of %d bytes, in %v", crowded, method)
		runtime.KeepAlive(d)
	}
}
