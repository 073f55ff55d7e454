package proxy_test

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge/challengetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// flagging has a rule flag whoever says that they are a bot.
var flagging = room(func(r *proxy.RoomConfig) {
	r.Rules = []route.Rule{{Action: route.EndlessLine, Match: route.Conditions{Header: "X-Bot"}}}
})

var asBot = with("X-Bot", "1")

// admits counts the calls by which a store is asked to let somebody in, or to give them a place.
type admits struct {
	queue.Store
	calls atomic.Int64
}

func (s *admits) Admit(ctx context.Context, room string, report *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	s.calls.Add(1)
	return s.Store.Admit(ctx, room, report, claims, grants)
}

// Thousands who are flagged come before a few who are not. They are in nobody's way, and never get in.
func TestTheEndlessLineIsInNobodysWay(t *testing.T) {
	for method, flagged := range map[queue.Method]int{queue.FIFO: 3000, queue.Random: 300, queue.Line: 300} {
		t.Run(method.String(), func(t *testing.T) {
			var store *admits
			f := start(t, flagging, settings(func(s *queue.Settings) { s.TotalActiveUsers, s.Method = 3, method }), func(_ *proxy.Config, o *proxy.Options) {
				store = &admits{Store: o.Store}
				o.Store = store
			})
			bots := make([]string, flagged)
			for i := range bots {
				bots[i] = f.sendsBot(t, "")
			}
			assert.Zero(t, store.calls.Load(), "nobody has asked the store")
			f.pass(time.Second)
			require.Equal(t, standing{Status: "not_queueing"}, func() standing {
				s := f.status("shop")
				return standing{Status: s.Status, Queued: s.Queued, Active: s.Active}
			}())
			for range 3 {
				require.True(t, f.visitor().get("/").in(), "the slots are for people")
			}
			f.pass(2 * time.Second)
			person := f.visitor()
			a := person.get("/", asJSON)
			require.Equal(t, true, a.told("inWaitingRoom"))
			for range 3 {
				f.pass(interval)
				for i := range bots {
					bots[i] = f.sendsBot(t, bots[i])
				}
				require.False(t, person.get("/").in())
			}
			f.pass(time.Second)
			assert.Equal(t, 1, f.status("shop").Queued, "people are counted alone")
			f.pass(8 * time.Minute) // the three sessions are over
			entered := person.get("/").in()
			f.pass(2 * time.Second)
			require.True(t, entered || person.get("/").in())
			assert.Len(t, f.site.requests(), 4)
		})
	}
}

// sendsBot sends a request of somebody who is flagged, with a cookie, and returns the cookie of the answer.
func (f *fixture) sendsBot(t *testing.T, ticket string) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("X-Bot", "1")
	r.Header.Set("Accept", "application/json")
	if ticket != "" {
		r.Header.Set("Cookie", ticket)
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	require.Contains(t, w.Body.String(), `"inWaitingRoom":true`)
	ticket, _, _ = strings.Cut(cmp.Or(w.Header().Get("Set-Cookie"), ticket), ";")
	return ticket
}

func TestTheEndlessLineLooksLikeAnother(t *testing.T) {
	f := start(t, flagging)
	f.waiter()
	person, bot := f.visitor(), f.visitor()
	told, same := person.get("/", asJSON), bot.get("/", asJSON, asBot)
	for name := range told.room {
		assert.Contains(t, same.room, name)
	}
	assert.Equal(t, told.status, same.status)
	for _, name := range []string{"Retry-After", "Cache-Control", "Content-Type", "Vary"} {
		assert.Len(t, same.header[name], len(told.header[name]), name)
	}
	assert.Len(t, same.setCookies(), 1)
	assert.Equal(t, false, same.told("infiniteQueue"))
	page := bot.get("/", asBot)
	assert.Contains(t, page.body, "You are in the waiting room")
	first := bot.get("/", asJSON, asBot)
	assert.Equal(t, same.told("lastUpdated"), first.told("lastUpdated"), "who asks early has not checked in")
	f.pass(2 * interval)
	later := bot.get("/", asJSON, asBot)
	assert.NotEqual(t, same.told("lastUpdated"), later.told("lastUpdated"))
	assert.Equal(t, same.told("arrivedAt"), later.told("arrivedAt"))
	assert.Positive(t, later.told("position"))
}

