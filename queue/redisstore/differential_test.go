package redisstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/memstore"
)

// both are the two stores, told the same at the same instants. Redis is without
// the slack, by which it may only be later in giving a slot away, and its clock
// stands where it is set. What still differs, and is left out here: the moments
// of random pacing, which each draws for itself.
type both struct {
	*rapid.T
	redis, mem queue.Store
	clock      *clocked
	now        queue.Instant
	version    int64
	settings   queue.Settings
	seq        map[uint64]uint64
	last       map[uint64]*queue.Report
	ids        int
	admitted   map[queue.ID]queue.Instant
}

func TestBothStoresAnswerAlike(t *testing.T) {
	t.Parallel()
	shared, _ := newClock(t)
	shared.SetSlack(0)
	rooms := 0
	rapid.Check(t, func(rt *rapid.T) {
		rooms++
		clock := newClocked(shared.Store)
		clock.prefix = fmt.Sprint("r", rooms, "-")
		b := &both{
			T: rt, redis: clock, mem: memstore.New(), clock: clock, now: start,
			seq: map[uint64]uint64{}, last: map[uint64]*queue.Report{}, admitted: map[queue.ID]queue.Instant{},
		}
		b.configure()
		rt.Repeat(map[string]func(*rapid.T){
			"time passes":                   func(*rapid.T) { b.pass() },
			"it is configured":              func(*rapid.T) { b.configure() },
			"a node reports":                func(*rapid.T) { b.sync(b.report()) },
			"a node reports and claims":     func(*rapid.T) { b.admit(b.report()) },
			"a node claims":                 func(*rapid.T) { b.admit(b.number(queue.Report{})) },
			"a report is sent again":        func(*rapid.T) { b.again() },
			"a report is sent with another": func(*rapid.T) { b.report(); b.sync(b.report()) },
		})
	})
}

func (b *both) pass() {
	b.now = b.now.Add(time.Duration(rapid.IntRange(1, 30_000).Draw(b.T, "ms")) * time.Millisecond)
	b.clock.set(b.now)
}

func (b *both) configure() {
	seconds := func(low, high int, name string) time.Duration {
		return time.Duration(rapid.IntRange(low, high).Draw(b.T, name)) * time.Second
	}
	s := queue.Settings{
		TotalActiveUsers:  rapid.IntRange(1, 8).Draw(b.T, "total"),
		NewUsersPerMinute: rapid.IntRange(1, 8).Draw(b.T, "per minute"),
		SessionDuration:   seconds(1, 90, "session"),
		Method:            queue.Method(rapid.IntRange(0, 3).Draw(b.T, "method")),
		QueueAll:          rapid.IntRange(0, 9).Draw(b.T, "queue all") == 0,
		Pacing:            rapid.SampledFrom([]queue.Pacing{queue.PacingMinute, queue.PacingEven}).Draw(b.T, "pacing"),
	}.WithDefaults()
	s.QueueTicketTTL = 5 * time.Minute
	b.version++
	c := queue.Configuration{Version: b.version, Settings: s, By: "somebody", At: b.now}
	require.NoError(b, b.redis.Configure(context.Background(), "shop", c))
	require.NoError(b, b.mem.Configure(context.Background(), "shop", c))
	require.ErrorIs(b, b.redis.Configure(context.Background(), "shop", c), queue.ErrConflict)
	require.ErrorIs(b, b.mem.Configure(context.Background(), "shop", c), queue.ErrConflict)
	b.settings = s
}

func (b *both) cell() queue.Cell {
	return queue.Cell{
		Bucket: start.Add(-time.Duration(rapid.IntRange(0, 3).Draw(b.T, "bucket")) * time.Minute),
		Until:  b.now.Add(time.Duration(rapid.IntRange(-2, 12).Draw(b.T, "until")) * 2500 * time.Millisecond).Floor(grain),
	}
}

// visitor draws an id, known or new. Whose place has been left for longer than it
// lasts does not come back with it: nodes see to that.
func (b *both) visitor() queue.ID {
	b.ids += rapid.IntRange(0, 1).Draw(b.T, "new")
	return id(max(0, b.ids-rapid.IntRange(0, 12).Draw(b.T, "who")))
}

