package redistest_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
)

func TestServer(t *testing.T) {
	t.Run("it comes back with what it had on disk, or empty", func(t *testing.T) {
		t.Parallel()
		s := redistest.Start(t, redistest.Options{AppendOnly: true})
		s.Do("SET", "a", "1")
		s.Restart(false)
		assert.Equal(t, "1", s.Do("GET", "a"))
		s.Restart(true)
		assert.Nil(t, s.Do("GET", "a"))
	})
	t.Run("it is as it was asked to be", func(t *testing.T) {
		t.Parallel()
		s := redistest.Start(t, redistest.Options{MaxMemory: "10mb", Policy: "allkeys-lru", Password: "p", TLS: true})
		assert.Equal(t, "allkeys-lru", s.Info("memory", "maxmemory_policy"))
		assert.Equal(t, "10485760", s.Info("memory", "maxmemory"))
		assert.Contains(t, s.URL(), "rediss://:p@127.0.0.1:")
	})
	t.Run("stopped it answers nothing", func(t *testing.T) {
		t.Parallel()
		s := redistest.Start(t, redistest.Options{})
		s.Stop()
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		hasty := redis.NewClient(&redis.Options{Addr: s.Addr, ContextTimeoutEnabled: true, MaxRetries: -1})
		defer func() { _ = hasty.Close() }()
		require.Error(t, hasty.Ping(ctx).Err())
		s.Cont()
		assert.Equal(t, "PONG", s.Do("PING"))
	})
}

func TestSentinel(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, 1)
	s.Master.Do("SET", "a", "1")
	s.Master.Kill()
	assert.Equal(t, s.Replicas[0], s.AwaitFailover(t))
}

func TestCluster(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.Nodes[0].Addr}})
	defer func() { _ = client.Close() }()
	require.NoError(t, client.Set(context.Background(), "{a}1", "1", 0).Err())
	require.NoError(t, client.Set(context.Background(), "{a}2", "2", 0).Err())
	from, slot := c.Owner("{a}1")
	to := c.Nodes[0]
	if from == to {
		to = c.Nodes[1]
	}
	moved := 0
	c.Migrate(slot, from, to, func() { moved++ })
	assert.Equal(t, 2, moved)
	assert.Equal(t, "1", client.Get(context.Background(), "{a}1").Val())
	owner, _ := c.Owner("{a}1")
	assert.Equal(t, to, owner)
}

func TestProxy(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s.Addr)
	client := redis.NewClient(&redis.Options{Addr: p.Addr, MaxRetries: -1, DialerRetries: 1, ReadTimeout: 200 * time.Millisecond})
	defer func() { _ = client.Close() }()
	count := func() error {
		return client.Eval(context.Background(), "return redis.call('INCR', KEYS[1])", []string{"n"}).Err()
	}
	require.NoError(t, count())

	p.LoseReply(2)
	require.NoError(t, count())
	require.Error(t, count(), "the reply is lost")
	assert.Equal(t, "3", s.Do("GET", "n"), "and the script was run")
	require.NoError(t, count())
	assert.Equal(t, 4, p.Scripts())

	p.Refuse()
	require.Error(t, count())
	p.Accept()
	require.NoError(t, count())

	p.Swallow(true)
	require.Error(t, count())
	p.Swallow(false)
	require.NoError(t, count())

	p.Delay(60 * time.Millisecond)
	before := time.Now()
	require.NoError(t, count())
	assert.Greater(t, time.Since(before), 30*time.Millisecond)
}
