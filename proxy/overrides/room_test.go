package overrides_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

var bg = context.Background()

var start = time.Date(2021, 5, 27, 15, 54, 10, 0, time.UTC)

var file = queue.Settings{TotalActiveUsers: 5, NewUsersPerMinute: 50, RefreshInterval: 20 * time.Second}

// gate is one gate's room, with its file loaded, and its log.
func gate(t require.TestingT, store queue.Store) (*overrides.Room, *observer.ObservedLogs) {
	core, logs := observer.New(zap.InfoLevel)
	r, err := overrides.Open(bg, start, overrides.Config{Config: room.Config{Name: "shop", Settings: file, Store: store}, Log: zap.New(core)})
	require.NoError(t, err)
	_, err = r.Reload(bg, start, overrides.File{Settings: file})
	require.NoError(t, err)
	return r, logs
}

// document is what operators have changed, as the room knows it.
func document(r *overrides.Room) overrides.Document { return overrides.Of(r.Queue().Configuration()) }

func TestEachChangeIsSignedByItsAuthor(t *testing.T) {
	r, _ := gate(t, memstore.New())
	require.NoError(t, r.Patch(bg, start, []byte(`{"total_active_users": 9, "queue_all": true}`), 0, "ann"))
	later := start.Add(time.Minute)
	require.NoError(t, r.Patch(bg, later, []byte(`{"total_active_users": 9, "queue_all": false, "pacing": "minute"}`), 0, "ben"))
	ann, ben := overrides.Author{By: "ann", At: start}, overrides.Author{By: "ben", At: later}
	assert.Equal(t, map[string]overrides.Author{"total_active_users": ann, "queue_all": ben, "pacing": ben}, document(r).By)
}

func TestPatchThatCannotBeUsedChangesNothing(t *testing.T) {
	r, _ := gate(t, memstore.New())
	require.NoError(t, r.Patch(bg, start, []byte(`{"total_active_users": 9}`), 0, "ann"))
	before := r.Queue().Configuration()
	for _, patch := range []string{"", "7", "null", "[]", `{"queue_all": true`} {
		assert.ErrorIs(t, r.Patch(bg, start, []byte(patch), 0, "ben"), overrides.ErrNoObject, patch)
	}
	faults := new(overrides.FaultsError)
	require.ErrorAs(t, r.Patch(bg, start, []byte(`{"queue_all": true, "total_active_users": 0, "bucket": "2m", "nonsense": 1}`), 0, "ben"), &faults)
	assert.Len(t, faults.Faults, 3, "all that is wrong is told: %v", faults)
	assert.Equal(t, before, r.Queue().Configuration())
}

func TestReloadThatDoesNotGoWithTheOverridesChangesNothing(t *testing.T) {
	store := memstore.New()
	r, _ := gate(t, store)
	require.NoError(t, r.Patch(bg, start, []byte(`{"queue_ticket_ttl": "1m", "total_active_users": 9}`), 0, "ann"))
	before, slow := r.Queue().Configuration(), file
	slow.RefreshInterval = time.Minute
	_, err := r.Reload(bg, start, overrides.File{Settings: slow})
	require.ErrorContains(t, err, "has to be taken back first")
	assert.Equal(t, before, r.Queue().Configuration())
	require.NoError(t, r.Patch(bg, start, []byte(`{"queue_all": false}`), 0, "ann"))
	assert.Equal(t, 20*time.Second, r.Queue().Settings().RefreshInterval, "the file is the one before")

	core, logs := observer.New(zap.InfoLevel)
	starts, err := overrides.Open(bg, start, overrides.Config{Config: room.Config{Name: "shop", Settings: slow, Store: store}, Log: zap.New(core)})
	require.NoError(t, err)
	_, err = starts.Reload(bg, start, overrides.File{Settings: slow})
	require.NoError(t, err, "a gate has to start with a file that is right by itself")
	assert.Equal(t, 1, logs.FilterMessageSnippet("of the waiting times does not go with the configuration").Len())
	assert.Equal(t, overrides.Changes{"total_active_users": json.RawMessage("9"), "queue_all": json.RawMessage("false")}, document(starts).Changes)
	assert.Equal(t, time.Minute, starts.Queue().Settings().RefreshInterval)
}

func TestGatesThatAreChangedAtOnceKeepAllChanges(t *testing.T) {
	store := memstore.New()
	patches := []string{`{"total_active_users": 9}`, `{"new_users_per_minute": 90}`, `{"queue_all": true}`, `{"suspended": true}`, `{"pacing": "minute"}`}
	rooms := make([]*overrides.Room, len(patches))
	for i := range rooms {
		rooms[i], _ = gate(t, store)
	}
	var gates sync.WaitGroup
	for i, r := range rooms {
		gates.Go(func() { assert.NoError(t, r.Patch(bg, start, []byte(patches[i]), 0, "ann")) })
	}
	gates.Wait()
	r, _ := gate(t, store)
	assert.Len(t, document(r).Changes, len(patches))
}

