package room_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

func TestDecisionsThatAreMadeOftenAllocateNothing(t *testing.T) {
	ctx := context.Background()
	s := settings(1, 1)
	s.SessionDuration, s.RefreshJitter = time.Hour, .15
	d := full(t, s)
	const people = 2000
	line := d.joins(people)
	in := queue.Ticket{State: queue.Accepted, ID: queue.ID{7}, LastCheckIn: d.now, AcceptedAt: d.now, Expires: d.now.Add(time.Hour)}
	d.isIn(in)
	d.pass(24 * time.Second)
	d.checkIns(line) // so that each cell has been counted in before
	d.pass(24 * time.Second)

	i := 0
	assert.Zero(t, testing.AllocsPerRun(people/2, func() {
		line[i] = d.room.Visit(ctx, d.now.Time(), room.Request{Ticket: line[i]}).Ticket
		i++
	}), "a check-in")
	assert.Zero(t, testing.AllocsPerRun(100, func() { d.room.Visit(ctx, d.now.Time(), room.Request{Ticket: line[0]}) }), "an early check-in")
	assert.Zero(t, testing.AllocsPerRun(100, func() { d.room.Visit(ctx, d.now.Time(), room.Request{Ticket: in}) }), "a request of someone who is in")
	assert.Zero(t, testing.AllocsPerRun(100, func() { d.room.Leave(d.now.Time(), line[0]) }), "a goodbye")
}

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// fill lets newcomers come to a room with so many slots until it has seen most
// of them, and returns the most bytes that each took at any size on the way.
func fill(t testing.TB, least, most, slots int) (perVisitor int64) {
	t.Helper()
	return fillBy(t, least, most, queue.Settings{TotalActiveUsers: slots, NewUsersPerMinute: slots, SessionDuration: time.Hour}, memstore.New())
}

func fillBy(t testing.TB, least, most int, s queue.Settings, store queue.Store) (perVisitor int64) {
	t.Helper()
	before := heap()
	r := newRoom(t, s, store)
	for people := range most {
		if people >= least && people%(most/20) == 0 {
			require.NoError(t, r.Sync(context.Background(), start.Time()))
			perVisitor = max(perVisitor, (heap()-before)/int64(people))
		}
		r.Visit(context.Background(), start.Time(), room.Request{})
	}
	runtime.KeepAlive(r)
	return perVisitor
}
