package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// busy is a machine with rooms on one store, on which something happens while a call is
// on its way to the store.
type busy struct {
	queue.Store
	testing.TB
	now       queue.Instant
	meanwhile func()
}

func (b *busy) Sync(ctx context.Context, name string, p *queue.Report) (*queue.View, error) {
	if happens := b.meanwhile; happens != nil {
		b.meanwhile = nil
		happens()
	}
	return b.Store.Sync(ctx, name, p)
}

func (b *busy) clock() time.Time { return b.now.Time() }

func (b *busy) open(name string) *room.Room {
	b.Helper()
	s := settings(1, 1000)
	s.SessionDuration = 10 * time.Second
	r, err := room.New(context.Background(), b.clock(), room.Config{Name: name, Settings: s, Store: b, Clock: b.clock})
	require.NoError(b, err)
	return r
}

func (b *busy) sync(r *room.Room, told time.Time) {
	b.Helper()
	require.NoError(b, r.Sync(context.Background(), told))
}

// Calls that are held up make nobody's session shorter, or longer.
func TestSessionsLastAsLongAsTheyDoHoweverLateCallsAre(t *testing.T) {
	const lag = 300 * time.Millisecond
	for name, heldUp := range map[string]func(b *busy, one, other *room.Room){
		"before they have the moment of another": func(b *busy, one, _ *room.Room) {
			told := b.clock()
			b.now = b.now.Add(lag)
			b.sync(one, b.clock())
			b.sync(one, told)
		},
		"on their way": func(b *busy, one, other *room.Room) {
			b.meanwhile = func() {
				b.now = b.now.Add(lag)
				b.sync(other, b.clock())
			}
			b.sync(one, b.clock())
		},
		"while a room is opened": func(b *busy, one, other *room.Room) {
			b.meanwhile = func() {
				b.now = b.now.Add(lag)
				b.sync(other, b.clock())
			}
			b.sync(b.open(b.now.Time().String()[11:23]), b.clock())
			b.sync(one, b.clock())
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &busy{Store: memstore.New(), TB: t, now: start}
			one, other := b.open("one"), b.open("other")
			require.Equal(t, room.Admitted, one.Visit(t.Context(), b.clock(), room.Request{}).Outcome)
			for range 10 {
				heldUp(b, one, other)
			}
			require.Equal(t, start.Add(10*lag), b.now)
			newcomer := func() room.Outcome {
				return one.Visit(t.Context(), b.clock(), room.Request{Ask: room.Ask{Place: room.NoPlace}}).Outcome
			}
			b.now = start.Add(10*time.Second - time.Millisecond)
			assert.NotEqual(t, room.Admitted, newcomer(), "the session lasts")
			b.now = start.Add(10 * time.Second)
			assert.Equal(t, room.Admitted, newcomer(), "and is over")
		})
	}
}
