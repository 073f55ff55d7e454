package room_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

var (
	errGone = errors.New("the store does not answer")
	errLost = errors.New("the answer was lost")
)

// fallible is a store that can be made to fail before it does what it is asked,
// or after.
type fallible struct {
	queue.Store
	mu            sync.Mutex
	before, after error
	admits        int
}

func newFallible() *fallible { return &fallible{Store: memstore.New()} }

func (f *fallible) fail(before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

func (f *fallible) faults() (before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.before, f.after
}

func (f *fallible) Configure(ctx context.Context, room string, c queue.Configuration) error {
	before, after := f.faults()
	if before != nil {
		return before
	}
	return errors.Join(f.Store.Configure(ctx, room, c), after)
}

func (f *fallible) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	before, after := f.faults()
	f.mu.Lock()
	f.admits++
	f.mu.Unlock()
	if before != nil {
		return queue.Status{}, before
	}
	s, err := f.Store.Admit(ctx, room, p, claims, grants)
	return s, errors.Join(err, after)
}

func (f *fallible) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	before, after := f.faults()
	if before != nil {
		return nil, before
	}
	v, err := f.Store.Sync(ctx, room, p)
	if after != nil {
		return nil, after
	}
	return v, err
}

// fails makes a sync fail.
func (d *door) fails(want error) {
	d.Helper()
	require.ErrorIs(d, d.room.Sync(context.Background(), d.now.Time()), want)
}

func openFallible(t *testing.T, s queue.Settings, policy queue.ErrorPolicy) (*door, *fallible) {
	t.Helper()
	store := newFallible()
	s.OnStoreError = policy
	return openWith(t, room.Config{Settings: s, Store: store}), store
}

func TestStoreThatDoesNotAnswerLetsNobodyNewInWithHold(t *testing.T) {
	d, store := openFallible(t, settings(10, 10), queue.Hold)
	in := d.enter()
	store.fail(errGone, nil)
	waiting := d.join()
	d.now = d.now.Add(interval)
	d.fails(errGone)
	waiting = d.waits(waiting)
	assert.True(t, d.room.StoreFailing())
	for range 30 {
		d.now = d.now.Add(time.Minute)
		in = d.isIn(in)
	}
	assert.Greater(t, in.Expires, d.now, "who is in is renewed")
	store.fail(nil, nil)
	d.sync()
	assert.False(t, d.room.StoreFailing())
	assert.Equal(t, 1, d.stand().Active)
	assert.Equal(t, room.Admitted, d.visit(waiting).Outcome)
}

func TestNothingIsToldAsKnownWhileTheStoreDoesNotAnswer(t *testing.T) {
	s := settings(1, 10)
	s.DisableSessionRenewal = true
	d, store := openFallible(t, s, queue.Hold)
	d.enter()
	d.join()
	d.pass(interval / 2)
	told := func(known bool) {
		t.Helper()
		n := d.room.Numbers()
		_, ahead := n.Ahead(d.now)
		assert.Equal(t, known, ahead, "people ahead")
		assert.Equal(t, known, n.Wait(d.now).Known, "the wait")
		assert.Equal(t, 1, n.Waiting, "the last that the store told")
	}
	told(true)
	store.fail(errGone, nil)
	d.fails(errGone)
	told(false)
	d.now = d.now.Add(2 * time.Second)
	d.fails(errGone)
	told(false)
	store.fail(nil, nil)
	d.sync()
	told(true)
}

func TestStoreThatDoesNotAnswerLetsInWhatWasOpenWithShare(t *testing.T) {
	d, store := openFallible(t, settings(10, 4), queue.Share)
	d.enter()
	store.fail(errGone, nil)
	entered := 0
	for range 10 {
		if d.arrive().Outcome == room.Admitted {
			entered++
		}
	}
	assert.Equal(t, 3, entered)
	store.fail(nil, nil)
	d.sync()
	assert.Equal(t, 4, d.stand().Active, "the store learns who was let in")
}

func TestShareKeepsSlotsForThoseAhead(t *testing.T) {
	s := settings(2, 10)
	s.OnStoreError = queue.Share
	d, store := openFallible(t, s, queue.Share)
	s.QueueAll = true
	d.configure(s)
	waiting := d.joins(2)
	s.QueueAll = false
	d.configure(s)
	d.pass(interval)
	store.fail(errGone, nil)
	assert.Equal(t, room.Queued, d.arrive().Outcome)
	d.isIn(waiting[0])
	d.isIn(waiting[1])
}

