package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// restarting is a room whose process can end.
type restarting struct {
	*door
	dir      string
	settings queue.Settings
	store    *memstore.Store
}

// lineThatRestarts opens a room with an exact line and one slot, which nobody holds. Its places
// last for half a minute of running time.
func lineThatRestarts(t *testing.T, session time.Duration) *restarting {
	t.Helper()
	s := settings(1, 1000)
	s.Method, s.RefreshInterval, s.QueueTicketTTL, s.SessionDuration, s.LineDropout = queue.Line, 2*time.Second, 4*time.Second, session, 30*time.Second
	return roomThatRestarts(t, s)
}

func roomThatRestarts(t *testing.T, s queue.Settings) *restarting {
	t.Helper()
	r := &restarting{door: &door{TB: t, now: start}, dir: t.TempDir(), settings: s}
	r.start()
	t.Cleanup(func() { assert.NoError(t, r.store.Close()) })
	return r
}

func (r *restarting) start() {
	r.Helper()
	var err error
	r.store, err = memstore.Open(r.dir)
	require.NoError(r, err)
	r.room, err = room.New(context.Background(), r.now.Time(), room.Config{Name: "shop", Settings: r.settings, Store: r.store})
	require.NoError(r, err)
}

// isAway ends the process, and starts another after so long.
func (r *restarting) isAway(by time.Duration) {
	r.Helper()
	require.NoError(r, r.store.Close())
	r.now = r.now.Add(by)
	r.start()
}

// letsIn has a visitor check in until they are in, and returns the last ticket by which they were
// not.
func (r *restarting) letsIn(t queue.Ticket) queue.Ticket {
	r.Helper()
	for range 20 {
		got := r.visit(t)
		if got.Outcome == room.Admitted {
			return t
		}
		t = got.Ticket
		r.pass(time.Second)
	}
	r.Fatal("they are not let in")
	return t
}

// losesNumber brings a ticket whose number is worth nothing, which its visitor is told.
func (r *restarting) losesNumber(t queue.Ticket) {
	r.Helper()
	got := r.visit(t)
	assert.Equal(r, room.Queued, got.Outcome)
	assert.Greater(r, got.Ticket.Number, t.Number)
	assert.True(r, got.Rejoined)
}

func TestTheTimeOfNoRestartCountsForANumber(t *testing.T) {
	r := lineThatRestarts(t, 10*time.Hour)
	r.enter()
	line := r.joins(2)
	for _, away := range []time.Duration{3 * time.Hour, 20 * time.Second, time.Hour, 3 * time.Second} {
		r.pass(7 * time.Second)
		r.isAway(away)
	}
	r.pass(time.Second)
	r.keepsNumber(line[1])
	r.pass(time.Second)
	r.losesNumber(line[0])
}

func TestAUsedPlaceDoesNotComeBackAfterHoursWithoutAGate(t *testing.T) {
	r := lineThatRestarts(t, 5*time.Second)
	r.enter()
	line := r.joins(4)
	removed, err := r.room.Remove(t.Context(), r.now.Time(), line[2].ID)
	require.NoError(t, err)
	require.True(t, removed)
	used := r.letsIn(line[0])
	r.letsIn(line[1])
	r.isAway(3 * time.Hour)
	r.pass(time.Second)
	r.isAway(3 * time.Hour)
	r.keepsNumber(line[3])
	r.losesNumber(used)
	r.losesNumber(line[2])
}

func TestNobodyPassesThoseInLineAfterHoursWithoutAGate(t *testing.T) {
	r := lineThatRestarts(t, 5*time.Second)
	r.enter()
	first := r.join()
	r.at(4900 * time.Millisecond)
	first = r.keepsNumber(first)
	r.at(5300 * time.Millisecond) // the slot is open, and is kept for them
	r.isAway(3 * time.Hour)
	late := r.join()
	r.letsIn(r.keepsNumber(first))
	r.waits(late)
}

func TestAUsedPlaceDoesNotComeBackAfterRestartsInARow(t *testing.T) {
	r := lineThatRestarts(t, 5*time.Second)
	r.enter()
	line := r.joins(2)
	r.isAway(3 * time.Hour)
	lost := r.keepsNumber(line[1])
	used := r.letsIn(r.keepsNumber(line[0]))
	r.pass(time.Minute)
	r.enter()
	for range queue.MaxGaps + 3 {
		r.pass(300 * time.Millisecond)
		r.isAway(3 * time.Second)
		r.losesNumber(used)
		r.losesNumber(lost)
	}
}

func TestLongerPlacesAfterHoursWithoutAGateTakeNobodysNumber(t *testing.T) {
	r := lineThatRestarts(t, 5*time.Second)
	r.enter()
	line := r.joins(3)
	used := r.letsIn(line[0])
	r.letsIn(line[1])
	r.isAway(3 * time.Hour)
	r.settings.LineDropout = 10 * time.Minute
	r.configure(r.settings)
	r.keepsNumber(line[2])
	r.pass(40 * time.Second)
	r.enterAsTurns(line[2])
	r.losesNumber(used)
}

func TestWhereSomebodyStandsIsToldByRunningTime(t *testing.T) {
	r := lineThatRestarts(t, 10*time.Hour)
	r.enter()
	first := r.join()
	r.isAway(3 * time.Hour)
	r.pass(time.Second)
	told, _ := r.room.Peek(t.Context(), r.now.Time(), room.Request{Ticket: first})
	assert.Equal(t, first.Number, told.Number)
	r.keepsNumber(first)
	r.pass(40 * time.Second)
	told, _ = r.room.Peek(t.Context(), r.now.Time(), room.Request{Ticket: first})
	assert.Zero(t, told.State)
	r.losesNumber(first)
}

// A stream checks in with the ticket that its visitor had when it was opened.
func TestWhoHadAStreamCountsOnceAfterARestart(t *testing.T) {
	s := settings(1, 1000)
	s.RefreshInterval = 2 * time.Second
	r := roomThatRestarts(t, s)
	r.enter()
	line := r.joins(3)
	for range 10 {
		r.pass(2 * time.Second)
		for _, ticket := range line {
			r.checkIn(ticket)
		}
	}
	r.isAway(5 * time.Second)
	r.sync()
	require.Equal(t, 3, r.stand().Waiting)
	for _, ticket := range line {
		r.waits(ticket)
	}
	r.sync()
	assert.Equal(t, 3, r.stand().Waiting)
}
