package memstore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// eventful is a journal with all kinds of records, and for each of its lengths
// at which a record is whole, how many are active and present.
type eventful struct {
	bytes   []byte
	records int // of the bytes; zeros follow
	marks   []mark
}

type mark struct{ length, active, present int }

// at returns what a journal tells of which so many bytes were written.
func (e *eventful) at(length int) mark {
	told := mark{}
	for _, m := range e.marks {
		if m.length <= length {
			told = m
		}
	}
	return told
}

// torn is the journal if the gate was killed when so many bytes were written: the
// file is made longer before anything is.
func (e *eventful) torn(length int) []byte {
	return append(bytes.Clone(e.bytes[:length]), make([]byte, len(e.bytes)-length)...)
}

// begin is the length of a journal that says no more than whose it is.
func (e *eventful) begin() int { return 9 + len("H\x04shop") + 1 }

// live lets things happen to a room and takes down its journal.
func live(t testing.TB) *eventful {
	t.Helper()
	g, e := run(t, t.TempDir(), settings(), 0), &eventful{}
	told := func(v *queue.View) {
		e.marks = append(e.marks, mark{g.size(), v.Active, v.Present})
	}
	present := 0
	for i := range 5 {
		g.at(time.Duration(i) * 2 * time.Second)
		g.enter(2 * i)
		e.marks = append(e.marks, mark{g.size(), g.activeIn(e) + 1, present})
		g.enter(2*i + 1)
		e.marks = append(e.marks, mark{g.size(), g.activeIn(e) + 1, present})
		present += i
		g.count(i, cell(time.Duration(i)*time.Second, time.Minute))
		told(g.look())
	}
	told(g.sync(queue.Report{Notes: []queue.Note{{ID: id(1), At: g.now, Text: `"Ann"`}}}))
	g.sync(queue.Report{Revoked: []queue.Session{{ID: id(3), Expires: g.now.Add(time.Hour)}}})
	told(g.look())
	var err error
	e.bytes, err = os.ReadFile(g.journal())
	require.NoError(t, err)
	e.records = g.size()
	require.Equal(t, e.records, e.marks[len(e.marks)-1].length)
	return e
}

func (g *gate) activeIn(e *eventful) int {
	if len(e.marks) == 0 {
		return 0
	}
	return e.marks[len(e.marks)-1].active
}

// losses are what a store has told of journals that are not whole.
type losses []string

