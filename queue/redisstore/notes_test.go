package redisstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// noted remembers the most notes of a report.
type noted struct {
	*clocked
	most int
}

func (n *noted) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	n.most = max(n.most, len(p.Notes))
	return n.clocked.Sync(ctx, room, p)
}

func TestManyNotesAreToldAgainInPartsToAStoreThatHasForgottenThem(t *testing.T) {
	t.Parallel()
	const people = queue.MaxNotes + 100
	server := redistest.Start(t, redistest.Options{})
	store := &noted{clocked: newClocked(open(t, server.URL()))}
	ctx, now := context.Background(), start
	r := newRoom(t, store, now, queue.Settings{TotalActiveUsers: people, NewUsersPerMinute: people})
	for range people {
		d := r.Visit(ctx, now.Time(), room.Request{})
		require.Equal(t, room.Admitted, d.Outcome)
		r.Say(ctx, now.Time(), d.Ticket.ID, `"Ann"`)
	}
	server.Do("FLUSHALL")
	store.most = 0
	for range 20 {
		now = now.Add(time.Second)
		store.set(now)
		require.NoError(t, r.Sync(ctx, now.Time()))
	}
	roster, err := r.Everybody(ctx)
	require.NoError(t, err)
	require.Len(t, roster.Seated, people)
	for _, s := range roster.Seated {
		require.Equal(t, `"Ann"`, s.Note)
	}
	assert.Equal(t, queue.MaxNotes, store.most)
}
