package redisstore_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
)

// newClock starts a server and returns a store on it, with a clock.
func newClock(t *testing.T) (*clocked, *redistest.Server) {
	t.Helper()
	server := redistest.Start(t, redistest.Options{})
	return newClocked(open(t, server.URL())), server
}

// small are limits of a few slots.
func small(total int) queue.Settings {
	return queue.Settings{
		TotalActiveUsers: total, NewUsersPerMinute: 1000, SessionDuration: time.Minute, Pacing: queue.PacingMinute,
		RefreshInterval: 10 * time.Second, Bucket: time.Second,
	}
}

func TestLimitsHoldOnSeveralNodes(t *testing.T) {
	t.Parallel()
	shared, _ := newClock(t)
	rooms := 0
	rapid.Check(t, func(rt *rapid.T) {
		rooms++
		clock := newClocked(shared.Store)
		clock.prefix = fmt.Sprint("r", rooms, "-")
		seconds := func(low, high int, name string) time.Duration {
			return time.Duration(rapid.IntRange(low, high).Draw(rt, name)) * time.Second
		}
		s := queue.Settings{
			TotalActiveUsers:  rapid.IntRange(1, 6).Draw(rt, "total"),
			NewUsersPerMinute: rapid.IntRange(1, 8).Draw(rt, "per minute"),
			SessionDuration:   seconds(1, 40, "session"),
			Method:            rapid.SampledFrom([]queue.Method{queue.FIFO, queue.Random}).Draw(rt, "method"),
			RefreshInterval:   seconds(1, 8, "interval"),
			RefreshJitter:     .3,
			Bucket:            seconds(1, 20, "bucket"),
			Pacing:            queue.Pacing(rapid.IntRange(0, 3).Draw(rt, "pacing")),
		}
		g := newGates(rt, clock, s, 30*time.Second, 0, -30*time.Second)
		var people []*person
		node := func() *gate { return rapid.SampledFrom(g.nodes).Draw(rt, "node") }
		someone := func() *person {
			if len(people) == 0 {
				people = append(people, g.newcomer(node()))
			}
			return rapid.SampledFrom(people).Draw(rt, "who")
		}
		rt.Repeat(map[string]func(*rapid.T){
			"somebody comes":         func(*rapid.T) { people = append(people, g.newcomer(node())) },
			"somebody comes again":   func(*rapid.T) { g.visit(node(), someone()) },
			"time passes":            func(rt *rapid.T) { g.pass(time.Duration(rapid.IntRange(100, 9000).Draw(rt, "ms")) * time.Millisecond) },
			"a node syncs":           func(*rapid.T) { g.sync(node()) },
			"a visitor is sent away": func(*rapid.T) { g.sendsAway(node(), someone()) },
			"all come at once": func(*rapid.T) {
				var group sync.WaitGroup
				for i, p := range people {
					group.Go(func() {
						twin := *p // keeps the ticket that was: both may use it
						g.visit(g.nodes[i%3], &twin)
						g.visit(g.nodes[(i+1)%3], p)
					})
				}
				group.Wait()
			},
			"": func(rt *rapid.T) {
				if most := g.origin.most(); most > s.TotalActiveUsers {
					rt.Fatalf("%d visitors at a time, with %d allowed", most, s.TotalActiveUsers)
				}
				if most := g.origin.mostFresh(); most > s.NewUsersPerMinute {
					rt.Fatalf("%d new visitors in a minute, with %d allowed", most, s.NewUsersPerMinute)
				}
			},
		})
	})
}