func TestStoreThatDoesNotAnswerLetsAllInWithLet(t *testing.T) {
	d, store := openFallible(t, settings(1, 1), queue.AdmitAll)
	d.enter()
	waiting := d.join()
	d.pass(interval)
	store.fail(errGone, nil)
	d.fails(errGone)
	assert.Equal(t, room.Admitted, d.visit(waiting).Outcome)
	for range 5 {
		d.enter()
	}
	store.fail(nil, nil)
	d.sync()
	assert.Equal(t, 7, d.stand().Active)
	assert.Equal(t, room.Queued, d.arrive().Outcome)
}

func TestLetStillHoldsWhatWasClosedOnPurpose(t *testing.T) {
	s := settings(5, 5)
	d, store := openFallible(t, s, queue.AdmitAll)
	out := d.enter()
	s.QueueAll = true
	d.configure(s)
	store.fail(errGone, nil)
	d.now = d.now.Add(time.Hour)
	assert.Equal(t, room.Queued, d.arrive().Outcome, "queue_all")
	assert.Equal(t, room.Queued, d.visit(out).Outcome, "queue_all, with a session that has ended")

	d, store = openFallible(t, settings(5, 5), queue.AdmitAll)
	out = d.enter()
	d.room.Pause(true)
	store.fail(errGone, nil)
	d.now = d.now.Add(time.Hour)
	assert.Equal(t, room.Queued, d.arrive().Outcome, "paused")
	assert.Equal(t, room.Queued, d.visit(out).Outcome, "paused, with a session that has ended")
}

func TestStoreGoingAndComingBackIsToldOnceEach(t *testing.T) {
	store, told := newFallible(), []error{}
	d := openWith(t, room.Config{Settings: settings(5, 5), Store: store, OnStoreChange: func(err error) { told = append(told, err) }})
	store.fail(errGone, nil)
	for range 3 {
		d.fails(errGone)
		d.arrive()
	}
	store.fail(nil, nil)
	for range 3 {
		d.sync()
	}
	require.Len(t, told, 2)
	assert.ErrorIs(t, told[0], errGone)
	assert.NoError(t, told[1])
}

func TestLostReplyCountsNobodyTwice(t *testing.T) {
	d, store := openFallible(t, settings(1, 10), queue.Hold)
	d.enter()
	d.joins(5)
	store.fail(nil, errLost)
	d.fails(errLost)
	d.join()
	d.fails(errLost)
	store.fail(nil, nil)
	d.sync()
	assert.Equal(t, 6, d.stand().Waiting)
	assert.Equal(t, 1, d.stand().Active)
}

func TestReportThatDidNotArriveGoesBeforeTheNextClaims(t *testing.T) {
	d, store := openFallible(t, settings(1, 10), queue.Hold)
	d.enter()
	d.at(4*time.Minute + 50*time.Second)
	d.join()
	store.fail(errGone, nil)
	d.fails(errGone)
	store.fail(nil, nil)
	d.now = start.Add(5*time.Minute + time.Second)
	assert.Equal(t, room.Queued, d.arrive().Outcome, "the slot is kept for who was in line before")
}

func TestLostReplyGrantsNobodyTwice(t *testing.T) {
	s := settings(3, 10)
	d, store := openFallible(t, s, queue.Hold)
	closed := s
	closed.QueueAll = true
	d.configure(closed)
	waiting := d.joins(4)
	d.configure(s)
	d.pass(interval)

	store.fail(nil, errLost)
	first := d.waits(waiting[0])
	store.fail(nil, nil)
	d.sync()
	assert.Equal(t, 1, d.stand().Active, "the slot was granted though nobody learnt of it")
	assert.Equal(t, 3, d.stand().Waiting)

	d.pass(interval)
	d.isIn(first)
	assert.Equal(t, 1, d.stand().Active)
	assert.Equal(t, 1, d.stand().Admitted)
	for _, w := range waiting[1:3] {
		d.isIn(w)
	}
	d.waits(waiting[3])
	assert.Equal(t, 3, d.stand().Active)
}

func TestLostReplyToANewcomerHoldsOneSlotAtMost(t *testing.T) {
	d, store := openFallible(t, settings(2, 10), queue.Hold)
	store.fail(nil, errLost)
	d.join()
	store.fail(nil, nil)
	d.sync()
	assert.Equal(t, 1, d.stand().Active)
	d.at(5*time.Minute + time.Second)
	assert.Zero(t, d.stand().Active, "it is free again one session duration later")
}

