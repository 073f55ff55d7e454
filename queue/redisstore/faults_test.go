package redisstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
)

// The answer to any call may be lost after the store has done what it was asked.
// Whoever comes again gets what they were given.
func TestAnswersAreLost(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	proxy := redistest.NewProxy(t, server.Addr)
	through, beside := open(t, proxy.URL()), open(t, server.URL())
	for k := 1; k <= 40; k++ {
		clock := newClocked(beside)
		clock.prefix = string(rune('a'+k%26)) + strings.Repeat("x", k/26)
		g := newGates(t, clock, small(10), 0, 0)
		far := newClocked(through)
		far.prefix = clock.prefix
		g.nodes[0].wire.Store = far

		proxy.LoseReply(k)
		people := make([]*person, 14)
		for i := range people {
			people[i] = g.newcomer(g.nodes[i%2])
			if i%3 == 0 {
				_ = g.trySync(g.nodes[0]) // which may be what is lost
			}
			assert.GreaterOrEqual(t, g.look().Active, g.origin.distinct(), "with answer %d lost", k)
		}
		for range 3 {
			far.set(clock.time())
			g.clock.set(clock.time().Add(11 * time.Second))
			far.set(clock.time())
			for _, n := range g.nodes {
				_ = g.trySync(n)
			}
			for i, p := range people {
				g.visit(g.nodes[i%2], p)
			}
		}
		require.Equal(t, g.origin.distinct(), g.look().Active, "with answer %d lost", k)
		require.Equal(t, 10, g.origin.distinct(), "with answer %d lost", k)
		require.Equal(t, 4, g.look().Present, "with answer %d lost", k)
	}
	proxy.LoseReply(0)
}

// refuses asserts that nobody is let in while the store fails, that nobody who
// is in notices, and that all is well once it does not.
func refuses(t *testing.T, g *gates, in *person, begin, end func()) {
	t.Helper()
	before := g.look()
	begin()
	for _, n := range g.nodes {
		require.Error(t, g.trySync(n))
		require.True(t, n.StoreFailing())
		g.visit(n, in)
		assert.True(t, in.in, "who is in stays in")
		for range 3 {
			assert.False(t, g.knocks(n, queue.Ticket{}), "nobody is let in")
		}
		require.Error(t, g.trySync(n))
		require.Len(t, n.toldOf(), 1, "it is told once")
		require.Error(t, n.toldOf()[0])
	}
	end()
	for _, n := range g.nodes {
		redistest.Until(t, "the store answers", func() bool { return g.trySync(n) == nil })
		require.False(t, n.StoreFailing())
		assert.Equal(t, []error{n.toldOf()[0], nil}, n.toldOf(), "its coming back is told once too")
	}
	g.sync()
	after := g.look()
	g.sync() // all hear that all have reported
	assert.Equal(t, before.Active, after.Active)
	assert.False(t, after.Recovering)
	g.enters(g.nodes[0])
	g.obeys(3, 1000)
}

func TestStoreFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin, end func(s *redistest.Server, p *redistest.Proxy)
	}{
		"it refuses connections": {
			func(_ *redistest.Server, p *redistest.Proxy) { p.Refuse() },
			func(_ *redistest.Server, p *redistest.Proxy) { p.Accept() },
		},
		"it hangs": {
			func(s *redistest.Server, _ *redistest.Proxy) { s.Stop() },
			func(s *redistest.Server, _ *redistest.Proxy) { s.Cont() },
		},
		"it swallows what it is sent": {
			func(_ *redistest.Server, p *redistest.Proxy) { p.Swallow(true) },
			func(_ *redistest.Server, p *redistest.Proxy) { p.Swallow(false) },
		},
		"it is slower than a call may take": {
			func(_ *redistest.Server, p *redistest.Proxy) { p.Delay(300 * time.Millisecond) },
			func(_ *redistest.Server, p *redistest.Proxy) { p.Delay(0) },
		},
		"it is a replica that may not be written": {
			func(s *redistest.Server, _ *redistest.Proxy) { s.Do("REPLICAOF", "127.0.0.1", "1") },
			func(s *redistest.Server, _ *redistest.Proxy) { s.Do("REPLICAOF", "NO", "ONE") },
		},
		"it is out of memory": {
			func(s *redistest.Server, _ *redistest.Proxy) { s.Do("CONFIG", "SET", "maxmemory", "1") },
			func(s *redistest.Server, _ *redistest.Proxy) { s.Do("CONFIG", "SET", "maxmemory", "0") },
		},
		"it has too few replicas": {
			func(s *redistest.Server, _ *redistest.Proxy) { s.Do("CONFIG", "SET", "min-replicas-to-write", "1") },
			func(s *redistest.Server, _ *redistest.Proxy) { s.Do("CONFIG", "SET", "min-replicas-to-write", "0") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, redistest.Options{})
			proxy := redistest.NewProxy(t, server.Addr)
			watch := newClocked(open(t, server.URL()))
			g := newGates(t, watch, small(3), 0, 0)
			far := open(t, proxy.URL())
			for _, n := range g.nodes {
				n.wire.Store = far // whose clock was wound up, and goes on from there
			}
			in := g.enters(g.nodes[0])
			g.sync()
			far.SetBudget(redisstore.Budget)
			refuses(t, g, in, func() { c.begin(server, proxy) }, func() { c.end(server, proxy) })
		})
	}
}

// A server that has many keys to load answers LOADING for a while.
func TestStoreLoads(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{AppendOnly: true, Args: []string{
		"--key-load-delay", "400", "--loading-process-events-interval-bytes", "1024", "--enable-debug-command", "yes",
	}})
	clock := newClocked(open(t, server.URL()))
	g := newGates(t, clock, small(3), 0, 0)
	in := g.enters(g.nodes[0])
	server.Do("DEBUG", "POPULATE", 3000, "ballast", 100)
	server.Do("BGREWRITEAOF")
	redistest.Until(t, "the file is written anew", func() bool { return server.Info("persistence", "aof_rewrite_in_progress") == "0" })
	g.sync()
	done := make(chan struct{})
	refuses(t, g, in, func() {
		server.Kill()
		require.Error(t, g.trySync(g.nodes[0]))
		go func() {
			defer close(done)
			server.Restart(false)
		}()
		redistest.Until(t, "it says that it is loading", func() bool {
			_, err := clock.Store.Sync(context.Background(), "shop", &queue.Report{Node: 9})
			return err != nil && strings.Contains(err.Error(), "LOADING")
		})
	}, func() { <-done })
}

// Scripts that the server has forgotten are sent again, unseen.
func TestScriptsAreForgotten(t *testing.T) {
	t.Parallel()
	clock, server := newClock(t)
	g := newGates(t, clock, small(100), 0, 0)
	for i := range 60 {
		if i%3 == 0 {
			server.Do("SCRIPT", "FLUSH")
		}
		g.enters(g.nodes[i%2])
		if i%4 == 0 {
			g.sync()
		}
	}
	assert.Equal(t, 60, g.look().Active)
	for _, n := range g.nodes {
		assert.Empty(t, n.toldOf())
	}
}

