package redisstore_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// The store answered nobody for a while, and sessions were renewed at the nodes
// that it holds for over: nobody is let in before all nodes have told of theirs.
func TestGapInService(t *testing.T) {
	t.Parallel()
	for name, gap := range map[string]time.Duration{
		"of a little more than the slack": 2500 * time.Millisecond,
		"of seconds":                      8 * time.Second,
		"of minutes":                      3 * time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock, _ := newClock(t)
			s := small(2)
			s.SessionDuration = 5 * time.Second
			g := newGates(t, clock, s, 0, 10*time.Second)
			in := []*person{g.enters(g.nodes[0]), g.enters(g.nodes[1])}
			g.pass(4 * time.Second)
			for _, n := range g.nodes {
				n.wire.cut.Store(true)
				require.Error(t, g.trySync(n))
			}
			for d := time.Duration(0); d < gap; d += 500 * time.Millisecond {
				clock.set(clock.time().Add(500 * time.Millisecond))
				for i, n := range g.nodes {
					g.visit(n, in[i])
					assert.True(t, in[i].in)
				}
			}
			clock.flow(true)
			for _, n := range g.nodes {
				n.wire.cut.Store(false)
			}
			g.sync(g.nodes[0])
			assert.False(t, g.knocks(g.nodes[0], queue.Ticket{}), "the other node's visitor may still be there")
			g.sync(g.nodes[1], g.nodes[0])
			v := g.look()
			assert.False(t, v.Recovering)
			assert.Equal(t, 2, v.Active)
			assert.False(t, g.knocks(g.nodes[0], queue.Ticket{}))
			g.obeys(2, 1000)
		})
	}
}

// A call may lie in a socket while the server stands still, and tell an old time
// when it is run at last. That is no jump of the server's clock.
func TestOldCallAfterAGap(t *testing.T) {
	t.Parallel()
	clock, _ := newClock(t)
	g := newGates(t, clock, small(2), 0, 0)
	g.enters(g.nodes[0])
	g.sync()
	epoch, old := g.look().Epoch, clock.time()
	clock.flow(true)
	clock.set(old.Add(20 * time.Second))
	_, err := clock.Sync(context.Background(), "shop", &queue.Report{Node: 1 << 60, Epoch: epoch, Now: old})
	require.NoError(t, err)
	g.sync(g.nodes[0])
	assert.False(t, g.knocks(g.nodes[0], queue.Ticket{}), "it was a gap in service")
	g.sync()
	v := g.look()
	assert.InDelta(t, int64(clock.time()), int64(v.Now), 1000, "and the clock goes on by the server's")
	g.sync()
	g.enters(g.nodes[1])
	g.obeys(2, 1000)
}

// So may the first report to a store that has lost its memory: it says what the time was when the
// room was last heard of, and the next report says what it is.
func TestOldReportAfterTheMemoryIsLost(t *testing.T) {
	t.Parallel()
	ctx, now := context.Background(), func() queue.Instant { return queue.At(time.Now()) }
	server := redistest.Start(t, redistest.Options{})
	store := open(t, server.URL())
	r := newRoom(t, store, now(), small(2))
	require.NoError(t, r.Sync(ctx, now().Time()))
	v, err := store.Sync(ctx, "shop", &queue.Report{Node: 1 << 60, Now: now()})
	require.NoError(t, err)
	server.Do("FLUSHALL")
	v, err = store.Sync(ctx, "shop", &queue.Report{Node: 1 << 60, Epoch: v.Epoch, Now: now().Add(-24 * time.Second)})
	require.NoError(t, err)
	assert.InDelta(t, int64(now().Add(-24*time.Second)), int64(v.Now), 1000, "nobody else knows the time")
	require.NoError(t, r.Sync(ctx, now().Time()))
	v, err = store.Sync(ctx, "shop", &queue.Report{Node: 1 << 60, Epoch: v.Epoch, Now: now()})
	require.NoError(t, err)
	assert.InDelta(t, int64(now()), int64(v.Now), 1000)
}

// A memory that is older than a few seconds has heard of all nodes: one that knows another memory,
// as after the two halves of a network had a server each, does not set its clock.
func TestNodeOfAnotherMemoryDoesNotSetTheClock(t *testing.T) {
	t.Parallel()
	ctx, now := context.Background(), func() queue.Instant { return queue.At(time.Now()) }
	server := redistest.Start(t, redistest.Options{})
	store := open(t, server.URL())
	v, err := store.Sync(ctx, "shop", &queue.Report{Node: 1 << 60, Now: now()})
	require.NoError(t, err)
	other := v.Epoch
	server.Do("FLUSHALL")
	v, err = store.Sync(ctx, "shop", &queue.Report{Node: 2 << 60, Now: now()})
	require.NoError(t, err)
	began, err := strconv.Atoi(v.Epoch[strings.Index(v.Epoch, "-")+1 : strings.Index(v.Epoch, ".")])
	require.NoError(t, err)
	older := strings.Replace(v.Epoch, strconv.Itoa(began), strconv.Itoa(began-11), 1)
	state, err := store.Client().HGet(ctx, meta("shop"), "state").Result()
	require.NoError(t, err)
	server.Do("HSET", meta("shop"), "state", strings.Replace(state, v.Epoch, older, 1))
	v, err = store.Sync(ctx, "shop", &queue.Report{Node: 1 << 60, Epoch: other, Now: now().Add(time.Minute)})
	require.NoError(t, err)
	assert.InDelta(t, int64(now()), int64(v.Now), 1000)
}

