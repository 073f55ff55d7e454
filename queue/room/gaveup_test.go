package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// syncsToCount is after how many syncs everybody is counted who has given up.
const syncsToCount = 64

// Of a crowd that goes, those who come next take the memory: everybody who went is counted once.
func TestWhoeverStopsCheckingInHasGivenUp(t *testing.T) {
	const crowd = 3000
	g := openGates(t, 1, settings(1, 1000))
	g[0].enter()
	for range 3 {
		for range crowd {
			g[0].visit(queue.Ticket{})
		}
		before := g[0].room.GaveUp()
		g.at(g[0].now.Add(time.Second))
		assert.Equal(t, before, g[0].room.GaveUp(), "who waits has not given up")
		g.at(g[0].now.Add(2 * time.Minute))
	}
	for range syncsToCount {
		g[0].sync()
	}
	assert.EqualValues(t, 3*crowd, g[0].room.GaveUp())
}

func TestWhoWaitsAtAnotherGateHasNotGivenUp(t *testing.T) {
	s := settings(1, 1000)
	g := openGates(t, 2, s)
	g[0].enter()
	line := make([]queue.Ticket, 20)
	for round := range 2 * syncsToCount { // each visits the gates by turns, less often than a window lasts
		for i := range line {
			d := g[(round/40+i)%2]
			line[i] = d.visit(line[i]).Ticket
		}
		g.at(g[0].now.Add(2 * time.Second))
	}
	now, err := g[0].room.CurrentNumbers(context.Background(), g[0].now.Time())
	require.NoError(t, err)
	assert.Equal(t, len(line), now.Waiting)
	for _, d := range g {
		assert.Zero(t, d.room.GaveUp())
	}
}

func TestAGateThatIsLeftAloneCountsWhoGivesUpFromThenOn(t *testing.T) {
	g := openGates(t, 2, settings(1, 1000))
	g[0].enter()
	g[0].visit(queue.Ticket{}) // who goes on at the other gate, or not: nobody knows
	g.at(g[0].now.Add(time.Second))
	stays := queue.Ticket{}
	for range 2 * syncsToCount { // the other gate is gone
		g[0].now = g[0].now.Add(2 * time.Second)
		g[0].sync()
		stays = g[0].visit(stays).Ticket
	}
	assert.Zero(t, g[0].room.GaveUp())
	for range 2 * syncsToCount {
		g[0].now = g[0].now.Add(2 * time.Second)
		g[0].sync()
	}
	assert.EqualValues(t, 1, g[0].room.GaveUp())
}
