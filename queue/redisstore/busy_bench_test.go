package redisstore_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// newcomers is how many people a busy node sees in a second.
const newcomers = 4000

// busyNodes are so many nodes of a room, each of which has that many newcomers
// between two syncs, as if those were a second apart.
type busyNodes struct {
	testing.TB
	server *redistest.Server
	rooms  []*room.Room
}

func newBusyNodes(t testing.TB, n int) *busyNodes {
	t.Helper()
	b := &busyNodes{TB: t, server: redistest.Start(t, redistest.Options{})}
	store := open(t, b.server.URL())
	for range n {
		b.rooms = append(b.rooms, newRoom(t, store, clock(), queue.Settings{TotalActiveUsers: 200, NewUsersPerMinute: 200, RefreshJitter: .15, Bucket: time.Second, QueueAll: true}))
	}
	for range 3 { // by which all know each other, and the scripts are there
		b.round()
	}
	return b
}

// round is a second of all nodes.
func (b *busyNodes) round() {
	b.Helper()
	for _, r := range b.rooms {
		now := clock()
		for i := range newcomers {
			r.Visit(context.Background(), now.Add(time.Duration(i-newcomers)*time.Second/newcomers).Time(), room.Request{})
		}
		require.NoError(b, r.Sync(context.Background(), now.Time()))
	}
}

// commands counts what the scripts have run so far, and what they took.
func (b *busyNodes) commands() (calls int, took time.Duration) {
	b.Helper()
	for line := range strings.Lines(b.server.Do("INFO", "commandstats").(string)) {
		name, stats, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "cmdstat_"), ":calls=")
		if !ok || name == "info" || name == "client" || name == "hello" || name == "ping" || strings.HasPrefix(name, "script") {
			continue
		}
		n, micros := 0, 0
		_, err := fmt.Sscanf(stats, "%d,usec=%d", &n, &micros)
		require.NoError(b, err)
		if strings.HasPrefix(name, "eval") {
			took += time.Duration(micros) * time.Microsecond
		} else {
			calls += n
		}
	}
	return calls, took
}

// processorTime is what the server has used so far.
func (b *busyNodes) processorTime() (seconds float64) {
	b.Helper()
	for _, field := range []string{"used_cpu_user", "used_cpu_sys"} {
		n, err := strconv.ParseFloat(b.server.Info("cpu", field), 64)
		require.NoError(b, err)
		seconds += n
	}
	return seconds
}

// What the server does for a node goes by the cells that its crowd is in, not by the
// crowd.
func TestSyncOfABusyNodeRunsFewCommands(t *testing.T) {
	t.Parallel()
	b := newBusyNodes(t, 1)
	const rounds = 5
	before, _ := b.commands()
	for range rounds {
		b.round()
	}
	after, _ := b.commands()
	each := (after - before) / rounds
	t.Logf("%d commands a sync with %d newcomers", each, newcomers)
	assert.LessOrEqual(t, each, 200)
}

// BenchmarkSyncOfABusyNode tells what a sync takes of the server.
func BenchmarkSyncOfABusyNode(b *testing.B) {
	nodes := newBusyNodes(b, 1)
	calls, took := nodes.commands()
	rounds := 0
	for b.Loop() {
		nodes.round()
		rounds++
	}
	more, longer := nodes.commands()
	b.ReportMetric(float64(more-calls)/float64(rounds), "commands/sync")
	b.ReportMetric(float64((longer-took).Microseconds())/float64(rounds), "server-µs/sync")
}

// BenchmarkBusyNodes tells what share of a core of the server as many nodes take
// that sync once a second.
func BenchmarkBusyNodes(b *testing.B) {
	nodes := newBusyNodes(b, 300)
	before, rounds := nodes.processorTime(), 0
	for b.Loop() {
		nodes.round()
		rounds++
	}
	b.ReportMetric((nodes.processorTime()-before)/float64(rounds), "cores")
}
