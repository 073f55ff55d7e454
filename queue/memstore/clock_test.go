package memstore_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// machine is one on which a gate runs, and is killed and started again. Its clock can
// be set, and tells the true time until then.
type machine struct {
	testing.TB
	dir     string
	passed  time.Duration // since start
	set     time.Duration // what the clock is ahead of the true time
	boot    uint64        // the name of its start; 0 if it does not tell
	began   time.Duration // of that start
	process time.Duration // by how much the gate's own clock is ahead: it never jumps
	room    *room.Room
}

// runs starts a gate on what the one before has on disk.
func (m *machine) runs(s queue.Settings) {
	m.Helper()
	dir := m.TempDir()
	require.NoError(m, os.CopyFS(dir, os.DirFS(m.dir)))
	store, err := memstore.Config{Dir: dir, SinceBoot: func() (uint64, time.Duration) { return m.boot, m.passed - m.began }}.Open()
	require.NoError(m, err)
	m.dir, m.process = dir, m.set
	m.room, err = room.New(m.Context(), m.now().Time(), room.Config{Name: "shop", Settings: s, Store: store})
	require.NoError(m, err)
}

func (m *machine) now() queue.Instant { return start.Add(m.passed + m.process) }

// at lets time pass until so long after the start.
func (m *machine) at(passed time.Duration) {
	m.Helper()
	for m.passed < passed {
		m.passed = min(passed, m.passed+time.Second)
		require.NoError(m, m.room.Sync(m.Context(), m.now().Time()))
	}
}

func (m *machine) visit(t queue.Ticket) room.Decision {
	return m.room.Visit(m.Context(), m.now().Time(), room.Request{Ticket: t})
}

func TestAClockThatWasSetWhileTheGateWasAwayChangesNothing(t *testing.T) {
	for name, set := range map[string]time.Duration{
		"not at all": 0, "back by a second and a half": -1500 * time.Millisecond, "back by a minute": -time.Minute, "back by an hour": -time.Hour, "back by years": -100_000 * time.Hour,
		"forward by a minute": time.Minute, "forward by an hour": time.Hour, "forward by years": 100_000 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			s := settings()
			s.TotalActiveUsers, s.NewUsersPerMinute, s.DisableSessionRenewal = 2, 3, true
			m := &machine{TB: t, dir: t.TempDir(), boot: 7, began: -time.Hour}
			m.runs(s)
			m.at(5 * time.Second)
			first, second := m.visit(queue.Ticket{}), m.visit(queue.Ticket{})
			require.Equal(t, room.Admitted, second.Outcome)
			waits := m.visit(queue.Ticket{})
			require.Equal(t, room.Queued, waits.Outcome)
			m.at(20 * time.Second)
			m.set = set
			m.passed += 3 * time.Second
			m.runs(s)

			assert.Equal(t, room.Admitted, m.visit(first.Ticket).Outcome, "who was in is in")
			assert.Equal(t, room.Admitted, m.visit(second.Ticket).Outcome)
			assert.Equal(t, room.Queued, m.visit(queue.Ticket{}).Outcome, "and nobody else")
			assert.Equal(t, room.Queued, m.visit(waits.Ticket).Outcome, "whoever waits, waits")
			n, err := m.room.CurrentNumbers(t.Context(), m.now().Time())
			require.NoError(t, err)
			assert.Equal(t, 2, n.Active)
			m.at(63 * time.Second)
			assert.Equal(t, room.Admitted, m.visit(first.Ticket).Outcome, "for as long as it was told")
			assert.Equal(t, room.Queued, m.visit(waits.Ticket).Outcome)
			m.at(85 * time.Second)
			assert.Equal(t, room.Admitted, m.visit(waits.Ticket).Outcome, "and then the slot goes on")
		})
	}
}

