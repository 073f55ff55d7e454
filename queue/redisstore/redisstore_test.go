package redisstore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/queue/storetest"
)

// grain is that of the ends of sessions.
const grain = 125 * time.Millisecond

func TestStoreKeepsTheContract(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) string{
		"on one server": func(t *testing.T) string { return redistest.Start(t, redistest.Options{}).URL() },
		"on a Cluster":  func(t *testing.T) string { return redistest.StartCluster(t).URL() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shared := open(t, start(t))
			shared.SetSlack(0) // as the contract's other store
			var rooms atomic.Int32
			storetest.Run(t, func(t *testing.T) storetest.Harness {
				store := newClocked(shared)
				store.prefix = fmt.Sprint("case", rooms.Add(1), "-")
				return storetest.Harness{Store: store, SetClock: store.set, Slack: grain}
			})
		})
	}
}

func TestSlotsAreGivenOnByReports(t *testing.T) {
	t.Parallel()
	shared := open(t, redistest.Start(t, redistest.Options{}).URL())
	var rooms atomic.Int32
	storetest.FinalReports(t, func(*testing.T) storetest.Harness {
		store := newClocked(shared)
		store.prefix = fmt.Sprint("final", rooms.Add(1), "-")
		return storetest.Harness{Store: store, SetClock: store.set, Slack: redisstore.Slack}
	})
}

func TestPlacesAndLimitsOutliveEventsWithAnotherMethod(t *testing.T) {
	t.Parallel()
	shared := open(t, redistest.Start(t, redistest.Options{}).URL())
	var rooms atomic.Int32
	storetest.ChangesOfMethod(t, func(*testing.T) storetest.Harness {
		store := newClocked(shared)
		store.prefix = fmt.Sprint("event", rooms.Add(1), "-")
		return storetest.Harness{Store: store, SetClock: store.set}
	})
}

func TestExactLineIsLinearizable(t *testing.T) {
	t.Parallel()
	for range 5 {
		store := open(t, redistest.Start(t, redistest.Options{}).URL())
		store.SetSlack(0)
		storetest.Linearizable(t, storetest.Harness{Store: store, Slack: grain, SetClock: func(now queue.Instant) {
			for _, room := range []string{"red", "blue"} {
				assert.NoError(t, setClock(context.Background(), store, room, now, queue.At(time.Now()).Add(still)))
			}
		}})
	}
}

// leastRules are what cmd/fairdoor/docs/gates.md tells to give the store's user.
const leastRules = "~fairdoor:* +@read +@write +@scripting +@connection -@dangerous +time +info"

func TestWithUserAndTLS(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]redistest.Options{
		"a password":          {Password: "s3cret/@:"},
		"an ACL user":         {User: "gate", UserPassword: "s3cret", Rules: leastRules},
		"TLS":                 {TLS: true},
		"TLS and an ACL user": {TLS: true, User: "gate", UserPassword: "p", Rules: "~fairdoor:* +@all"},
		"an append-only file": {AppendOnly: true},
		"a limit, noeviction": {MaxMemory: "100mb", Policy: "noeviction"},
	} {
		t.Run("works with "+name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, o)
			store := open(t, server.URL())
			r := newRoom(t, store, queue.At(time.Now()), queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 10})
			now := queue.At(time.Now())
			assert.Equal(t, room.Admitted, r.Visit(context.Background(), now.Time(), room.Request{}).Outcome)
			assert.Equal(t, room.Queued, r.Visit(context.Background(), now.Time(), room.Request{}).Outcome)
			require.NoError(t, r.Sync(context.Background(), now.Time()))
			assert.Contains(t, server.Do("CLIENT", "LIST"), "resp=3")
		})
	}
}

func TestUserWithTheLeastRulesMayAllThatARoomNeeds(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{User: "gate", UserPassword: "p", Rules: leastRules + " +cluster", Cluster: true})
	server.Do("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
	redistest.Until(t, "the Cluster is whole", func() bool { return strings.Contains(server.Do("CLUSTER", "INFO").(string), "cluster_state:ok") })
	store := open(t, "redis+cluster://gate:p@"+server.Addr)
	busyRoom(t, store)
	_, err := store.Roster(context.Background(), "shop", nil)
	require.NoError(t, err)
}

