package overrides_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// sale starts ten minutes after start, with a shuffled prequeue of six, and lasts for an hour.
func sale() event.Event {
	at := start.Add(10 * time.Minute)
	return event.Event{
		Name: "sale", Start: at, End: at.Add(time.Hour), Prequeue: at.Add(-6 * time.Minute), Shuffle: true,
		Overrides: event.Overrides{"session_duration": json.RawMessage(`"30s"`)},
	}
}

// planned is a gate at now whose file has the events.
func planned(t *testing.T, store queue.Store, now time.Time, events ...event.Event) *overrides.Room {
	t.Helper()
	r, _ := reading(t, store, now, overrides.File{Settings: file, Events: events})
	return r
}

// reading is a gate at now that has read a file, and its log.
func reading(t *testing.T, store queue.Store, now time.Time, file overrides.File) (*overrides.Room, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	r, err := overrides.Open(bg, now, overrides.Config{Config: room.Config{Name: "shop", Settings: file.Settings, Store: store}, Log: zap.New(core)})
	require.NoError(t, err)
	_, err = r.Reload(bg, now, file)
	require.NoError(t, err)
	return r, logs
}

// follow has gates sync and follow their events.
func follow(t *testing.T, now time.Time, gates ...*overrides.Room) {
	t.Helper()
	for _, r := range gates {
		require.NoError(t, r.Queue().Sync(bg, now))
		require.NoError(t, r.Follow(bg, now))
	}
	for _, r := range gates {
		require.NoError(t, r.Queue().Sync(bg, now))
	}
}

// phase is what a room goes by: the event, whether everyone new is held, and the session duration.
func phase(r *overrides.Room) string {
	s := r.Queue().Settings()
	return fmt.Sprint(s.Event.Name, " ", s.Event.Prequeueing, " ", s.QueueAll, " ", s.SessionDuration)
}

func TestAnEventIsInForceOnAllGatesFromItsPrequeueToItsEnd(t *testing.T) {
	store := memstore.New()
	a, b := planned(t, store, start, sale()), planned(t, store, start, sale())
	hash := a.Draw("sale").SeedHash()
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{4*time.Minute - time.Second, " false false 5m0s"},
		{4 * time.Minute, "sale true true 30s"},
		{10*time.Minute - time.Second, "sale true true 30s"},
		{10 * time.Minute, "sale false false 30s"},
		{70*time.Minute - time.Second, "sale false false 30s"},
		{70 * time.Minute, " false false 5m0s"},
	} {
		now := start.Add(step.after)
		follow(t, now, b, a)
		c := planned(t, store, now, sale()) // a gate that joins then
		for _, r := range []*overrides.Room{a, b, c} {
			assert.Equal(t, step.want, phase(r), step.after)
			assert.Equal(t, hash, r.Draw("sale").SeedHash(), "the draw is one from the beginning")
		}
	}
	assert.Equal(t, int64(5), a.Queue().Configuration().Version, "each change is made once: the room, the file, and three of the event")
}

func TestAnEventDoesNotGoBackAtAGateWhoseClockIsBehind(t *testing.T) {
	store := memstore.New()
	a, b := planned(t, store, start, sale()), planned(t, store, start, sale())
	begins := start.Add(10 * time.Minute)
	follow(t, begins, a)
	require.NoError(t, b.Queue().Sync(bg, begins))
	require.NoError(t, b.Follow(bg, begins.Add(-100*time.Millisecond)))
	assert.Equal(t, "sale false false 30s", phase(b))
}

func TestWhatAnEventLeavesOutFollowsTheRoom(t *testing.T) {
	store := memstore.New()
	a, b := planned(t, store, start, sale()), planned(t, store, start, sale())
	now := start.Add(11 * time.Minute)
	follow(t, now, a, b)
	require.NoError(t, b.Patch(bg, now, []byte(`{"total_active_users": 9, "session_duration": "7m"}`), 0, "ann"))
	follow(t, now, a, b)
	assert.Equal(t, 9, a.Queue().Settings().TotalActiveUsers)
	assert.Equal(t, 30*time.Second, a.Queue().Settings().SessionDuration, "the event's own stays")
	require.NoError(t, b.Patch(bg, now, []byte(`{"queue_all": true}`), 0, "ann"))
	follow(t, now, a, b)
	held := a.Queue().Settings()
	assert.True(t, held.HeldByOperators(), "queue_all goes over everything")
	require.NoError(t, b.Patch(bg, now, []byte(`{"queue_all": null, "suspended": true}`), 0, "ann"))
	follow(t, now, a, b)
	assert.Equal(t, " false false 7m0s", phase(a), "a suspended room has no events")
	require.NoError(t, b.Patch(bg, now, []byte(`{"suspended": null}`), 0, "ann"))
	follow(t, now, a, b)
	assert.Equal(t, "sale false false 30s", phase(a))

	faults := new(overrides.FaultsError)
	require.ErrorAs(t, a.Patch(bg, now, []byte(`{"queueing_method": "random"}`), 0, "ben"), &faults)
	assert.Contains(t, faults.Error(), "the event sale: shuffle_at_event_start needs queueing_method fifo")
}

