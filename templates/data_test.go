package templates_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/templates"
)

// seen is the moment that the tests tell as the last check-in.
var seen = time.Date(2020, time.August, 3, 23, 46, 0, 0, time.UTC)

// by is a visitor without a place of their own.
func by(updated time.Time, refreshSeconds int) templates.Visitor {
	return templates.Visitor{LastUpdated: updated, RefreshSeconds: refreshSeconds, LeftSeconds: refreshSeconds}
}

// at is one with this place.
func at(p templates.Place) templates.Visitor {
	return templates.Visitor{LastUpdated: seen, RefreshSeconds: 20, LeftSeconds: 20, Place: p}
}

func newSet(t testing.TB, o templates.Options) *templates.Set {
	t.Helper()
	set, err := templates.NewSet(o)
	require.NoError(t, err)
	return set
}

// state returns the named one of templates.States.
func state(t testing.TB, name string) templates.Data {
	t.Helper()
	for _, s := range templates.States() {
		if s.Name == name {
			return s.Data
		}
	}
	require.Fail(t, "no such state", name)
	return templates.Data{}
}

func told(t testing.TB, d templates.Data) map[string]any {
	t.Helper()
	var answer struct {
		Room map[string]any `json:"cfWaitingRoom"`
	}
	text := newSet(t, templates.Options{}).JSON(d).AppendTo(nil, at(d.Place))
	require.NoError(t, json.Unmarshal(text, &answer))
	return answer.Room
}

// places are some of every shape.
var places = func() (places []templates.Place) {
	for _, number := range []uint64{0, 8, 1<<48 - 1} {
		for _, position := range []int{-1, 0, 1, 2, 9, 10, 12_345} {
			for _, queued := range []int{-1, 0, 5, 412} {
				for _, wait := range []int{-1, 0, 1, 2, 9, 59, 60, 61, 239, 240, 241, 300, 1234} {
					p := templates.Place{TicketNumber: number, Position: position, UsersQueued: queued, WaitTime: wait}
					places = append(places, p)
					p.WaitTimeKnown = true
					places = append(places, p)
					p.LastWaitingNumber = number + 2
					places = append(places, p)
					p.FirstWaitingNumber = 3
					places = append(places, p)
				}
			}
		}
	}
	return places
}()

// anyAlike draws a place of the same shape.
func anyAlike(p templates.Place) *rapid.Generator[templates.Place] {
	var alike []templates.Place
	for _, other := range places {
		if other.Shape() == p.Shape() {
			alike = append(alike, other)
		}
	}
	return rapid.SampledFrom(alike)
}

// anyData draws a state that may contradict itself.
func anyData() *rapid.Generator[templates.Data] {
	return rapid.Custom(func(t *rapid.T) templates.Data {
		number := rapid.OneOf(rapid.IntRange(-2, 3), rapid.IntRange(0, 2000))
		return templates.Data{
			RoomName:             rapid.StringMatching(`[A-Za-z0-9_-]{0,12}`).Draw(t, "room"),
			QueueingMethod:       rapid.SampledFrom([]string{"", "fifo", "random", "line", "line", "passthrough", "reject"}).Draw(t, "method"),
			QueueAll:             rapid.Bool().Draw(t, "queue all"),
			QueueIsFull:          rapid.Bool().Draw(t, "full"),
			WaitTimeKnown:        rapid.Bool().Draw(t, "known"),
			WaitTime:             number.Draw(t, "wait"),
			WaitTime25Percentile: number.Draw(t, "p25"),
			WaitTime50Percentile: number.Draw(t, "p50"),
			WaitTime75Percentile: number.Draw(t, "p75"),
			UsersAheadKnown:      rapid.Bool().Draw(t, "ahead known"),
			UsersAhead:           number.Draw(t, "ahead"),
			UsersQueued:          number.Draw(t, "queued"),
			Place:                rapid.SampledFrom(places).Draw(t, "place"),
		}
	})
}

