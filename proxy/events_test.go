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
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestAnEventStreamTellsAVisitorTheirPlaceAndTheRoomsNumbers(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.DisableSessionRenewal = true }))
	v := f.waiter()
	f.pass(time.Second)
	f.pass(3 * time.Second)
	polled := v.get("/", asJSON)

	l := v.listen("")
	assert.Equal(t, "text/event-stream", l.header.Get("Content-Type"))
	assert.Equal(t, "no-store", l.header.Get("Cache-Control"))
	assert.Equal(t, "no", l.header.Get("X-Accel-Buffering"))
	assert.Empty(t, l.header["Set-Cookie"], "they were not due")
	place := l.next("place").data
	assert.Equal(t, "2021-05-27T15:54:00.000Z", place["bucketId"])
	assert.Equal(t, polled.room, place, "the names and values are those of JSON")
	numbers := l.next("numbers").data
	buckets := numbers["buckets"].([]any)
	require.Len(t, buckets, 2)
	assert.Equal(t, map[string]any{"key": "2021-05-27T15:54:12Z", "usersAhead": 0., "waitTimeKnown": true, "waitTime": 8.}, buckets[0])
	delete(numbers, "buckets")
	assert.Equal(t, map[string]any{
		"queueingMethod": "fifo", "usersQueued": 1., "admissionsPaused": false, "isEventPrequeueing": false, "timeUntilEventStart": 0., "lastUpdated": numbers["lastUpdated"],
	}, numbers)
	assert.Equal(t, 1., f.streams())

	f.visitor().get("/")
	f.pass(2 * time.Second)
	assert.Equal(t, 2., l.next("numbers").data["usersQueued"])
	l.hangUp()
	f.soon(func() bool { return f.streams() == 0 })
}

func TestAnOpenEventStreamIsACheckInWheneverOneIsDue(t *testing.T) {
	f := start(t)
	v := f.waiter()
	l := v.listen("")
	first := l.next("place")
	for range 4 {
		f.pass(interval*115/100 + time.Second)
		again := l.next("place")
		assert.NotEqual(t, first.data["lastUpdated"], again.data["lastUpdated"])
		assert.Equal(t, 1, f.status("shop").Queued)
	}
}

func TestAnEventStreamIsNeverSilentForLong(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.RefreshInterval = time.Minute }))
	v := f.waiter()
	l := v.listen("")
	l.next("numbers")
	for range 3 {
		f.clock.add(15 * time.Second)
		l.next("")
	}
}

func TestAnEventStreamEndsBeforeThePlaceInTheCookieWould(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.QueueTicketTTL = 5 * time.Minute }))
	v := f.waiter()
	l := v.listen("")
	l.next("place")
	for range 9 {
		f.pass(interval * 9 / 10)
	}
	assert.NotContains(t, l.rest(), "admitted")
	f.pass(0)
	again := v.listen("")
	again.next("place")
	assert.Equal(t, 1, f.status("shop").Queued)
}

func TestAVisitorHasAFewStreamsAtMost(t *testing.T) {
	f := start(t)
	v := f.waiter()
	for range 4 {
		v.listen("").next("place")
	}
	a := v.get("/.fairdoor/events")
	assert.Equal(t, http.StatusNoContent, a.status, "an EventSource gives up, and the page polls")
	assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
	other := f.visitor()
	other.get("/")
	other.listen("").next("place")
}

func TestWhoseStreamItIs(t *testing.T) {
	f := start(t, func(c *proxy.Config, _ *proxy.Options) {
		other := c.Rooms[0]
		other.Name, other.Routes = "fair", []route.Route{{Path: "/fair"}}
		c.Rooms = append(c.Rooms, other)
	})
	f.full()
	f.visitor().get("/fair")
	f.pass(time.Second)
	page := func(path string) func(*http.Request) { return with("Referer", f.public.URL+path) }
	both, one, none := f.visitor(), f.visitor(), f.visitor()
	both.get("/")
	both.get("/fair")
	one.get("/")

	for name, c := range map[string]struct {
		who    *visitor
		query  string
		change func(*http.Request)
		want   int
	}{
		"nobody's without a ticket":                    {none, "", asJSON, http.StatusNoContent},
		"nobody's without a ticket of the room":        {one, "?room=fair", asJSON, http.StatusNoContent},
		"nobody's without a ticket of the page's room": {one, "", page("/fair/x"), http.StatusNoContent},
		"not to be told with two tickets":              {both, "", asJSON, http.StatusBadRequest},
		"that of a room that is not there":             {one, "?room=nowhere", asJSON, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.who.get("/.fairdoor/events"+c.query, c.change)
			assert.Equal(t, c.want, a.status)
			if c.want != http.StatusNoContent {
				assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
			}
		})
	}
	one.listen("").next("place")
	both.listen("?room=fair").next("place")
	both.listen("", page("/fair/x")).next("place")
	f.soon(func() bool { return f.streams() == 1 })
	assert.Equal(t, http.StatusMethodNotAllowed, one.send(http.MethodPost, "/.fairdoor/events", nil).status)
}