// edit puts events in the place of those of operators.
func edit(r *overrides.Room, now time.Time, events ...event.Event) error {
	return r.EditEvents(bg, now, "ann", func(event.List) (event.List, error) { return events, nil })
}

func TestAnEventOfOperatorsIsOnAllGatesAndItsLengthCanChange(t *testing.T) {
	store := memstore.New()
	a, b := planned(t, store, start), planned(t, store, start)
	require.NoError(t, edit(a, start, sale()))
	now := start.Add(10 * time.Minute)
	follow(t, now, b, a)
	assert.Equal(t, "sale false false 30s", phase(b))
	shorter := sale()
	shorter.End = now.Add(2 * time.Minute)
	require.NoError(t, edit(b, now, shorter))
	now = now.Add(2 * time.Minute)
	follow(t, now, a, b)
	assert.Equal(t, " false false 5m0s", phase(a))

	faults := new(overrides.FaultsError)
	other := sale()
	other.Name = "other"
	before := a.Queue().Configuration()
	require.ErrorAs(t, edit(a, start, sale(), other), &faults)
	assert.Contains(t, faults.Error(), "overlaps with the event sale")
	mine := errors.New("no")
	assert.ErrorIs(t, a.EditEvents(bg, now, "ann", func(event.List) (event.List, error) { return nil, mine }), mine)
	assert.Equal(t, before, a.Queue().Configuration())
	require.NoError(t, edit(b, now))
	follow(t, now, a)
	assert.Empty(t, a.Events())
	assert.NotNil(t, a.Draw("sale"), "the draw outlasts the event")
}

func TestWhatADrawGoesByIsSettledWhenItsPrequeueBegins(t *testing.T) {
	r := planned(t, memstore.New(), start)
	require.NoError(t, edit(r, start, sale()))
	hash := r.Draw("sale").SeedHash()
	moved := sale()
	moved.Prequeue = moved.Prequeue.Add(time.Second)
	require.NoError(t, edit(r, start, moved))
	assert.Equal(t, hash, r.Draw("sale").SeedHash(), "its hash may have been published")
	assert.True(t, r.Draw("sale").Prequeue.Equal(moved.Prequeue))
	require.NoError(t, edit(r, start, sale()))

	now := start.Add(5 * time.Minute)
	follow(t, now, r)
	plain, later := sale(), sale()
	plain.Shuffle, later.Start = false, later.Start.Add(time.Minute)
	assert.ErrorContains(t, edit(r, now, moved), "prequeue_start_time cannot change any more")
	assert.ErrorContains(t, edit(r, now, plain), "shuffle_at_event_start cannot change any more")
	require.NoError(t, edit(r, now, later), "the start may be put off")
	assert.Equal(t, hash, r.Draw("sale").SeedHash())
	now = start.Add(12 * time.Minute)
	follow(t, now, r)
	assert.ErrorContains(t, edit(r, now, sale()), "event_start_time cannot change any more")
}

func TestAnEventThatComesBackKeepsItsDraw(t *testing.T) {
	r := planned(t, memstore.New(), start)
	require.NoError(t, edit(r, start, sale()))
	hash := r.Draw("sale").SeedHash()
	plain, later := sale(), sale()
	plain.Shuffle, later.Prequeue = false, later.Prequeue.Add(time.Second)
	require.NoError(t, edit(r, start, plain))
	require.NoError(t, edit(r, start, sale()))
	assert.Equal(t, hash, r.Draw("sale").SeedHash(), "whose shuffle was off for a while")
	require.NoError(t, edit(r, start))
	require.NoError(t, edit(r, start, sale()))
	assert.Equal(t, hash, r.Draw("sale").SeedHash(), "that was cancelled")
	require.NoError(t, edit(r, start))
	require.NoError(t, edit(r, start, later))
	assert.Equal(t, hash, r.Draw("sale").SeedHash(), "also with another prequeue")
	assert.True(t, r.Draw("sale").Prequeue.Equal(later.Prequeue))
}

