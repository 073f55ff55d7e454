package redisstore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
)

// Any key of a room may be gone, of another type or as it once was, at any moment: no
// call fails, no limit is exceeded, and the line moves again within ten seconds.

// dump is what a key once held.
type dump struct{ key, value string }

// keysOf are the keys of a room that there are, in order.
func keysOf(t tester, client redis.UniversalClient, room string) []string {
	keys, err := client.Keys(context.Background(), "fairdoor:{"+room+"}:*").Result()
	require.NoError(t, err)
	slices.Sort(keys)
	return keys
}

func dumpsOf(t tester, client redis.UniversalClient, room string) (dumps []dump) {
	for _, key := range keysOf(t, client, room) {
		value, err := client.Dump(context.Background(), key).Result()
		require.NoError(t, err)
		dumps = append(dumps, dump{key, value})
	}
	return dumps
}

func lose(t tester, client redis.UniversalClient, d dump) {
	require.NoError(t, client.Del(context.Background(), d.key).Err())
}

func restore(t tester, client redis.UniversalClient, d dump) {
	require.NoError(t, client.RestoreReplace(context.Background(), d.key, time.Hour, d.value).Err())
}

// change makes a key one of another type.
func change(t tester, client redis.UniversalClient, d dump) {
	lose(t, client, d)
	require.NoError(t, client.RPush(context.Background(), d.key, "x").Err())
	if kind, _ := client.Type(context.Background(), d.key).Result(); len(d.key)%2 == 0 && kind == "list" {
		require.NoError(t, client.Set(context.Background(), d.key, "x", 0).Err())
	}
}

var breakages = map[string]func(tester, redis.UniversalClient, dump){
	"is gone": lose, "is of another type": change, "is as it was": restore,
}

// brisk are limits of a few slots, with check-ins every two seconds.
func brisk(total int, method queue.Method) queue.Settings {
	s := small(total)
	s.Method, s.RefreshInterval, s.LineDropout = method, 2*time.Second, 5*time.Second
	return s
}

func TestAKeyIsBroken(t *testing.T) {
	t.Parallel()
	shared, server := newClock(t)
	rooms := 0
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line} {
		for what, breaks := range breakages {
			t.Run(fmt.Sprintf("in %v %s", method, what), func(t *testing.T) {
				tested := 0
				for i, more := 0, true; more; i++ {
					rooms++
					b := newBroken(t, shared, fmt.Sprint("r", rooms, "-"), method)
					if more = i < len(b.dumps); more {
						tested++
						breaks(t, server.Client(), b.dumps[i])
						b.recovers(b.dumps[i].key + " " + what)
					}
				}
				assert.GreaterOrEqual(t, tested, 7, "keys of the room")
			})
		}
	}
}

// A field of the head may be gone, or hold something else. What the test itself sets is left out.
func TestAFieldOfTheHeadIsBroken(t *testing.T) {
	t.Parallel()
	shared, server := newClock(t)
	rooms := 0
	for _, method := range []queue.Method{queue.Random, queue.Line} {
		for what, breaks := range map[string]func(head, field string){
			"is gone":        func(head, field string) { server.Do("HDEL", head, field) },
			"holds nonsense": func(head, field string) { server.Do("HSET", head, field, "1 2 x 3") },
		} {
			tested := 0
			for i, more := 0, true; more; i++ {
				rooms++
				b := newBroken(t, shared, fmt.Sprint("r", rooms, "-"), method)
				fields := b.head()
				if more = i < len(fields); more {
					tested++
					breaks(meta(b.clock.prefix+"shop"), fields[i])
					b.recovers(fmt.Sprintf("in %v the field %s %s", method, fields[i], what))
				}
			}
			assert.GreaterOrEqual(t, tested, 3, "fields of the head")
		}
	}
}

// head are the fields of the head that are neither a node's nor set by the test, in order.
func (b *broken) head() []string {
	b.Helper()
	fields, err := b.clock.Client().HKeys(context.Background(), meta(b.clock.prefix+"shop")).Result()
	require.NoError(b, err)
	fields = slices.DeleteFunc(fields, func(f string) bool { return f == "now" || f == "offset" || len(f) > len("standstill") })
	slices.Sort(fields)
	return fields
}

