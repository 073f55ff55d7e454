package proxy_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestAcceptedGetTheOriginsAnswer(t *testing.T) {
	f := gatetest.Start(t)
	f.Site.Will(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Set-Cookie"] = []string{"theirs=1; Path=/", "fairdoor_of_theirs=2"}
		w.Header().Set("Content-Type", "text/x-site")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	})
	v := f.Visitor()
	a := v.Get("/pot")
	assert.Equal(t, http.StatusTeapot, a.Status)
	assert.Equal(t, "short and stout", a.Body)
	assert.Equal(t, "text/x-site", a.Header.Get("Content-Type"))
	assert.Equal(t, "7", a.Header.Get("Retry-After"), "the origin's own")
	assert.Equal(t, []string{"theirs=1; Path=/", "fairdoor_of_theirs=2"}, a.Header["Set-Cookie"][:2], "the origin's survive untouched")
	assert.Len(t, a.Header["Set-Cookie"], 3, "and ours beside them")

	a = v.Get("/pot")
	assert.Len(t, a.Header["Set-Cookie"], 2, "the ticket has not changed")
	assert.NotContains(t, a.Header, "Cache-Control")
}

func TestAnswersWithATicketAreKeptOutOfSharedCaches(t *testing.T) {
	for name, c := range map[string]struct{ origin, want http.Header }{
		"the origin says nothing":             {http.Header{}, http.Header{"Cache-Control": {"private, no-store"}}},
		"the origin says less":                {http.Header{"Cache-Control": {"public, max-age=60"}}, http.Header{"Cache-Control": {"private, no-store"}}},
		"the origin says less, twice":         {http.Header{"Cache-Control": {"public", "max-age=60"}}, http.Header{"Cache-Control": {"private, no-store"}}},
		"the origin says no-cache":            {http.Header{"Cache-Control": {"no-cache"}}, http.Header{"Cache-Control": {"private, no-store"}}},
		"the origin says stricter":            {http.Header{"Cache-Control": {"no-store, no-transform"}}, http.Header{"Cache-Control": {"no-store, no-transform"}}},
		"the origin says so in capitals":      {http.Header{"Cache-Control": {"No-Store"}}, http.Header{"Cache-Control": {"No-Store"}}},
		"the origin says so on a second line": {http.Header{"Cache-Control": {"max-age=0", "no-store"}}, http.Header{"Cache-Control": {"max-age=0", "no-store"}}},
		"the origin says something longer": {
			http.Header{"Cache-Control": {"public, max-age=60, x-no-store, no-store-x"}}, http.Header{"Cache-Control": {"private, no-store"}}},
		"the origin says it between quotes": {
			http.Header{"Cache-Control": {`public, ext="a, no-store, \", no-store, b", max-age=60`}}, http.Header{"Cache-Control": {"private, no-store"}}},
		"the origin says it with an argument": {http.Header{"Cache-Control": {"no-store=0, max-age=60"}}, http.Header{"Cache-Control": {"private, no-store"}}},
		"the origin says it and takes it back": {
			http.Header{"Cache-Control": {"max-age=60, no-store", "must-understand"}}, http.Header{"Cache-Control": {"private, no-store"}}},
		"the origin has a word with CDNs": {
			http.Header{"Cdn-Cache-Control": {"max-age=60"}, "Cloudflare-Cdn-Cache-Control": {"max-age=60"}, "Vercel-Cdn-Cache-Control": {"max-age=60", "x"}},
			http.Header{"Cdn-Cache-Control": {"no-store"}, "Cloudflare-Cdn-Cache-Control": {"no-store"}, "Vercel-Cdn-Cache-Control": {"no-store"}}},
		"the origin has one with surrogates": {
			http.Header{"Surrogate-Control": {"max-age=60"}, "Edge-Control": {"max-age=60"}},
			http.Header{"Surrogate-Control": {"no-store"}, "Edge-Control": {"no-store"}}},
		"the origin has one with nginx":     {http.Header{"X-Accel-Expires": {"60"}}, http.Header{"X-Accel-Expires": {"0"}}},
		"the origin has one with LiteSpeed": {http.Header{"X-Litespeed-Cache-Control": {"max-age=60"}}, http.Header{"X-Litespeed-Cache-Control": {"no-cache"}}},
		"no header for them is made up":     {http.Header{}, http.Header{"Cdn-Cache-Control": nil, "Surrogate-Control": nil, "X-Accel-Expires": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t)
			f.Site.Will(func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range c.origin {
					w.Header()[name] = values
				}
			})
			v := f.Visitor()
			a := v.Get("/")
			require.NotEmpty(t, a.SetCookies())
			for name, values := range c.want {
				assert.Equal(t, values, []string(a.Header[name]), name)
			}
			again := v.Get("/")
			for name, values := range c.origin {
				assert.Equal(t, values, []string(again.Header[name]), "without a ticket the origin's word stands: %s", name)
			}
		})
	}
}

