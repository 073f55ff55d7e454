package memstore_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// exact are settings of a room with an exact line and one slot.
func exact() queue.Settings {
	s := settings()
	s.TotalActiveUsers, s.Method, s.SessionDuration, s.LineDropout = 1, queue.Line, time.Hour, time.Minute
	return s
}

// place puts a claim that is to be refused.
func (g *gate) place(c queue.Claim) queue.Place {
	g.Helper()
	grant := g.putAll([]queue.Claim{c})[0]
	require.Equal(g, queue.Refused, grant.Verdict)
	return grant.Place
}

// ticketed is the claim of visitor i with a ticket of that number from start.
func ticketed(i int, number uint64) queue.Claim {
	c := waiter(i, cell(0, time.Minute))
	c.Number, c.ArrivedAt, c.LastCheckIn = number, start, start
	return c
}

// killed starts another gate on what a gate has on disk at this moment.
func (g *gate) killed(at time.Duration) *gate {
	g.Helper()
	return g.crashes(exact(), at)
}

func TestNumbersAreNotGivenOutTwiceWhateverHappensToTheGate(t *testing.T) {
	g := run(t, t.TempDir(), exact(), 0)
	g.enter(0)
	g.place(newcomer(1))
	last := g.place(newcomer(2)).Number
	require.Equal(t, uint64(3), last)
	g = g.killed(time.Second)
	assert.Equal(t, last+1, g.place(newcomer(3)).Number)
	assert.Equal(t, queue.Place{Number: 3, Length: 2}, g.place(ticketed(2, 3)), "places come back with the tickets, ahead of newcomers")
	assert.Equal(t, queue.Place{Number: 2, Length: 3}, g.place(ticketed(1, 2)))

	g.at(time.Hour)
	g.look() // which writes the journal anew
	g = g.killed(time.Hour)
	assert.Equal(t, last+1, g.look().LastNumber)
}

func TestARestartAfterLongerThanTheDropoutKeepsTheLine(t *testing.T) {
	for name, starts := range map[string]func(g *gate, at time.Duration) *gate{
		"after a restart": func(g *gate, at time.Duration) *gate { return g.restart(exact(), at) }, "after a kill": (*gate).killed,
	} {
		t.Run(name, func(t *testing.T) {
			g := run(t, t.TempDir(), exact(), 0)
			g.enter(0)
			g.count(3, cell(0, 10*time.Minute))
			for i := range 3 {
				g.place(newcomer(i + 1))
			}
			g.at(70 * time.Second)
			g.look()
			ago := func(i int, since time.Duration) queue.Claim {
				c := ticketed(i, uint64(i+1))
				c.LastCheckIn = start.Add(since)
				return c
			}
			g = starts(g, 10*time.Minute)
			assert.Equal(t, queue.Place{Number: 5, Length: 1, Joined: true}, g.place(ago(1, 10*time.Second)), "who had stayed away for too long before")
			g.at(10*time.Minute + 39*time.Second)
			assert.Equal(t, queue.Place{Number: 3, Length: 2}, g.place(ago(2, 50*time.Second)))
			g.at(10*time.Minute + 41*time.Second)
			assert.Equal(t, queue.Place{Number: 6, Ahead: 2, Length: 3, Joined: true}, g.place(ago(3, 50*time.Second)), "the time after the restart counts")
		})
	}
}

func TestKillsInARowTakeNobodysNumber(t *testing.T) {
	g := run(t, t.TempDir(), exact(), 0)
	g.enter(0)
	g.count(2, cell(0, 100*time.Hour))
	g.place(newcomer(1))
	g.place(newcomer(2))
	at := time.Duration(0)
	for range queue.MaxGaps + 10 {
		at += time.Second
		g.at(at)
		g.look()
		at += 2 * time.Hour
		g = g.killed(at)
	}
	assert.Equal(t, queue.Place{Number: 2, Length: 1}, g.place(ticketed(1, 2)))
	g.at(at + 18*time.Second)
	assert.True(t, g.place(ticketed(2, 3)).Joined, "a minute of running time after their check-in")
}

func TestPlaceThatWasUsedDoesNotComeBackAfterARestart(t *testing.T) {
	s := exact()
	s.SessionDuration = 10 * time.Second
	g := run(t, t.TempDir(), s, 0)
	g.enter(0)
	g.at(time.Second)
	require.Equal(t, uint64(2), g.place(newcomer(1)).Number)
	g.at(11 * time.Second)
	require.Equal(t, queue.Granted, g.claim(newcomer(1)))
	g = g.restart(s, 12*time.Second)
	g.at(23 * time.Second)
	g.enter(5)
	assert.True(t, g.place(ticketed(1, 2)).Joined)
}

