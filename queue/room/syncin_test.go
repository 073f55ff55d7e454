package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

func TestAGateSyncsSoonerForASlotButNotWhileTheStoreIsAway(t *testing.T) {
	store := &fallible{Store: memstore.NewShared(2 * time.Second)}
	d := openWith(t, room.Config{Settings: settings(1, 10), Store: store, Slack: 2 * time.Second})
	in := d.enter()
	d.join()
	d.sync()
	d.now = in.Expires.Add(-100 * time.Millisecond)
	d.join()
	d.sync()
	assert.Less(t, d.room.SyncIn(d.now.Time(), time.Second), time.Second)
	d.now = in.Expires.Add(time.Second)
	store.fail(errGone, nil)
	d.fails(errGone)
	assert.Equal(t, time.Second, d.room.SyncIn(d.now.Time(), time.Second))
	store.fail(nil, nil)
	d.sync()
	assert.Equal(t, room.Queued, d.visit(queue.Ticket{}).Outcome)
}
