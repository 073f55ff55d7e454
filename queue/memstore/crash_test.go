package memstore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/memstore"
)

// eventful is a journal with all kinds of records, and for each of its lengths
// at which a record is whole, how many are active and present.
type eventful struct {
	bytes []byte
	marks []mark
}

type mark struct{ length, active, present int }

// at returns what a journal that was cut off at a length tells.
func (e *eventful) at(length int) mark {
	told := mark{}
	for _, m := range e.marks {
		if m.length <= length {
			told = m
		}
	}
	return told
}

// live lets things happen to a room and takes down its journal.
func live(t testing.TB) *eventful {
	t.Helper()
	g, e := run(t, t.TempDir(), settings(), 0), &eventful{}
	told := func(v *queue.View) {
		e.marks = append(e.marks, mark{int(g.size()), v.Active, v.Present})
	}
	present := 0
	for i := range 5 {
		g.at(time.Duration(i) * 2 * time.Second)
		g.enter(2 * i)
		e.marks = append(e.marks, mark{int(g.size()), g.activeIn(e) + 1, present})
		g.enter(2*i + 1)
		e.marks = append(e.marks, mark{int(g.size()), g.activeIn(e) + 1, present})
		present += i
		g.count(i, cell(time.Duration(i)*time.Second, time.Minute))
		told(g.look())
	}
	g.sync(queue.Report{Revoked: []queue.Session{{ID: id(3), Expires: g.now.Add(time.Hour)}}})
	told(g.look())
	var err error
	e.bytes, err = os.ReadFile(g.journal())
	require.NoError(t, err)
	require.Equal(t, len(e.bytes), e.marks[len(e.marks)-1].length)
	return e
}

func (g *gate) activeIn(e *eventful) int {
	if len(e.marks) == 0 {
		return 0
	}
	return e.marks[len(e.marks)-1].active
}

// reopen starts a gate on a journal of the given bytes.
func reopen(t testing.TB, journal []byte) *gate {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.journal"), journal, 0o600))
	return run(t, dir, settings(), 20*time.Second)
}

func TestCrashAtAnyByteLosesTheTornRecordAlone(t *testing.T) {
	e := live(t)
	for length := range len(e.bytes) + 1 {
		g := reopen(t, e.bytes[:length])
		v, want := g.look(), e.at(length)
		require.Equal(t, want.active, v.Active, "cut off at %d", length)
		require.Equal(t, want.present, v.Present, "cut off at %d", length)
		require.NoError(t, g.stop())
	}
}

func TestRecordsAfterACrashAreNotLostBehindTheTornOne(t *testing.T) {
	e := live(t)
	for length := 0; length <= len(e.bytes); length += 7 {
		g := reopen(t, e.bytes[:length])
		g.enter(100)
		g = g.restart(settings(), 21*time.Second)
		require.Equal(t, queue.Held, g.claim(newcomer(100)), "cut off at %d", length)
		require.Equal(t, e.at(length).active+1, g.look().Active)
		require.NoError(t, g.stop())
	}
}

func TestByteThatWentBadEndsTheJournalThere(t *testing.T) {
	e := live(t)
	for i := range e.bytes {
		bad := bytes.Clone(e.bytes)
		bad[i] ^= 0x10
		g := reopen(t, bad)
		require.Equal(t, e.at(i).active, g.look().Active, "byte %d", i)
		require.NoError(t, g.stop())
	}
}

func TestFullDiskLetsNobodyInAndLosesNothing(t *testing.T) {
	g := run(t, t.TempDir(), settings(), 0)
	g.enter(1)
	g.count(3, cell(0, time.Minute))
	mend, err := memstore.FailWrites(g.store, "shop")
	require.NoError(t, err)

	claims := []queue.Claim{newcomer(1), newcomer(2), waiter(3, cell(0, time.Minute))}
	for range 3 {
		_, err = g.store.Admit(t.Context(), "shop", g.report(queue.Report{}), claims, make([]queue.Grant, 3))
		require.ErrorContains(t, err, "writing the journal")
	}
	revoked := []queue.Session{{ID: id(1), Expires: start.Add(time.Hour)}}
	_, err = g.store.Sync(t.Context(), "shop", g.report(queue.Report{Revoked: revoked}))
	require.Error(t, err)

	mend()
	v := g.look()
	assert.Zero(t, v.Active)
	assert.Equal(t, 1, v.Admitted, "nobody was let in meanwhile")
	assert.Equal(t, 3, v.Present)
	assert.Equal(t, queue.Granted, g.claim(waiter(3, cell(0, time.Minute))), "their place was not used")
	g = g.restart(settings(), 5*time.Second)
	assert.Equal(t, queue.Banned, g.claim(newcomer(1)), "what could not be written then was written later")
	assert.Equal(t, queue.Held, g.claim(newcomer(3)))
	assert.Equal(t, 2, g.look().Admitted)
}

func TestUsedPlaceStaysUsedWhenItsOwnerCannotBeLetInAgain(t *testing.T) {
	g := run(t, t.TempDir(), settings(), 0)
	g.count(1, cell(0, time.Minute))
	require.Equal(t, queue.Granted, g.claim(waiter(1, cell(0, time.Minute))))
	g.at(2 * time.Minute)
	mend, err := memstore.FailWrites(g.store, "shop")
	require.NoError(t, err)
	_, err = g.store.Admit(t.Context(), "shop", g.report(queue.Report{}), []queue.Claim{newcomer(1)}, make([]queue.Grant, 1))
	require.Error(t, err)
	mend()
	assert.Equal(t, queue.Used, g.claim(waiter(1, cell(0, 3*time.Minute))))
}

func TestClosedStoreGrantsNothing(t *testing.T) {
	g := run(t, t.TempDir(), settings(), 0)
	store := g.store
	require.NoError(t, g.stop())
	_, err := store.Admit(t.Context(), "shop", g.report(queue.Report{}), []queue.Claim{newcomer(1)}, make([]queue.Grant, 1))
	require.Error(t, err)
	g = run(t, g.dir, settings(), 0)
	assert.Zero(t, g.look().Active)
}

// FuzzJournal has a gate start on any bytes, and go on from there.
func FuzzJournal(f *testing.F) {
	e := live(f)
	f.Add([]byte{})
	f.Add(e.bytes)
	f.Add(e.bytes[:len(e.bytes)/2])
	f.Add(append([]byte{0, 0, 0, 0, 0, 0}, e.bytes...))
	f.Fuzz(func(t *testing.T, journal []byte) {
		g := reopen(t, journal)
		v := g.look()
		require.GreaterOrEqual(t, v.Active, 0)
		require.GreaterOrEqual(t, v.Present, 0)
		require.GreaterOrEqual(t, v.Open, 0)
		got := g.claim(newcomer(1000))
		g = g.restart(settings(), 21*time.Second)
		if got == queue.Granted {
			require.Equal(t, queue.Held, g.claim(newcomer(1000)))
		}
	})
}
