package memstore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

var start = queue.At(time.Date(2021, 5, 27, 15, 54, 0, 0, time.UTC))

// gate is one run of a gate on a directory.
type gate struct {
	testing.TB
	dir   string
	store *memstore.Store
	node  uint64
	seq   uint64
	now   queue.Instant
}

func settings() queue.Settings {
	return queue.Settings{TotalActiveUsers: 100, NewUsersPerMinute: 100, SessionDuration: time.Minute, Pacing: queue.PacingMinute, QueueTicketTTL: 5 * time.Minute}.WithDefaults()
}

// run starts a gate on dir at the given time after start.
func run(t testing.TB, dir string, s queue.Settings, at time.Duration) *gate {
	t.Helper()
	store, err := memstore.Open(dir)
	require.NoError(t, err)
	g := &gate{TB: t, dir: dir, store: store, node: 1, now: start.Add(at)}
	g.configure(s)
	t.Cleanup(func() { assert.NoError(t, g.stop()) })
	return g
}

// stop closes the store, once.
func (g *gate) stop() error {
	store := g.store
	g.store = memstore.New()
	return store.Close()
}

// restart ends the run and starts another at the given time after start.
func (g *gate) restart(s queue.Settings, at time.Duration) *gate {
	g.Helper()
	require.NoError(g, g.stop())
	return run(g.TB, g.dir, s, at)
}

// crashes starts another gate on a copy of what this one has on disk.
func (g *gate) crashes(s queue.Settings, at time.Duration) *gate {
	g.Helper()
	dir := g.TempDir()
	require.NoError(g, os.CopyFS(dir, os.DirFS(g.dir)))
	return run(g.TB, dir, s, at)
}

func (g *gate) configure(s queue.Settings) {
	g.Helper()
	v, err := g.store.Sync(g.Context(), "shop", &queue.Report{Node: g.node, Now: g.now})
	require.NoError(g, err)
	c := queue.Configuration{Version: v.Configuration.Version + 1, Settings: s.WithDefaults()}
	require.NoError(g, g.store.Configure(g.Context(), "shop", c))
}

func (g *gate) at(d time.Duration) { g.now = start.Add(d) }

func (g *gate) report(p queue.Report) *queue.Report {
	g.seq++
	p.Node, p.Seq, p.Now = g.node, g.seq, g.now
	return &p
}

func (g *gate) sync(p queue.Report) *queue.View {
	g.Helper()
	v, err := g.store.Sync(g.Context(), "shop", g.report(p))
	require.NoError(g, err)
	return v
}

func (g *gate) look() *queue.View {
	g.Helper()
	return g.sync(queue.Report{})
}

func (g *gate) count(people int, c queue.Cell) {
	g.Helper()
	g.sync(queue.Report{Cells: []queue.CellChange{{Cell: c, People: people}}})
}

func (g *gate) claim(c queue.Claim) queue.Verdict {
	g.Helper()
	grants := make([]queue.Grant, 1)
	_, err := g.store.Admit(g.Context(), "shop", g.report(queue.Report{}), []queue.Claim{c}, grants)
	require.NoError(g, err)
	return grants[0].Verdict
}

func (g *gate) enter(i int) {
	g.Helper()
	require.Equal(g, queue.Granted, g.claim(newcomer(i)))
}

func (g *gate) journal() string { return filepath.Join(g.dir, "rooms", "shop.journal") }

// size is that of the records: the file has zeros behind them.
func (g *gate) size() int {
	g.Helper()
	file, err := os.ReadFile(g.journal())
	require.NoError(g, err)
	return len(bytes.TrimRight(file, "\x00"))
}

func id(i int) queue.ID { return queue.ID{byte(i), byte(i >> 8), 2: 1} }

func newcomer(i int) queue.Claim { return queue.Claim{ID: id(i)} }

func waiter(i int, c queue.Cell) queue.Claim { return queue.Claim{ID: id(i), Cell: c} }

func cell(bucket, until time.Duration) queue.Cell {
	return queue.Cell{Bucket: start.Add(bucket), Until: start.Add(until)}
}

func TestRestartHoldsSlotsForOneSessionDuration(t *testing.T) {
	s := settings()
	s.TotalActiveUsers = 2
	g := run(t, t.TempDir(), s, 0)
	g.enter(1)
	g.enter(2)
	g = g.restart(s, 50*time.Second)
	assert.Equal(t, queue.Held, g.claim(newcomer(1)))
	assert.Equal(t, queue.Refused, g.claim(newcomer(3)))
	g.at(110*time.Second - time.Millisecond)
	assert.Equal(t, queue.Refused, g.claim(newcomer(3)), "they may have been renewed before the restart")
	g.at(110*time.Second + grain)
	assert.Equal(t, queue.Granted, g.claim(newcomer(3)))
}

