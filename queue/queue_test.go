package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue"
)

// start is a whole minute.
var start = queue.At(time.Date(2021, 5, 27, 15, 54, 0, 0, time.UTC))

func newRoom(t testing.TB, s queue.Settings, store queue.Store) *queue.Room {
	t.Helper()
	room, err := queue.NewRoom(context.Background(), start, queue.Config{Name: "shop", Settings: s, Store: store})
	require.NoError(t, err)
	return room
}