// jump makes the server's clock jump, as far as the room can tell.
func jump(t *testing.T, server *redistest.Server, d time.Duration) {
	t.Helper()
	server.Do("HINCRBY", meta("shop"), "offset", d.Milliseconds())
}

func TestServerClockJumps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		jump   time.Duration
		breaks string // a key of the memory
	}{
		"an hour ahead":                          {jump: time.Hour},
		"an hour back":                           {jump: -time.Hour},
		"six seconds ahead":                      {jump: 6 * time.Second},
		"six seconds back":                       {jump: -6 * time.Second},
		"an hour ahead, and the memory breaks":   {jump: time.Hour, breaks: "counts"},
		"six seconds ahead, and the line breaks": {jump: 6 * time.Second, breaks: "buckets"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, now := context.Background(), func() queue.Instant { return queue.At(time.Now()) }
			server := redistest.Start(t, redistest.Options{})
			store := open(t, server.URL())
			s := small(2)
			rooms := []*room.Room{newRoom(t, store, now(), s), newRoom(t, store, now(), s)}
			var in []queue.Ticket
			for _, r := range rooms {
				d := r.Visit(ctx, now().Time(), room.Request{})
				require.Equal(t, room.Admitted, d.Outcome)
				in = append(in, d.Ticket)
				require.NoError(t, r.Sync(ctx, now().Time()))
			}
			minute := remembered(t, store, "shop", minuteAt)
			jump(t, server, c.jump)
			since := time.Now()
			if c.breaks != "" {
				server.Do("SET", "fairdoor:{shop}:"+c.breaks, "broken")
				require.NoError(t, rooms[0].Sync(ctx, now().Time()))
			}
			late := newRoom(t, store, now(), s) // which has never known another clock
			redistest.Until(t, "the jump is understood", func() bool {
				understood := time.Since(since) > 2500*time.Millisecond
				require.NoError(t, late.Sync(ctx, now().Time()))
				for i, r := range rooms {
					require.NoError(t, r.Sync(ctx, now().Time()))
					d := r.Visit(ctx, now().Time(), room.Request{Ticket: in[i]})
					require.Equal(t, room.Admitted, d.Outcome, "who is in stays in")
					require.Equal(t, room.Busy, r.Visit(ctx, now().Time(), room.Request{Ask: room.Ask{Place: room.NoPlace}}).Outcome, "nobody new is let in")
					n, err := r.CurrentNumbers(ctx, now().Time())
					require.NoError(t, err)
					require.Equal(t, 2, n.Active)
				}
				doubt, awaits := remembered(t, store, "shop", doubtAt), remembered(t, store, "shop", awaitsUntilAt)
				return understood && doubt == 0 && awaits == 0
			})
			assert.InDelta(t, int64(now()), metaInt(t, store, "shop", "now"), 1500, "the room's clock runs on evenly")
			assert.InDelta(t, minute, remembered(t, store, "shop", minuteAt), 60_000, "no minute begins twice")
			require.NoError(t, rooms[0].Sync(ctx, now().Time()))
			rooms[0].Revoke(now().Time(), in[0])
			for range 2 { // by which all hear of it, and say so
				for _, r := range append(rooms, late) {
					require.NoError(t, r.Sync(ctx, now().Time()))
				}
			}
			require.NoError(t, rooms[0].Sync(ctx, now().Time()))
			assert.Equal(t, room.Admitted, rooms[0].Visit(ctx, now().Time(), room.Request{}).Outcome, "admissions go on")
		})
	}
}

// The clock of a node that knows nothing of the room yet says nothing of the
// store's.
func TestNewNodeWithAWrongClock(t *testing.T) {
	t.Parallel()
	clock, _ := newClock(t)
	g := newGates(t, clock, small(5), 0)
	g.enters(g.nodes[0])
	clock.flow(true)
	clock.set(clock.time().Add(40 * time.Second)) // nobody called meanwhile
	g.start(small(5), time.Hour)
	assert.InDelta(t, int64(clock.time()), int64(g.look().Now), 1000)
	g.sync()
	g.pass(11 * time.Second) // the grace for a node that may have been there
	g.enters(g.nodes[1])
}