func TestRestartHoldsSlotsThatAreNotRenewedUntilTheirEnd(t *testing.T) {
	s := settings()
	s.TotalActiveUsers, s.DisableSessionRenewal = 1, true
	g := run(t, t.TempDir(), s, 0)
	g.enter(1)
	g = g.restart(s, 50*time.Second)
	assert.Equal(t, queue.Refused, g.claim(newcomer(3)))
	g.at(time.Minute + grain)
	assert.Equal(t, queue.Granted, g.claim(newcomer(3)))
}

func TestRestartHoldsNoSlotForThoseWhoHadLeft(t *testing.T) {
	g := run(t, t.TempDir(), settings(), 0)
	for i := range 50 {
		g.enter(i)
	}
	g.at(70 * time.Second)
	g.enter(99)
	g.look()
	g = g.restart(settings(), 71*time.Second)
	assert.Equal(t, 1, g.look().Active)
	assert.Equal(t, queue.Used, g.claim(waiter(7, cell(0, 90*time.Second))), "their places stay used")
}

func TestRestartRemembersTheAdmissionsOfTheMinute(t *testing.T) {
	s := settings()
	s.NewUsersPerMinute, s.SessionDuration = 5, time.Second
	for name, before := range map[string]time.Duration{"from its records": 3 * time.Second, "from what was made of them": 30 * time.Second} {
		t.Run(name, func(t *testing.T) {
			g := run(t, t.TempDir(), s, 0)
			g.enter(1)
			g.enter(2)
			g.sync(queue.Report{Revoked: []queue.Session{{ID: id(2), Expires: start.Add(time.Second)}}})
			g.at(2 * time.Second)
			g.enter(1)
			g.at(before)
			g.look()
			g.enter(2)
			g = g.restart(s, before+time.Second)
			assert.Equal(t, 4, g.look().Admitted)
			g.enter(5)
			assert.Equal(t, queue.Refused, g.claim(newcomer(6)))
			g.at(time.Minute)
			assert.Equal(t, queue.Granted, g.claim(newcomer(6)))
		})
	}
}

func TestACrashCountsNoAdmissionTwiceAndForgetsNone(t *testing.T) {
	s := settings()
	s.NewUsersPerMinute, s.SessionDuration = 4, time.Second
	g := run(t, t.TempDir(), s, 0)
	g.enter(1)
	g.at(2 * time.Second)
	g.look() // which finds that the session has ended, and writes the journal anew
	g.enter(2)
	g.at(4 * time.Second)
	g.look()
	g.enter(3)
	g = g.crashes(s, 5*time.Second)
	assert.Equal(t, 3, g.look().Admitted)
	g.enter(4)
	assert.Equal(t, queue.Refused, g.claim(newcomer(5)))
}

// What a store is asked after a crash it answers as one that went on, but that
// sessions may last longer.
func TestACrashAtAnyMomentLosesAndDoublesNothing(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		require.NoError(rt, err)
		s := settings()
		s.SessionDuration = time.Duration(rapid.IntRange(1, 40).Draw(rt, "session")) * time.Second
		s.DisableSessionRenewal = true
		g, next, at := run(t, dir, s, 0), 0, 0
		for range rapid.IntRange(1, 40).Draw(rt, "things") {
			at += rapid.IntRange(0, 3000).Draw(rt, "ms")
			g.at(time.Duration(at) * time.Millisecond)
			switch rapid.IntRange(0, 4).Draw(rt, "thing") {
			case 0:
				g.look()
			case 1:
				g.sync(queue.Report{Revoked: []queue.Session{{ID: id(rapid.IntRange(0, next).Draw(rt, "who")), Expires: g.now.Add(time.Minute)}}})
			case 2:
				g.sync(queue.Report{Sessions: []queue.Session{{ID: id(10_000 + next), Expires: g.now.Add(s.SessionDuration)}}, Admitted: queue.Admissions{Minute: g.now.Floor(time.Minute), Visitors: 1}})
				next++
			default:
				g.claim(newcomer(next))
				next++
			}
		}
		want := g.look()
		again := g.crashes(s, time.Duration(at)*time.Millisecond)
		got := again.look()
		require.Equal(rt, want.Admitted, got.Admitted)
		require.Equal(rt, want.Active, got.Active)
		require.Len(rt, got.Revoked, len(want.Revoked))
		require.NoError(rt, g.stop())
		require.NoError(rt, again.stop())
	})
}