func TestPlaceThatWasUsedDoesNotComeBackAfterARestartHoweverLongItLasts(t *testing.T) {
	s := exact()
	s.SessionDuration, s.LineDropout = 10*time.Second, 30*time.Minute
	g := run(t, t.TempDir(), s, 0)
	g.enter(0)
	require.Equal(t, uint64(2), g.place(newcomer(1)).Number)
	g.at(11 * time.Second)
	require.Equal(t, queue.Granted, g.claim(newcomer(1)))
	for minutes := 10; minutes <= 20; minutes += 5 { // the journal is written anew
		g.at(time.Duration(minutes) * time.Minute)
		g.enter(minutes)
		g.look()
	}
	g = g.restart(s, 25*time.Minute)
	g.at(25*time.Minute + 10*time.Second)
	g.enter(5)
	assert.True(t, g.place(ticketed(1, 2)).Joined)
}

func TestRestartLetsNobodyInBeforeTheLineHasHadTheTimeToComeBack(t *testing.T) {
	two := exact()
	two.TotalActiveUsers = 2
	g := run(t, t.TempDir(), exact(), 0)
	g.enter(0)
	g.place(newcomer(1))
	g.place(newcomer(2))
	g.count(2, cell(0, 30*time.Second))
	g = g.restart(two, 2*time.Second)
	assert.Zero(t, g.place(ticketed(2, 3)).Ahead, "the first to check in is not let in for that")
	g.place(ticketed(1, 2))
	g.at(2*time.Second + two.ReturnsWithin())
	assert.Equal(t, 1, g.place(ticketed(2, 3)).Ahead)
	assert.Equal(t, queue.Granted, g.claim(ticketed(1, 2)))
}

func TestRestartWithNobodyInLineOpensAtOnce(t *testing.T) {
	g := run(t, t.TempDir(), exact(), 0)
	g.look()
	g = g.restart(exact(), 2*time.Second)
	g.enter(1)
}

func TestRestartRemembersTheNumbersOfThoseWhoWaitedBeforeTheLine(t *testing.T) {
	s := exact()
	s.Method = queue.FIFO
	g := run(t, t.TempDir(), s, 0)
	g.enter(0)
	g.count(2, cell(0, time.Minute))
	g.at(10 * time.Second)
	g.configure(exact())
	g = g.killed(11 * time.Second)
	g.place(newcomer(9))
	later, earlier := ticketed(1, 0), ticketed(2, 0)
	later.ArrivedAt = start.Add(time.Second)
	assert.Zero(t, g.place(later).Ahead)
	assert.Zero(t, g.place(earlier).Ahead)
	assert.Equal(t, queue.Place{Number: g.look().LastNumber, Ahead: 2, Length: 3}, g.place(newcomer(9)))
}

func TestFullDiskTakesNobodysPlaceInTheExactLine(t *testing.T) {
	g := run(t, t.TempDir(), exact(), 0)
	g.enter(0)
	first := g.place(newcomer(1))
	g.place(newcomer(2))
	two := exact()
	two.TotalActiveUsers = 2
	g.configure(two)
	mend, err := memstore.FailWrites(g.store, "shop")
	require.NoError(t, err)
	_, err = g.store.Admit(t.Context(), "shop", g.report(queue.Report{}), []queue.Claim{newcomer(1), newcomer(3)}, make([]queue.Grant, 2))
	require.Error(t, err)
	mend()
	assert.Equal(t, 1, g.look().Active)
	assert.Equal(t, first.Number, g.look().FirstNumber)
	assert.Equal(t, 1, g.place(newcomer(2)).Ahead)
	assert.Equal(t, queue.Granted, g.claim(newcomer(1)))
	last := g.place(newcomer(4)).Number
	g = g.killed(time.Second)
	assert.Equal(t, last, g.look().LastNumber)
}

func TestNewcomersAfterAJournalWasLostAreBehindThoseWhoWaited(t *testing.T) {
	g := run(t, t.TempDir(), exact(), 0)
	g.enter(0)
	for i := range 3 {
		g.place(newcomer(1 + i))
	}
	journal, err := os.ReadFile(g.journal())
	require.NoError(t, err)
	for name, left := range map[string][]byte{"all of it": nil, "its end": journal[:len(journal)-len(journal)/4]} {
		t.Run(name, func(t *testing.T) {
			g, lost := reopen(t, left)
			g.configure(exact())
			require.NotEmpty(t, *lost)
			late := g.place(newcomer(7)).Number
			for i := range 3 {
				place := g.place(ticketed(1+i, uint64(2+i)))
				assert.Equal(t, uint64(2+i), place.Number)
				assert.Less(t, place.Number, late)
			}
		})
	}
}