func TestWithoutINFO(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{User: "gate", UserPassword: "p", Rules: "~fairdoor:* +@all -info"})
	store, warnings, err := redisstore.Open(context.Background(), server.URL())
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	assert.Equal(t, []string{"the store's user may not ask for INFO: make sure that it is Redis 6.2 or newer, or Valkey, and its maxmemory-policy noeviction"}, warnings)
	r := newRoom(t, store, queue.At(time.Now()), queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 10})
	assert.Equal(t, room.Admitted, r.Visit(context.Background(), queue.At(time.Now()).Time(), room.Request{}).Outcome)
}

func newRoom(t testing.TB, store queue.Store, now queue.Instant, s queue.Settings) *room.Room {
	t.Helper()
	r, err := room.New(context.Background(), now.Time(), room.Config{Name: "shop", Settings: s, Store: store})
	require.NoError(t, err)
	return r
}

// busyRoom has one of everything that a room remembers.
func busyRoom(t *testing.T, store *redisstore.Store) {
	t.Helper()
	ctx := context.Background()
	r := newRoom(t, store, queue.At(time.Now()), queue.Settings{TotalActiveUsers: 2, NewUsersPerMinute: 10, Method: queue.Random})
	now := queue.At(time.Now())
	var admitted [2]queue.ID
	for i := range admitted {
		d := r.Visit(ctx, now.Time(), room.Request{})
		require.Equal(t, room.Admitted, d.Outcome)
		admitted[i] = d.Ticket.ID
		r.Revoke(now.Time(), d.Ticket)
	}
	r.Visit(ctx, now.Time(), room.Request{})
	r.Visit(ctx, now.Time(), room.Request{})
	require.NoError(t, r.Sync(ctx, now.Time()))
	here := queue.Cell{Bucket: now.Floor(time.Minute), Until: now.Add(time.Minute)}
	status, err := store.Admit(ctx, "shop", &queue.Report{Node: 7, Seq: 1, Cells: []queue.CellChange{{Cell: here, People: 9}}}, nil, nil)
	require.NoError(t, err)
	claims := make([]queue.Claim, status.Open+1)
	for i := range claims {
		claims[i] = queue.Claim{ID: id(i), Cell: here, Due: now.Add(time.Minute)}
	}
	_, err = store.Admit(ctx, "shop", &queue.Report{Node: 7, Seq: 2}, claims, make([]queue.Grant, len(claims)))
	require.NoError(t, err)
	c := r.Configuration()
	c.Version, c.Settings.Method = c.Version+1, queue.Line
	require.NoError(t, store.Configure(ctx, "shop", c))
	inLine := []queue.Claim{{ID: id(100), NoSlot: true}, {ID: id(101), NoSlot: true, Priority: 1}}
	_, err = store.Admit(ctx, "shop", &queue.Report{Node: 7, Seq: 3, Left: []queue.Departure{{ID: id(102), At: now}}, Told: admitted[:]}, inLine, make([]queue.Grant, 2))
	require.NoError(t, err)
	_, err = store.Sync(ctx, "shop", &queue.Report{Node: 8, Seq: 1, Epoch: "another", Notes: []queue.Note{{ID: id(100), At: now, Text: "1"}}}) // who is awaited
	require.NoError(t, err)
}

// A fleeting room leaves nothing behind, not even in its first minute.
func TestKeysOfAFleetingRoomAllHaveAnEnd(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	room := newRoom(t, open(t, server.URL()), queue.At(time.Now()), queue.Settings{TotalActiveUsers: 2, NewUsersPerMinute: 10, Fleeting: true})
	require.NoError(t, room.Sync(context.Background(), queue.At(time.Now()).Time()))
	assert.True(t, room.Settings().Fleeting)
	list := server.Do("KEYS", "*").([]any)
	assert.Contains(t, list, "fairdoor:{shop}:conf")
	for _, key := range list {
		assert.InDelta(t, 70*time.Minute.Milliseconds(), server.Do("PTTL", key), 60_000, key)
	}
}