// A bug of a script is an error of the call. It breaks nothing: what the call has changed before is
// not taken for lost.
func TestABugOfAScriptForgetsNothing(t *testing.T) {
	t.Parallel()
	for _, bug := range []string{"call(nil .. 'x')", "r.now = {} + 1", "struct.unpack('>d')", "error('the reply is not a float')"} {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			v := w.look()
			longer := queue.Session{ID: w.in[0].ticket.ID, Expires: w.clock.time().Add(time.Hour)}
			report := &queue.Report{Node: 1 << 60, Seq: 1, Epoch: v.Epoch, Now: v.Now, Since: v.Now, Sessions: []queue.Session{longer}}
			err := w.clock.AdmitWithBug(context.Background(), "shop", report, bug)
			require.Error(t, err)
			assert.NotContains(t, err.Error(), "broken")
			w.sync()
			after := w.look()
			assert.Equal(t, v.Epoch, after.Epoch, "the memory is the same")
			assert.False(t, after.Recovering)
			assert.Equal(t, v.Buckets, after.Buckets)
			assert.Equal(t, v.Active, after.Active)
			w.lets()
		})
	}
}

// broken is a room that is full and has a line, and what its keys held some time ago.
type broken struct {
	*gates
	waiting []*person
	in      []*person
	dumps   []dump
	total   int
}

func newBroken(t *testing.T, shared *clocked, prefix string, method queue.Method) *broken {
	t.Helper()
	clock := newClocked(shared.Store)
	clock.prefix = prefix
	s := brisk(3, method)
	b := &broken{gates: newGates(t, clock, s, 0, 20*time.Second, -20*time.Second), total: 3}
	b.sync()
	for i := range b.total {
		b.in = append(b.in, b.enters(b.nodes[i%3]))
	}
	b.sync()
	b.nodes[0].Say(context.Background(), b.clock.time().Time(), b.in[2].ticket.ID, `"Ann"`)
	b.waiting = []*person{b.joins(b.nodes[0]), b.joins(b.nodes[1])}
	b.goes(time.Second)
	b.joins(b.nodes[2]) // somebody who leaves soon
	b.sendsAway(b.nodes[1], b.in[0])
	b.goes(3 * time.Second)
	b.dumps = dumpsOf(t, shared.Client(), prefix+"shop")
	// Since then somebody else has left, and others have come.
	b.sendsAway(b.nodes[2], b.in[1])
	b.goes(6 * time.Second)
	b.waiting = append(b.waiting, b.joins(b.nodes[0]), b.joins(b.nodes[2]), b.joins(b.nodes[1]))
	b.goes(time.Second)
	return b
}

// goes lets time pass in which everybody asks.
func (b *broken) goes(d time.Duration) {
	b.Helper()
	for i := 0; d > 0; i++ {
		b.pass(time.Second)
		d -= time.Second
		for j, p := range append(slices.Clone(b.waiting), b.in[min(2, len(b.in)):]...) {
			b.visit(b.nodes[(i+j)%3], p)
		}
	}
}

// recovers asserts that the limit holds and that the line moves, after a key has
// broken.
func (b *broken) recovers(what string) {
	b.Helper()
	for _, n := range b.nodes {
		b.waiting = append(b.waiting, b.newcomer(n), b.newcomer(n))
	}
	b.goes(2 * time.Second)
	in := slices.IndexFunc(b.waiting, func(p *person) bool { return p.in })
	require.GreaterOrEqual(b, in, 0, "%s: somebody who came later is in", what)
	b.sendsAway(b.nodes[0], b.waiting[in])
	b.waiting = slices.Delete(b.waiting, in, in+1)
	before := b.origin.distinct()
	b.goes(10 * time.Second)
	assert.Greater(b, b.origin.distinct(), before, "%s: somebody is let in within ten seconds", what)
	assert.LessOrEqual(b, b.origin.most(), b.total, "%s: visitors at a time", what)
	for i, n := range b.nodes {
		assert.Empty(b, n.toldOf(), "%s: what fails at node %d", what, i)
	}
}

// A gate that starts while the store gathers anew what it has lost hears of the sessions that
// others report then, and can report them itself.
func TestSessionsOutliveTheGatesThatKnewThem(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string][]string{"a store that loses them": {"sessions"}, "one that does not know when they began": {"admitted", "counts"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock, server := newClock(t)
			s := small(1)
			g := newGates(t, clock, s, 0)
			g.enters(g.nodes[0])
			g.joins(g.nodes[0])
			g.pass(2 * time.Second)
			for range 3 {
				for _, name := range lost {
					lose(t, server.Client(), dump{key: "fairdoor:{shop}:" + name})
				}
				g.start(s, 0)
				g.sync()
				g.nodes, lost = g.nodes[1:], []string{"sessions"}
			}
			g.pass(15 * time.Second)
			g.joins(g.nodes[0])
		})
	}
}