// A master dies before its replica has the last writes.
func TestFailoverToAStaleReplica(t *testing.T) {
	trio := redistest.StartSentinel(t, 1)
	clock := newClocked(open(t, trio.URL()))
	s := small(6)
	s.SessionDuration = 10 * time.Minute
	g := newGates(t, clock, s, 0, 0, 0)
	for range 2 {
		g.enters(g.nodes[0])
	}
	g.sync()
	redistest.Until(t, "the replica has all of it", func() bool {
		return trio.Master.Info("replication", "master_repl_offset") == trio.Replicas[0].Info("replication", "slave_repl_offset")
	})
	trio.Replicas[0].Stop()
	trio.Master.Do("CLIENT", "KILL", "TYPE", "replica") // what is written now, the replica never gets
	var lost []*person
	for i := range 3 {
		lost = append(lost, g.enters(g.nodes[i]))
	}
	trio.Master.Kill()
	trio.Replicas[0].Cont()
	trio.AwaitFailover(t)

	for _, n := range g.nodes {
		redistest.Until(t, "the node finds the new master", func() bool { return g.trySync(n) == nil })
		if n != g.nodes[2] {
			assert.False(t, g.knocks(n, queue.Ticket{}), "nobody is let in before all nodes have reported")
		}
	}
	g.sync()
	v := g.look()
	assert.False(t, v.Recovering)
	assert.Equal(t, 5, v.Active, "what was lost is known again")
	for _, p := range lost {
		g.visit(g.nodes[1], p)
		assert.True(t, p.in)
	}
	g.enters(g.nodes[1])
	g.joins(g.nodes[2])
	g.obeys(6, 1000)
}

// A failover that is quicker than any gap would tell: the new server has another
// name.
func TestAnotherServerIsNoticed(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{AppendOnly: true})
	clock := newClocked(open(t, server.URL()))
	g := newGates(t, clock, small(3), 0, 0)
	g.enters(g.nodes[0])
	g.sync()
	epoch := g.look().Epoch
	server.Restart(false)
	clock.flow(true)
	clock.set(clock.time().Add(300 * time.Millisecond))
	redistest.Until(t, "the node finds the server", func() bool { return g.trySync(g.nodes[0]) == nil })
	v := g.look()
	assert.True(t, v.Recovering, "until the other node has reported")
	assert.Equal(t, epoch, v.Epoch, "nothing was lost")
	_ = g.trySync(g.nodes[1])
	g.sync()
	v = g.look()
	assert.False(t, v.Recovering)
	assert.Equal(t, 1, v.Active)
}

// While a slot of a Cluster moves, calls may fail, and nothing else.
func TestSlotMigrates(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	clock := newClocked(open(t, cluster.URL()))
	g := newGates(t, clock, small(20), 0, 0)
	in := g.enters(g.nodes[0])
	from, slot := cluster.Owner(redisstore.Keys("shop")[0])
	to := cluster.Nodes[0]
	if to == from {
		to = cluster.Nodes[1]
	}
	var people []*person
	cluster.Migrate(slot, from, to, func() {
		for i, n := range g.nodes {
			_ = g.trySync(n)
			people = append(people, g.newcomer(g.nodes[i]))
			g.visit(n, in)
			assert.True(t, in.in)
		}
	})
	for range 3 {
		for _, n := range g.nodes {
			redistest.Until(t, "the node finds the slot", func() bool { return g.trySync(n) == nil })
		}
		g.clock.set(g.clock.time().Add(11 * time.Second))
		g.sync()
		for i, p := range people {
			g.visit(g.nodes[i%2], p)
		}
	}
	v := g.look()
	assert.False(t, v.Recovering)
	assert.Equal(t, min(20, len(people)+1), v.Active)
	assert.Equal(t, v.Active, g.origin.distinct())
	g.obeys(20, 1000)
}

// A master of a Cluster dies, and another takes over from it, empty: the clients
// have to find out by themselves.
func TestMasterOfAClusterDies(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	g := newGates(t, newClocked(open(t, cluster.URL())), small(4), 0, 0)
	in := g.enters(g.nodes[0])
	g.sync()
	g.sync()
	dead, _ := cluster.Owner(redisstore.Keys("shop")[0])
	cluster.Lose(dead)
	for _, n := range g.nodes {
		redistest.Until(t, "the node finds the new master", func() bool { return g.trySync(n) == nil })
		g.visit(n, in)
		assert.True(t, in.in)
	}
	g.sync()
	g.sync()
	v := g.look()
	assert.False(t, v.Recovering)
	assert.Equal(t, 1, v.Active, "what was lost is known again")
	g.enters(g.nodes[1])
	g.obeys(4, 1000)
}
