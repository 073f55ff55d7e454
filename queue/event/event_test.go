package event_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

var nine = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

// sale goes from nine to ten, with a prequeue from half past eight.
func sale() event.Event {
	return event.Event{Name: "sale", Start: nine, End: nine.Add(time.Hour), Prequeue: nine.Add(-30 * time.Minute)}
}

func settings() queue.Settings {
	return queue.Settings{TotalActiveUsers: 100, NewUsersPerMinute: 50}.WithDefaults()
}

func TestAnEventThatCannotBeIsRefusedByItsField(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*event.Event)
		field  string
		says   string
	}{
		"a name with a space":              {func(e *event.Event) { e.Name = "winter sale" }, "name", "letters, digits"},
		"no start":                         {func(e *event.Event) { e.Start = time.Time{} }, "event_start_time", "is required"},
		"an end before the start":          {func(e *event.Event) { e.End = nine.Add(-time.Hour) }, "event_end_time", "at least a minute after"},
		"less than a minute":               {func(e *event.Event) { e.End = nine.Add(59 * time.Second) }, "event_end_time", "at least a minute after"},
		"a prequeue that is too short":     {func(e *event.Event) { e.Prequeue = nine.Add(-299 * time.Second) }, "prequeue_start_time", "at least five minutes before"},
		"a shuffle of nobody":              {func(e *event.Event) { e.Prequeue, e.Shuffle = time.Time{}, true }, "shuffle_at_event_start", "needs a prequeue_start_time"},
		"one limit without the other":      {func(e *event.Event) { e.Overrides = overrides(`{"total_active_users": 5}`) }, "new_users_per_minute", "goes together"},
		"the other without the one":        {func(e *event.Event) { e.Overrides = overrides(`{"new_users_per_minute": 5}`) }, "total_active_users", "goes together"},
		"a setting that no event may have": {func(e *event.Event) { e.Overrides = overrides(`{"queue_all": true}`) }, "queue_all", "is not among"},
		"a setting out of bounds":          {func(e *event.Event) { e.Overrides = overrides(`{"session_duration": "25h"}`) }, "session_duration", "is too long"},
		"a page that is too long":          {func(e *event.Event) { e.Page = string(make([]byte, event.MaxPage+1)) }, "custom_page_html", "is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			e := sale()
			assert.Empty(t, e.Faults())
			c.change(&e)
			faults := e.Faults()
			require.Len(t, faults, 1)
			assert.Equal(t, c.field, faults[0].Field)
			assert.Contains(t, faults[0].Problem, c.says)
		})
	}
}

func overrides(text string) (o event.Overrides) {
	_ = json.Unmarshal([]byte(text), &o)
	return o
}

func TestAShuffleIsForArrivalsInFineOrder(t *testing.T) {
	e, s := sale(), settings()
	e.Shuffle = true
	assert.Empty(t, e.FaultsIn(s))
	s.Method = queue.Random
	require.Len(t, e.FaultsIn(s), 1)
	assert.Contains(t, e.FaultsIn(s)[0].Error(), "needs queueing_method fifo")
	e.Overrides = overrides(`{"queueing_method": "fifo"}`)
	assert.Empty(t, e.FaultsIn(s))
	s.Bucket = 10 * time.Minute
	assert.Contains(t, e.FaultsIn(s)[0].Error(), "does not go with the room's setting bucket")
}

func TestEventsOfARoomDoNotOverlapNorShareAName(t *testing.T) {
	next := event.Event{Name: "next", Start: nine.Add(time.Hour), End: nine.Add(2 * time.Hour)}
	assert.Empty(t, event.List{sale(), next}.Faults(), "one may begin when another ends")
	next.Prequeue = nine.Add(50 * time.Minute)
	faults := event.List{sale(), next}.Faults()
	require.Len(t, faults, 1, "prequeues count")
	assert.Equal(t, event.Fault{Event: "next", At: 1, Field: "prequeue_start_time", Problem: faults[0].Problem}, faults[0])
	assert.Contains(t, faults[0].Problem, "overlaps with the event sale, which goes from 2026-12-01T08:30:00Z to 2026-12-01T10:00:00Z")
	next.Suspended = true
	assert.Empty(t, event.List{sale(), next}.Faults(), "a suspended event may be planned")
	next.Name = "sale"
	assert.Contains(t, event.List{sale(), next}.Faults()[0].Error(), "name is that of another event")
}

