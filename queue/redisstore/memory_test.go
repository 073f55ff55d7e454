package redisstore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// A store that has lost its memory, with the nodes alive: nobody is let in until
// all of them have told it again, and then it stands as it stood.

// town is a room of three nodes with a bit of everything in it.
type town struct {
	*gates
	server  *redistest.Server
	in      []*person // one a node, and one who was sent away
	gone    *person
	waiting []*person // in two buckets, the older first
	before  *queue.View
}

func newTown(t *testing.T) *town {
	t.Helper()
	clock, server := newClock(t)
	w := &town{gates: newGates(t, clock, small(3), 0, 20*time.Second, -20*time.Second), server: server}
	c := w.nodes[0].Configuration()
	c.Overrides, c.By = []byte("more"), "ops"
	c.Settings.TotalActiveUsers = 4
	require.NoError(t, w.nodes[0].Configure(context.Background(), clock.time().Time(), c))
	w.sync()
	for i := range 4 {
		w.in = append(w.in, w.enters(w.nodes[i%3]))
		w.nodes[i%3].Say(context.Background(), clock.time().Add(w.nodes[i%3].skew).Time(), w.in[i].ticket.ID, fmt.Sprint(i))
	}
	w.waiting = append(w.waiting, w.joins(w.nodes[0]), w.joins(w.nodes[1]))
	w.sync()
	w.pass(3 * time.Second)
	w.gone, w.in = w.in[3], w.in[:3]
	w.waiting = append(w.waiting, w.joins(w.nodes[2]), w.joins(w.nodes[0]))
	c = w.nodes[0].Configuration()
	c.Settings.TotalActiveUsers = 3
	require.NoError(t, w.nodes[0].Configure(context.Background(), clock.time().Time(), c))
	w.sendsAway(w.nodes[1], w.gone)
	w.pass(time.Second)
	w.sync()
	w.before = w.look()
	require.Equal(t, 3, w.before.Active)
	require.Equal(t, 4, w.before.Present)
	require.Equal(t, 4, w.before.Admitted)
	return w
}

// asBefore asserts that the store knows again all that it knew.
func (w *town) asBefore() {
	w.Helper()
	after := w.look()
	assert.False(w, after.Recovering)
	assert.NotEqual(w, w.before.Epoch, after.Epoch)
	assert.Equal(w, w.before.Active, after.Active, "sessions")
	assert.Equal(w, w.before.Buckets, after.Buckets, "people by bucket, in order")
	assert.Equal(w, w.before.Admitted, after.Admitted, "admissions of the minute")
	assert.ElementsMatch(w, w.before.Revoked, after.Revoked, "revocations")
	assert.Equal(w, w.before.Configuration, after.Configuration, "the configuration, and who changed it")
	roster, err := w.nodes[0].Roster(context.Background())
	require.NoError(w, err)
	for i, p := range w.in {
		at := slices.IndexFunc(roster.Seated, func(s queue.Seat) bool { return s.ID == p.ticket.ID })
		assert.Equal(w, fmt.Sprint(i), roster.Seated[at].Note, "what the site says of who is in")
	}
}

// lets asserts that every node lets in exactly those who are in.
func (w *town) lets() {
	w.Helper()
	for _, n := range w.nodes {
		for i, p := range w.in {
			w.visit(n, p)
			assert.True(w, p.in, "visitor %d is in and stays in", i)
		}
		assert.False(w, w.knocks(n, w.gone.ticket), "who was sent away stays out")
		assert.False(w, w.knocks(n, queue.Ticket{}), "nobody new is let in")
	}
}

func TestMemoryIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(w *town){
		"FLUSHALL":                  func(w *town) { w.server.Do("FLUSHALL") },
		"FLUSHALL and SCRIPT FLUSH": func(w *town) { w.server.Do("FLUSHALL"); w.server.Do("SCRIPT", "FLUSH") },
		"kill -9 and an empty restart": func(w *town) {
			w.server.Restart(true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			lose(w)
			for i, n := range w.nodes {
				w.lets()
				if err := w.trySync(n); err != nil { // the first call after a restart may find its connection dead
					w.sync(n)
				}
				v := w.look()
				assert.Equal(t, i < 2, v.Recovering, "after the report of node %d", i)
				if i < 2 {
					assert.Zero(t, v.Open)
				}
			}
			w.asBefore()
			w.lets()
			w.pass(3 * time.Second)
			w.lets()
			w.obeys(4, 1000)
		})
	}
}