func TestWhoIsFlaggedGetsNowhere(t *testing.T) {
	f := start(t, flagging, settings(func(s *queue.Settings) { s.TotalActiveUsers = 2 }))
	member := f.visitor()
	require.True(t, member.get("/").in())
	f.site.requests()
	bot := f.visitor()
	for name, changes := range map[string][]func(*http.Request){
		"a part of a page": {with("Sec-Fetch-Dest", "image")}, "a prefetch": {asPrefetch},
		"a preflight":                   {func(r *http.Request) { r.Method = http.MethodOptions }, with("Origin", "https://a.test"), with("Access-Control-Request-Method", "PUT")},
		"HEAD":                          {func(r *http.Request) { r.Method = http.MethodHead }},
		"a request that does something": {func(r *http.Request) { r.Method = http.MethodPut }, with("Accept", "*/*")},
	} {
		a := bot.get("/", append(changes, asBot)...)
		assert.Empty(t, a.setCookies(), name)
	}
	assert.Equal(t, http.StatusTooManyRequests, bot.send(http.MethodPost, "/", strings.NewReader("a=b"), asBot).status)
	require.False(t, bot.get("/", asBot).in())
	require.False(t, member.twin().get("/", asBot).in(), "with a session, either")
	assert.Empty(t, f.site.requests())
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Active)
	assert.Zero(t, f.status("shop").Queued)
	assert.Contains(t, f.api(http.MethodGet, "/metrics", "", nil).body, `fairdoor_decisions_total{outcome="endless",room="shop"}`)

	// Somebody who was flagged by mistake is a newcomer from then on.
	assert.True(t, bot.get("/").in())
	assert.True(t, member.get("/").in(), "and a session goes on")
	f.pass(2 * time.Second)
	late := f.visitor()
	require.False(t, late.get("/", asBot).in())
	f.pass(time.Hour)
	require.True(t, f.visitor().get("/").in())
	require.True(t, f.visitor().get("/").in())
	f.pass(2 * time.Second)
	first := f.waits()
	f.pass(interval * 6 / 5)
	first.get("/")
	f.pass(time.Second)
	a := late.get("/", asJSON)
	assert.EqualValues(t, 1, a.told("usersAhead"), "what they have waited counts for nothing")
}

// A link to what a rule flags may stand on any site: it costs nobody their place or their session.
func TestWhoIsFlaggedOnceKeepsTheirPlace(t *testing.T) {
	f := start(t, room(func(r *proxy.RoomConfig) {
		r.Rules = []route.Rule{{Action: route.EndlessLine, Match: route.Conditions{PathPrefix: "/trap"}}}
	}))
	member := f.full()[0]
	first := f.waits()
	arrived := first.get("/", asJSON).told("arrivedAt")
	for _, v := range []*visitor{member, first} {
		f.pass(interval * 6 / 5)
		a := v.get("/trap")
		require.False(t, a.in())
		assert.Empty(t, a.setCookies())
	}
	require.True(t, member.get("/").in())
	assert.Equal(t, arrived, first.get("/", asJSON).told("arrivedAt"))
}

// The gate's own paths answer those in the endless line as they answer those who wait.
func TestNothingTellsWhoIsInTheEndlessLine(t *testing.T) {
	p := challengetest.New(t)
	f := start(t, flagging, challenging(p))
	f.full()
	person, bot := f.visitor(), f.visitor()
	for v, as := range map[*visitor]func(*http.Request){person: asJSON, bot: asBot} {
		assert.Contains(t, v.get("/.fairdoor/session", as).body, `"status": "none"`, "a newcomer has no place")
		a := v.send(http.MethodPost, "/.fairdoor/challenge?room=shop", strings.NewReader("response="+p.Answer()), with("Content-Type", "application/x-www-form-urlencoded"), as)
		require.Equal(t, http.StatusOK, a.status)
		assert.Contains(t, a.body, `"waiting"`)
		assert.Len(t, a.setCookies(), 1)
		for _, query := range []string{"", "?renew=1", "?room=shop"} {
			assert.Contains(t, v.get("/.fairdoor/session"+query, as).body, `"status": "waiting"`, query)
		}
		assert.Equal(t, http.StatusOK, v.get("/.fairdoor/move?room=shop", as).status)
		assert.Regexp(t, `^retry: \d+\n\nevent: place\n`, v.firstEvents(as))
	}
	link := regexp.MustCompile(`/\.fairdoor/move\?room=shop&(amp;)?t=([^"<]+)`).FindStringSubmatch(bot.get("/.fairdoor/move?room=shop", asBot).body)
	require.Len(t, link, 3)
	assert.Equal(t, http.StatusGone, f.visitor().get("/.fairdoor/move?room=shop&t="+link[2]).status, "there is no place to move")
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Queued)
}

// firstEvents are the first bytes of a visitor's event stream.
func (v *visitor) firstEvents(as func(*http.Request)) string {
	v.f.t.Helper()
	ctx, cancel := context.WithCancel(v.f.t.Context())
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+"/.fairdoor/events", nil)
	require.NoError(v.f.t, err)
	as(q)
	for name, value := range v.cookies {
		q.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := v.client.Do(q)
	require.NoError(v.f.t, err)
	defer resp.Body.Close()
	require.Equal(v.f.t, http.StatusOK, resp.StatusCode)
	text := make([]byte, 60)
	n, err := io.ReadFull(resp.Body, text)
	require.NoError(v.f.t, err)
	return string(text[:n])
}
