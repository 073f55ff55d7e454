package redisstore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// both are the two stores, told the same at the same instants, with the same slack or none. The
// clock of Redis stands where it is set. What still differs, and is left out here: the moments of
// random pacing, which each draws for itself.
type both struct {
	*rapid.T
	redis, mem queue.Store
	clock      *clocked
	now        queue.Instant
	version    int64
	settings   queue.Settings
	seq        map[uint64]uint64
	last       map[uint64]*queue.Report
	claims     map[uint64][]queue.Claim // that went with it
	views      map[uint64]queue.Instant // the latest that each node has had
	ids        int
	admitted   map[queue.ID]queue.Instant
	boundaries queue.Boundaries // of the latest view

	// beat is what time passes in. A room with an exact line is told of the same
	// moments by both only if it is whole windows, in which Redis looks up who has
	// missed a check-in.
	beat time.Duration
}

const window = 250 * time.Millisecond

// checkBoth checks what becomes of both stores.
func checkBoth(t *testing.T, slack time.Duration, check func(b *both)) {
	t.Helper()
	shared, _ := newClock(t)
	shared.SetSlack(slack)
	rooms := 0
	rapid.Check(t, func(rt *rapid.T) {
		rooms++
		clock := newClocked(shared.Store)
		clock.prefix = fmt.Sprint("r", rooms, "-")
		b := &both{
			T: rt, redis: clock, mem: memstore.NewShared(slack), clock: clock, now: start,
			seq: map[uint64]uint64{}, last: map[uint64]*queue.Report{}, claims: map[uint64][]queue.Claim{}, views: map[uint64]queue.Instant{}, admitted: map[queue.ID]queue.Instant{},
			beat: rapid.SampledFrom([]time.Duration{time.Millisecond, window}).Draw(rt, "beat"),
		}
		b.sync(b.number(queue.Report{})) // a node makes a room known before it configures it
		b.configure()
		check(b)
	})
}

// The marks need times without much traffic that are too long for the other test.
func TestBothStoresPassTheMarksAlike(t *testing.T) {
	t.Parallel()
	checkBoth(t, 0, func(b *both) {
		b.settings.QueueWhen = 6
		b.put(b.settings)
		for range rapid.IntRange(20, 60).Draw(b.T, "steps") {
			b.now = b.now.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, 7 * time.Second, time.Minute, queue.CalmTime - time.Millisecond, queue.CalmTime}).Draw(b.T, "passes"))
			b.clock.set(b.now)
			b.sync(b.number(queue.Report{Newcomers: rapid.SampledFrom([]int{0, 0, 1, 3, 4, 6}).Draw(b.T, "newcomers")}))
		}
	})
}

func TestBothStoresAnswerAlike(t *testing.T) {
	t.Parallel()
	for _, slack := range []time.Duration{0, window} {
		t.Run(slack.String(), func(t *testing.T) {
			t.Parallel()
			checkBoth(t, slack, repeatBoth)
		})
	}
}

func repeatBoth(b *both) {
	b.Repeat(map[string]func(*rapid.T){
		"time passes":                   func(*rapid.T) { b.pass() },
		"it is configured":              func(*rapid.T) { b.configure() },
		"a node reports":                func(*rapid.T) { b.sync(b.report()) },
		"a node reports and claims":     func(*rapid.T) { b.admit(b.report()) },
		"a node claims":                 func(*rapid.T) { b.admit(b.number(queue.Report{})) },
		"the roster is called":          func(*rapid.T) { b.roster() },
		"a report is sent again":        func(*rapid.T) { b.again() },
		"lost claims are asked about":   func(*rapid.T) { b.askAgain() },
		"a report is sent with another": func(*rapid.T) { b.report(); b.sync(b.report()) },
	})
}

func (b *both) pass() {
	b.now = b.now.Add(b.past(30*time.Second) + b.beat)
	b.clock.set(b.now)
}

// past draws how long ago something was, less than most.
func (b *both) past(most time.Duration) time.Duration {
	return b.beat * time.Duration(rapid.IntRange(0, int(most/b.beat)-1).Draw(b.T, "beats"))
}