func TestChangesOfAnotherGateAreLogged(t *testing.T) {
	store := memstore.New()
	r, _ := gate(t, store)
	other, logs := gate(t, store)
	require.NoError(t, r.Patch(bg, start, []byte(`{"total_active_users": 9}`), 0, "ann"))
	require.NoError(t, other.Queue().Sync(bg, start))
	assert.Equal(t, 9, other.Queue().Settings().TotalActiveUsers)
	assert.Equal(t, "ann", logs.FilterMessage("room was changed through another gate").All()[0].ContextMap()["by"])
	assert.Zero(t, logs.FilterLevelExact(zap.WarnLevel).Len(), "their files are alike")
	changed := file
	changed.NewUsersPerMinute = 7
	_, err := r.Reload(bg, start, overrides.File{Settings: changed})
	require.NoError(t, err)
	require.NoError(t, other.Queue().Sync(bg, start))
	assert.Equal(t, 1, logs.FilterMessageSnippet("another gate has read another file").Len())
}

func TestAChangeForSomeTimeEndsByItselfAtEveryGate(t *testing.T) {
	store := memstore.New()
	a, _ := gate(t, store)
	b, logs := gate(t, store)
	at := start
	after := func(d time.Duration) {
		t.Helper()
		at = at.Add(d)
		for _, r := range []*overrides.Room{a, b} {
			require.NoError(t, r.Follow(bg, at))
			require.NoError(t, r.Queue().Sync(bg, at))
		}
	}
	require.NoError(t, a.Patch(bg, at, []byte(`{"total_active_users": 9}`), 0, "ann"))
	require.NoError(t, a.Patch(bg, at, []byte(`{"queue_all": true, "total_active_users": 2}`), 5*time.Minute, "ann"))
	after(4 * time.Minute)
	assert.True(t, b.Queue().Settings().QueueAll)
	assert.Equal(t, start.Add(5*time.Minute), document(b).By["queue_all"].Until.UTC())

	require.NoError(t, b.Patch(bg, at, []byte(`{"total_active_users": 3}`), 5*time.Minute, "ben"))
	after(time.Minute)
	assert.False(t, a.Queue().Settings().QueueAll, "it has ended")
	assert.Equal(t, 3, a.Queue().Settings().TotalActiveUsers, "and this lasts longer")
	assert.NotContains(t, document(a).Changes, "queue_all")
	after(4 * time.Minute)
	assert.Equal(t, 9, a.Queue().Settings().TotalActiveUsers, "what it was before the first of them")
	assert.True(t, document(a).By["total_active_users"].Until.IsZero())

	require.NoError(t, a.Patch(bg, at, []byte(`{"queue_all": true}`), time.Minute, "ann"))
	require.NoError(t, b.Queue().Sync(bg, at))
	require.NoError(t, b.Patch(bg, at, []byte(`{"queue_all": true}`), 0, "ben"))
	after(time.Hour)
	assert.True(t, a.Queue().Settings().QueueAll, "somebody has made it last")
	assert.Equal(t, "ben", document(a).By["queue_all"].By)
	assert.NotEmpty(t, logs.All())
}

func TestWhatCannotEndHoldsUpNothingElseThatEnds(t *testing.T) {
	r, logs := gate(t, memstore.New())
	for _, change := range []struct {
		patch string
		lasts time.Duration
	}{
		{`{"queue_ticket_ttl": "1m"}`, 0},
		{`{"queue_ticket_ttl": "10m", "queue_all": true}`, 5 * time.Minute},
		{`{"refresh_interval": "1m"}`, 0}, // with which a minute's ticket cannot be
	} {
		require.NoError(t, r.Patch(bg, start, []byte(change.patch), change.lasts, "ann"))
	}
	require.NoError(t, r.Follow(bg, start.Add(5*time.Minute)))
	assert.False(t, r.Queue().Settings().QueueAll, "the hold is over")
	assert.Equal(t, 10*time.Minute, r.Queue().Settings().QueueTicketTTL, "the longer ticket goes on")
	assert.True(t, document(r).By["queue_ticket_ttl"].Until.IsZero())
	assert.Len(t, logs.FilterMessageSnippet("goes on: what was before does not go").All(), 1)

	faults := new(overrides.FaultsError)
	require.ErrorAs(t, r.Patch(bg, start, []byte(`{"queue_ticket_ttl": null}`), time.Minute, "ann"), &faults)
	assert.Contains(t, faults.Error(), "queue_ticket_ttl: null takes a change back for good")
}
