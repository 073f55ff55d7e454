package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/proxy"
	"github.com/anteroom-gate/anteroom/proxy/route"
	"github.com/anteroom-gate/anteroom/queue"
)

// listener is somebody with an open event stream.
type listener struct {
	t      testing.TB
	header http.Header
	events <-chan event // closed at the stream's end
	hangUp context.CancelFunc
}

// event is one of a stream; a comment has no name.
type event struct {
	name, text string
	data       map[string]any
}

// listen opens an event stream.
func (v *visitor) listen(query string, changes ...func(*http.Request)) *listener {
	v.f.t.Helper()
	ctx, hangUp := context.WithCancel(v.f.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+"/.anteroom/events"+query, nil)
	require.NoError(v.f.t, err)
	req.Host = v.host
	req.Header.Set("Accept", "text/event-stream")
	for name, value := range v.cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for _, change := range changes {
		change(req)
	}
	resp, err := v.client.Transport.RoundTrip(req)
	require.NoError(v.f.t, err)
	require.Equal(v.f.t, http.StatusOK, resp.StatusCode)
	for _, c := range resp.Cookies() {
		v.cookies[c.Name] = c.Value
	}
	events := make(chan event, 1000)
	go func() {
		defer close(events)
		defer resp.Body.Close()
		readEvents(resp, events)
	}()
	v.f.t.Cleanup(hangUp)
	return &listener{t: v.f.t, header: resp.Header, events: events, hangUp: hangUp}
}

func readEvents(resp *http.Response, to chan<- event) {
	var e event
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		switch field, value, _ := strings.Cut(lines.Text(), ":"); {
		case field == "event":
			e.name = value[1:]
		case field == "data":
			e.text = value[1:]
			_ = json.Unmarshal([]byte(e.text), &e.data)
		case field == "" && lines.Text() == "":
			to <- e
			e = event{}
		default:
			e.text = lines.Text()
		}
	}
}

// next returns the next event of this name, and passes others over.
func (l *listener) next(name string) event {
	l.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case e, open := <-l.events:
			require.True(l.t, open, "the stream has ended without %q", name)
			if e.name == name && (name != "" || strings.HasPrefix(e.text, ":")) {
				return e
			}
		case <-limit:
			require.FailNow(l.t, "no event", name)
		}
	}
}

// rest returns the names of what is told until the stream ends.
func (l *listener) rest() []string {
	l.t.Helper()
	var names []string
	limit := time.After(patience)
	for {
		select {
		case e, open := <-l.events:
			if !open {
				return names
			}
			names = append(names, e.name)
		case <-limit:
			require.FailNow(l.t, "the stream goes on", names)
		}
	}
}

// ends waits for the end of the stream, before which nothing is told but that.
func (l *listener) endsWith(name string) {
	l.t.Helper()
	names := l.rest()
	require.NotEmpty(l.t, names)
	assert.Equal(l.t, name, names[len(names)-1])
}

// quiet says that nobody has been told of a turn so far.
func (l *listener) quiet() {
	l.t.Helper()
	for {
		select {
		case e, open := <-l.events:
			require.True(l.t, open, "the stream has ended")
			require.NotEqual(l.t, "admitted", e.name)
		default:
			return
		}
	}
}

// soon waits for what happens while the fixture's rooms sync.
func (f *fixture) soon(what func() bool) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		for _, r := range f.config.Rooms {
			f.status(r.Name)
		}
		return what()
	}, patience, 10*time.Millisecond)
}

// streams counts the open event streams of the first room.
func (f *fixture) streams() float64 {
	return f.metrics()["anteroom_event_streams shop"].GetGauge().GetValue()
}

// leaves ends the session of somebody who is in.
func (v *visitor) leaves() {
	v.f.t.Helper()
	revokes(v.f.site, "Anteroom-Command", "revoke")
	v.get("/logout")
}

func inBucketsOf(d time.Duration) func(*proxy.Config, *proxy.Options) {
	return settings(func(s *queue.Settings) { s.Bucket = d })
}