func (b *both) configure() {
	seconds := func(low, high int, name string) time.Duration {
		return time.Duration(rapid.IntRange(low, high).Draw(b.T, name)) * time.Second
	}
	s := queue.Settings{
		TotalActiveUsers:  rapid.IntRange(1, 8).Draw(b.T, "total"),
		NewUsersPerMinute: rapid.IntRange(1, 8).Draw(b.T, "per minute"),
		SessionDuration:   seconds(1, 90, "session"),
		Method:            rapid.SampledFrom(b.methods()).Draw(b.T, "method"),
		QueueAll:          rapid.IntRange(0, 9).Draw(b.T, "queue all") == 0,
		Pacing:            rapid.SampledFrom([]queue.Pacing{queue.PacingMinute, queue.PacingEven, queue.PacingEarly}).Draw(b.T, "pacing"),
		Bucket:            rapid.SampledFrom([]time.Duration{0, 0, time.Minute}).Draw(b.T, "bucket"),
		RefreshInterval:   seconds(1, 20, "interval"),
		LineDropout:       seconds(25, 70, "dropout"),
		LineGrace:         seconds(3, 20, "grace"),
		QueueWhen:         rapid.SampledFrom([]int{0, 0, 6}).Draw(b.T, "queue when"),
		Occupancy:         queue.Occupancy(rapid.IntRange(0, 1).Draw(b.T, "occupancy")),
		MaxSession:        max(0, seconds(-90, 90, "longest session")),
		HoldActive:        rapid.SampledFrom([]queue.ActiveHold{queue.HoldOff, queue.HoldOff, queue.HoldOff, queue.HoldEnding, queue.HoldNow}).Draw(b.T, "hold"),
		OnSoldOut:         queue.SoldOutPolicy(rapid.IntRange(0, 1).Draw(b.T, "sold out")),
	}.WithDefaults()
	s.QueueTicketTTL = 5 * time.Minute
	s.Shadow = s.Method == queue.Passthrough && rapid.Bool().Draw(b.T, "shadow")
	b.put(s)
}

// put gives the room settings.
func (b *both) put(s queue.Settings) {
	b.version++
	c := queue.Configuration{Version: b.version, Settings: s, By: "somebody", At: b.now}
	require.NoError(b, b.redis.Configure(context.Background(), "shop", c))
	require.NoError(b, b.mem.Configure(context.Background(), "shop", c))
	require.ErrorIs(b, b.redis.Configure(context.Background(), "shop", c), queue.ErrConflict)
	require.ErrorIs(b, b.mem.Configure(context.Background(), "shop", c), queue.ErrConflict)
	b.settings = s
	b.sync(b.number(queue.Report{})) // its line, if it has one, begins at the same moment
}

func (b *both) methods() []queue.Method {
	if b.beat == window {
		return []queue.Method{queue.Line, queue.Line, queue.Line, queue.FIFO}
	}
	return []queue.Method{queue.FIFO, queue.Random, queue.Passthrough, queue.Reject}
}

func (b *both) cell() queue.Cell {
	bucket := start.Add(-time.Duration(rapid.IntRange(0, 3).Draw(b.T, "bucket")) * time.Minute)
	if len(b.boundaries) > 0 && rapid.Bool().Draw(b.T, "fine") {
		bucket = rapid.SampledFrom(b.boundaries).Draw(b.T, "boundary").At
	} else if rapid.Bool().Draw(b.T, "arrives now") {
		bucket = b.now.Floor(time.Minute)
	}
	return queue.Cell{
		Bucket: bucket,
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
	p.Seq, p.Now, p.Since = b.seq[p.Node], b.now, b.views[p.Node]
	p.Final = max(0, b.now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 0, -1, -200, -1000, 5}).Draw(b.T, "final"))*time.Millisecond))
	b.last[p.Node], b.claims[p.Node] = &p, nil
	return &p
}

