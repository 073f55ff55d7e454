package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestAnEventStreamTellsAVisitorTheirPlaceAndTheRoomsNumbers(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.DisableSessionRenewal = true }))
	v := f.Waiter()
	f.Pass(time.Second)
	f.Pass(3 * time.Second)
	polled := v.Get("/", gatetest.AsJSON)

	l := v.Listen("")
	assert.Equal(t, "text/event-stream", l.Header.Get("Content-Type"))
	assert.Equal(t, "no-store", l.Header.Get("Cache-Control"))
	assert.Equal(t, "no", l.Header.Get("X-Accel-Buffering"))
	assert.Empty(t, l.Header["Set-Cookie"], "they were not due")
	place := l.Next("place").Data
	assert.Equal(t, "2021-05-27T15:54:00.000Z", place["bucketId"])
	assert.Equal(t, polled.Room, place, "the names and values are those of JSON")
	numbers := l.Next("numbers").Data
	buckets := numbers["buckets"].([]any)
	require.Len(t, buckets, 2)
	assert.Equal(t, map[string]any{"key": "2021-05-27T15:54:12Z", "usersAhead": 0., "waitTimeKnown": true, "waitTime": 8.}, buckets[0])
	delete(numbers, "buckets")
	assert.Equal(t, map[string]any{
		"queueingMethod": "fifo", "usersQueued": 1., "admissionsPaused": false, "isEventPrequeueing": false, "timeUntilEventStart": 0., "lastUpdated": numbers["lastUpdated"],
	}, numbers)
	assert.Equal(t, 1., f.Streams())

	f.Visitor().Get("/")
	f.Pass(2 * time.Second)
	assert.Equal(t, 2., l.Next("numbers").Data["usersQueued"])
	l.HangUp()
	f.Soon(func() bool { return f.Streams() == 0 })
}

func TestAnOpenEventStreamIsACheckInWheneverOneIsDue(t *testing.T) {
	f := gatetest.Start(t)
	v := f.Waiter()
	l := v.Listen("")
	first := l.Next("place")
	for range 4 {
		f.Pass(gatetest.Interval*115/100 + time.Second)
		again := l.Next("place")
		assert.NotEqual(t, first.Data["lastUpdated"], again.Data["lastUpdated"])
		assert.Equal(t, 1, f.Status("shop").Queued)
	}
}

func TestAnEventStreamIsNeverSilentForLong(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.RefreshInterval = time.Minute }))
	v := f.Waiter()
	l := v.Listen("")
	l.Next("numbers")
	for range 3 {
		f.Clock.Add(15 * time.Second)
		l.Next("")
	}
}

func TestAnEventStreamEndsBeforeThePlaceInTheCookieWould(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.QueueTicketTTL = 5 * time.Minute }))
	v := f.Waiter()
	l := v.Listen("")
	l.Next("place")
	for range 9 {
		f.Pass(gatetest.Interval * 9 / 10)
	}
	assert.NotContains(t, l.Rest(), "admitted")
	f.Pass(0)
	again := v.Listen("")
	again.Next("place")
	assert.Equal(t, 1, f.Status("shop").Queued)
}

func TestAVisitorHasAFewStreamsAtMost(t *testing.T) {
	f := gatetest.Start(t)
	v := f.Waiter()
	for range 4 {
		v.Listen("").Next("place")
	}
	a := v.Get("/.fairdoor/events")
	assert.Equal(t, http.StatusNoContent, a.Status, "an EventSource gives up, and the page polls")
	assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
	other := f.Visitor()
	other.Get("/")
	other.Listen("").Next("place")
}

func TestWhoseStreamItIs(t *testing.T) {
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) {
		other := c.Rooms[0]
		other.Name, other.Routes = "fair", []route.Route{{Path: "/fair"}}
		c.Rooms = append(c.Rooms, other)
	})
	f.Full()
	f.Visitor().Get("/fair")
	f.Pass(time.Second)
	page := func(path string) func(*http.Request) { return gatetest.With("Referer", f.Public.URL+path) }
	both, one, none := f.Visitor(), f.Visitor(), f.Visitor()
	both.Get("/")
	both.Get("/fair")
	one.Get("/")

	for name, c := range map[string]struct {
		who    *gatetest.Visitor
		query  string
		change func(*http.Request)
		want   int
	}{
		"nobody's without a ticket":                    {none, "", gatetest.AsJSON, http.StatusNoContent},
		"nobody's without a ticket of the room":        {one, "?room=fair", gatetest.AsJSON, http.StatusNoContent},
		"nobody's without a ticket of the page's room": {one, "", page("/fair/x"), http.StatusNoContent},
		"not to be told with two tickets":              {both, "", gatetest.AsJSON, http.StatusBadRequest},
		"that of a room that is not there":             {one, "?room=nowhere", gatetest.AsJSON, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.who.Get("/.fairdoor/events"+c.query, c.change)
			assert.Equal(t, c.want, a.Status)
			if c.want != http.StatusNoContent {
				assert.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
			}
		})
	}
	one.Listen("").Next("place")
	both.Listen("?room=fair").Next("place")
	both.Listen("", page("/fair/x")).Next("place")
	f.Soon(func() bool { return f.Streams() == 1 })
	assert.Equal(t, http.StatusMethodNotAllowed, one.Send(http.MethodPost, "/.fairdoor/events", nil).Status)
}

