package redisstore_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
)

// A gate of an earlier version may have written the rules. To its room, a rule that it did not know
// has its default: the room goes on, and forgets nothing.
func TestStoredRulesLackARule(t *testing.T) {
	t.Parallel()
	shared, _ := newClock(t)
	for _, method := range []queue.Method{queue.FIFO, queue.Line, queue.Passthrough} {
		for name, value := range redisstore.DefaultRules(t) {
			t.Run(fmt.Sprintf("in %v %s", method, name), func(t *testing.T) {
				lacking, defaulted := newRuled(t, shared, method, "lacks"+name), newRuled(t, shared, method, "has"+name)
				lacking.setRule(name, "")
				defaulted.setRule(name, string(value))
				assert.Equal(t, defaulted.calls(), lacking.calls())
			})
		}
	}
}

// A memory has the format of the newest gate that has written it. Gates work with the formats
// beside their own; any other they refuse, with both named, and change nothing.
func TestAMemoryOfAnotherFormat(t *testing.T) {
	t.Parallel()
	shared, _ := newClock(t)
	ctx, client := context.Background(), shared.Client()
	const own = 3
	for format := range own + 3 {
		n := newRuled(t, shared, queue.FIFO, fmt.Sprint("format", format))
		key := meta(n.store.prefix + n.room)
		written, err := client.HGet(ctx, key, "format").Int()
		require.NoError(t, err)
		require.Equal(t, own, written)
		require.NoError(t, client.HSet(ctx, key, "format", format).Err())
		before := dumpsOf(t, client, n.store.prefix+n.room)
		n.seq++
		report := &queue.Report{Node: 1, Seq: n.seq, Now: n.store.time()}
		v, err := shared.Store.Sync(ctx, n.store.prefix+n.room, report)
		if format < own-1 || format > own+1 {
			want := fmt.Sprintf("format %d, and this gate works with %d to %d", format, own-1, own+1)
			assert.ErrorContains(t, err, want)
			_, err = shared.Store.Admit(ctx, n.store.prefix+n.room, report, nil, nil)
			assert.ErrorContains(t, err, want)
			_, err = shared.Store.Roster(ctx, n.store.prefix+n.room, nil)
			assert.ErrorContains(t, err, want)
			assert.Equal(t, before, dumpsOf(t, client, n.store.prefix+n.room), "nothing is changed")
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, 2, v.Active)
		written, err = client.HGet(ctx, key, "format").Int()
		require.NoError(t, err)
		assert.Equal(t, max(format, own), written, "the newest gate's")
	}
}

// ruled is a room whose rules are tampered with, and its one node.
type ruled struct {
	*testing.T
	store *clocked
	room  string
	seq   uint64
}

// newRuled returns a room with two visitors in its three slots, and one who waits.
func newRuled(t *testing.T, shared *clocked, method queue.Method, room string) *ruled {
	t.Helper()
	n := &ruled{T: t, store: newClocked(shared.Store), room: room}
	n.store.prefix = method.String() + "-"
	n.sync(queue.Report{})
	s := small(3)
	s.Method, s.Pacing = method, queue.PacingEven
	require.NoError(t, n.store.Configure(context.Background(), room, queue.Configuration{Version: 1, Settings: s.WithDefaults(), At: start}))
	n.admit(queue.Claim{ID: id(1)}, queue.Claim{ID: id(2)}, queue.Claim{ID: id(3), NoSlot: true})
	n.sync(queue.Report{Cells: []queue.CellChange{{Cell: queue.Cell{Bucket: start, Until: start.Add(time.Minute)}, People: 1}}})
	return n
}

var setRule = redis.NewScript(`
local rules = cmsgpack.unpack(redis.call('HGET', KEYS[1], 'rules'))
assert(rules[ARGV[1]] ~= nil)
rules[ARGV[1]] = cjson.decode('[' .. ARGV[2] .. ']')[1]
return redis.call('HSET', KEYS[1], 'rules', cmsgpack.pack(rules))`)