func TestPartOfTheMemoryIsLost(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	// What evicts a key takes any of them; this one says so.
	w.server.Do("DEL", meta("shop"))
	w.clock.flow(true) // which does not write it anew
	w.server.Do("DEL", meta("shop"))
	w.clock.set(queue.At(time.Now()))
	v, err := w.clock.Store.Sync(context.Background(), "shop", &queue.Report{Node: 1 << 60, Epoch: w.before.Epoch, Now: w.clock.time()})
	require.NoError(t, err)
	assert.True(t, v.Recovering)
	assert.NotEqual(t, w.before.Epoch, v.Epoch)
}

func TestMemoryIsLostAndANodeToo(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.server.Do("FLUSHALL")
	silent := w.nodes[2]
	silent.wire.cut.Store(true)
	w.sync(w.nodes[:2]...)
	w.pass(9 * time.Second)
	require.True(t, w.look().Recovering, "the silent node is waited for")
	w.lets()
	w.pass(2 * time.Second)
	v := w.look()
	assert.False(t, v.Recovering, "but not for long")
	assert.Equal(t, 3, v.Active, "the others knew its visitors")

	silent.wire.cut.Store(false)
	w.sync(w.nodes[0])
	w.sync(silent)
	v = w.look()
	assert.False(t, v.Recovering, "it is there again and has reported")
	assert.Equal(t, 3, v.Active)
	w.obeys(4, 1000)
}

// What a dead node let in this minute nobody tells a store again that has lost its
// memory: the minute may exceed its limit by that, and the sessions do not, which
// the other nodes have heard of.
func TestMemoryIsLostAfterANodeHasDied(t *testing.T) {
	t.Parallel()
	clock, server := newClock(t)
	s := small(7)
	s.NewUsersPerMinute = 5
	g := newGates(t, clock, s, 0, 0)
	for i := range 5 {
		g.enters(g.nodes[i/3])
	}
	g.sync()
	g.sync()
	dead := 2
	g.nodes = g.nodes[:1]
	server.Do("FLUSHALL")
	g.sync()
	g.sync()
	g.pass(11 * time.Second)
	v := g.look()
	assert.False(t, v.Recovering)
	assert.Equal(t, 5, v.Active, "the sessions of all are known")
	for range 5 {
		g.newcomer(g.nodes[0])
	}
	assert.Equal(t, 5+dead, g.origin.mostFresh(), "or this test does not test it")
	g.obeys(7, 5+dead)
}

func TestSoldOutRoomStaysClosedWhenTheMemoryIsLost(t *testing.T) {
	t.Parallel()
	clock, server := newClock(t)
	s := small(3)
	s.OnSoldOut = queue.CloseToAll
	g := newGates(t, clock, s, 0, 0)
	g.nodes[0].HearLeft(clock.time().Time(), 0, "")
	g.sync()
	g.sync()
	server.Do("FLUSHALL")
	for range 3 {
		g.pass(time.Second)
		for _, n := range g.nodes {
			assert.True(t, n.SoldOut())
			assert.Equal(t, room.Rejected, g.visit(n, &person{}).Outcome)
		}
	}
	assert.True(t, g.look().Stock.Known(), "the store is told again")
}

// Whoever is in when a hold begins has their slot after it, with as much time left, though the
// store loses its memory in the hold.
func TestMemoryIsLostInAHold(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*redistest.Server){
		"all of it": func(s *redistest.Server) { s.Do("FLUSHALL") },
		"a mark of its sessions": func(s *redistest.Server) {
			s.Do("ZINCRBY", "fairdoor:{shop}:sessions", "1", strings.Repeat("\xff", 17))
		},
		"the head": func(s *redistest.Server) { s.Do("DEL", meta("shop")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock, server := newClock(t)
			s := small(2)
			s.SessionDuration = time.Minute
			g := newGates(t, clock, s, 0, 0)
			in := []*person{g.enters(g.nodes[0]), g.enters(g.nodes[1])}
			g.pass(10 * time.Second)
			hold := func(h queue.ActiveHold) {
				c := g.nodes[0].Configuration()
				c.Settings.HoldActive = h
				require.NoError(t, g.nodes[0].Configure(context.Background(), clock.time().Time(), c))
				g.sync()
			}
			hold(queue.HoldNow)
			for range 10 {
				clock.set(clock.time().Add(time.Minute))
				g.sync()
			}
			lose(server)
			g.pass(20 * time.Second)
			waits := g.joins(g.nodes[0])
			hold(queue.HoldOff)
			g.pass(10 * time.Second)
			assert.Equal(t, 2, g.look().Active)
			g.visit(g.nodes[1], waits)
			assert.False(t, waits.in)
			for i, p := range in {
				g.visit(g.nodes[1-i], p)
				assert.True(t, p.in)
			}
			g.pass(70 * time.Second)
			assert.Zero(t, g.look().Active, "their time goes on where it stood")
		})
	}
}