func TestStoreThatFailsAtTheStartIsAnError(t *testing.T) {
	store := newFallible()
	store.fail(errGone, nil)
	_, err := room.New(t.Context(), start.Time(), room.Config{Name: "shop", Settings: settings(1, 1), Store: store})
	assert.ErrorIs(t, err, errGone)
	_, err = room.New(t.Context(), start.Time(), room.Config{Settings: settings(1, 1), Store: store})
	assert.ErrorContains(t, err, "name")
	_, err = room.New(t.Context(), start.Time(), room.Config{Name: "shop", Settings: settings(1, 1)})
	assert.ErrorContains(t, err, "store")
}

func TestConfigureThatFailsChangesNothing(t *testing.T) {
	d, store := openFallible(t, settings(2, 2), queue.Hold)
	store.fail(errGone, nil)
	require.ErrorIs(t, d.room.Configure(t.Context(), d.now.Time(), queue.Configuration{Settings: settings(9, 9)}), errGone)
	assert.Equal(t, settings(2, 2), d.room.Settings())
	store.fail(nil, nil)
	require.Error(t, d.room.Configure(t.Context(), d.now.Time(), queue.Configuration{Settings: settings(0, 9)}))
	assert.Equal(t, settings(2, 2), d.room.Settings())
}

func TestWhoseTurnHasNotComeIsAnsweredWithoutTheStore(t *testing.T) {
	d, store := openFallible(t, settings(1, 1), queue.Hold)
	in := d.enter()
	waiting := d.joins(10)
	d.sync()
	before := store.admits
	for range 3 {
		d.now = d.now.Add(interval)
		in = d.isIn(in)
		for i, w := range waiting {
			waiting[i] = d.waits(w)
			d.waits(waiting[i])
		}
	}
	assert.Equal(t, before, store.admits)
}

func TestPanicOfWhoLeadsACallLeavesNobodyWaiting(t *testing.T) {
	store := newFallible()
	r := openWith(t, room.Config{
		Settings: settings(100, 1000), Store: store, Gather: 20 * time.Millisecond,
		OnStoreChange: func(err error) {
			if err != nil {
				panic("a fault of the gate")
			}
		},
	}).room
	store.fail(errGone, nil)
	var (
		asking sync.WaitGroup
		mu     sync.Mutex
		broken int
	)
	for range 20 {
		asking.Go(func() {
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				if recover() != nil {
					broken++
				}
			}()
			r.Visit(context.Background(), start.Time(), room.Request{})
		})
	}
	asking.Wait()
	assert.Equal(t, 1, broken, "it costs one request")
	store.fail(nil, nil)
	require.NoError(t, r.Sync(t.Context(), start.Time()))
	assert.Equal(t, room.Admitted, r.Visit(t.Context(), start.Time(), room.Request{}).Outcome)
}

func TestPanicOfWhoGathersClaimsLeavesNobodyWaiting(t *testing.T) {
	s := settings(2, 10)
	s.QueueAll = true
	panics := true
	d := openWith(t, room.Config{
		Settings: s, Store: memstore.New(), Gather: time.Second,
		Wait: func(<-chan struct{}, time.Duration) {
			if panics {
				panic("a fault of the gate")
			}
		},
	})
	waiting := d.joins(2)
	s.QueueAll = false
	d.configure(s)
	d.pass(interval)
	assert.Panics(t, func() { d.visit(waiting[0]) }, "it costs one request")
	panics = false
	d.isIn(waiting[1])
}

// A report that makes a store panic whenever it is sent is not sent for ever.
func TestReportThatNoStoreCanReadIsGivenUp(t *testing.T) {
	store := &poisoned{Store: memstore.New()}
	room := newRoom(t, settings(10, 100), store)
	d := &door{TB: t, room: room, now: start}
	store.by = d.enter().ID
	room.Revoke(d.now.Time(), queue.Ticket{State: queue.Accepted, ID: store.by})
	for range 2 {
		require.Error(t, room.Sync(t.Context(), d.now.Time()))
	}
	require.NoError(t, room.Sync(t.Context(), d.now.Time()))
	d.enter()
}

// poisoned is a store that panics over every report of one session's end.
type poisoned struct {
	queue.Store
	by queue.ID
}

func (s *poisoned) check(p *queue.Report) {
	for _, ended := range p.Revoked {
		if ended.ID == s.by {
			panic("no such end")
		}
	}
}

func (s *poisoned) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	s.check(p)
	return s.Store.Admit(ctx, room, p, claims, grants)
}

func (s *poisoned) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	s.check(p)
	return s.Store.Sync(ctx, room, p)
}
