package waitlist_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func TestAListIsOpenedOnceItsPostgreSQLIsThere(t *testing.T) {
	way := &far{t: t, closed: true}
	name := way.by(postgres.Database(t))
	store, err := waitlist.Open(ctx, name)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	l := must(store.List(ctx, "beta", settings(unconfirmed)))
	assert.True(t, store.Failing())
	_, err = l.Join(ctx, waitlist.SignUp{Email: "ada@example.com"}, start)
	require.ErrorIs(t, err, waitlist.ErrAway)
	_, err = l.EntryOf(ctx, "ada", start)
	require.ErrorIs(t, err, waitlist.ErrAway, "nobody is told that there is no such entry")
	_, err = store.Passes().Revoked(ctx, "shop", start)
	require.ErrorIs(t, err, waitlist.ErrAway)

	way.open()
	require.Eventually(t, func() bool { _, err := l.Sweep(ctx, start); return err == nil }, time.Minute, 50*time.Millisecond)
	assert.False(t, store.Failing())
	assert.Equal(t, 1, must(l.Join(ctx, waitlist.SignUp{Email: "ada@example.com"}, start)).Rank)

	_, err = waitlist.Open(ctx, "postgres://nobody:wrong@"+way.listener.Addr().String()+"/nowhere?sslmode=disable")
	assert.Error(t, err, "what PostgreSQL refuses is a fault of the configuration")
}