func TestAnOrderThatIsKnownIsDrawnByNobodyAnyMore(t *testing.T) {
	r := planned(t, memstore.New(), start)
	require.NoError(t, edit(r, start, sale()))
	now := start.Add(12 * time.Minute)
	follow(t, now, r)
	suspended, later := sale(), sale()
	suspended.Suspended = true
	later.Start = now.Add(10 * time.Minute)
	const fault = "event_start_time cannot change any more"
	require.NoError(t, edit(r, now, suspended))
	assert.ErrorContains(t, edit(r, now, later), fault)
	later.Suspended = true
	assert.ErrorContains(t, edit(r, now, later), fault, "also while it is suspended")
	require.NoError(t, edit(r, now))
	later.Suspended = false
	assert.ErrorContains(t, edit(r, now, later), fault, "also when it was deleted")
	require.NoError(t, edit(r, now, sale()))
	require.NoError(t, edit(r, now))

	store := memstore.New()
	planned(t, store, start, sale())
	follow(t, now, planned(t, store, now, sale()))
	again := planned(t, store, now, later)
	assert.True(t, again.Events()[0].Start.Equal(sale().Start), "a gate starts with the start that was")
	assert.False(t, again.Queue().Settings().Event.Prequeueing)
}

func TestAnEventThatIsMadeAnewWithAnEarlierPrequeueHasItsOwnDraw(t *testing.T) {
	r := planned(t, memstore.New(), start)
	require.NoError(t, edit(r, start, sale()))
	now := start.Add(5 * time.Minute)
	follow(t, now, r)
	first := r.Draw("sale")
	require.NoError(t, edit(r, now))
	earlier := sale()
	earlier.Prequeue = earlier.Prequeue.Add(-time.Minute)
	require.NoError(t, edit(r, now, earlier))
	follow(t, now, r)
	assert.True(t, r.Queue().Settings().Event.Prequeueing)
	require.NotNil(t, r.Draw("sale"))
	assert.True(t, r.Draw("sale").Prequeue.Equal(earlier.Prequeue))
	assert.NotEqual(t, first.SeedHash(), r.Draw("sale").SeedHash())
	d := r.Queue().Visit(bg, now, room.Request{})
	assert.NotZero(t, d.Ticket.CameAt, "and visitors draw by it")
	assert.NotEmpty(t, r.Draw("sale").EntryOf(d.Ticket.ID, d.Ticket.ArrivedAt))
}

func TestTheFileAndOperatorsHaveEventsSideBySide(t *testing.T) {
	store := memstore.New()
	r := planned(t, store, start, sale())
	later := event.Event{Name: "later", Start: start.Add(3 * time.Hour), End: start.Add(4 * time.Hour)}
	require.NoError(t, edit(r, start, append(r.Events(), later)...))
	_, err := r.Reload(bg, start, overrides.File{Settings: file, Events: event.List{sale()}})
	require.NoError(t, err)
	require.Len(t, r.Events(), 2)
	assert.Equal(t, []bool{true, false}, []bool{r.Events()[0].FromFile, r.Events()[1].FromFile})
	clash := sale()
	clash.Name, clash.Start, clash.End, clash.Prequeue, clash.Shuffle = "clash", later.Start, later.End, time.Time{}, false
	_, err = r.Reload(bg, start, overrides.File{Settings: file, Events: event.List{clash}})
	require.ErrorContains(t, err, "overlaps")
	assert.Len(t, r.Events(), 2, "a file that does not go with them changes nothing")
	starts := planned(t, store, start, clash)
	require.Len(t, starts.Events(), 2)
	assert.True(t, starts.Events()[1].Suspended, "a gate has to start with its file")
}