func TestAnExactLineIsRememberedForAWeekInWhichNoGateRuns(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	now := queue.At(time.Now()).Time()
	r := newRoom(t, open(t, server.URL()), queue.At(now), queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 10, Method: queue.Line})
	for range 2 {
		r.Visit(context.Background(), now, room.Request{})
	}
	require.NoError(t, r.Sync(context.Background(), now))
	for _, key := range []string{"meta", "admitted", "places", "order"} {
		assert.InDelta(t, (queue.LineKept + queue.RoomKept).Milliseconds(), server.Do("PTTL", "fairdoor:{shop}:"+key), 60_000, key)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	store := open(t, server.URL())
	busyRoom(t, store)

	var list []string
	for _, key := range server.Do("KEYS", "*").([]any) {
		list = append(list, key.(string))
	}
	for _, key := range redisstore.Keys("shop") {
		assert.Contains(t, list, key, "the room has one of everything")
	}
	more := slices.DeleteFunc(slices.Clone(list), func(key string) bool { return slices.Contains(redisstore.Keys("shop"), key) })
	require.NotEmpty(t, more)
	for _, key := range more {
		assert.Regexp(t, `:places:\d+$`, key, "nothing but the lists of the exact line is named by the scripts")
	}
	for _, key := range list {
		assert.True(t, strings.HasPrefix(key, "fairdoor:{shop}:"), key)
		ttl := server.Do("PTTL", key).(int64)
		if strings.HasSuffix(key, ":conf") {
			assert.EqualValues(t, -1, ttl, "%s is kept for good", key)
		} else {
			assert.InDelta(t, (queue.LineKept + queue.RoomKept).Milliseconds(), ttl, 60_000, "%s is forgotten in the end", key)
		}
	}
}

// memory adds up what the room's keys take.
func memory(t *testing.T, server *redistest.Server, room string) int64 {
	t.Helper()
	sum := int64(0)
	for _, key := range redisstore.Keys(room) {
		if n, ok := server.Do("MEMORY", "USAGE", key, "SAMPLES", 0).(int64); ok {
			sum += n
		}
	}
	return sum
}

func TestMemoryDoesNotGrowWithTheCrowd(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	store := newClocked(open(t, server.URL()))
	const minutes, windows = 60, 9 // of an interval and its slack
	for room, crowd := range map[string]int{"few": 100, "many": 1_000_000} {
		c := queue.Configuration{Version: 1, Settings: queue.Settings{TotalActiveUsers: 1000, NewUsersPerMinute: 1, Method: queue.Random}.WithDefaults()}
		require.NoError(t, store.Configure(context.Background(), room, c))
		cells := map[queue.Cell]int{}
		for i := range crowd {
			cells[queue.Cell{Bucket: start.Add(time.Duration(i%minutes) * time.Minute), Until: start.Add(time.Hour + time.Duration(i/minutes%windows)*2500*time.Millisecond)}]++
		}
		p := &queue.Report{Node: 1, Seq: 1}
		for c, n := range cells {
			p.Cells = append(p.Cells, queue.CellChange{Cell: c, People: n})
		}
		v, err := store.Sync(context.Background(), room, p)
		require.NoError(t, err)
		require.Equal(t, crowd, v.Present)
		require.Len(t, v.Buckets, minutes)

		// Everyone has raced for a slot, in vain.
		for first := 0; first < min(crowd, 20_000); first += 1000 {
			claims := make([]queue.Claim, min(crowd, 1000))
			for i := range claims {
				claims[i] = queue.Claim{ID: id(first + i), Cell: p.Cells[0].Cell, Due: start.Add(time.Minute)}
			}
			p.Seq++
			_, err := store.Admit(context.Background(), room, &queue.Report{Node: 1, Seq: p.Seq}, claims, make([]queue.Grant, len(claims)))
			require.NoError(t, err)
		}
	}
	few, many := memory(t, server, "few"), memory(t, server, "many")
	t.Logf("100 waiting: %d bytes; 1,000,000 waiting: %d bytes", few, many)
	assert.Less(t, many-few, int64(1<<20))
}

// usedMemory is what the server holds in all.
func usedMemory(t testing.TB, server *redistest.Server) (bytes int64) {
	t.Helper()
	for line := range strings.Lines(server.Do("INFO", "memory").(string)) {
		if n, ok := strings.CutPrefix(line, "used_memory:"); ok {
			_, err := fmt.Sscan(n, &bytes)
			require.NoError(t, err)
		}
	}
	return bytes
}

func TestMemoryOfAnExactLine(t *testing.T) {
	t.Parallel()
	const waiting = 125_000
	server := redistest.Start(t, redistest.Options{})
	store := newClocked(open(t, server.URL()))
	c := newCrowd(t, store, 1000, queue.Settings{})
	before := usedMemory(t, server) // what is there once
	c.join(waiting)
	perWaiter := float64(usedMemory(t, server)-before) / waiting
	t.Logf("%.0f bytes a waiter", perWaiter)
	assert.Less(t, perWaiter, 200.0)
}