func TestAnEventStreamOfSomebodyWhoIsInSaysSoAndEnds(t *testing.T) {
	f := start(t)
	in := f.full()[0]
	assert.Equal(t, []string{"", "admitted"}, in.listen("").rest())
}

func TestAnEventStreamEndsWithItsRoom(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*fixture)
		want string
	}{
		"that takes nobody any more": {func(f *fixture) { f.patch(`{"queueing_method": "reject"}`) }, "closed"},
		"that everyone may pass":     {func(f *fixture) { f.patch(`{"suspended": true}`) }, "admitted"},
		"that is gone": {func(f *fixture) {
			f.config.Rooms[0] = f.room("other", "/")
			require.NoError(t, f.Configure(t.Context(), f.config))
		}, "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t)
			v := f.waiter()
			l := v.listen("")
			l.next("place")
			c.do(f)
			f.clock.add(interval * 2)
			l.endsWith(c.want)
		})
	}
}

func TestAGateThatStopsEndsItsEventStreams(t *testing.T) {
	f := start(t)
	v := f.waiter()
	l := v.listen("")
	l.next("numbers")
	f.Drain()
	assert.Empty(t, l.rest())
	assert.Equal(t, []string{"", "place", "numbers"}, v.listen("").rest(), "who comes again is told, and comes again")
}

func TestAStoreThatDoesNotAnswerEndsNoEventStream(t *testing.T) {
	store := &fallible{}
	f := start(t, store.between)
	v := f.waiter()
	l := v.listen("")
	l.next("place")
	store.failing.Store(true)
	f.pass(interval * 2)
	assert.Equal(t, false, l.next("place").data["usersAheadKnown"])
	store.failing.Store(false)
	f.pass(interval * 2)
	l.next("place")
}

func TestWhoReadsSlowlyHoldsUpNobodyAndHearsTheNewestNumbers(t *testing.T) {
	f := start(t)
	f.full()
	slow, other := f.visitor(), f.visitor()
	slow.get("/")
	other.get("/")
	f.pass(time.Second)
	reads := make(chan string)
	ctx, hangUp := context.WithCancel(t.Context())
	ended, reader := make(chan struct{}), &slowReader{header: http.Header{}, reads: reads, gone: ctx, begun: make(chan struct{})}
	go func() {
		defer close(ended)
		f.ServeHTTP(reader, eventsRequest("fairdoor_shop="+slow.cookies["fairdoor_shop"]).WithContext(ctx))
	}()
	<-reader.begun
	l := other.listen("")
	l.next("numbers")
	for people := 3.; people < 6; people++ {
		f.visitor().get("/")
		f.pass(2 * time.Second)
		assert.Equal(t, people, l.next("numbers").data["usersQueued"])
	}
	heard := ""
	for !strings.Contains(heard, `"usersQueued":5`) {
		select {
		case text := <-reads:
			heard += text
		case <-time.After(patience):
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
			f := start(t, naming, trustingLoopback, settings(func(s *queue.Settings) { s.Method = method }))
			require.True(t, f.visitor().get("/", as("ann")).in())
			f.visitor().get("/", as("ben"))
			f.pass(time.Second)
			f.visitor().listen("?room=shop", as("ben")).next("place")
			f.visitor().listen("?room=shop", as("ann")).endsWith("admitted")
			assert.Equal(t, http.StatusNoContent, f.visitor().get("/.fairdoor/events?room=shop", as("cleo")).status, "to listen is not to join")
			f.pass(time.Second)
			assert.Equal(t, 1, f.status("shop").Queued)
		})
	}
}
