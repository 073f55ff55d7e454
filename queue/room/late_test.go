package room_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// timed is a store whose calls take their time. It notes by how much the clock in
// each report is off the true one.
type timed struct {
	queue.Store
	takes time.Duration
	off   []time.Duration
}

func (s *timed) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	s.off = append(s.off, p.Now.Sub(queue.At(time.Now())))
	<-time.After(s.takes)
	return s.Store.Admit(ctx, room, p, claims, grants)
}

// However long a claim is gathered or waits for another to lead, the store is told
// the moment of the call.
func TestClaimsAreTimedByTheirCallHoweverLongTheyWereGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const people = 40
		ctx, now := t.Context(), func() queue.Instant { return queue.At(time.Now()) }
		store := &timed{Store: memstore.New()}
		r, err := room.New(ctx, now().Time(), room.Config{
			Name: "shop", Store: store, Settings: settings(1, 1000), Gather: 50 * time.Millisecond, Clock: time.Now,
		})
		require.NoError(t, err)
		require.Equal(t, room.Admitted, r.Visit(ctx, now().Time(), room.Request{}).Outcome)
		waiting := make([]queue.Ticket, people)
		for i := range waiting {
			waiting[i] = r.Visit(ctx, now().Time(), room.Request{}).Ticket
		}
		<-time.After(interval)
		require.NoError(t, r.Configure(ctx, now().Time(), queue.Configuration{Settings: settings(2*people, 1000)}))
		require.NoError(t, r.Sync(ctx, now().Time()))

		store.takes, store.off = 30*time.Millisecond, nil
		var group sync.WaitGroup
		for _, ticket := range waiting {
			<-time.After(7 * time.Millisecond)
			group.Go(func() {
				assert.Equal(t, room.Admitted, r.Visit(ctx, now().Time(), room.Request{Ticket: ticket}).Outcome)
			})
		}
		group.Wait()
		assert.Greater(t, len(store.off), 3, "the lead was handed on")
		for _, off := range store.off {
			assert.LessOrEqual(t, off.Abs(), 2*time.Millisecond, "the waits are rounded down")
		}
	})
}

// What is in force when the store has answered is what the answer goes by.
func TestAnAnswerGoesByTheSettingsThatAreInForceByThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, store, s := t.Context(), memstore.New(), settings(1, 1000)
		s.SessionDuration = 30 * time.Minute
		one, err := room.New(ctx, time.Now(), room.Config{Name: "shop", Store: store, Settings: s, Clock: time.Now})
		require.NoError(t, err)
		require.Equal(t, room.Admitted, one.Visit(ctx, time.Now(), room.Request{}).Outcome)
		waiting := one.Visit(ctx, time.Now(), room.Request{}).Ticket
		<-time.After(interval * 2)
		s.TotalActiveUsers = 2
		require.NoError(t, one.Configure(ctx, time.Now(), queue.Configuration{Settings: s}))
		require.NoError(t, one.Sync(ctx, time.Now()))
		require.Equal(t, room.Admitted, one.Visit(ctx, time.Now(), room.Request{Ticket: waiting}).Outcome)

		two, err := room.New(ctx, time.Now(), room.Config{Name: "shop", Store: store, Settings: s, Gather: 200 * time.Millisecond, Clock: time.Now})
		require.NoError(t, err)
		var group sync.WaitGroup
		var got room.Decision
		group.Go(func() { got = two.Visit(ctx, time.Now(), room.Request{Ticket: waiting}) })
		<-time.After(50 * time.Millisecond)
		s.SessionDuration = time.Minute
		require.NoError(t, two.Configure(ctx, time.Now(), queue.Configuration{Settings: s}))
		group.Wait()
		require.Equal(t, room.Admitted, got.Outcome)
		assert.LessOrEqual(t, got.Ticket.Expires, queue.At(time.Now()).Add(time.Minute))
	})
}

// blocking is a store whose Sync waits to be let go on once it is armed, and that
// notes the clock that it is told with claims.
type blocking struct {
	queue.Store
	entered, goOn chan struct{}
	told          queue.Instant
}

func (s *blocking) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	s.told = p.Now
	return s.Store.Admit(ctx, room, p, claims, grants)
}

func (s *blocking) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	if s.entered != nil {
		close(s.entered)
		s.entered = nil
		<-s.goOn
	}
	return s.Store.Sync(ctx, room, p)
}

func TestClaimsThatWaitForACallUnderWayAreTimedByTheirOwn(t *testing.T) {
	const hold = 400 * time.Millisecond
	store := &blocking{Store: memstore.New(), goOn: make(chan struct{})}
	now := start
	d := openWith(t, room.Config{
		Settings: settings(1, 1000), Store: store, Clock: func() time.Time { return now.Time() },
		Wait: func(ready <-chan struct{}, _ time.Duration) {
			now = now.Add(hold)
			close(store.goOn)
			<-ready
		},
	})
	entered := make(chan struct{})
	store.entered = entered
	var group sync.WaitGroup
	group.Go(func() { assert.NoError(t, d.room.Sync(t.Context(), start.Time())) })
	<-entered
	assert.Equal(t, room.Admitted, d.arrive().Outcome)
	group.Wait()
	assert.Equal(t, start.Add(hold), store.told)
}