func TestRestartKeepsTheLine(t *testing.T) {
	s := settings()
	s.TotalActiveUsers = 3
	g := run(t, t.TempDir(), s, 0)
	g.count(2, cell(-time.Minute, 25*time.Second))
	g.at(2 * time.Second)
	g.count(5, cell(0, 80*time.Second))
	g = g.restart(s, 20*time.Second)
	assert.Equal(t, []queue.BucketCount{{Bucket: start.Add(-time.Minute), Waiting: 2}, {Bucket: start, Waiting: 5}}, g.look().Buckets)
	assert.Equal(t, queue.Granted, g.claim(waiter(1, cell(0, 80*time.Second))))
	assert.Equal(t, queue.Refused, g.claim(waiter(2, cell(0, 80*time.Second))), "slots are kept for those ahead")
	g.at(46 * time.Second)
	assert.Equal(t, 4, g.look().Present, "who did not come back within an interval has gone")
	g.at(80 * time.Second)
	assert.Zero(t, g.look().Present)
}

func TestRestartAfterLongerThanAPlaceLastsFindsNobodyInLine(t *testing.T) {
	g := run(t, t.TempDir(), settings(), 0)
	g.count(2, cell(0, time.Hour))
	g = g.restart(settings(), 5*time.Minute+time.Second)
	assert.Zero(t, g.look().Present)
}

func TestRestartFindsTheLineEmptyWhenItWas(t *testing.T) {
	g := run(t, t.TempDir(), settings(), 0)
	g.count(2, cell(0, 10*time.Second))
	g.at(11 * time.Second)
	g.look()
	g = g.restart(settings(), 12*time.Second)
	assert.Zero(t, g.look().Present)
}

func TestRestartKeepsRevocations(t *testing.T) {
	g := run(t, t.TempDir(), settings(), 0)
	g.enter(1)
	g.sync(queue.Report{Revoked: []queue.Session{{ID: id(1), Expires: start.Add(90 * time.Second)}}})
	for _, at := range []time.Duration{10 * time.Second, 89 * time.Second} {
		g = g.restart(settings(), at)
		assert.Equal(t, queue.Banned, g.claim(newcomer(1)))
		assert.Zero(t, g.look().Active)
		g.at(at)
	}
	g = g.restart(settings(), 90*time.Second)
	assert.Equal(t, queue.Used, g.claim(waiter(1, cell(0, 2*time.Minute))))
	g.enter(1)
}

func TestRestartKnowsOfRenewalsUnderALongerSessionDuration(t *testing.T) {
	long, short := settings(), settings()
	long.SessionDuration, long.TotalActiveUsers, short.TotalActiveUsers = time.Hour, 1, 1
	still := long
	still.DisableSessionRenewal = true
	for name, next := range map[string]queue.Settings{"shortened": short, "renewal disabled": still} {
		t.Run(name, func(t *testing.T) {
			g := run(t, t.TempDir(), long, 0)
			g.enter(1)
			g.at(30 * time.Minute)
			g.sync(queue.Report{Sessions: []queue.Session{{ID: id(1), Expires: start.Add(90 * time.Minute)}}})
			g.configure(next)
			g.look()
			g = g.restart(next, 31*time.Minute)
			g.look()
			g.at(90*time.Minute - time.Millisecond)
			assert.Equal(t, queue.Refused, g.claim(newcomer(2)))
			g.at(90*time.Minute + grain)
			g.enter(2)
		})
	}
}

func TestJournalIsWrittenAnewOnceSessionsHaveEnded(t *testing.T) {
	g := run(t, t.TempDir(), settings(), 0)
	for minute := range 30 {
		g.at(time.Duration(minute) * time.Minute)
		for i := range 100 {
			g.enter(minute*100 + i)
		}
		g.look()
	}
	assert.Less(t, g.size(), 800*50, "of 3,000 admissions those that can still matter are left")
	g = g.restart(settings(), 29*time.Minute)
	assert.Equal(t, 100, g.look().Active)
}

func TestJournalIsForItsOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "state")
	g := run(t, dir, settings(), 0)
	info, err := os.Stat(g.journal())
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestDirectoryThatCannotBeUsedIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := memstore.Open(filepath.Join(file, "state"))
	assert.Error(t, err)

	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "rooms", "shop.journal"), 0o700))
	store, err := memstore.Open(dir)
	require.NoError(t, err)
	assert.ErrorContains(t, store.Configure(t.Context(), "shop", queue.Configuration{Version: 1, Settings: settings()}), "shop")
}