// A node that is cut off goes on renewing the sessions of its visitors, and the
// store holds them for over in the end: that many, and no more, can be too many.
func TestNodeIsCutOff(t *testing.T) {
	t.Parallel()
	clock, _ := newClock(t)
	s := small(6)
	s.SessionDuration = 10 * time.Second
	g := newGates(t, clock, s, 0, 0)
	var alone, others []*person
	for range 2 {
		alone = append(alone, g.enters(g.nodes[1]))
	}
	for range 4 {
		others = append(others, g.enters(g.nodes[0]))
	}
	g.pass(time.Second)
	g.nodes[1].wire.cut.Store(true)
	for range 20 {
		g.pass(time.Second)
		for _, p := range alone {
			g.visit(g.nodes[1], p)
			assert.True(t, p.in)
		}
		for _, p := range others {
			g.visit(g.nodes[0], p)
			assert.True(t, p.in)
		}
		assert.False(t, g.knocks(g.nodes[1], queue.Ticket{}), "the node that is cut off lets nobody in")
		g.knocks(g.nodes[0], queue.Ticket{})
	}
	most := g.origin.most()
	assert.LessOrEqual(t, most, 6+len(alone), "at most those whom it alone renewed are too many")
	assert.Greater(t, most, 6, "or this test does not test it")

	g.nodes[1].wire.cut.Store(false)
	g.pass(time.Second)
	assert.Zero(t, g.look().Open, "once it is back they count")
	assert.Equal(t, 8, g.look().Active)
}

func TestOnStoreError(t *testing.T) {
	t.Parallel()
	for policy, c := range map[queue.ErrorPolicy]struct{ each, most int }{
		queue.Hold: {0, 2}, queue.Share: {4, 10}, queue.AdmitAll: {20, 42},
	} {
		t.Run(policy.String(), func(t *testing.T) {
			t.Parallel()
			clock, _ := newClock(t)
			s := small(10)
			s.OnStoreError, s.NewUsersPerMinute = policy, 10
			g := newGates(t, clock, s, 0, 0)
			g.enters(g.nodes[0])
			g.enters(g.nodes[1])
			g.sync()
			g.sync()
			for _, n := range g.nodes {
				n.wire.cut.Store(true)
				require.Error(t, g.trySync(n))
				entered := 0
				for range 20 {
					if g.newcomer(n).in {
						entered++
					}
				}
				assert.Equal(t, c.each, entered, "this node's share of the 8 that were open")
				assert.Len(t, n.toldOf(), 1)
			}
			assert.Equal(t, c.most, g.origin.distinct())

			for _, n := range g.nodes {
				n.wire.cut.Store(false)
			}
			g.sync()
			v := g.look()
			assert.Equal(t, c.most, v.Active, "those let in meanwhile are counted")
			assert.Equal(t, c.most, v.Admitted, "in the minute too")
			assert.Equal(t, max(0, 10-c.most), v.Open)
		})
	}
}

// Nobody who is in waits for the store, whatever it does; nobody else does for
// longer than a call may take.
func TestNobodyWaitsForAStoreThatHangs(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	store := open(t, server.URL())
	ctx, now := context.Background(), func() queue.Instant { return queue.At(time.Now()) }
	r := newRoom(t, store, now(), small(2))
	in := r.Visit(ctx, now().Time(), room.Request{}).Ticket
	require.Equal(t, queue.Accepted, in.State)
	require.NoError(t, r.Sync(ctx, now().Time()))
	store.SetBudget(redisstore.Budget)
	server.Stop()

	syncing := make(chan error)
	go func() {
		defer close(syncing)
		for range 8 {
			syncing <- r.Sync(ctx, now().Time())
		}
	}()
	var took []time.Duration
	slowest := time.Duration(0)
	for open := true; open; {
		select {
		case err, ok := <-syncing:
			if open = ok; ok {
				assert.Error(t, err)
			}
		default:
		}
		before := time.Now()
		d := r.Visit(ctx, now().Time(), room.Request{Ticket: in})
		took = append(took, time.Since(before))
		require.Equal(t, room.Admitted, d.Outcome)
		if d.Issue {
			in = d.Ticket
		}
		if len(took)%1000 == 0 {
			before = time.Now()
			require.NotEqual(t, room.Admitted, r.Visit(ctx, now().Time(), room.Request{}).Outcome)
			slowest = max(slowest, time.Since(before))
		}
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	t.Logf("%d visits: p50 %v, p99 %v, slowest %v; slowest newcomer %v", len(took), took[len(took)/2], p99, took[len(took)-1], slowest)
	assert.Less(t, p99, 5*time.Millisecond)
	assert.Less(t, slowest, 500*time.Millisecond)
	server.Cont()
	redistest.Until(t, "the store answers", func() bool { return r.Sync(ctx, now().Time()) == nil })
	assert.False(t, r.StoreFailing())
}