func TestMemoryIsLostTwice(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.server.Do("FLUSHALL")
	w.sync(w.nodes[0])
	w.server.Do("FLUSHALL")
	w.sync(w.nodes[1])
	require.True(t, w.look().Recovering)
	w.server.Do("FLUSHALL")
	w.sync(w.nodes[0])
	require.True(t, w.look().Recovering, "which has reported to a store that knew of nobody else")
	w.sync()
	w.asBefore()
	w.lets()
}

// A node whose report was lost with its answer tells it again to a store that
// has forgotten all before it.
func TestMemoryIsLostWithAnAnswer(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.nodes[0].wire.lose.Store(true)
	require.Error(t, w.trySync(w.nodes[0]))
	w.server.Do("FLUSHALL")
	require.Error(t, w.trySync(w.nodes[0]))
	w.nodes[0].wire.lose.Store(false)
	w.sync()
	w.sync()
	w.asBefore()
	w.lets()
}

// The order in which people came survives: it is in their tickets.
func TestOrderSurvivesTheLossOfMemory(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.server.Do("FLUSHALL")
	w.sync()
	w.sendsAway(w.nodes[0], w.in[0])
	w.sync()
	w.pass(8 * time.Second)
	younger, older := w.waiting[2], w.waiting[0]
	w.visit(w.nodes[2], younger)
	assert.False(t, younger.in, "a slot is kept for those who came before")
	w.visit(w.nodes[0], older)
	assert.True(t, older.in)
	w.obeys(4, 1000)
}

// Places in an exact line come back with the tickets: until all have had the time
// for it, the first to come back need not be the first in line.
func TestOrderOfAnExactLineSurvivesTheLossOfMemory(t *testing.T) {
	t.Parallel()
	clock, server := newClock(t)
	s := small(1)
	s.Method = queue.Line
	g := newGates(t, clock, s, 0, 0)
	g.enters(g.nodes[0])
	older, younger := g.joins(g.nodes[0]), g.joins(g.nodes[1])
	g.pass(2 * time.Second)
	server.Do("FLUSHALL")
	g.sync()
	g.sync()
	c := g.nodes[0].Configuration()
	c.Settings.TotalActiveUsers = 2
	require.NoError(t, g.nodes[0].Configure(context.Background(), clock.time().Time(), c))
	g.sync()
	require.False(t, g.look().Recovering)
	g.visit(g.nodes[1], younger)
	assert.False(t, younger.in, "a slot is kept for those who came before")
	g.visit(g.nodes[0], older)
	g.pass(c.Settings.ReturnsWithin() + 3*time.Second)
	g.visit(g.nodes[1], younger)
	assert.False(t, younger.in)
	g.visit(g.nodes[0], older)
	assert.True(t, older.in)
}

// All nodes and the store are gone: nobody is waited for, and people in line
// find their places in their tickets.
func TestAFreshStartOpensAtOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.server.Do("FLUSHALL")
	w.nodes = nil
	n := w.start(small(3), 0)
	assert.False(t, w.look().Recovering)
	w.enters(n)
}

// A replica that had not had the last writes becomes the master: what the nodes
// were told in between is lost.
func TestWritesAreLost(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.sendsAway(w.nodes[0], w.in[0])
	w.in = w.in[1:]
	w.waiting = nil
	w.pass(20 * time.Second) // whoever waited has left
	w.renew()
	saved := w.save()
	w.in = append(w.in, w.enters(w.nodes[1]))
	w.pass(time.Second)
	w.restore(saved)
	require.Equal(t, 2, w.look().Active, "the admission is lost")

	w.sync(w.nodes[0])
	assert.True(t, w.look().Recovering, "a node was told of more than the store knows")
	w.sync()
	v := w.look()
	assert.False(t, v.Recovering)
	assert.Equal(t, 3, v.Active)
	assert.NotEqual(t, w.before.Epoch, v.Epoch)
	w.lets()
	w.obeys(4, 1000)
}