// reopen starts a gate that has run before on a journal of the given bytes; without
// one if they are nil.
func reopen(t testing.TB, journal []byte) (*gate, *losses) {
	t.Helper()
	dir, told := t.TempDir(), &losses{}
	for _, file := range []struct {
		name    string
		content []byte
	}{{"known/shop", []byte{}}, {"rooms/shop.journal", journal}} {
		path := filepath.Join(dir, file.name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		if file.content != nil {
			require.NoError(t, os.WriteFile(path, file.content, 0o600))
		}
	}
	store, err := memstore.Config{Dir: dir, OnLoss: func(room string, reason error) { *told = append(*told, room+": "+reason.Error()) }}.Open()
	require.NoError(t, err)
	g := &gate{TB: t, dir: dir, store: store, node: 1, now: start.Add(20 * time.Second)}
	g.configure(settings())
	return g, told
}

func TestCrashAtAnyByteLosesTheTornRecordAlone(t *testing.T) {
	e := live(t)
	for length := e.begin(); length <= e.records; length++ {
		g, told := reopen(t, e.torn(length))
		v, want := g.look(), e.at(length)
		require.Equal(t, want.active, v.Active, "cut off at %d", length)
		require.Equal(t, want.present, v.Present, "cut off at %d", length)
		require.Empty(t, *told, "cut off at %d", length)
		require.False(t, v.Recovering)
		require.NoError(t, g.stop())
	}
}

func TestRecordsAfterACrashAreNotLostBehindTheTornOne(t *testing.T) {
	e := live(t)
	for length := e.begin(); length <= e.records; length += 7 {
		g, _ := reopen(t, e.torn(length))
		g.enter(100)
		g = g.restart(settings(), 21*time.Second)
		require.Equal(t, queue.Held, g.claim(newcomer(100)), "cut off at %d", length)
		require.Equal(t, e.at(length).active+1, g.look().Active)
		require.NoError(t, g.stop())
	}
}

// loses says that a gate has told of its loss, knows those in its journal who are
// before it, and lets nobody new in until the minute has ended and one session.
func (g *gate) loses(told *losses, what string) {
	g.Helper()
	v := g.look()
	require.Len(g, *told, 1, what)
	require.True(g, v.Recovering, what)
	require.Zero(g, v.Open, what)
	require.Equal(g, queue.Refused, g.claim(newcomer(100)), what)
	g.at(80*time.Second - time.Millisecond)
	require.Equal(g, queue.Refused, g.claim(newcomer(100)), what)
	require.NoError(g, g.stop())
}

func TestOneFlippedBitAnywhereIsTold(t *testing.T) {
	e := live(t)
	for i := 0; i < e.records; i += 3 {
		bad := bytes.Clone(e.bytes)
		bad[i] ^= 1 << (i % 8)
		g, told := reopen(t, bad)
		require.Equal(t, e.at(i).active, g.look().Active, "byte %d: what is before it is known", i)
		g.loses(told, "byte "+strconv.Itoa(i))
	}
}

func TestAJournalThatWasCutShortAnywhereIsTold(t *testing.T) {
	e := live(t)
	for length := 0; length <= e.records; length += 3 {
		g, told := reopen(t, append([]byte{}, e.bytes[:length]...))
		require.Equal(t, e.at(length).active, g.look().Active, "what is before the cut is known")
		g.loses(told, "cut off at "+strconv.Itoa(length))
	}
}

func TestAJournalThatIsNotTheRoomsOwnIsTold(t *testing.T) {
	e := live(t)
	for name, journal := range map[string][]byte{
		"missing":                   nil,
		"zeros":                     make([]byte, 4096),
		"another room's":            bytes.Replace(e.bytes, []byte("shop"), []byte("shoe"), 1),
		"of old":                    append([]byte{0, 33, 1, 2, 3, 4, 'A'}, make([]byte, 32)...),
		"without its beginning":     e.bytes[e.begin():],
		"with a record left out":    slices.Concat(e.bytes[:e.marks[0].length], e.bytes[e.marks[0].length+3:]),
		"with something behind it":  append(bytes.Clone(e.bytes), 'x'),
		"with a part of it zeroed":  slices.Concat(e.bytes[:200], make([]byte, 64), e.bytes[264:]),
		"with a part of it doubled": slices.Concat(e.bytes[:300], e.bytes[200:]),
	} {
		t.Run(name, func(t *testing.T) {
			g, told := reopen(t, journal)
			g.loses(told, name)
		})
	}
}

func TestARoomThatIsNewWaitsForNothing(t *testing.T) {
	g, told := reopen(t, nil)
	g.at(0)
	other := &gate{TB: t, store: g.store, node: 2, now: g.now}
	v, err := other.store.Sync(t.Context(), "new", other.report(queue.Report{}))
	require.NoError(t, err)
	assert.False(t, v.Recovering)
	assert.Len(t, *told, 1, "of the shop alone")
	require.NoError(t, g.stop())
}

// Those who were in come back with their tickets while nobody new is let in, and
// another crash loses none of them, nor that they are waited for.
func TestARoomWithALostJournalLearnsWhoIsInAndHoldsItsLimit(t *testing.T) {
	g, _ := reopen(t, nil)
	s := settings()
	s.TotalActiveUsers = 2
	g.configure(s)
	g.at(40 * time.Second)
	g.sync(queue.Report{Sessions: []queue.Session{{ID: id(1), Expires: g.now.Add(time.Minute)}}})
	g.at(50 * time.Second)
	g = g.crashes(s, 51*time.Second)
	v := g.look()
	assert.Equal(t, 1, v.Active)
	assert.True(t, v.Recovering)
	assert.Equal(t, start.Add(80*time.Second), v.NextOpen, "one session after the loss was found")
	assert.Equal(t, queue.Refused, g.claim(newcomer(7)))
	assert.Equal(t, queue.Held, g.claim(newcomer(1)))
	g.at(80 * time.Second)
	g.enter(7)
	assert.Equal(t, queue.Refused, g.claim(newcomer(8)))
}

// A lost journal may have told of as many admissions in its minute as there were
// slots, and of as many more for each session that has passed since it began.
func TestARoomWithALostJournalKeepsTheAllowanceOfTheMinute(t *testing.T) {
	for _, c := range []struct {
		perMinute, total, want int
		session                time.Duration
	}{
		{perMinute: 100, total: 2, want: 2, session: 5 * time.Second},
		{perMinute: 12, total: 5, want: 0, session: 5 * time.Second},
		{perMinute: 12, total: 5, want: 2, session: 12 * time.Second},
		{perMinute: 7, total: 5, want: 2, session: 25 * time.Second},
	} {
		g, _ := reopen(t, nil)
		s := settings()
		s.TotalActiveUsers, s.NewUsersPerMinute, s.SessionDuration, s.RefreshInterval = c.total, c.perMinute, c.session, time.Second
		g.configure(s)
		g = g.crashes(s, 20*time.Second+c.session)
		assert.Equal(t, c.want, g.look().Open, "%+v", c)
		g.at(time.Minute)
		assert.Equal(t, min(c.total, c.perMinute), g.look().Open)
	}
}

func TestAJournalThatIsRemovedWhileTheGateRunsIsWrittenAnew(t *testing.T) {
	g := run(t, t.TempDir(), settings(), 0)
	g.enter(1)
	g.look()
	require.NoError(t, os.RemoveAll(filepath.Join(g.dir, "rooms")))
	_, err := g.store.Admit(t.Context(), "shop", g.report(queue.Report{}), []queue.Claim{newcomer(2)}, make([]queue.Grant, 1))
	require.ErrorContains(t, err, "writing the journal")
	g.look()
	g.enter(3)
	g = g.crashes(settings(), time.Second)
	assert.Equal(t, queue.Held, g.claim(newcomer(1)))
	assert.Equal(t, queue.Held, g.claim(newcomer(3)))
	assert.Equal(t, 2, g.look().Admitted)
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
		g, _ := reopen(t, append([]byte{}, journal...))
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
