package memstore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/memstore"
)

func fleeting() queue.Settings {
	s := settings()
	s.Fleeting = true
	return s
}

// elsewhere has another room report, which moves the store on.
func (g *gate) elsewhere() {
	g.Helper()
	_, err := g.store.Sync(g.Context(), "other", &queue.Report{Node: 9, Now: g.now})
	require.NoError(g, err)
}

// remembered says whether the room's journal is there.
func (g *gate) remembered() bool {
	_, err := os.Stat(filepath.Join(g.dir, "rooms", "shop.journal"))
	return err == nil
}

// version asks for the room's configuration as a node that starts does.
func (g *gate) version() int64 {
	g.Helper()
	v, err := g.store.Sync(g.Context(), "shop", &queue.Report{Node: 7, Now: g.now})
	require.NoError(g, err)
	return v.Configuration.Version
}

func TestAFleetingRoomIsForgottenWithItsJournal(t *testing.T) {
	g := run(t, t.TempDir(), fleeting(), 0)
	require.Equal(t, queue.Granted, g.claim(newcomer(1)))
	g.look()
	for at := time.Duration(0); at < 5*time.Minute; at += 10 * time.Second {
		g.at(at)
		g.elsewhere()
		require.True(t, g.remembered(), "at %v its tickets could matter", at)
	}
	g.at(6 * time.Minute)
	g.elsewhere()
	assert.False(t, g.remembered())
	assert.Zero(t, g.version(), "it is as one never heard of")
	assert.True(t, g.remembered(), "and there again")
}

func TestAFleetingRoomThatReportsIsKept(t *testing.T) {
	g := run(t, t.TempDir(), fleeting(), 0)
	for at := time.Duration(0); at <= 2*time.Hour; at += 5 * time.Minute {
		g.at(at)
		g.look()
		g.elsewhere()
	}
	assert.Equal(t, int64(1), g.version())
}

func TestOtherRoomsAreNotForgotten(t *testing.T) {
	g := run(t, t.TempDir(), settings(), 0)
	g.at(1000 * time.Hour)
	g.elsewhere()
	assert.Equal(t, int64(1), g.version())
}

func TestAFleetingRoomOfAnEarlierProcessIsForgottenToo(t *testing.T) {
	g := run(t, t.TempDir(), fleeting(), 0)
	require.Equal(t, queue.Granted, g.claim(newcomer(1)))
	g.look()
	require.NoError(t, g.stop())

	var err error
	g.store, err = memstore.Open(g.dir)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, g.stop()) })
	g.at(3 * time.Hour)
	g.elsewhere()
	g.at(3*time.Hour + 10*time.Second)
	g.elsewhere()
	assert.True(t, g.remembered(), "whoever is in may still come back")
	g.at(3*time.Hour + 75*time.Second)
	g.elsewhere()
	assert.False(t, g.remembered())
}

func TestAFleetingRoomThatIsInUseSurvivesARestart(t *testing.T) {
	g := run(t, t.TempDir(), fleeting(), 0)
	require.Equal(t, queue.Granted, g.claim(newcomer(1)))
	g.look()
	g = g.restart(fleeting(), 2*time.Minute)
	g.elsewhere()
	assert.Equal(t, 1, g.look().Active)
}

func TestAStoreThatWasToldAnOlderConfigurationIsToldAgain(t *testing.T) {
	dir := t.TempDir()
	g := run(t, dir, settings(), 0)
	c := queue.Configuration{Version: 5, Settings: settings(), By: "ops", Overrides: []byte("{}")}
	c.Settings.TotalActiveUsers = 7
	v := g.sync(queue.Report{Configuration: c})
	assert.Equal(t, c, v.Configuration)
	g.at(10 * time.Second)
	g.look()
	require.NoError(t, g.stop())
	var err error
	g.store, err = memstore.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, g.stop()) })
	assert.Equal(t, int64(5), g.version())
}