// renew has those who are in come again.
func (w *town) renew() {
	for _, p := range w.in {
		w.visit(w.nodes[0], p)
	}
}

// save returns what the store knows of the room, as a replica would have it.
func (w *town) save() map[string]string {
	w.Helper()
	saved := map[string]string{}
	for _, key := range redisstore.Keys("shop") {
		if dump, err := w.server.Client().Dump(context.Background(), key).Result(); err == nil {
			saved[key] = dump
		}
	}
	return saved
}

func (w *town) restore(saved map[string]string) {
	w.Helper()
	w.server.Do("FLUSHALL")
	for key, dump := range saved {
		require.NoError(w, w.server.Client().Restore(context.Background(), key, time.Hour, dump).Err())
	}
}

// The last configuration is lost: the nodes still know it.
func TestAConfigurationIsLost(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	saved := w.save()
	c := w.nodes[2].Configuration()
	c.Settings.TotalActiveUsers, c.By = 1, "somebody"
	require.NoError(t, w.nodes[2].Configure(context.Background(), w.clock.time().Add(w.nodes[2].skew).Time(), c))
	w.restore(saved)
	require.Equal(t, w.before.Configuration.Version, w.look().Configuration.Version)
	w.sync()
	assert.Equal(t, w.before.Configuration.Version+1, w.look().Configuration.Version)
	w.sync()
	for _, n := range w.nodes {
		assert.Equal(t, 1, n.Settings().TotalActiveUsers)
		assert.Equal(t, "somebody", n.Configuration().By)
	}
}

// A whole report is counted once, though it is sent again because its answer was
// lost.
func TestWholeReportIsSentAgain(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.server.Do("FLUSHALL")
	n := w.nodes[0]
	n.wire.until.Store(1) // the first answer asks for the whole
	n.wire.lose.Store(true)
	require.Error(t, w.trySync(n))
	require.NotZero(t, w.look().Present, "the store has it")
	n.wire.lose.Store(false)
	w.sync(n)
	w.sync()
	w.asBefore()
	w.lets()
}

// Whatever is lost, and however often, as long as the nodes live: no limit is
// exceeded.
func TestLimitsHoldWhateverIsLost(t *testing.T) {
	t.Parallel()
	shared, server := newClock(t)
	rooms := 0
	rapid.Check(t, func(rt *rapid.T) {
		rooms++
		clock := newClocked(shared.Store)
		clock.prefix = fmt.Sprint("r", rooms, "-")
		s := small(rapid.IntRange(1, 5).Draw(rt, "total"))
		s.NewUsersPerMinute = rapid.IntRange(1, 8).Draw(rt, "per minute")
		s.SessionDuration = time.Duration(rapid.IntRange(3, 40).Draw(rt, "session")) * time.Second
		g := newGates(rt, clock, s, 0, 20*time.Second, 0)
		g.sync() // by which all know each other
		var people []*person
		node := func() *gate { return rapid.SampledFrom(g.nodes).Draw(rt, "node") }
		rt.Repeat(map[string]func(*rapid.T){
			"somebody comes": func(*rapid.T) { people = append(people, g.newcomer(node())) },
			"somebody comes again": func(*rapid.T) {
				if len(people) > 0 {
					g.visit(node(), rapid.SampledFrom(people).Draw(rt, "who"))
				}
			},
			"time passes": func(*rapid.T) {
				g.pass(time.Duration(rapid.IntRange(100, 9000).Draw(rt, "ms")) * time.Millisecond)
			},
			"a node syncs": func(*rapid.T) { _ = g.trySync(node()) },
			"an answer is lost": func(*rapid.T) {
				n := node()
				n.wire.lose.Store(true)
				if rapid.Bool().Draw(rt, "of claims") {
					people = append(people, g.newcomer(n))
				} else {
					_ = g.trySync(n)
				}
				n.wire.lose.Store(false)
			},
			"all is lost": func(*rapid.T) {
				for _, key := range redisstore.Keys(clock.prefix + "shop") {
					server.Do("DEL", key)
				}
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
