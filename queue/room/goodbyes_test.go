package room_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// counting is a store that takes down how many goodbyes a report tells of at most.
type counting struct {
	queue.Store
	goodbyes int
}

func (c *counting) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	c.goodbyes = max(c.goodbyes, len(p.Left))
	return c.Store.Sync(ctx, room, p)
}

func TestNewcomersWhomNoAnswerReachesTakeNobodysGoodbyeAway(t *testing.T) {
	s := settings(1, 10)
	s.Method = queue.Line
	store := &counting{Store: memstore.New()}
	d := openWith(t, room.Config{Settings: s, Store: store})
	d.enter()
	honest := d.join()
	for range queue.MaxLeft {
		d.room.Withdraw(d.now.Time(), d.join())
	}
	d.room.Leave(d.now.Time(), honest)
	d.sync()
	assert.Equal(t, 1, store.goodbyes)
}

func TestGoodbyesThatAreSaidAllTheTimeMakeNoReportLarge(t *testing.T) {
	s := settings(1, 10)
	s.Method = queue.Line
	store := &counting{Store: memstore.New()}
	d := openWith(t, room.Config{Settings: s, Store: store})
	d.enter()
	waiting := d.join()
	for range 3 * queue.MaxLeft {
		d.room.Leave(d.now.Time(), waiting)
	}
	d.sync()
	assert.Equal(t, queue.MaxLeft, store.goodbyes)
}