// setRule sets one of the stored rules to a value in JSON, or takes it out.
func (n *ruled) setRule(name, value string) {
	n.Helper()
	conf := redisstore.Keys(n.store.prefix + n.room)[1]
	require.NoError(n, setRule.Run(context.Background(), n.store.Client(), []string{conf}, name, value).Err())
}

// calls are the answers to some calls, none of which finds the memory broken.
func (n *ruled) calls() []any {
	n.Helper()
	memory := keysOf(n, n.store.Client(), n.store.prefix+n.room)
	state, err := n.store.Client().HGet(context.Background(), meta(n.store.prefix+n.room), "state").Result()
	require.NoError(n, err)
	var answers []any
	answer := func(s *queue.Status, more any) {
		assert.Contains(n, state, s.Epoch, "the memory is still the same")
		s.Epoch = ""
		answers = append(answers, *s, more)
	}
	look := func() {
		v := n.sync(queue.Report{})
		answer(&v.Status, v)
	}
	look()
	grants, status := n.admit(queue.Claim{ID: id(2), Renew: true}, queue.Claim{ID: id(4)}, queue.Claim{ID: id(5)},
		queue.Claim{ID: id(6), Cell: queue.Cell{Bucket: start, Until: start.Add(time.Minute)}, ArrivedAt: start})
	answer(&status, grants)
	look()
	assert.Subset(n, keysOf(n, n.store.Client(), n.store.prefix+n.room), memory)
	return answers
}

func (n *ruled) sync(p queue.Report) *queue.View {
	n.Helper()
	n.seq++
	p.Node, p.Seq, p.Now = 1, n.seq, n.store.time()
	v, err := n.store.Sync(context.Background(), n.room, &p)
	require.NoError(n, err)
	return v
}

func (n *ruled) admit(claims ...queue.Claim) ([]queue.Grant, queue.Status) {
	n.Helper()
	n.seq++
	grants := make([]queue.Grant, len(claims))
	status, err := n.store.Admit(context.Background(), n.room, &queue.Report{Node: 1, Seq: n.seq, Now: n.store.time()}, claims, grants)
	require.NoError(n, err)
	return grants, status
}

// A gate of the format before leaves out the gaps behind the numbers of an exact line. Where it has
// written them last, the line is as it was.
func TestTheNumbersOfALineThatAnOlderGateHasWritten(t *testing.T) {
	t.Parallel()
	shared, _ := newClock(t)
	ctx, client := context.Background(), shared.Client()
	n := newRuled(t, shared, queue.Line, "older")
	key := meta(n.store.prefix + n.room)
	look := func() *queue.View {
		n.seq++
		v, err := shared.Store.Sync(ctx, n.store.prefix+n.room, &queue.Report{Node: 1, Seq: n.seq, Now: n.store.time()})
		require.NoError(t, err)
		return v
	}
	before := look()
	numbers, err := client.HGet(ctx, key, "line").Bytes()
	require.NoError(t, err)
	require.Len(t, numbers, 10*8)
	for hours := range 4 { // two gaps, of which the last is kept within the numbers
		at := start.Add(time.Duration(hours-4) * time.Hour)
		numbers = binary.BigEndian.AppendUint64(numbers, math.Float64bits(float64(at)))
	}
	require.NoError(t, client.HSet(ctx, key, "line", numbers).Err())
	look()
	kept, err := client.HGet(ctx, key, "line").Bytes()
	require.NoError(t, err)
	require.Len(t, kept, 12*8)
	require.NoError(t, client.HSet(ctx, key, "line", kept[:10*8]).Err())
	after := look()
	assert.Equal(t, before.Epoch, after.Epoch, "nothing is forgotten")
	assert.Equal(t, before.LastNumber, after.LastNumber)
	assert.False(t, after.WantWhole)
}
