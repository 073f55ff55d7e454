package endless_test

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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// admits counts the calls by which a store is asked to let somebody in, or to give them a place.
type admits struct {
	queue.Store
	calls atomic.Int64
}

func (s *admits) Admit(ctx context.Context, room string, report *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	s.calls.Add(1)
	return s.Store.Admit(ctx, room, report, claims, grants)
}

// Thousands who are flagged come before a few who are not. They are in nobody's way, and never get
// in.
func TestTheEndlessLineIsInNobodysWay(t *testing.T) {
	for method, flagged := range map[queue.Method]int{queue.FIFO: 3000, queue.Random: 300, queue.Line: 300} {
		t.Run(method.String(), func(t *testing.T) {
			var store *admits
			f := gatetest.Start(t, gatetest.Flagging, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers, s.Method = 3, method }), func(_ *proxy.Config, o *proxy.Options) {
				store = &admits{Store: o.Store}
				o.Store = store
			})
			bots := make([]string, flagged)
			for i := range bots {
				bots[i] = sendsBot(f, t, "")
			}
			assert.Zero(t, store.calls.Load(), "nobody has asked the store")
			f.Pass(time.Second)
			require.Equal(t, gatetest.Standing{Status: "not_queueing"}, func() gatetest.Standing {
				s := f.Status("shop")
				return gatetest.Standing{Status: s.Status, Queued: s.Queued, Active: s.Active}
			}())
			for range 3 {
				require.True(t, f.Visitor().Get("/").In(), "the slots are for people")
			}
			f.Pass(2 * time.Second)
			person := f.Visitor()
			a := person.Get("/", gatetest.AsJSON)
			require.Equal(t, true, a.Told("inWaitingRoom"))
			for range 3 {
				f.Pass(gatetest.Interval)
				for i := range bots {
					bots[i] = sendsBot(f, t, bots[i])
				}
				require.False(t, person.Get("/").In())
			}
			f.Pass(time.Second)
			assert.Equal(t, 1, f.Status("shop").Queued, "people are counted alone")
			f.Pass(8 * time.Minute) // the three sessions are over
			entered := person.Get("/").In()
			f.Pass(2 * time.Second)
			require.True(t, entered || person.Get("/").In())
			assert.Len(t, f.Site.Requests(), 4)
		})
	}
}

// sendsBot sends a request of somebody who is flagged, with a cookie, and returns the cookie of the
// answer.
func sendsBot(f *gatetest.Fixture, t *testing.T, ticket string) string {
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
	f := gatetest.Start(t, gatetest.Flagging)
	f.Waiter()
	person, bot := f.Visitor(), f.Visitor()
	told, same := person.Get("/", gatetest.AsJSON), bot.Get("/", gatetest.AsJSON, gatetest.AsBot)
	for name := range told.Room {
		assert.Contains(t, same.Room, name)
	}
	assert.Equal(t, told.Status, same.Status)
	for _, name := range []string{"Retry-After", "Cache-Control", "Content-Type", "Vary"} {
		assert.Len(t, same.Header[name], len(told.Header[name]), name)
	}
	assert.Len(t, same.SetCookies(), 1)
	assert.Equal(t, false, same.Told("infiniteQueue"))
	page := bot.Get("/", gatetest.AsBot)
	assert.Contains(t, page.Body, "You are in the waiting room")
	first := bot.Get("/", gatetest.AsJSON, gatetest.AsBot)
	assert.Equal(t, same.Told("lastUpdated"), first.Told("lastUpdated"), "who asks early has not checked in")
	f.Pass(2 * gatetest.Interval)
	later := bot.Get("/", gatetest.AsJSON, gatetest.AsBot)
	assert.NotEqual(t, same.Told("lastUpdated"), later.Told("lastUpdated"))
	assert.Equal(t, same.Told("arrivedAt"), later.Told("arrivedAt"))
	assert.Positive(t, later.Told("position"))
}