func TestAStateIsResolvedTowardsSayingLess(t *testing.T) {
	cases := map[string]struct{ given, want templates.Data }{
		"without a method it is fifo": {
			templates.Data{},
			templates.Data{QueueingMethod: "fifo"},
		},
		"an unknown wait has no number": {
			templates.Data{QueueingMethod: "fifo", WaitTime: 7, WaitTime50Percentile: 3},
			templates.Data{QueueingMethod: "fifo"},
		},
		"fifo has no percentiles": {
			templates.Data{QueueingMethod: "fifo", WaitTimeKnown: true, WaitTime: 7, WaitTime25Percentile: 1, WaitTime75Percentile: 9},
			templates.Data{QueueingMethod: "fifo", WaitTimeKnown: true, WaitTime: 7},
		},
		"the wait of random is its median": {
			templates.Data{QueueingMethod: "random", WaitTimeKnown: true, WaitTime: 99, WaitTime25Percentile: 5, WaitTime50Percentile: 10, WaitTime75Percentile: 15},
			templates.Data{QueueingMethod: "random", WaitTimeKnown: true, WaitTime: 10, WaitTime25Percentile: 5, WaitTime50Percentile: 10, WaitTime75Percentile: 15},
		},
		"percentiles never fall": {
			templates.Data{QueueingMethod: "random", WaitTimeKnown: true, WaitTime25Percentile: 5, WaitTime50Percentile: 2, WaitTime75Percentile: -1},
			templates.Data{QueueingMethod: "random", WaitTimeKnown: true, WaitTime: 5, WaitTime25Percentile: 5, WaitTime50Percentile: 5, WaitTime75Percentile: 5},
		},
		"with everyone held no wait is known": {
			templates.Data{QueueingMethod: "fifo", QueueAll: true, WaitTimeKnown: true, WaitTime: 7, UsersAheadKnown: true, UsersAhead: 3},
			templates.Data{QueueingMethod: "fifo", QueueAll: true, UsersAheadKnown: true, UsersAhead: 3},
		},
		"who is rejected waits for nobody": {
			templates.Data{QueueingMethod: "reject", WaitTimeKnown: true, WaitTime: 7, UsersAheadKnown: true, UsersAhead: 3},
			templates.Data{QueueingMethod: "reject"},
		},
		"nothing is below zero": {
			templates.Data{QueueingMethod: "fifo", WaitTimeKnown: true, WaitTime: -7, UsersAheadKnown: true, UsersAhead: -3, UsersQueued: -1},
			templates.Data{QueueingMethod: "fifo", WaitTimeKnown: true, UsersAheadKnown: true},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, c.given.Resolved())
		})
	}
}

func TestWaitTimesAreFormattedInEnglish(t *testing.T) {
	cases := map[string]struct {
		data templates.Data
		want string
	}{
		"minutes":                {templates.Data{WaitTimeKnown: true, WaitTime: 10}, "10 minutes"},
		"up to one minute":       {templates.Data{WaitTimeKnown: true, WaitTime: 1}, "less than a minute"},
		"no minutes":             {templates.Data{WaitTimeKnown: true}, "less than a minute"},
		"a long wait":            {templates.Data{WaitTimeKnown: true, WaitTime: 600}, "600 minutes"},
		"unknown":                {templates.Data{WaitTime: 10}, "unavailable"},
		"held":                   {templates.Data{WaitTimeKnown: true, WaitTime: 10, QueueAll: true}, "unavailable"},
		"paused":                 {templates.Data{WaitTimeKnown: true, WaitTime: 10, Paused: true}, "unavailable"},
		"a range":                {state(t, "random"), "5 minutes to 15 minutes"},
		"a range from nothing":   {templates.Data{QueueingMethod: "random", WaitTimeKnown: true, WaitTime75Percentile: 1}, "less than a minute to 1 minute"},
		"a range of one figure":  {state(t, "random, one figure"), "less than a minute"},
		"random with no figures": {state(t, "random, wait unknown"), "unavailable"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, templates.FormatWaitTime(c.data))
		})
	}
}