func TestAnEventStreamTellsAVisitorTheirPlaceAndTheRoomsNumbers(t *testing.T) {
	f := start(t)
	f.full()
	v := f.visitor()
	v.get("/")
	f.pass(time.Second)
	f.pass(3 * time.Second)
	polled := v.get("/", asJSON)

	l := v.listen("")
	assert.Equal(t, "text/event-stream", l.header.Get("Content-Type"))
	assert.Equal(t, "no-store", l.header.Get("Cache-Control"))
	assert.Equal(t, "no", l.header.Get("X-Accel-Buffering"))
	assert.Empty(t, l.header["Set-Cookie"], "they were not due")
	place := l.next("place").data
	assert.Equal(t, "2021-05-27T15:54:00Z", place["arrivalBucket"])
	assert.Equal(t, polled.room, place, "the names and values are those of JSON")
	numbers := l.next("numbers").data
	assert.Equal(t, map[string]any{
		"queueingMethod": "fifo", "usersQueued": 1., "lastUpdated": numbers["lastUpdated"],
		"buckets": []any{map[string]any{"key": "2021-05-27T15:54:00Z", "usersAhead": 0., "waitTimeKnown": true, "waitTime": 8.}},
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
	f.full()
	v := f.visitor()
	v.get("/")
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
	f.full()
	v := f.visitor()
	v.get("/")
	l := v.listen("")
	l.next("numbers")
	for range 3 {
		f.clock.add(15 * time.Second)
		l.next("")
	}
}

func TestAnEventStreamEndsBeforeThePlaceInTheCookieWould(t *testing.T) {
	f := start(t)
	f.full()
	v := f.visitor()
	v.get("/")
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

func TestWhoseTurnItIsInFifoIsLetInWithinASecond(t *testing.T) {
	f := start(t, inBucketsOf(time.Second), room(revokeEnabled))
	in := f.full()[0]
	var line []*listener
	var visitors []*visitor
	for range 3 {
		v := f.visitor()
		v.get("/")
		visitors = append(visitors, v)
		f.pass(time.Second)
	}
	for _, v := range []*visitor{visitors[2], visitors[0], visitors[1]} {
		l := v.listen("")
		l.next("place")
		line = append(line, l)
	}
	first, others := line[1], []*listener{line[0], line[2]}

	in.leaves()
	f.pass(0)
	first.endsWith("admitted")
	assert.True(t, visitors[0].get("/").in(), "the slot is theirs")
	for range 3 {
		f.pass(time.Second)
	}
	for _, l := range others {
		l.quiet()
	}
	assert.Equal(t, 1, f.status("shop").Active)
	assert.Equal(t, 2, f.status("shop").Queued)
}

func TestOfABucketAsManyAreCalledAsSlotsAreKeptForIt(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 3 }), room(revokeEnabled))
	in := f.full()
	var line []*listener
	for range 5 {
		v := f.visitor()
		v.get("/")
		line = append(line, v.listen(""))
		f.clock.add(time.Second)
	}
	f.pass(time.Second)
	in[0].leaves()
	in[1].leaves()
	f.pass(0)
	line[0].endsWith("admitted")
	line[1].endsWith("admitted")
	for range 3 {
		f.pass(time.Second)
	}
	for _, l := range line[2:] {
		l.quiet()
	}
	assert.Equal(t, 3, f.status("shop").Active)
}

func TestNobodyIsCalledInRandom(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.Method, s.RefreshJitter = queue.Random, 0 }), room(revokeEnabled))
	in := f.full()[0]
	v := f.visitor()
	v.get("/")
	l := v.listen("")
	l.next("place")
	numbers := l.next("numbers").data
	assert.Equal(t, "random", numbers["queueingMethod"])
	assert.Contains(t, numbers, "waitTime75Percentile")
	in.leaves()
	for range 10 {
		f.pass(time.Second)
		l.quiet()
	}
	f.pass(interval)
	l.endsWith("admitted")
}

func TestAllTabsOfWhoeverIsLetInAreTold(t *testing.T) {
	f := start(t, room(revokeEnabled))
	in := f.full()[0]
	v := f.visitor()
	v.get("/")
	tabs := []*listener{v.listen(""), v.listen("")}
	for _, l := range tabs {
		l.next("place")
	}
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Queued, "they are one visitor")
	in.leaves()
	f.pass(0)
	for _, l := range tabs {
		l.endsWith("admitted")
	}
	assert.Equal(t, 1, f.status("shop").Active)
}