func TestNothingOfOursReachesTheOrigin(t *testing.T) {
	f := gatetest.Start(t)
	v := f.Visitor()
	v.Get("/")
	f.Site.Requests()
	ticket := "fairdoor_shop=" + v.Cookies["fairdoor_shop"]
	v.Cookies = nil
	v.Get("/?a=1;b=%zz", gatetest.With("Cookie", `a=1; `+ticket+`;  b="two"; __Host-fairdoor_other=x; c`),
		gatetest.With("Fairdoor-Visibility", "hidden"), gatetest.With("Fairdoor-Command", "revoke"), gatetest.With("Cf-Waiting-Room-Command", "revoke"),
		gatetest.With("X-Of-Theirs", "y"))
	seen := f.Site.Requests()
	require.Len(t, seen, 1)
	assert.Equal(t, []string{`a=1;  b="two"; c`}, seen[0].Header["Cookie"])
	assert.Equal(t, "y", seen[0].Header.Get("X-Of-Theirs"))
	assert.Equal(t, "/?a=1;b=%zz", seen[0].RequestURI)
	for name := range seen[0].Header {
		assert.NotRegexp(t, "^(Fairdoor|Cf-Waiting-Room)-", name)
	}

	v.Get("/", gatetest.With("Cookie", ticket))
	assert.NotContains(t, f.Site.Requests()[0].Header, "Cookie")
}

func TestTicketsAreIssuedAnewWhenMoreThanAnEighthOfTheSessionHasPassed(t *testing.T) {
	f := gatetest.Start(t) // sessions of eight minutes
	v := f.Visitor()
	require.NotEmpty(t, v.Get("/").SetCookies())
	f.Pass(time.Minute)
	assert.Empty(t, v.Get("/").SetCookies(), "an eighth, and no more")
	f.Pass(time.Second)
	assert.NotEmpty(t, v.Get("/").SetCookies(), "more than an eighth since the last")
	f.Pass(time.Minute)
	assert.Empty(t, v.Get("/").SetCookies(), "counted from the last one")
}

func TestSessionLastsFromTheLastRequest(t *testing.T) {
	f := gatetest.Start(t)
	v, other := f.Visitor(), f.Visitor()
	v.Get("/")
	for range 5 {
		f.Pass(7 * time.Minute)
		require.True(t, v.Get("/").In())
		require.False(t, other.Get("/").In())
	}
	f.Pass(8*time.Minute + 10*time.Second)
	assert.True(t, f.Visitor().Get("/").In(), "the session has ended, and nobody is present in line")
	assert.False(t, v.Get("/").In())
}

func TestSessionWithoutRenewalLastsFromItsAdmission(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.DisableSessionRenewal = true }))
	v := f.Visitor()
	v.Get("/")
	for range 3 {
		f.Pass(2 * time.Minute)
		a := v.Get("/")
		require.True(t, a.In())
		assert.Empty(t, a.SetCookies())
	}
	f.Pass(2*time.Minute + time.Second)
	assert.True(t, f.Visitor().Get("/").In())
	assert.False(t, v.Get("/").In())
}

