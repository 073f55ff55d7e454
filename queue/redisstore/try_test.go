package redisstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/redisstore"
)

func TestTry(t *testing.T) {
	ctx := context.Background()
	s, w, err := redisstore.Open(ctx, "redis://127.0.0.1:7391")
	require.NoError(t, err)
	fmt.Println(w)
	now := func() queue.Instant { return queue.At(time.Now()) }
	cfg := queue.Config{Name: fmt.Sprint("r", time.Now().UnixNano()), Store: s, Gather: 50 * time.Millisecond, Settings: queue.Settings{TotalActiveUsers: 2, NewUsersPerMinute: 10, SessionDuration: 2 * time.Second, RefreshInterval: time.Second}}
	a, err := queue.NewRoom(ctx, now(), cfg)
	require.NoError(t, err)
	b, err := queue.NewRoom(ctx, now(), cfg)
	require.NoError(t, err)
	var ts []queue.Ticket
	for i := range 5 {
		r := a
		if i%2 == 1 {
			r = b
		}
		d := r.Visit(ctx, now(), queue.Request{})
		fmt.Println(i, d.Outcome, d.Issue)
		ts = append(ts, d.Ticket)
	}
	require.NoError(t, a.Sync(ctx, now()))
	n, err := b.Stand(ctx, now())
	require.NoError(t, err)
	fmt.Printf("%+v\n", n)
	c := a.Configuration()
	c.Settings.TotalActiveUsers = 4
	c.Overrides = []byte("x")
	require.NoError(t, a.Configure(ctx, now(), c))
	require.NoError(t, b.Sync(ctx, now()))
	fmt.Println(b.Settings().TotalActiveUsers, b.Configuration())
	for range 6 {
		<-time.After(1200 * time.Millisecond)
		require.NoError(t, a.Sync(ctx, now()))
		require.NoError(t, b.Sync(ctx, now()))
		for i := range ts {
			d := b.Visit(ctx, now(), queue.Request{Ticket: ts[i]})
			fmt.Print(d.Outcome, " ")
			ts[i] = d.Ticket
		}
		n, err := b.Stand(ctx, now())
		require.NoError(t, err)
		fmt.Println(n.Active, n.Waiting, n.Open, n.Admitted)
	}
}