func TestAVisitorHasAFewStreamsAtMost(t *testing.T) {
	f := start(t)
	f.full()
	v := f.visitor()
	v.get("/")
	for range 4 {
		v.listen("").next("place")
	}
	a := v.get("/.anteroom/events")
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
			a := c.who.get("/.anteroom/events"+c.query, c.change)
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
	assert.Equal(t, http.StatusMethodNotAllowed, one.send(http.MethodPost, "/.anteroom/events", nil).status)
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
			f.full()
			v := f.visitor()
			v.get("/")
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
	f.full()
	v := f.visitor()
	v.get("/")
	l := v.listen("")
	l.next("numbers")
	f.Drain()
	assert.Empty(t, l.rest())
	assert.Equal(t, []string{"", "place", "numbers"}, v.listen("").rest(), "who comes again is told, and comes again")
}

func TestAStoreThatDoesNotAnswerEndsNoEventStream(t *testing.T) {
	store := &fallible{}
	f := start(t, func(_ *proxy.Config, o *proxy.Options) {
		store.Store = o.Store
		o.Store = store
	})
	f.full()
	v := f.visitor()
	v.get("/")
	l := v.listen("")
	l.next("place")
	store.failing.Store(true)
	f.pass(interval * 2)
	l.next("place")
	store.failing.Store(false)
	f.pass(interval * 2)
	l.next("place")
}

func TestWhoseTurnItIsInLineIsLetInWithinASecond(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.Method, s.TotalActiveUsers = queue.Line, 2 }), room(revokeEnabled))
	in := f.full()
	var visitors []*visitor
	for range 4 {
		v := f.visitor()
		v.get("/")
		visitors = append(visitors, v)
	}
	f.pass(2 * time.Second)
	line := make([]*listener, len(visitors))
	for i := len(visitors) - 1; i >= 0; i-- {
		line[i] = visitors[i].listen("")
		line[i].next("place")
	}
	numbers := line[3].next("numbers").data
	assert.Equal(t, map[string]any{
		"queueingMethod": "line", "usersQueued": 4., "usersPreferred": 0.,
		"firstWaitingNumber": 3., "lastWaitingNumber": 6., "lastUpdated": numbers["lastUpdated"],
	}, numbers)

	for i, leaves := range in {
		leaves.leaves()
		f.pass(0)
		line[i].endsWith("admitted")
		assert.True(t, visitors[i].get("/").in(), "the slot is theirs")
		f.pass(2 * time.Second)
		assert.Equal(t, float64(4+i), line[3].next("numbers").data["firstWaitingNumber"], "the others see it move")
		for _, l := range line[i+1:] {
			l.quiet()
		}
	}
	assert.Equal(t, 2, f.status("shop").Active)
	assert.Equal(t, 2, f.status("shop").Queued)
}

func TestAVisitorWithManyStreamsIsNotCalledMoreOften(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.RefreshJitter = 0 }), room(revokeEnabled))
	in := f.full()[0]
	greedy, modest := f.visitor(), f.visitor()
	greedy.get("/")
	f.clock.add(time.Second)
	modest.get("/")
	var tabs []*listener
	for range 4 {
		tabs = append(tabs, greedy.listen(""))
	}
	l := modest.listen("")
	for _, tab := range append(tabs, l) {
		tab.next("place")
	}
	for range 2 {
		in.leaves()
		f.pass(0)
		if tabs != nil {
			for _, tab := range tabs {
				tab.endsWith("admitted")
			}
			tabs, in = nil, greedy
			require.True(t, greedy.get("/").in())
			f.pass(time.Second)
			l.quiet()
		}
	}
	l.endsWith("admitted")
	assert.Equal(t, 1, f.status("shop").Active)
	m := f.metrics()
	assert.Equal(t, 3., m["anteroom_decisions_total admitted shop"].GetCounter().GetValue(), "the first, and each of the two once")
}