// The store goes on with the sessions that it has kept when it lost another key, and misses them if
// they are lost later.
func TestSessionsThatWereKeptThroughALossAreMissed(t *testing.T) {
	t.Parallel()
	clock, server := newClock(t)
	g := newGates(t, clock, small(2), 0, 0)
	g.enters(g.nodes[0])
	g.pass(10 * time.Second)
	g.enters(g.nodes[0])
	waits := g.joins(g.nodes[1])
	g.sync()
	lose(t, server.Client(), dump{key: "fairdoor:{shop}:counts"})
	g.sync()
	g.pass(time.Second)
	lose(t, server.Client(), dump{key: "fairdoor:{shop}:sessions"})
	g.pass(53 * time.Second)
	g.visit(g.nodes[1], waits)
	for range 4 {
		g.newcomer(g.nodes[1])
		g.pass(time.Second)
	}
	g.obeys(2, 1000)
	assert.Equal(t, 3, g.origin.distinct(), "the slot of the first goes on")
}

// Whatever breaks, and however often: no limit is exceeded, and nothing is wedged.
func TestLimitsHoldWhateverBreaks(t *testing.T) {
	t.Parallel()
	shared, server := newClock(t)
	client, rooms := server.Client(), 0
	rapid.Check(t, func(rt *rapid.T) {
		rooms++
		clock := newClocked(shared.Store)
		clock.prefix = fmt.Sprint("r", rooms, "-")
		room := clock.prefix + "shop"
		admitted := redisstore.Keys(room)[5] // by which the nodes hear of whom others have let in: it breaks once they have
		s := brisk(rapid.IntRange(1, 5).Draw(rt, "total"), rapid.SampledFrom([]queue.Method{queue.FIFO, queue.Random, queue.Line}).Draw(rt, "method"))
		s.SessionDuration = time.Duration(rapid.IntRange(3, 20).Draw(rt, "session")) * time.Second
		g := newGates(rt, clock, s, 0, 20*time.Second, 0)
		g.sync()
		var people []*person
		var dumps []dump
		node := func() *gate { return rapid.SampledFrom(g.nodes).Draw(rt, "node") }
		rt.Repeat(map[string]func(*rapid.T){
			"somebody comes": func(*rapid.T) { people = append(people, g.newcomer(node())) },
			"somebody comes again": func(*rapid.T) {
				if len(people) > 0 {
					g.visit(node(), rapid.SampledFrom(people).Draw(rt, "who"))
				}
			},
			"time passes": func(*rapid.T) {
				g.pass(time.Duration(rapid.IntRange(100, 5000).Draw(rt, "ms")) * time.Millisecond)
			},
			"a node syncs":      func(*rapid.T) { g.sync(node()) },
			"a key is set down": func(*rapid.T) { dumps = append(dumps, dumpsOf(rt, client, room)...) },
			"a key breaks": func(*rapid.T) {
				if keys := keysOf(rt, client, room); len(keys) > 0 {
					breaks := rapid.SampledFrom([]func(tester, redis.UniversalClient, dump){lose, change}).Draw(rt, "how")
					key := rapid.SampledFrom(keys).Draw(rt, "key")
					if key == admitted {
						g.sync()
					}
					breaks(rt, client, dump{key: key})
					dumps = nil
				}
			},
			// What was set down before the store has found itself broken is not restored: a node
			// that has not heard of the break could not tell.
			"a key is as it was": func(*rapid.T) {
				if len(dumps) > 0 {
					which := rapid.SampledFrom(dumps).Draw(rt, "which")
					if which.key == admitted {
						g.sync()
					}
					restore(rt, client, which)
					dumps = nil
				}
			},
			// By then the others know whom it has let in. A room of which there is nothing
			// at all is a new one to a node that starts.
			"a node dies, and another starts": func(*rapid.T) {
				g.sync()
				i := rapid.IntRange(0, 2).Draw(rt, "which")
				g.nodes = slices.Delete(g.nodes, i, i+1)
				if keys := keysOf(rt, client, room); len(keys) > 0 {
					if key := rapid.SampledFrom(keys).Draw(rt, "key"); key != redisstore.Keys(room)[1] {
						lose(rt, client, dump{key: key})
						dumps = nil
					}
				}
				g.start(s, 0)
			},
			"": func(rt *rapid.T) {
				if most := g.origin.most(); most > s.TotalActiveUsers {
					rt.Fatalf("%d visitors at a time, with %d allowed", most, s.TotalActiveUsers)
				}
			},
		})
		before := g.origin.distinct()
		for end := g.clock.time().Add(s.SessionDuration + 14*time.Second); g.origin.distinct() == before; {
			if g.clock.time() > end {
				rt.Fatalf("nobody is let in any more: %+v", g.look().Status)
			}
			g.pass(time.Second)
			for _, p := range people {
				if p.ticket.State == queue.Waiting {
					g.visit(g.nodes[0], p)
				}
			}
			people = append(people, g.newcomer(g.nodes[0]))
		}
	})
}
