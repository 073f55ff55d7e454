package room_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// crowdAtOnce has goroutines bring requests to rooms at the same moment, and
// counts the distinct ids that were let in anew.
func crowdAtOnce(now queue.Instant, rooms []*room.Room, goroutines int, tickets func(i int) []queue.Ticket) (fresh int, twice bool) {
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		seen = map[queue.ID]bool{}
	)
	for i := range goroutines {
		wg.Go(func() {
			r := rooms[i%len(rooms)]
			for _, ticket := range tickets(i) {
				d := r.Visit(context.Background(), now.Time(), room.Request{Ticket: ticket})
				if d.Outcome != room.Admitted || !d.Fresh {
					continue
				}
				mu.Lock()
				twice = twice || seen[d.Ticket.ID]
				seen[d.Ticket.ID] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return len(seen), twice
}

func TestNeverMoreEnterThanMayHoweverManyAskAtOnce(t *testing.T) {
	const slots, goroutines = 100, 64
	for name, nodes := range map[string]int{"on one gate": 1, "on three gates with one store": 3} {
		t.Run(name, func(t *testing.T) {
			store, rooms := memstore.New(), []*room.Room{}
			for range nodes {
				rooms = append(rooms, newRoom(t, settings(slots, 10_000), store))
			}
			fresh, twice := crowdAtOnce(start, rooms, goroutines, func(int) []queue.Ticket { return make([]queue.Ticket, 20) })
			assert.Equal(t, slots, fresh)
			assert.False(t, twice)
			n, err := rooms[0].CurrentNumbers(t.Context(), start.Time())
			require.NoError(t, err)
			assert.Equal(t, slots, n.Active)
		})
	}
}

func TestTheSameTicketsFromManySidesTakeOneSlotEach(t *testing.T) {
	s := settings(1000, 1000)
	d, line := closed(t, s, 50)
	d.configure(s)
	d.pass(interval)
	fresh, twice := crowdAtOnce(d.now, []*room.Room{d.room}, 32, func(int) []queue.Ticket { return line[0] })
	assert.Equal(t, 50, fresh)
	assert.False(t, twice)
	n := d.stand()
	assert.Equal(t, 50, n.Active)
	assert.Zero(t, n.Waiting)
}

// meanwhile is a store that has something happen while the next Admit is under way. It
// notes when the calls were made by the room's clock.
type meanwhile struct {
	queue.Store
	happens func()
	calls   []queue.Instant
}

func (m *meanwhile) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	m.calls = append(m.calls, p.Now)
	if happens := m.happens; happens != nil {
		m.happens = nil
		happens()
	}
	return m.Store.Admit(ctx, room, p, claims, grants)
}

// openMeanwhile opens a room on such a store, which sends to the channel whenever
// somebody begins to wait.
func openMeanwhile(t *testing.T, s queue.Settings) (*door, *meanwhile, <-chan struct{}) {
	t.Helper()
	store, waits := &meanwhile{Store: memstore.New()}, make(chan struct{})
	d := openWith(t, room.Config{Settings: s, Store: store, Wait: func(ready <-chan struct{}, _ time.Duration) {
		waits <- struct{}{}
		<-ready
	}})
	return d, store, waits
}

func TestClaimsThatComeWhileACallIsUnderWayGoTogetherInTheNext(t *testing.T) {
	const people, takes = 500, 300 * time.Millisecond
	d, store, waits := openMeanwhile(t, settings(1+people, 1+people))
	var asking sync.WaitGroup
	store.happens = func() {
		for range people {
			asking.Go(func() {
				got := d.room.Visit(context.Background(), start.Time(), room.Request{})
				assert.Equal(t, room.Admitted, got.Outcome)
			})
			<-waits
		}
		d.now = d.now.Add(takes)
	}
	d.enter()
	asking.Wait()
	assert.Equal(t, []queue.Instant{start, start.Add(takes)}, store.calls)
}

func TestRoomMayBeUsedFromAllSidesAtOnce(t *testing.T) {
	s := settings(20, 1000)
	s.SessionDuration = 2 * time.Second
	s.RefreshInterval, s.QueueTicketTTL = time.Second, 10*time.Second
	var clock atomic.Int64
	clock.Store(int64(start))
	now := func() queue.Instant { return queue.Instant(clock.Load()) }
	d := openWith(t, room.Config{Settings: s, Store: memstore.New(), Clock: func() time.Time { return now().Time() }})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			tickets := make([]queue.Ticket, 10)
			for range 200 {
				for j := range tickets {
					q := room.Request{Ticket: tickets[j], Ask: asks(j == 1, j == 2)}
					got := d.room.Visit(context.Background(), now().Time(), q)
					switch tickets[j] = got.Ticket; {
					case i == 0 && j == 3:
						d.room.Leave(now().Time(), got.Ticket)
					case i == 1 && j == 4:
						d.room.Revoke(now().Time(), got.Ticket)
					default:
						d.room.Touch(now().Time(), got.Ticket)
					}
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 400 {
			at := queue.Instant(clock.Add(50))
			assert.NoError(t, d.room.Sync(context.Background(), at.Time()))
			assert.LessOrEqual(t, d.room.Numbers().Active, 20)
			d.room.Pause(i%50 == 7)
			if i%100 == 50 {
				changed := s
				changed.Method, changed.Bucket = queue.Method(i/100%2), time.Duration(1+i/100)*time.Second
				assert.NoError(t, d.room.Configure(context.Background(), at.Time(), queue.Configuration{Settings: changed}))
			}
		}
	})
	wg.Wait()
}

// hesitant is a store that has made a change long before it says so.
type hesitant struct {
	queue.Store
	entered, goOn chan struct{}
}

func (h *hesitant) Configure(ctx context.Context, room string, c queue.Configuration) error {
	err := h.Store.Configure(ctx, room, c)
	if h.entered != nil {
		h.entered <- struct{}{}
		<-h.goOn
	}
	return err
}

func TestNobodyWaitsForAChangeThatTakesLong(t *testing.T) {
	t.Parallel()
	store := &hesitant{Store: memstore.New()}
	d := openWith(t, room.Config{Settings: settings(2, 10), Store: store, OnConfigure: func(c queue.Configuration) {
		assert.Fail(t, "the change is this node's own", "%v", c)
	}})
	store.entered, store.goOn = make(chan struct{}), make(chan struct{})
	changed := make(chan error)
	go func() {
		changed <- d.room.Configure(context.Background(), d.now.Time(), queue.Configuration{Settings: settings(3, 10), By: "ops"})
	}()
	<-store.entered
	for range 2 {
		d.enter()
		d.sync()
	}
	assert.Equal(t, 3, d.room.Configuration().Settings.TotalActiveUsers, "it is known as soon as the store tells of it")
	close(store.goOn)
	require.NoError(t, <-changed)
	d.enter()
	d.join()
}