// The minute whose admissions are counted goes on where it was.
func TestAClockThatWasSetGivesNoMinuteTwice(t *testing.T) {
	for _, set := range []time.Duration{-time.Minute, time.Minute, -time.Hour} {
		s := settings()
		s.NewUsersPerMinute = 3
		m := &machine{TB: t, dir: t.TempDir(), boot: 7}
		m.runs(s)
		m.at(30 * time.Second)
		for range 3 {
			require.Equal(t, room.Admitted, m.visit(queue.Ticket{}).Outcome)
		}
		m.set = set
		m.runs(s)
		m.at(59 * time.Second)
		assert.Equal(t, room.Queued, m.visit(queue.Ticket{}).Outcome, "set by %v", set)
	}
}

// After the machine itself was started again nothing tells how long that took: the
// store's clock goes on from the last moment that it noted.
func TestAClockThatWasSetBackWhileTheMachineWasOffThrowsNobodyOut(t *testing.T) {
	for _, set := range []time.Duration{-time.Minute, -time.Hour, -100_000 * time.Hour} {
		s := settings()
		s.TotalActiveUsers, s.DisableSessionRenewal = 1, true
		m := &machine{TB: t, dir: t.TempDir(), boot: 7}
		m.runs(s)
		in := m.visit(queue.Ticket{})
		m.at(25 * time.Second)
		m.set, m.boot = set, 8
		m.passed += 3 * time.Second
		m.runs(s)
		assert.Equal(t, room.Admitted, m.visit(in.Ticket).Outcome, "set by %v", set)
		m.at(59 * time.Second)
		waits := m.visit(queue.Ticket{})
		assert.Equal(t, room.Queued, waits.Outcome)
		m.at(60*time.Second + 10*time.Second + 3*time.Second + 6*time.Second)
		assert.Equal(t, room.Admitted, m.visit(waits.Ticket).Outcome, "later by what passed since the clock was noted")
	}
}

// A clock that was ahead, and is right again, holds nobody up.
func TestAClockThatWasAheadAndIsRightAgainHoldsNobodyUp(t *testing.T) {
	for name, boot := range map[string]uint64{"the same start": 7, "another start": 8, "a machine that does not tell": 0} {
		t.Run(name, func(t *testing.T) {
			s := settings()
			s.TotalActiveUsers = 1
			m := &machine{TB: t, dir: t.TempDir(), boot: 7, set: 1000 * time.Hour}
			m.runs(s)
			in := m.visit(queue.Ticket{})
			require.Equal(t, room.Admitted, in.Outcome)
			m.at(20 * time.Second)
			m.set, m.boot = 0, boot
			m.runs(s)
			assert.Equal(t, room.Admitted, m.visit(in.Ticket).Outcome)
			waits := m.visit(queue.Ticket{})
			require.Equal(t, room.Queued, waits.Outcome)
			m.at(20*time.Second + 62*time.Second)
			waits = m.visit(waits.Ticket)
			m.at(20*time.Second + 85*time.Second)
			assert.Equal(t, room.Admitted, m.visit(waits.Ticket).Outcome, "one session after the start")
		})
	}
}

func TestAClockWhoseNoteIsLostOrDamagedGoesByTheJournals(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"lost":    os.Remove,
		"damaged": func(path string) error { return os.WriteFile(path, []byte("far from a clock, is this"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			s := settings()
			s.TotalActiveUsers = 1
			m := &machine{TB: t, dir: t.TempDir(), boot: 7}
			m.runs(s)
			m.at(30 * time.Second)
			in := m.visit(queue.Ticket{})
			m.set = -time.Hour
			require.NoError(t, damage(m.dir+"/clock"))
			m.runs(s)
			assert.Equal(t, room.Admitted, m.visit(in.Ticket).Outcome)
			assert.Equal(t, room.Queued, m.visit(queue.Ticket{}).Outcome)
			waits := m.visit(queue.Ticket{})
			m.at(95 * time.Second)
			assert.Equal(t, room.Admitted, m.visit(waits.Ticket).Outcome)
		})
	}
}
