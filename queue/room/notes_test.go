package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// say has the gate of a door be told something of a visitor.
func (d *door) say(id queue.ID, text string) {
	d.room.Say(context.Background(), d.now.Time(), id, text)
}

// said is what a gate tells of those who are in.
func (d *door) said() (list []string) {
	d.Helper()
	roster, err := d.room.Roster(context.Background())
	require.NoError(d, err)
	for _, s := range roster.Seated {
		list = append(list, s.Note)
	}
	return list
}

func TestWhatTheSiteSaysIsToldByAnyGateAtOnce(t *testing.T) {
	g := openGates(t, 2, settings(5, 1000))
	id := g[0].enter().ID
	g[0].say(id, `"Ann"`)
	assert.Equal(t, []string{`"Ann"`}, g[1].said(), "also if the gate that was told is killed now")
	g.at(g[0].now.Add(time.Second))
	g[1].say(id, `"Anna"`)
	assert.Equal(t, []string{`"Anna"`}, g[0].said())
	g.at(g[0].now.Add(time.Millisecond))
	g[0].say(id, `"Ann"`)
	g[0].sync()
	assert.Equal(t, []string{`"Ann"`}, g[1].said(), "what was said last counts, though the gate had been told so before")
}

func TestWhatIsSaidAgainGoesWithTheNextReport(t *testing.T) {
	store := &counted{Store: memstore.New()}
	d := openOn(t, settings(5, 1000), store)
	id := d.enter().ID
	d.say(id, `"Ann"`)
	before := store.syncs
	for range 100 {
		d.say(id, `"Ann"`)
	}
	assert.Equal(t, before, store.syncs)
	d.say(id, `"Anna"`)
	assert.Equal(t, before+1, store.syncs)
}

// counted counts the syncs of a store.
type counted struct {
	queue.Store
	syncs int
}

func (c *counted) Sync(ctx context.Context, name string, p *queue.Report) (*queue.View, error) {
	c.syncs++
	return c.Store.Sync(ctx, name, p)
}