// number gives a report its number.
func (b *both) number(p queue.Report) *queue.Report {
	p.Node = uint64(rapid.IntRange(1, 3).Draw(b.T, "node"))
	b.seq[p.Node]++
	p.Seq, p.Now = b.seq[p.Node], b.now
	b.last[p.Node] = &p
	return &p
}

func (b *both) report() *queue.Report {
	var p queue.Report
	for range rapid.IntRange(0, 3).Draw(b.T, "cells") {
		p.Cells = append(p.Cells, queue.CellChange{Cell: b.cell(), People: rapid.IntRange(-2, 4).Draw(b.T, "people")})
	}
	for range rapid.IntRange(0, 2).Draw(b.T, "sessions") {
		expires := b.now.Add(time.Duration(rapid.IntRange(-1000, 60_000).Draw(b.T, "expires")) * time.Millisecond)
		p.Sessions = append(p.Sessions, queue.Session{ID: b.visitor(), Expires: expires})
	}
	if rapid.IntRange(0, 4).Draw(b.T, "revokes") == 0 {
		p.Revoked = []queue.Session{{ID: b.visitor(), Expires: b.now.Add(time.Minute)}}
	}
	if rapid.IntRange(0, 4).Draw(b.T, "alone") == 0 {
		p.Admitted = queue.Admissions{Minute: b.now.Floor(time.Minute), Visitors: 1}
	}
	return b.number(p)
}

func (b *both) again() {
	if p := b.last[uint64(rapid.IntRange(1, 3).Draw(b.T, "node"))]; p != nil {
		p.Now = b.now
		b.sync(p)
	}
}

func (b *both) sync(p *queue.Report) {
	fromRedis, err := b.redis.Sync(context.Background(), "shop", p)
	require.NoError(b, err)
	fromMem, err := b.mem.Sync(context.Background(), "shop", p)
	require.NoError(b, err)
	b.alike(fromMem.Standing, fromRedis.Standing)
	assert.Equal(b, append([]queue.BucketCount{}, fromMem.Buckets...), append([]queue.BucketCount{}, fromRedis.Buckets...))
	assert.ElementsMatch(b, fromMem.Revoked, fromRedis.Revoked)
	assert.ElementsMatch(b, fromMem.Nodes, fromRedis.Nodes)
	assert.Equal(b, fromMem.RateKnown, fromRedis.RateKnown)
	assert.InDelta(b, fromMem.Rate, fromRedis.Rate, 1e-9)
	if b.Failed() {
		b.FailNow()
	}
}

func (b *both) admit(p *queue.Report) {
	claims := make([]queue.Claim, rapid.IntRange(1, 5).Draw(b.T, "claims"))
	for i := range claims {
		claims[i] = queue.Claim{ID: b.visitor(), HeldOnly: rapid.IntRange(0, 9).Draw(b.T, "held only") == 0}
		old := b.now > b.admitted[claims[i].ID].Add(b.settings.PlaceLasts()) && b.admitted[claims[i].ID] > 0
		if !old && rapid.Bool().Draw(b.T, "waits") {
			claims[i].Cell = b.cell()
			claims[i].Due = b.now.Add(time.Duration(rapid.IntRange(0, 8).Draw(b.T, "due")) * 5 * time.Second)
		}
	}
	fromRedis, fromMem := make([]queue.Grant, len(claims)), make([]queue.Grant, len(claims))
	redis, err := b.redis.Admit(context.Background(), "shop", p, claims, fromRedis)
	require.NoError(b, err)
	mem, err := b.mem.Admit(context.Background(), "shop", p, claims, fromMem)
	require.NoError(b, err)
	for i := range claims {
		if fromMem[i].Verdict == queue.Granted {
			b.admitted[claims[i].ID] = b.now
		}
		require.Equal(b, fromMem[i].Verdict, fromRedis[i].Verdict, "claim %d: %+v", i, claims[i])
		assert.Equal(b, fromMem[i].Expires, fromRedis[i].Expires, "claim %d: %+v", i, claims[i])
	}
	b.alike(mem, redis)
	if b.Failed() {
		b.FailNow()
	}
}

// alike asserts that a room stands alike by both stores.
func (b *both) alike(mem, redis queue.Standing) {
	mem.Epoch, redis.Epoch = "", ""
	assert.Equal(b, mem, redis)
}
