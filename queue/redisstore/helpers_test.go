package redisstore_test

import (
	"context"
	"encoding/binary"
	"math"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
)

// quiet keeps the client's log of what the tests do to its servers to itself.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	m.Run()
}

// start is a whole minute.
var start = queue.At(time.Date(2021, 5, 27, 15, 54, 0, 0, time.UTC))

// id returns the id of visitor i.
func id(i int) queue.ID { return queue.ID{byte(i), byte(i >> 8), byte(i >> 16), 1} }

// patience is how long a call may take where that is not what is tested: the
// machine may be busy with other tests.
const patience = 5 * time.Second

// open opens the store at the URL until the test ends, with patience.
func open(t testing.TB, url string) *redisstore.Store {
	t.Helper()
	s, warnings, err := redisstore.Open(context.Background(), url)
	require.NoError(t, err)
	require.Empty(t, warnings)
	s.SetBudget(patience)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// clocked is a store whose rooms' clocks stand still until the test moves them:
// Redis has no clock that can be set, but each room remembers what its clock was
// at the last call, and how far it is from the server's.
type clocked struct {
	*redisstore.Store
	now    atomic.Int64
	prefix string // of the names of its rooms
	flows  atomic.Bool
}

// still is how long a clock stands: it is set so far behind, and never goes back.
const still = 4 * time.Second

func newClocked(s *redisstore.Store) *clocked {
	c := &clocked{Store: s}
	c.set(start)
	return c
}

func (c *clocked) set(now queue.Instant) { c.now.Store(int64(now)) }

func (c *clocked) time() queue.Instant { return queue.Instant(c.now.Load()) }

// flow lets the rooms notice how long they were not called, as if it had been
// the server's clock that moved. The clock then runs during a call.
func (c *clocked) flow(on bool) { c.flows.Store(on) }

// wind sets the clock of a room. Where that would set it back, it is the
// server's that goes back.
func (c *clocked) wind(ctx context.Context, room string) error {
	now, server := c.time(), queue.At(time.Now()).Add(still)
	if c.flows.Load() {
		return c.Client().HSet(ctx, meta(room), "offset", int64(now-queue.At(time.Now()))).Err()
	}
	last, err := c.Client().HGet(ctx, meta(room), "now").Int64()
	if redis.HasErrorPrefix(err, "WRONGTYPE") {
		return nil // the room learns from its nodes what its clock was
	}
	if err == nil && now < queue.Instant(last) {
		return c.Client().HSet(ctx, meta(room), "offset", int64(now-server)).Err()
	}
	return setClock(ctx, c.Store, room, now, server)
}

// setClock makes the room remember that its clock was at now at its last call,
// and that the server's was at server.
func setClock(ctx context.Context, s *redisstore.Store, room string, now, server queue.Instant) error {
	return s.Client().HSet(ctx, meta(room), "now", int64(now), "offset", int64(now-server)).Err()
}

func meta(room string) string { return redisstore.Keys(room)[0] }

// Close leaves the store open, which others share.
func (c *clocked) Close() error { return nil }

func (c *clocked) Configure(ctx context.Context, room string, to queue.Configuration) error {
	return c.Store.Configure(ctx, c.prefix+room, to)
}

func (c *clocked) Admit(ctx context.Context, room string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	if err := c.wind(ctx, c.prefix+room); err != nil {
		return queue.Status{}, err
	}
	return c.Store.Admit(ctx, c.prefix+room, p, claims, grants)
}

func (c *clocked) Sync(ctx context.Context, room string, p *queue.Report) (*queue.View, error) {
	if err := c.wind(ctx, c.prefix+room); err != nil {
		return nil, err
	}
	return c.Store.Sync(ctx, c.prefix+room, p)
}

func (c *clocked) Roster(ctx context.Context, room string, ids []queue.ID) (*queue.Roster, error) {
	if err := c.wind(ctx, c.prefix+room); err != nil {
		return nil, err
	}
	return c.Store.Roster(ctx, c.prefix+room, ids)
}

// remembered reads a number from what a room remembers, by its place in the state.
func remembered(t testing.TB, s *redisstore.Store, room string, place int) int64 {
	t.Helper()
	text, err := s.Client().HGet(context.Background(), meta(room), "state").Result()
	require.NoError(t, err)
	return int64(math.Float64frombits(binary.BigEndian.Uint64([]byte(text)[8*place:])))
}

// The places of what the tests look at.
const (
	doubtAt       = 0
	minuteAt      = 1
	awaitsUntilAt = 5
)

// metaInt reads a number from what a room remembers.
func metaInt(t testing.TB, s *redisstore.Store, room, field string) int64 {
	t.Helper()
	text, err := s.Client().HGet(context.Background(), meta(room), field).Result()
	require.NoError(t, err)
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}
