package memstore_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
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

// files is how many files there are below the store's directory.
func (g *gate) files() (files int) {
	g.Helper()
	require.NoError(g, filepath.WalkDir(g.dir, func(_ string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			files++
		}
		return err
	}))
	return files
}

// Somebody asks for one room after another, and lets another be made once they have
// left one.
func TestRoomsThatAreAskedForOneAfterAnotherLeaveNothingBehind(t *testing.T) {
	g := run(t, t.TempDir(), settings(), 0)
	open := len(descriptors(t))
	most, c := 0, queue.Configuration{Version: 1, Settings: fleeting()}
	for i := range 3000 {
		g.at(time.Duration(i) * 100 * time.Millisecond)
		name := fmt.Sprintf("room.%d", i)
		_, err := g.store.Sync(t.Context(), name, &queue.Report{Node: 3, Now: g.now})
		require.NoError(t, err)
		require.NoError(t, g.store.Configure(t.Context(), name, c))
		_, err = g.store.Sync(t.Context(), name, &queue.Report{Node: 3, Seq: 1, Now: g.now})
		require.NoError(t, err)
		most = max(most, memstore.Rooms(g.store))
	}
	assert.LessOrEqual(t, most, 250, "those of twice ten seconds, and some")
	assert.LessOrEqual(t, g.files(), 2*250)
	assert.LessOrEqual(t, len(descriptors(t)), open+2, "no file stays open")
	g.at(400 * time.Second)
	g.elsewhere()
	assert.Equal(t, 5, g.files(), "a journal and a mark of two rooms, and the clock")
}

// descriptors are the files that the process has open.
func descriptors(t testing.TB) []fs.DirEntry {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return open
}

func TestWhatOperatorsHaveChangedOfAFleetingRoomIsKeptForLonger(t *testing.T) {
	g := run(t, t.TempDir(), fleeting(), 0)
	require.NoError(t, g.store.Configure(t.Context(), "shop", queue.Configuration{Version: 2, Settings: fleeting(), Overrides: []byte("{}")}))
	g.look()
	g.at(14 * time.Minute)
	g.elsewhere()
	require.True(t, g.remembered())
	g.at(16 * time.Minute)
	g.elsewhere()
	require.False(t, g.remembered())
}

// A room that goes and comes back within the minute has no more of its allowance.
func TestAFleetingRoomKeepsItsAllowanceOfTheMinute(t *testing.T) {
	s := fleeting()
	s.NewUsersPerMinute, s.SessionDuration, s.QueueTicketTTL, s.RefreshInterval = 1, time.Second, 2*time.Second, time.Second
	g := run(t, t.TempDir(), s, 0)
	g.enter(1)
	g.at(40 * time.Second)
	g.elsewhere()
	assert.Equal(t, queue.Refused, g.claim(newcomer(2)))
	g.at(80 * time.Second)
	g.elsewhere()
	assert.False(t, g.remembered())
}