// While files are changed on one gate after the other, the latest that was read is in force,
// whichever gate makes the next change.
func TestAnEventGoesOverTheLatestFileWhicheverGateActs(t *testing.T) {
	store, newer := memstore.New(), file
	newer.TotalActiveUsers, newer.SessionDuration = 9, 7*time.Minute
	old := planned(t, store, start, sale())
	reads, _ := reading(t, store, start, overrides.File{Settings: newer, Events: event.List{sale()}})
	limits := func() string { return fmt.Sprint(phase(old), " ", old.Queue().Settings().TotalActiveUsers) }
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{time.Minute, " false false 7m0s 9"},
		{4 * time.Minute, "sale true true 30s 9"},
		{10 * time.Minute, "sale false false 30s 9"},
		{70 * time.Minute, " false false 7m0s 9"},
	} {
		follow(t, start.Add(step.after), old, reads)
		assert.Equal(t, step.want, limits(), step.after)
		assert.Equal(t, 9, old.Merged(sale()).TotalActiveUsers)
	}
	now := start.Add(80 * time.Minute)
	require.NoError(t, old.Patch(bg, now, []byte(`{"new_users_per_minute": 8}`), 0, "ann"))
	follow(t, now, reads, old)
	assert.Equal(t, " false false 7m0s 9", limits(), "so is a change of operators")
	assert.Equal(t, 8, reads.Queue().Settings().NewUsersPerMinute)

	_, err := old.Reload(bg, now, overrides.File{Settings: file})
	require.NoError(t, err)
	assert.Equal(t, " false false 5m0s 5", limits(), "until a gate reads its file again")
}

func TestAnEventOfTheFileDoesNotReplaceAnotherOfOperators(t *testing.T) {
	store := memstore.New()
	r := planned(t, store, start)
	made := sale()
	made.Description, made.Start, made.End = "Two hours.", made.Start.Add(time.Minute), made.End.Add(time.Hour)
	require.NoError(t, edit(r, start, made))
	_, err := r.Reload(bg, start, overrides.File{Settings: file, Events: event.List{sale()}})
	require.ErrorContains(t, err, "sale is in the file (2021-05-27T16:04:10Z to 2021-05-27T17:04:10Z")
	require.ErrorContains(t, err, "operators have made another event of this name (2021-05-27T16:05:10Z to 2021-05-27T18:04:10Z")
	assert.Equal(t, event.List{made}, r.Events(), "and nothing is changed")

	starts, logs := reading(t, store, start, overrides.File{Settings: file, Events: event.List{sale()}})
	for range 2 { // other gates start after it
		require.Len(t, starts.Events(), 2)
		of, theirs := starts.Events()[0], starts.Events()[1]
		assert.Equal(t, "sale true false", fmt.Sprint(of.Name, " ", of.FromFile, " ", of.Suspended), "a gate has to start with its file")
		assert.Equal(t, "sale-made false true", fmt.Sprint(theirs.Name, " ", theirs.FromFile, " ", theirs.Suspended), "and nothing is lost")
		assert.Equal(t, made.End, theirs.End.UTC())
		assert.Equal(t, "Made by operators as sale, a name that an event of a file has. Two hours.", theirs.Description)
		starts = planned(t, store, start, sale())
	}
	said := logs.FilterMessageSnippet("operators have made an event of the name").All()[0].ContextMap()
	assert.Contains(t, said["file"], "2021-05-27T17:04:10Z")
	assert.Contains(t, said["made"], "2021-05-27T18:04:10Z")
}

func TestAFileMayTakeUpAnEventThatOperatorsHaveMade(t *testing.T) {
	r := planned(t, memstore.New(), start)
	require.NoError(t, edit(r, start, sale()))
	hash := r.Draw("sale").SeedHash()
	_, err := r.Reload(bg, start, overrides.File{Settings: file, Events: event.List{sale()}})
	require.NoError(t, err)
	require.Len(t, r.Events(), 1)
	assert.True(t, r.Events()[0].FromFile)
	assert.Equal(t, hash, r.Draw("sale").SeedHash())
	later := sale()
	later.Prequeue, later.Start, later.End = later.Prequeue.AddDate(0, 0, 1), later.Start.AddDate(0, 0, 1), later.End.AddDate(0, 0, 1)
	require.NoError(t, func() error { _, err := r.Reload(bg, start, overrides.File{Settings: file}); return err }())
	require.NoError(t, edit(r, start, sale()))
	_, err = r.Reload(bg, start.Add(2*time.Hour), overrides.File{Settings: file, Events: event.List{later}})
	require.NoError(t, err, "theirs is over")
	assert.Len(t, r.Events(), 1)
}