func TestWhoIsFlaggedGetsNowhere(t *testing.T) {
	f := gatetest.Start(t, gatetest.Flagging, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 2 }))
	member := f.Visitor()
	require.True(t, member.Get("/").In())
	f.Site.Requests()
	bot := f.Visitor()
	for name, changes := range map[string][]func(*http.Request){
		"a part of a page": {gatetest.With("Sec-Fetch-Dest", "image")}, "a prefetch": {gatetest.AsPrefetch},
		"a preflight":                   {func(r *http.Request) { r.Method = http.MethodOptions }, gatetest.With("Origin", "https://a.test"), gatetest.With("Access-Control-Request-Method", "PUT")},
		"HEAD":                          {func(r *http.Request) { r.Method = http.MethodHead }},
		"a request that does something": {func(r *http.Request) { r.Method = http.MethodPut }, gatetest.With("Accept", "*/*")},
	} {
		a := bot.Get("/", append(changes, gatetest.AsBot)...)
		assert.Empty(t, a.SetCookies(), name)
	}
	assert.Equal(t, http.StatusTooManyRequests, bot.Send(http.MethodPost, "/", strings.NewReader("a=b"), gatetest.AsBot).Status)
	require.False(t, bot.Get("/", gatetest.AsBot).In())
	require.False(t, member.Twin().Get("/", gatetest.AsBot).In(), "with a session, either")
	assert.Empty(t, f.Site.Requests())
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Active)
	assert.Zero(t, f.Status("shop").Queued)
	assert.Contains(t, f.API(http.MethodGet, "/metrics", "", nil).Body, `fairdoor_decisions_total{outcome="endless",room="shop"}`)

	// Somebody who was flagged by mistake is a newcomer from then on.
	assert.True(t, bot.Get("/").In())
	assert.True(t, member.Get("/").In(), "and a session goes on")
	f.Pass(2 * time.Second)
	late := f.Visitor()
	require.False(t, late.Get("/", gatetest.AsBot).In())
	f.Pass(time.Hour)
	require.True(t, f.Visitor().Get("/").In())
	require.True(t, f.Visitor().Get("/").In())
	f.Pass(2 * time.Second)
	first := f.Waits()
	f.Pass(gatetest.Interval * 6 / 5)
	first.Get("/")
	f.Pass(time.Second)
	a := late.Get("/", gatetest.AsJSON)
	assert.EqualValues(t, 1, a.Told("usersAhead"), "what they have waited counts for nothing")
}

// A link to what a rule flags may stand on any site: it costs nobody their place or their session.
func TestWhoIsFlaggedOnceKeepsTheirPlace(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Rules = []route.Rule{{Action: route.EndlessLine, Match: route.Conditions{PathPrefix: "/trap"}}}
	}))
	member := f.Full()[0]
	first := f.Waits()
	arrived := first.Get("/", gatetest.AsJSON).Told("arrivedAt")
	for _, v := range []*gatetest.Visitor{member, first} {
		f.Pass(gatetest.Interval * 6 / 5)
		a := v.Get("/trap")
		require.False(t, a.In())
		assert.Empty(t, a.SetCookies())
	}
	require.True(t, member.Get("/").In())
	assert.Equal(t, arrived, first.Get("/", gatetest.AsJSON).Told("arrivedAt"))
}

// The gate's own paths answer those in the endless line as they answer those who wait.
func TestNothingTellsWhoIsInTheEndlessLine(t *testing.T) {
	p := challengetest.New(t)
	f := gatetest.Start(t, gatetest.Flagging, gatetest.Challenging(p))
	f.Full()
	person, bot := f.Visitor(), f.Visitor()
	for v, as := range map[*gatetest.Visitor]func(*http.Request){person: gatetest.AsJSON, bot: gatetest.AsBot} {
		assert.Contains(t, v.Get("/.fairdoor/session", as).Body, `"status": "none"`, "a newcomer has no place")
		a := v.Send(http.MethodPost, "/.fairdoor/challenge?room=shop", strings.NewReader("response="+p.Answer()), gatetest.With("Content-Type", "application/x-www-form-urlencoded"), as)
		require.Equal(t, http.StatusOK, a.Status)
		assert.Contains(t, a.Body, `"waiting"`)
		assert.Len(t, a.SetCookies(), 1)
		for _, query := range []string{"", "?renew=1", "?room=shop"} {
			assert.Contains(t, v.Get("/.fairdoor/session"+query, as).Body, `"status": "waiting"`, query)
		}
		assert.Equal(t, http.StatusOK, v.Get("/.fairdoor/move?room=shop", as).Status)
		assert.Regexp(t, `^retry: \d+\n\nevent: place\n`, firstEvents(v, as))
	}
	link := regexp.MustCompile(`/\.fairdoor/move\?room=shop&(amp;)?t=([^"<]+)`).FindStringSubmatch(bot.Get("/.fairdoor/move?room=shop", gatetest.AsBot).Body)
	require.Len(t, link, 3)
	assert.Equal(t, http.StatusGone, f.Visitor().Get("/.fairdoor/move?room=shop&t="+link[2]).Status, "there is no place to move")
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Queued)
}

// firstEvents are the first bytes of a visitor's event stream.
func firstEvents(v *gatetest.Visitor, as func(*http.Request)) string {
	v.Fixture.T.Helper()
	ctx, cancel := context.WithCancel(v.Fixture.T.Context())
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, v.Base+"/.fairdoor/events", nil)
	require.NoError(v.Fixture.T, err)
	as(q)
	for name, value := range v.Cookies {
		q.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := v.Client.Do(q)
	require.NoError(v.Fixture.T, err)
	defer resp.Body.Close()
	require.Equal(v.Fixture.T, http.StatusOK, resp.StatusCode)
	text := make([]byte, 60)
	n, err := io.ReadFull(resp.Body, text)
	require.NoError(v.Fixture.T, err)
	return string(text[:n])
}