func (b *both) report() *queue.Report {
	var p queue.Report
	for range rapid.IntRange(0, 3).Draw(b.T, "cells") {
		p.Cells = append(p.Cells, queue.CellChange{Cell: b.cell(), People: rapid.SampledFrom([]int{-2, -1, 1, 2, 4, 70}).Draw(b.T, "people")})
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
	if rapid.IntRange(0, 2).Draw(b.T, "leaves") == 0 {
		p.Left = []queue.Departure{{ID: b.visitor(), At: b.now.Add(-b.past(2 * time.Second))}}
	}
	if rapid.IntRange(0, 2).Draw(b.T, "has not answered") == 0 {
		p.Unanswered = []queue.ID{b.visitor()}
	}
	if rapid.IntRange(0, 4).Draw(b.T, "has told") == 0 {
		p.Told = []queue.ID{b.visitor()}
	}
	if rapid.IntRange(0, 2).Draw(b.T, "was told of somebody") == 0 {
		text := rapid.SampledFrom([]string{`"Ann"`, `{"name":"Ben"}`}).Draw(b.T, "note")
		p.Notes = []queue.Note{{ID: b.visitor(), At: b.now.Add(-b.past(5 * time.Second)), Text: text}}
	}
	if rapid.IntRange(0, 2).Draw(b.T, "prefers") == 0 {
		p.Priorities = []queue.Priority{{ID: b.visitor(), Priority: b.priority()}}
	}
	if rapid.IntRange(0, 9).Draw(b.T, "has heard of a number") == 0 {
		p.LastNumber = uint64(rapid.IntRange(1, 40).Draw(b.T, "number"))
	}
	p.Factor = rapid.SampledFrom([]float64{0, 0, .9, 1. / 3, .05}).Draw(b.T, "factor")
	p.Newcomers = rapid.IntRange(0, 3).Draw(b.T, "newcomers")
	if rapid.IntRange(0, 4).Draw(b.T, "has heard what is left") == 0 {
		p.Stock = queue.Stock{At: b.now.Add(-b.past(5 * time.Second)), Left: rapid.IntRange(0, 1).Draw(b.T, "left"), Items: rapid.SampledFrom([]queue.Items{"", `["one"]`, `["another"]`}).Draw(b.T, "items")}
	}
	return b.number(p)
}

func (b *both) priority() int16 { return int16(rapid.IntRange(-2, 2).Draw(b.T, "priority")) }

func (b *both) again() {
	if p := b.last[uint64(rapid.IntRange(1, 3).Draw(b.T, "node"))]; p != nil {
		p.Now = b.now
		b.sync(p)
	}
}

// askAgain sends a report again whose answer was lost, and asks what became of the claims that went
// with it.
func (b *both) askAgain() {
	p := b.last[uint64(rapid.IntRange(1, 3).Draw(b.T, "node"))]
	if p == nil || len(b.claims[p.Node]) == 0 {
		return
	}
	var asked []queue.Claim
	for _, c := range b.claims[p.Node] {
		asked = append(asked, queue.Claim{ID: c.ID, Cell: c.Cell, Moved: c.Moved, KeepCell: c.KeepCell, HeldOnly: true, ArrivedAt: p.Now, LastCheckIn: c.LastCheckIn})
	}
	p.Now = b.now
	b.decide(p, asked)
}

func (b *both) sync(p *queue.Report) {
	fromRedis, err := b.redis.Sync(context.Background(), "shop", p)
	require.NoError(b, err)
	fromMem, err := b.mem.Sync(context.Background(), "shop", p)
	require.NoError(b, err)
	b.alike(fromMem.Status, fromRedis.Status)
	if rapid.IntRange(0, 3).Draw(b.T, "the answer is lost") > 0 {
		b.views[p.Node] = fromMem.Now
	}
	assert.Equal(b, append([]queue.BucketCount{}, fromMem.Buckets...), append([]queue.BucketCount{}, fromRedis.Buckets...))
	assert.Equal(b, append(queue.Boundaries{}, fromMem.Boundaries...), append(queue.Boundaries{}, fromRedis.Boundaries...))
	assert.Equal(b, fromMem.Ends, fromRedis.Ends)
	assert.Equal(b, fromMem.Stock, fromRedis.Stock)
	if fromMem.Configuration.Version > 0 { // else no place lasts
		assert.Equal(b, fromMem.Kept, fromRedis.Kept)
	}
	b.boundaries = fromMem.Boundaries
	assert.ElementsMatch(b, fromMem.Revoked, fromRedis.Revoked)
	assert.Subset(b, fromMem.Left, fromRedis.Left)
	assert.Subset(b, fromRedis.Left, fromMem.Left)
	assert.ElementsMatch(b, fromMem.Nodes, fromRedis.Nodes)
	assert.Equal(b, fromMem.RateKnown, fromRedis.RateKnown)
	assert.InDelta(b, fromMem.Rate, fromRedis.Rate, 1e-9)
	assert.Equal(b, [...]any{fromMem.FirstNumber, fromMem.LastNumber, fromMem.Preferred, fromMem.Turns},
		[...]any{fromRedis.FirstNumber, fromRedis.LastNumber, fromRedis.Preferred, fromRedis.Turns})
	if b.Failed() {
		b.FailNow()
	}
}

// roster asks for everyone, or for some. Since when they are in is left out: Redis
// forgets it of whoever has been in for long.
func (b *both) roster() {
	var some []queue.ID
	for range rapid.IntRange(0, 3).Draw(b.T, "asked for") {
		if id := b.visitor(); !slices.Contains(some, id) {
			some = append(some, id)
		}
	}
	b.sync(b.number(queue.Report{}))
	fromRedis, err := b.redis.Roster(context.Background(), "shop", some)
	require.NoError(b, err)
	fromMem, err := b.mem.Roster(context.Background(), "shop", some)
	require.NoError(b, err)
	require.Equal(b, fromMem.Line, fromRedis.Line)
	require.Equal(b, fromMem.Kept, fromRedis.Kept)
	sessions := func(r *queue.Roster) (list []queue.Seat) {
		for _, s := range r.Seated {
			s.AcceptedAt = 0
			list = append(list, s)
		}
		return list
	}
	require.ElementsMatch(b, sessions(fromMem), sessions(fromRedis))
}

func (b *both) claim() queue.Claim {
	one := func(in int, what string) bool { return rapid.IntRange(1, in).Draw(b.T, what) == 1 }
	c := queue.Claim{ID: b.visitor(), HeldOnly: one(10, "held only"), NoSlot: one(8, "no slot"), NoPlace: one(8, "no place"), Raise: one(3, "raise"), Renew: one(4, "renew")}
	if one(3, "for a lease") {
		c.Lease = time.Duration(rapid.IntRange(1, 60).Draw(b.T, "lease")) * time.Second
	}
	if one(3, "has a priority") {
		c.Priority = b.priority()
	}
	old := b.now > b.admitted[c.ID].Add(b.settings.PlaceLasts()) && b.admitted[c.ID] > 0
	if !old && rapid.Bool().Draw(b.T, "waits") {
		c.Cell, c.KeepCell = b.cell(), one(4, "keep cell")
		if one(3, "moved") {
			c.Moved = b.cell()
		}
		c.Due = b.now.Add(time.Duration(rapid.IntRange(0, 8).Draw(b.T, "due")) * 5 * time.Second)
		c.LastCheckIn = b.now.Add(-b.past(90 * time.Second))
		c.ArrivedAt = c.LastCheckIn.Add(-b.past(2 * time.Minute))
		c.Due = b.now.Add(time.Duration(rapid.IntRange(0, 8).Draw(b.T, "due")) * 5 * time.Second)
		if one(4, "was let in") {
			c.AcceptedAt = c.LastCheckIn.Add(b.past(10*time.Second) - 5*time.Second)
		}
		c.Number = uint64(max(0, rapid.IntRange(-10, 20).Draw(b.T, "number")))
	}
	return c
}

func (b *both) admit(p *queue.Report) {
	claims := make([]queue.Claim, rapid.IntRange(1, 5).Draw(b.T, "claims"))
	for i := range claims {
		claims[i] = b.claim()
	}
	b.claims[p.Node] = claims
	b.decide(p, claims)
}

// decide puts claims to both stores.
func (b *both) decide(p *queue.Report, claims []queue.Claim) {
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
		assert.Equal(b, fromMem[i].Place, fromRedis[i].Place, "claim %d: %+v", i, claims[i])
	}
	b.alike(mem, redis)
	if b.Failed() {
		b.FailNow()
	}
}

// alike asserts that a room stands alike by both stores.
func (b *both) alike(mem, redis queue.Status) {
	mem.Epoch, redis.Epoch = "", ""
	assert.Equal(b, mem, redis)
}