func TestOneTicketOnSeveralNodes(t *testing.T) {
	t.Parallel()
	clock, _ := newClock(t)
	g := newGates(t, clock, small(1), 0, 0, 0)
	first := g.enters(g.nodes[0])
	waiting := g.joins(g.nodes[1])
	g.visit(g.nodes[0], first)
	g.pass(70 * time.Second) // the first leaves; the other was away for a while

	before := *waiting
	people := []*person{waiting, {ticket: before.ticket}, {ticket: before.ticket}}
	var group sync.WaitGroup
	for i, p := range people {
		group.Go(func() { g.visit(g.nodes[i], p) })
	}
	group.Wait()
	g.sync()
	for i, p := range people {
		g.pass(11 * time.Second)
		g.visit(g.nodes[i], p)
		assert.True(t, p.in, "accepted on node %d", i)
		assert.Equal(t, before.ticket.ID, p.ticket.ID)
	}
	assert.Equal(t, 1, g.look().Active, "one slot is taken")
	assert.Equal(t, 2, g.origin.distinct())
	g.obeys(1, 1000)
}

func TestOneTicketOnEveryNodeWhileItsVisitorIsCountedThere(t *testing.T) {
	t.Parallel()
	clock, _ := newClock(t)
	g := newGates(t, clock, small(1), 0, 0)
	first := g.enters(g.nodes[0])
	waiting := g.joins(g.nodes[0])
	g.pass(11 * time.Second)
	g.visit(g.nodes[1], waiting) // the other node counts them too
	here := *waiting
	g.sendsAway(g.nodes[0], first)
	g.pass(11 * time.Second)
	g.visit(g.nodes[0], waiting)
	require.True(t, waiting.in)
	g.sync()
	g.visit(g.nodes[1], &here)
	assert.True(t, here.in, "the other node knows that the place is used, and by whom")
	assert.Equal(t, 1, g.look().Active)
}

func TestConfigurationIsThatOfAllNodes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	clock, _ := newClock(t)
	g := newGates(t, clock, small(1), 0, 5*time.Second)
	g.enters(g.nodes[0])
	c := g.nodes[0].Configuration()
	c.Settings.TotalActiveUsers, c.Overrides, c.By = 2, []byte("total"), "ops"
	require.NoError(t, g.nodes[0].Configure(ctx, clock.time().Time(), c))
	g.sync()
	assert.Equal(t, 2, g.nodes[1].Settings().TotalActiveUsers)
	assert.Equal(t, g.nodes[0].Configuration(), g.nodes[1].Configuration())
	g.enters(g.nodes[1])
	g.joins(g.nodes[0])

	t.Run("of two changes at once one wins, and the other is told so", func(t *testing.T) {
		a, b := g.nodes[0].Configuration(), g.nodes[1].Configuration()
		a.Settings.TotalActiveUsers, b.Settings.TotalActiveUsers = 3, 4
		require.NoError(t, g.nodes[0].Configure(ctx, clock.time().Time(), a))
		require.ErrorIs(t, g.nodes[1].Configure(ctx, clock.time().Add(5*time.Second).Time(), b), queue.ErrConflict)
		assert.Equal(t, 3, g.nodes[1].Settings().TotalActiveUsers)
	})
	t.Run("a node that starts later goes by it, whatever its file says", func(t *testing.T) {
		n := g.start(small(99), 0)
		assert.Equal(t, g.nodes[0].Configuration(), n.Configuration())
	})
}

// Nodes that have all just started, after a silence, prove to the store nothing of how long it was,
// so that it counts none of their reports for two seconds. Of what is in force it tells them all
// the same.
func TestNodesThatAllStartAfterASilenceLearnWhatOneHasConfigured(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	clock, _ := newClock(t)
	newGates(t, clock, small(1), 0)
	clock.set(clock.time().Add(8 * time.Second))
	clock.flow(true)
	g := newGates(t, clock, small(1), 0, 0)
	was := g.nodes[0].Configuration()
	require.NoError(t, g.nodes[0].Configure(ctx, clock.time().Time(), was))
	require.ErrorIs(t, g.nodes[1].Configure(ctx, clock.time().Time(), was), queue.ErrConflict)
	require.NoError(t, g.nodes[1].Configure(ctx, clock.time().Time(), g.nodes[1].Configuration()), "it has learned of the other's")
}
