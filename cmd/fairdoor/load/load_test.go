package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/load"
	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// settings are those of the room of these tests.
func settings() queue.Settings {
	return queue.Settings{
		TotalActiveUsers: 5, NewUsersPerMinute: 1000, SessionDuration: 2 * time.Second,
		RefreshInterval: time.Second, QueueTicketTTL: time.Minute,
	}.WithDefaults()
}

// serve serves what a handler answers until the test ends.
func serve(t *testing.T, h http.Handler) *url.URL {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	require.NoError(t, err)
	return at
}

// gate returns the address of a gate before the origin.
func gate(t *testing.T, origin http.Handler, change func(*proxy.RoomConfig)) *url.URL {
	t.Helper()
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	room := proxy.RoomConfig{
		Name: "shop", Routes: []route.Route{{Path: "/"}}, Origin: serve(t, origin), Basics: config.Basics{JSON: true}, Settings: settings(),
	}
	change(&room)
	g, err := proxy.New(t.Context(), proxy.Config{Keys: []cookie.Key{key}, Rooms: []proxy.RoomConfig{room}}, proxy.Options{Store: memstore.New()})
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return serve(t, g)
}

// crowd is one of so many that come within a second to the gate, and stay for a second.
func crowd(visitors int, gate *url.URL, origin *load.Origin) load.Config {
	c := load.Config{Crowd: simulate.Article(), Gate: gate, PageView: 300 * time.Millisecond, Connections: 16, Origin: origin}
	c.Crowd.Visitors, c.Crowd.Over, c.Crowd.Browse, c.Crowd.Room = visitors, time.Second, time.Second, settings()
	return c
}

// thresholds reads them.
func thresholds(t *testing.T, texts ...string) []load.Threshold {
	t.Helper()
	list := make([]load.Threshold, len(texts))
	for i, text := range texts {
		require.NoError(t, list[i].UnmarshalText([]byte(text)))
	}
	return list
}

func send(t *testing.T, c load.Config) *load.Report {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	r, err := load.Run(ctx, c)
	require.NoError(t, err)
	require.True(t, r.Whole, "everybody is through")
	return r
}

func TestAGateThatKeepsItsLimitsPasses(t *testing.T) {
	t.Parallel()
	origin := new(load.Origin)
	c := crowd(20, gate(t, origin, func(*proxy.RoomConfig) {}), origin)
	c.Thresholds = thresholds(t, "active<=5", "admitted_per_minute<=1000", "errors==0", "let_in==100%", "wait_max<2m", "tau>0")
	r := send(t, c)
	for _, v := range r.Thresholds {
		assert.True(t, v.Passed, "%s: %v", v.Threshold, *v.Value)
	}
	assert.True(t, r.Passed)
	assert.Equal(t, 5, r.Origin.Active, "no more, and no fewer: people waited")
	assert.Equal(t, load.People{Visitors: 20, People: 20, LetIn: 20, Waited: r.People.Waited, Interrupted: r.People.Interrupted}, r.People)
	assert.Positive(t, r.People.Waited)
	assert.Equal(t, 20, r.Wait.Count)
	assert.Less(t, r.Origin.Requests, r.Requests.Sent, "those who waited did not get there")
}

func TestABoundThatIsExceededFails(t *testing.T) {
	t.Parallel()
	origin := new(load.Origin)
	c := crowd(10, gate(t, origin, func(*proxy.RoomConfig) {}), origin)
	c.Thresholds = thresholds(t, "active<=4", "errors==0", "told_p50<1s")
	r := send(t, c)
	assert.False(t, r.Passed)
	assert.False(t, r.Thresholds[0].Passed, "the room lets in five")
	assert.True(t, r.Thresholds[1].Passed)

	c.Origin = new(load.Origin)
	c.Gate = serve(t, c.Origin) // no gate at all
	c.Thresholds = thresholds(t, "active<=5", "told_p50<1s")
	r = send(t, c)
	assert.Equal(t, 10, r.Origin.Active)
	assert.False(t, r.Thresholds[0].Passed)
	assert.False(t, r.Thresholds[1].Passed, "nobody was told anything")
	assert.Nil(t, r.Thresholds[1].Value)
}

func TestBotsSpammersAndThoseWhoGiveUp(t *testing.T) {
	t.Parallel()
	origin := new(load.Origin)
	c := crowd(18, gate(t, origin, func(r *proxy.RoomConfig) { r.Settings.ConfirmWithin = time.Second }), origin)
	c.Crowd.Room.ConfirmWithin = time.Second
	c.Crowd.Bots, c.Crowd.Spammers, c.Crowd.GiveUp, c.Crowd.Patience, c.Crowd.Goodbye = .1, .2, .5, 3*time.Second, .5
	c.Thresholds = thresholds(t, "active<=5", "errors==0")
	r := send(t, c)
	assert.True(t, r.Passed, "%+v %+v", r.Origin, r.Requests)
	assert.Positive(t, r.People.GaveUp)
	assert.Less(t, r.People.People, r.People.Visitors)
	assert.Equal(t, r.People.People, r.People.LetIn+r.People.GaveUp)
}