func TestAnEventStreamOfSomebodyWhoIsInSaysSoAndEnds(t *testing.T) {
	f := gatetest.Start(t)
	in := f.Full()[0]
	assert.Equal(t, []string{"", "admitted"}, in.Listen("").Rest())
}

func TestAnEventStreamEndsWithItsRoom(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*gatetest.Fixture)
		want string
	}{
		"that takes nobody any more": {func(f *gatetest.Fixture) { f.Patch(`{"queueing_method": "reject"}`) }, "closed"},
		"that everyone may pass":     {func(f *gatetest.Fixture) { f.Patch(`{"suspended": true}`) }, "admitted"},
		"that is gone": {func(f *gatetest.Fixture) {
			f.Config.Rooms[0] = f.Room("other", "/")
			require.NoError(t, f.Configure(t.Context(), f.Config))
		}, "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t)
			v := f.Waiter()
			l := v.Listen("")
			l.Next("place")
			c.do(f)
			f.Clock.Add(gatetest.Interval * 2)
			l.EndsWith(c.want)
		})
	}
}

func TestAGateThatStopsEndsItsEventStreams(t *testing.T) {
	f := gatetest.Start(t)
	v := f.Waiter()
	l := v.Listen("")
	l.Next("numbers")
	f.Drain()
	assert.Empty(t, l.Rest())
	assert.Equal(t, []string{"", "place", "numbers"}, v.Listen("").Rest(), "who comes again is told, and comes again")
}

func TestAStoreThatDoesNotAnswerEndsNoEventStream(t *testing.T) {
	store := &gatetest.Fallible{}
	f := gatetest.Start(t, store.Between)
	v := f.Waiter()
	l := v.Listen("")
	l.Next("place")
	store.Failing.Store(true)
	f.Pass(gatetest.Interval * 2)
	assert.Equal(t, false, l.Next("place").Data["usersAheadKnown"])
	store.Failing.Store(false)
	f.Pass(gatetest.Interval * 2)
	l.Next("place")
}

func TestWhoReadsSlowlyHoldsUpNobodyAndHearsTheNewestNumbers(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	slow, other := f.Visitor(), f.Visitor()
	slow.Get("/")
	other.Get("/")
	f.Pass(time.Second)
	reads := make(chan string)
	ctx, hangUp := context.WithCancel(t.Context())
	ended, reader := make(chan struct{}), &slowReader{header: http.Header{}, reads: reads, gone: ctx, begun: make(chan struct{})}
	go func() {
		defer close(ended)
		f.ServeHTTP(reader, eventsRequest("fairdoor_shop="+slow.Cookies["fairdoor_shop"]).WithContext(ctx))
	}()
	<-reader.begun
	l := other.Listen("")
	l.Next("numbers")
	for people := 3.; people < 6; people++ {
		f.Visitor().Get("/")
		f.Pass(2 * time.Second)
		assert.Equal(t, people, l.Next("numbers").Data["usersQueued"])
	}
	heard := ""
	for !strings.Contains(heard, `"usersQueued":5`) {
		select {
		case text := <-reads:
			heard += text
		case <-time.After(gatetest.Patience):
			require.FailNow(t, "the newest are not told", heard)
		}
	}
	assert.NotContains(t, heard, `"usersQueued":3`)
	assert.NotContains(t, heard, `"usersQueued":4`)
	hangUp()
	<-ended
}

// slowReader takes what is written to it when somebody reads.
type slowReader struct {
	header http.Header
	reads  chan<- string
	gone   context.Context
	begun  chan struct{} // closed when something is written for the first time
	first  sync.Once
}

func (s *slowReader) Header() http.Header { return s.header }

func (s *slowReader) WriteHeader(int) {}

func (s *slowReader) Flush() {}

func (s *slowReader) Write(p []byte) (int, error) {
	s.first.Do(func() { close(s.begun) })
	select {
	case s.reads <- string(p):
		return len(p), nil
	case <-s.gone.Done():
		return 0, s.gone.Err()
	}
}

func TestAUserNeedsNoCookieForTheirEvents(t *testing.T) {
	for name, method := range map[string]queue.Method{"fifo": queue.FIFO, "line": queue.Line} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Naming, gatetest.TrustingLoopback, gatetest.Settings(func(s *queue.Settings) { s.Method = method }))
			require.True(t, f.Visitor().Get("/", gatetest.As("ann")).In())
			f.Visitor().Get("/", gatetest.As("ben"))
			f.Pass(time.Second)
			f.Visitor().Listen("?room=shop", gatetest.As("ben")).Next("place")
			f.Visitor().Listen("?room=shop", gatetest.As("ann")).EndsWith("admitted")
			assert.Equal(t, http.StatusNoContent, f.Visitor().Get("/.fairdoor/events?room=shop", gatetest.As("cleo")).Status, "to listen is not to join")
			f.Pass(time.Second)
			assert.Equal(t, 1, f.Status("shop").Queued)
		})
	}
}