func TestAnEventSurvivesAKilledGateAndALostStore(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	store, err := memstore.Open(dir)
	require.NoError(t, err)
	r := planned(t, store, start)
	require.NoError(t, edit(r, start, sale()))
	now := start.Add(5 * time.Minute)
	follow(t, now, r)
	hash, was := r.Draw("sale").SeedHash(), phase(r)
	require.Equal(t, "sale true true 30s", was)
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)), "as a kill leaves it")
	again, err := memstore.Open(copied)
	require.NoError(t, err)
	killed := planned(t, again, now)
	assert.Equal(t, was, phase(killed))
	assert.Equal(t, hash, killed.Draw("sale").SeedHash())
	assert.NoError(t, store.Close())
	assert.NoError(t, again.Close())
}

// inRedis is a store in a Redis of its own.
func inRedis(t *testing.T) (*redistest.Server, queue.Store) {
	t.Helper()
	server := redistest.Start(t, redistest.Options{})
	store, _, err := redisstore.Open(bg, server.URL())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return server, store
}

// realSale is a sale in real time: its prequeue began five minutes ago, and it starts in some
// seconds.
func realSale() event.Event {
	at := time.Now().Add(3 * time.Second)
	return event.Event{Name: "sale", Start: at, End: at.Add(time.Hour), Prequeue: at.Add(-5 * time.Minute), Shuffle: true}
}

func TestAnEventSurvivesAStoreThatLosesItsMemory(t *testing.T) {
	server, store := inRedis(t)
	e := realSale()
	a, b := planned(t, store, time.Now(), e), planned(t, store, time.Now(), e)
	follow(t, time.Now(), a, b)
	require.True(t, a.Queue().Settings().Event.Prequeueing)
	hash := a.Draw("sale").SeedHash()
	server.Do("FLUSHALL")
	require.Eventually(t, func() bool {
		now := time.Now()
		for _, r := range []*overrides.Room{a, b} {
			if r.Queue().Sync(bg, now) == nil {
				_ = r.Follow(bg, now)
			}
		}
		s := a.Queue().Settings()
		return s.Event.Name == "sale" && !s.Event.Prequeueing && !s.QueueAll
	}, 20*time.Second, 50*time.Millisecond, "the event starts")
	c := planned(t, store, time.Now(), e)
	for _, r := range []*overrides.Room{a, b, c} {
		require.NoError(t, r.Queue().Sync(bg, time.Now()))
		assert.Equal(t, "sale", r.Queue().Settings().Event.Name)
		assert.Equal(t, hash, r.Draw("sale").SeedHash())
	}
}

func TestAnEventStartsOnceTheStoreIsBack(t *testing.T) {
	server, store := inRedis(t)
	e := realSale()
	r := planned(t, store, time.Now(), e)
	follow(t, time.Now(), r)
	require.True(t, r.Queue().Settings().Event.Prequeueing)
	server.Stop()
	require.Eventually(t, func() bool { return time.Now().After(e.Start) }, 20*time.Second, 50*time.Millisecond)
	assert.Error(t, r.Follow(bg, time.Now()))
	assert.True(t, r.Queue().Settings().Event.Prequeueing, "without the store everyone is held")
	server.Cont()
	require.Eventually(t, func() bool {
		return r.Queue().Sync(bg, time.Now()) == nil && r.Follow(bg, time.Now()) == nil && !r.Queue().Settings().Event.Prequeueing
	}, 20*time.Second, 50*time.Millisecond)
}

func TestAnEventGoesFromItsPrequeueToItsEndInARedis(t *testing.T) {
	_, store := inRedis(t)
	now := time.Now()
	e := event.Event{
		Name: "sale", Prequeue: now.Add(-10 * time.Minute), Start: now.Add(time.Second), End: now.Add(time.Hour),
		Overrides: event.Overrides{"session_duration": json.RawMessage(`"30s"`)},
	}
	a, b := planned(t, store, now), planned(t, store, now)
	require.NoError(t, edit(a, now, e))
	comes := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool {
			follow(t, time.Now(), b, a)
			return phase(a) == want && phase(b) == want
		}, 20*time.Second, 20*time.Millisecond, want)
	}
	comes("sale true true 30s")
	comes("sale false false 30s")
	e.Start = time.Now().Add(time.Second - event.LeastLength)
	e.End = e.Start.Add(event.LeastLength)
	require.NoError(t, edit(b, time.Now(), e))
	comes("sale false false 30s")
	comes(" false false 5m0s")
	assert.Equal(t, a.Queue().Configuration(), b.Queue().Configuration())
	assert.Equal(t, "event", a.Queue().Configuration().By)
	assert.Equal(t, int64(5), a.Queue().Configuration().Version, "each change is made once: the room, two of an operator, the start and the end")
}