func TestTheJSONAnswerOfEachStateIsAsRecorded(t *testing.T) {
	for _, name := range []string{"fifo", "random", "fifo, wait unknown", "queue all, passthrough", "reject", "line", "line, place unknown"} {
		t.Run(name, func(t *testing.T) {
			var indented strings.Builder
			encoder := json.NewEncoder(&indented)
			encoder.SetIndent("", "  ")
			d := state(t, name)
			text := newSet(t, templates.Options{}).JSON(d).AppendTo(nil, at(d.Place))
			require.NoError(t, encoder.Encode(json.RawMessage(text)))
			golden(t, fileName(name)+".json", []byte(indented.String()))
		})
	}
}

func TestTheJSONAnswerHasTheFieldsThatClientsKnow(t *testing.T) {
	names := []string{
		"inWaitingRoom", "waitTimeKnown", "waitTime", "waitTime25Percentile", "waitTime50Percentile",
		"waitTime75Percentile", "waitTimeFormatted", "queueIsFull", "queueAll", "lastUpdated",
		"refreshIntervalSeconds", "queueingMethod", "isFIFOQueue", "isRandomQueue", "isLineQueue", "isPassthroughQueue",
		"isRejectQueue", "isEventActive", "isEventPrequeueing", "timeUntilEventStart",
		"timeUntilEventStartFormatted", "timeUntilEventEnd", "timeUntilEventEndFormatted",
		"shuffleAtEventStart", "turnstile", "infiniteQueue", "usersAheadKnown", "usersAhead", "usersQueued",
		"positionKnown", "position", "ticketNumber", "firstWaitingNumber", "lastWaitingNumber", "claimWithinSeconds", "claimRequired", "claimUntil",
		"refreshLeftSeconds",
		"placeKeptSeconds", "rejoined", "message", "siteName", "helpUrl",
		"admissionsPaused", "bucketId", "arrivedAt", "placedAt", "eventStartTime", "eventEndTime", "shuffleSeedHash", "shuffleSeed", "shuffleEntry",
		"isHeld", "soldOut", "pausedBy", "pausedSince", "supportCode", "itemsLeftKnown", "itemsLeft", "items", "isFar",
	}
	room := told(t, state(t, "fifo"))
	assert.Len(t, room, len(names))
	for _, name := range names {
		assert.Contains(t, room, name)
		assert.Contains(t, templates.Variables(), name, "a template knows what JSON tells")
	}
	assert.Equal(t, "2020-08-03T23:46:00.000Z", room["lastUpdated"])
	assert.EqualValues(t, 20, room["refreshIntervalSeconds"])
}

func TestTheQueueIsFullWhereNobodyGetsAPlace(t *testing.T) {
	for _, s := range templates.States() {
		room := told(t, s.Data)
		assert.Equal(t, s.Data.QueueIsFull || room["refreshIntervalSeconds"] == 0., room["queueIsFull"], s.Name)
	}
}

func TestARoomThatRejectsTellsNoInterval(t *testing.T) {
	assert.EqualValues(t, 0, told(t, state(t, "reject"))["refreshIntervalSeconds"])
	assert.EqualValues(t, 20, told(t, state(t, "queue all, reject"))["refreshIntervalSeconds"])
}

func TestJSONAndTemplatesTellTheSame(t *testing.T) {
	pages := map[string]*templates.Page{} // by the variable that they consist of
	rapid.Check(t, func(t *rapid.T) {
		data := anyData().Draw(t, "data")
		text, err := templates.DirectJSON(data, at(data.Place))
		require.NoError(t, err)
		var answer struct {
			Room map[string]json.RawMessage `json:"cfWaitingRoom"`
		}
		require.NoError(t, json.Unmarshal(text, &answer))
		for name, value := range answer.Room {
			if pages[name] == nil {
				page, err := templates.Parse([]byte("{{" + name + "}}"))
				require.NoError(t, err)
				pages[name] = page
			}
			written, err := pages[name].Direct(data, at(data.Place))
			require.NoError(t, err)
			require.Equal(t, strings.Trim(string(value), `"`), string(written), name)
		}
	})
}