func TestARoomWithoutJSONIsUnderstood(t *testing.T) {
	t.Parallel()
	origin := new(load.Origin)
	c := crowd(8, gate(t, origin, func(r *proxy.RoomConfig) { r.JSON = false }), origin)
	c.Thresholds = thresholds(t, "active<=5", "errors==0", "let_in==1")
	r := send(t, c)
	assert.True(t, r.Passed)
	assert.Positive(t, r.People.Waited)
	assert.Zero(t, r.Told.Shown.Count, "a page tells people, and no programs")
}

func TestARoomThatRejectsIsUnderstood(t *testing.T) {
	t.Parallel()
	c := crowd(3, gate(t, new(load.Origin), func(r *proxy.RoomConfig) { r.Settings.Method = queue.Reject }), nil)
	assert.Equal(t, load.People{Visitors: 3, People: 3, Refused: 3}, send(t, c).People)
}

func TestTheCrowdKeepsToWhatItIsTold(t *testing.T) {
	t.Parallel()
	var early, asked atomic.Int64
	var mu sync.Mutex
	last := map[string]time.Time{}
	at := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		before, known := last[r.UserAgent()]
		last[r.UserAgent()] = time.Now()
		mu.Unlock()
		asked.Add(1)
		if known {
			if time.Since(before) < 990*time.Millisecond {
				early.Add(1)
			}
			if c, err := r.Cookie("place"); err == nil && c.Value == r.UserAgent()[len("fairdoor-load/"):] {
				return // in
			}
		}
		http.SetCookie(w, &http.Cookie{Name: "place", Value: r.UserAgent()[len("fairdoor-load/"):]})
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"cfWaitingRoom": {"inWaitingRoom": true, "refreshIntervalSeconds": 1, "waitTimeKnown": true, "waitTime": 1}}`))
	}))
	c := crowd(5, at, nil)
	c.Crowd.Browse = 0
	r := send(t, c)
	assert.Zero(t, early.Load())
	assert.EqualValues(t, 10, asked.Load(), "each brought its own cookie")
	assert.Equal(t, 5, r.Told.Shown.Count)
	assert.InDelta(t, 60, r.Told.Shown.P50, 1e-9)
	assert.InDelta(t, 1, r.Told.InTime, 1e-9)
}

func TestErrorsAreCountedAndTriedAgain(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	at := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	c := crowd(1, at, nil)
	c.Crowd.Browse = 0
	c.Thresholds = thresholds(t, "errors<0.1%")
	r := send(t, c)
	assert.False(t, r.Passed)
	assert.Equal(t, 1, r.Requests.Failed)
	assert.Contains(t, r.Requests.Error, "502 Bad Gateway")
	assert.Equal(t, 1, r.People.LetIn)
}

func TestTheCrowdSaysWhenItWasTooSlowItself(t *testing.T) {
	t.Parallel()
	at := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-r.Context().Done():
		}
	}))
	c := crowd(40, at, nil)
	c.Crowd.Arrivals, c.Crowd.Browse, c.Connections = simulate.Burst, 0, 1
	r := send(t, c)
	assert.True(t, r.Machine.Limited)
	assert.Greater(t, r.Machine.Lag.P99, 1.)
	var out bytes.Buffer
	require.NoError(t, r.Write(&out))
	assert.Contains(t, out.String(), "and not the gate may have been the limit")
}

func TestACrowdThatIsStoppedTellsWhatThereWas(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	var asked atomic.Int64
	at := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if asked.Add(1) == 60 { // more than can be under way or be unread
			stop()
		}
	}))
	c := crowd(1000, at, nil)
	c.Crowd.Over = time.Hour
	c.Crowd.Arrivals = simulate.Burst // within 36 seconds
	r, err := load.Run(ctx, c)
	require.NoError(t, err)
	assert.False(t, r.Whole)
	assert.Positive(t, r.People.LetIn)
	assert.Positive(t, r.People.NotCome)
	assert.Zero(t, r.Requests.Failed, "what was broken off is no error")
	var out bytes.Buffer
	require.NoError(t, r.Write(&out))
	assert.Contains(t, out.String(), "before everybody was through")
}

func TestOnlyThisMachineIsSentACrowd(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"http://127.0.0.1:8080/": true, "http://[::1]:8080": true, "http://localhost": true, "http://shop.localhost:80/a?b": true, "http://127.1.2.3:1": true,
		"http://[::ffff:127.0.0.1]:80": true,
		"http://example.com/":          false, "https://127.0.0.1/": false, "http://10.0.0.1/": false, "http://0.0.0.0/": false, "127.0.0.1:80": false, "": false,
		"http://localhost.example.com/": false, "http://notlocalhost/": false, "http://127.0.0.1.example.com": false, "http://2130706433/": false,
	} {
		at, err := url.Parse(address)
		if err != nil {
			assert.False(t, ok, address)
			continue
		}
		c := crowd(1, at, nil)
		assert.Equal(t, ok, c.Validate() == nil, address)
	}
}

func TestARedirectLeadsNowhere(t *testing.T) {
	t.Parallel()
	at := serve(t, http.RedirectHandler("http://example.com/", http.StatusFound))
	c := crowd(1, at, nil)
	c.Crowd.Browse = 0
	r := send(t, c)
	assert.Zero(t, r.Requests.Failed)
	assert.Equal(t, 1, r.People.LetIn, "the site has answered")
}

func TestTheHostOfTheRequests(t *testing.T) {
	t.Parallel()
	hosts := make(chan string, 10)
	at := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hosts <- r.Host }))
	c := crowd(1, at, nil)
	c.Host, c.Crowd.Browse = "shop.example", 0
	send(t, c)
	assert.Equal(t, "shop.example", <-hosts)
}

// What the origin sees is judged so that doubt counts for the gate.
func TestTheOriginsViewIsJudged(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 22, 12, 0, 30, 0, time.UTC)
	s := settings()
	s.SessionDuration, s.ConfirmWithin = time.Minute, 10*time.Second
	none, all := func(int) bool { return false }, func(int) bool { return true }
	for name, c := range map[string]struct {
		bot, waited       func(int) bool
		saw               [][3]int // person, from, to, in seconds
		active, perMinute int
	}{
		"two at a time":                        {none, all, [][3]int{{0, 0, 0}, {1, 59, 59}}, 2, 1},
		"one after the other":                  {none, all, [][3]int{{0, 0, 0}, {1, 60, 60}}, 1, 1},
		"the first session may be over by now": {none, all, [][3]int{{0, 0, 5}, {1, 59, 61}}, 1, 1},
		"sessions are renewed":                 {none, all, [][3]int{{0, 0, 0}, {0, 50, 50}, {1, 100, 100}}, 2, 1},
		"newcomers have a lease":               {none, none, [][3]int{{0, 0, 0}, {1, 11, 11}}, 1, 2},
		"which a second request makes whole":   {none, none, [][3]int{{0, 0, 0}, {0, 9, 9}, {1, 20, 20}}, 2, 2},
		"bots have one after the other":        {all, none, [][3]int{{0, 0, 0}, {0, 5, 5}, {0, 12, 12}}, 2, 3},
		"which minute it was is not known":     {none, all, [][3]int{{0, 29, 31}, {1, 29, 29}}, 2, 1},
		"in any order":                         {none, all, [][3]int{{1, 70, 70}, {0, 0, 0}, {0, 59, 59}}, 2, 1},
		"of others":                            {none, all, [][3]int{{7, 0, 0}}, 0, 0},
	} {
		o := new(load.Origin)
		for _, saw := range c.saw {
			o.Saw(fmt.Sprintf("fairdoor-load/%d", saw[0]), start.Add(time.Duration(saw[1])*time.Second), start.Add(time.Duration(saw[2])*time.Second))
		}
		o.Saw("curl/8", start, start)
		active, perMinute := load.Judge(o, 2, c.bot, c.waited, s)
		assert.Equal(t, c.active, active, name)
		assert.Equal(t, c.perMinute, perMinute, name)
	}
}

func TestThresholdsAreRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"active<=200", "wait_p95<2m", "errors<0.1%", "let_in>=0.99", "tau>=.9", "overtaken==0"} {
		var threshold load.Threshold
		require.NoError(t, threshold.UnmarshalText([]byte(text)))
		assert.Equal(t, text, threshold.String())
	}
	for text, fault := range map[string]string{
		"activ<=200":    `there is no metric "activ" (did you mean "active"?)`,
		"xyzzy<=200":    `there is no metric "xyzzy"; there are active, admitted_per_minute, `,
		"active=200":    "not of the form active<=200",
		"active<=":      "not of the form",
		"active<=many":  "many is no number",
		"active<=5%":    "5% is no number",
		"errors<NaN":    "NaN is no number",
		"wait_p95<2":    "2 is no time such as 90s or 2m",
		"wait_p95<soon": "soon is no time",
	} {
		var threshold load.Threshold
		require.ErrorContains(t, threshold.UnmarshalText([]byte(text)), fault, text)
	}
	c := crowd(1, &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, nil)
	c.Thresholds = thresholds(t, "active<=5")
	require.ErrorContains(t, c.Validate(), "threshold active<=5 needs to know what the origin sees")
}

func TestTheReportIsWholeInJSONToo(t *testing.T) {
	t.Parallel()
	origin := new(load.Origin)
	c := crowd(3, serve(t, origin), origin)
	c.Crowd.Browse = 0
	c.Thresholds = thresholds(t, "active<=3")
	text, err := json.Marshal(send(t, c))
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(text, &got))
	for _, name := range []string{"crowd", "gate", "whole", "lasted_seconds", "passed", "thresholds", "people", "wait", "told", "origin", "order", "requests", "machine"} {
		assert.Contains(t, got, name)
	}
	assert.Equal(t, []any{map[string]any{"threshold": "active<=3", "value": 3., "passed": true}}, got["thresholds"])
}