func TestTheEventInForceHasItsOwnSettingsOverTheRooms(t *testing.T) {
	e, s := sale(), settings()
	e.Overrides = overrides(`{"session_duration": "30s", "total_active_users": 7, "new_users_per_minute": 3}`)
	list := event.List{e}
	at := func(after time.Duration) queue.Settings {
		return list.Over(s, list.ActiveAt(queue.At(nine.Add(after))))
	}
	assert.Equal(t, s, at(-30*time.Minute-time.Millisecond), "before the prequeue")
	pre := at(-30 * time.Minute)
	assert.True(t, pre.QueueAll && pre.Event.Prequeueing && pre.Event.HoldsNew)
	assert.False(t, pre.HeldByOperators())
	started := at(0)
	assert.False(t, started.QueueAll || started.Event.Prequeueing)
	assert.Equal(t, []any{30 * time.Second, 7, 3, queue.FIFO}, []any{started.SessionDuration, started.TotalActiveUsers, started.NewUsersPerMinute, started.Method})
	assert.Equal(t, s, at(time.Hour), "after the end")

	s.QueueAll = true
	assert.True(t, at(0).QueueAll, "queue_all goes over events")
	pre = at(-time.Minute)
	assert.True(t, pre.HeldByOperators())
	s.Suspended = true
	assert.Equal(t, s, at(0), "a suspended room has no events")
	s.Suspended, list[0].Suspended = false, true
	assert.Equal(t, s, at(0), "a suspended event is ignored")
}

func TestTimesAreReadWithAnOffsetOrInAZone(t *testing.T) {
	oslo, problem := event.Zone("Europe/Oslo")
	require.Empty(t, problem)
	want := time.Date(2026, 7, 1, 7, 0, 0, 0, time.UTC)
	for _, text := range []string{"2026-07-01T09:00:00+02:00", "2026-07-01T07:00:00Z", "2026-07-01 09:00:00+02:00", "2026-07-01T09:00+02:00", "2026-07-01T09:00", "2026-07-01 09:00:00"} {
		at, problem := event.Moment(text, oslo)
		assert.Empty(t, problem, text)
		assert.True(t, want.Equal(at), "%s is %s", text, at)
	}
	for text, says := range map[string]string{
		"2026-03-29T02:30": "clocks are put forward", "tomorrow": "is not a time", "2026-13-01T09:00": "is not a time", "2026-02-30 09:00": "is not a time",
	} {
		_, problem := event.Moment(text, oslo)
		assert.Contains(t, problem, says, text)
	}
	_, problem = event.Moment("2026-07-01T09:00", nil)
	assert.Contains(t, problem, "has no offset")
	for _, name := range []string{"Europe/Olso", "", "Local", "CEST2", "../etc/passwd"} {
		_, problem := event.Zone(name)
		assert.Contains(t, problem, "is not a zone", name)
	}
}

func TestAnEventIsReadAsItIsWritten(t *testing.T) {
	e := sale()
	e.Description, e.Shuffle, e.Page, e.Overrides = "doors", true, "<p>{{waitTime}}", overrides(`{"queueing_method": "fifo"}`)
	text, err := json.Marshal(e)
	require.NoError(t, err)
	var read event.Event
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Equal(t, e, read)
	again, faults, err := event.Event{}.Patched(text)
	require.NoError(t, err)
	assert.Empty(t, faults, "what is read can be sent back")
	assert.Equal(t, e, again)
}

func TestAPatchTellsEachFieldThatIsWrong(t *testing.T) {
	e, faults, err := sale().Patched([]byte(`{"timezone": "Europe/Oslo", "event_end_time": "2026-12-01 12:00", "prequeue_start_time": null, "session_duration": "1m"}`))
	require.NoError(t, err)
	assert.Empty(t, faults)
	assert.True(t, e.Prequeue.IsZero())
	assert.True(t, nine.Add(2*time.Hour).Equal(e.End))
	e, _, _ = e.Patched([]byte(`{"session_duration": null}`))
	assert.Empty(t, e.Overrides)
	_, faults, err = e.Patched([]byte(`{"timezone": "Oslo/Europe", "event_start_time": 5, "shuffle_at_event_start": "yes", "colour": "red", "event_end_time": "soon"}`))
	require.NoError(t, err)
	fields := []string{}
	for _, f := range faults {
		fields = append(fields, f.Field)
	}
	assert.Equal(t, []string{"timezone", "colour", "event_end_time", "event_start_time", "shuffle_at_event_start"}, fields)
	_, _, err = e.Patched([]byte(`[]`))
	assert.ErrorIs(t, err, event.ErrNoObject)
}
