package gatetest

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// SaleAt is an event that starts at a time, with a prequeue of so many minutes.
func SaleAt(start time.Time, prequeue time.Duration, shuffle bool) event.Event {
	return event.Event{Name: "sale", Start: start, End: start.Add(time.Hour), Prequeue: start.Add(-prequeue), Shuffle: shuffle}
}

// Planned has an event in the file of gates that follow their events at once.
func Planned(e event.Event) func(*proxy.Config, *proxy.Options) {
	return func(c *proxy.Config, o *proxy.Options) {
		c.Rooms[0].Events = event.List{e}
		o.SyncInterval = 2 * time.Millisecond
	}
}

// Opening is when the gates of the tests are started.
var Opening = time.Date(2021, 5, 27, 15, 54, 10, 0, time.UTC)

// Stands waits until the status of a room is this one at some gates.
func Stands(t *testing.T, want string, gates ...*Fixture) {
	t.Helper()
	for _, f := range gates {
		f.Soon(func() bool { return f.Status("shop").Status == want })
	}
}

// Shuffled are two gates with a shuffled prequeue that has begun, and people who have come to both.
func Shuffled(t *testing.T, people int, changes ...func(*proxy.Config, *proxy.Options)) (one, other *Fixture, crowd []*Visitor) {
	t.Helper()
	e := SaleAt(Opening.Add(6*time.Minute), 5*time.Minute, true)
	one, other = StartTwo(t, append(changes, Planned(e), Settings(func(s *queue.Settings) {
		s.TotalActiveUsers, s.NewUsersPerMinute, s.Pacing = 1000, 60, queue.PacingEven
	}))...)
	one.Clock.Add(time.Minute)
	Stands(t, "event_prequeueing", one, other)
	for i := range people {
		f := []*Fixture{one, other}[i%2]
		v := f.Visitor()
		require.Equal(t, true, v.Get(fmt.Sprintf("/?who=%d", i), AsJSON).Told("isEventPrequeueing"))
		crowd = append(crowd, v)
		one.Clock.Add(10 * time.Millisecond)
	}
	return one, other, crowd
}

// StartTwo starts two gates of one room, with one store and one clock.
func StartTwo(t testing.TB, changes ...func(*proxy.Config, *proxy.Options)) (one, other *Fixture) {
	t.Helper()
	store := memstore.New()
	one = Start(t, append(changes, func(_ *proxy.Config, o *proxy.Options) { o.Store = store })...)
	other = Start(t, append(changes, func(c *proxy.Config, o *proxy.Options) {
		o.Store, o.Clock, c.Keys = store, one.Clock.Now, one.Config.Keys
		c.Rooms[0].Origin = one.Site.Address(t)
	})...)
	return one, other
}

// AtGate is the visitor at another gate.
func (v *Visitor) AtGate(f *Fixture) *Visitor {
	there := *v
	there.Base = f.Public.URL
	return &there
}

// Left is what an answer says is left of the interval, in its header.
func (a Answer) Left(t testing.TB) int {
	t.Helper()
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	require.NoError(t, err, a.Body)
	return seconds
}