func TestAcceptedPassWhateverBecomesOfTheLimits(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 5 }))
	in := f.Full()
	for _, change := range []string{
		`{"total_active_users": 1, "new_users_per_minute": 1}`, `{"queue_all": true}`, `{"queueing_method": "reject", "queue_all": null}`,
		`{"queueing_method": "random"}`, `{"session_duration": "10s"}`, `{"session_duration": "1h"}`,
	} {
		require.Equal(t, http.StatusOK, f.Patch(change).Status, change)
		f.Pass(time.Second)
		for _, v := range in {
			assert.True(t, v.Get("/").In(), change)
		}
		assert.False(t, f.Visitor().Get("/").In(), change)
	}
}

func TestOneVisitorHoldsOneSlotWhateverIsAskedAtOnce(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 2 }))
	v := f.Waiter()
	f.Pass(8*time.Minute + time.Second)
	f.Patch(`{"queue_ticket_ttl": "1h"}`)
	v.Get("/")
	f.Pass(gatetest.Interval + 5*time.Second)
	done := make(chan gatetest.Answer)
	for range 20 {
		go func() { done <- v.Twin().Get("/") }()
	}
	for range 20 {
		assert.True(t, (<-done).In())
	}
	assert.Equal(t, 1, f.Status("shop").Active)
}

func TestPassthroughLetsEveryoneInAndCountsThem(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Method, s.TotalActiveUsers = queue.Passthrough, 2 }))
	for range 5 {
		assert.True(t, f.Visitor().Get("/").In())
	}
	f.Pass(time.Second)
	s := f.Status("shop")
	assert.Equal(t, 5, s.Active)
	assert.Equal(t, "not_queueing", s.Status)
	for range 10 {
		v := f.Visitor()
		assert.True(t, v.Get("/").In())
		assert.True(t, v.Get("/").In())
	}
	assert.Equal(t, 8, f.Status("shop").Active, "counted up to a multiple of the limit")
}

func TestPassthroughLeavesTheOriginsWordWithCachesStand(t *testing.T) {
	for name, c := range map[string]struct {
		control string
		shadow  bool
		ticket  bool
	}{
		"an answer that caches may keep":                 {control: "public, max-age=60"},
		"an answer of which the origin says nothing":     {},
		"an answer for its visitor alone":                {control: "private, max-age=5"},
		"an answer that nobody may store":                {control: "no-store", ticket: true},
		"in shadow mode, which is to count all visitors": {control: "public, max-age=60", shadow: true, ticket: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Method, s.Shadow = queue.Passthrough, c.shadow }))
			f.Site.Will(func(w http.ResponseWriter, _ *http.Request) {
				if c.control != "" {
					w.Header().Set("Cache-Control", c.control)
				}
			})
			for range 20 { // more than are counted
				a := f.Visitor().Get("/")
				require.Equal(t, http.StatusOK, a.Status)
				assert.Equal(t, c.ticket, len(a.SetCookies()) > 0, "a ticket")
				if !c.shadow {
					assert.Equal(t, c.control, a.Header.Get("Cache-Control"), "the origin's own")
				}
			}
		})
	}
}

func TestPassthroughCountsThoseWhoBringATicketOnce(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 5 }))
	v := f.Visitor()
	v.Get("/")
	f.Patch(`{"queueing_method": "passthrough"}`)
	for range 4 {
		f.Pass(2 * time.Minute)
		require.True(t, v.Get("/").In())
		f.Pass(time.Second)
		assert.Equal(t, 1, f.Status("shop").Active)
	}
}

func TestSuspendedRoomLetsEveryonePassWithoutATicket(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Settings.Suspended = true }))
	for range 3 {
		a := f.Visitor().Get("/")
		assert.True(t, a.In())
		assert.Empty(t, a.SetCookies())
	}
	s := f.Status("shop")
	assert.Equal(t, "suspended", s.Status)
	assert.Zero(t, s.Active)
	f.Patch(`{"suspended": false}`)
	assert.NotEmpty(t, f.Visitor().Get("/").SetCookies())
}
