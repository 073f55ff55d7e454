package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Sites may end a session with each purchase.
func TestEndedSessionsDoNotKeepPlacesFromMoving(t *testing.T) {
	d := open(t, settings(1, 60))
	d.enter()
	waiting := d.join()
	for i := range 2100 {
		d.room.Revoke(d.now.Time(), queue.Ticket{State: queue.Accepted, ID: queue.ID{1, byte(i), byte(i >> 8)}, Expires: d.now.Add(time.Hour)})
	}
	moved, err := d.room.Move(t.Context(), d.now.Time(), waiting)
	require.NoError(t, err)
	assert.True(t, d.room.HasMoved(d.now.Time(), waiting))
	assert.False(t, d.room.HasMoved(d.now.Time(), moved))
}

func TestATicketThatHasMovedTouchesNoSession(t *testing.T) {
	d := open(t, settings(1, 60))
	in := d.enter()
	require.True(t, d.room.Touch(d.now.Time(), in))
	moved, err := d.room.Move(t.Context(), d.now.Time(), in)
	require.NoError(t, err)
	assert.False(t, d.room.Touch(d.now.Time(), in))
	assert.False(t, d.room.IsIn(d.now.Time(), in))
	assert.True(t, d.room.Touch(d.now.Time(), moved))
	assert.True(t, d.room.IsIn(d.now.Time(), moved))
}
