package proxy_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestAcceptedGetTheOriginsAnswer(t *testing.T) {
	f := start(t)
	f.site.will(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Set-Cookie"] = []string{"theirs=1; Path=/", "fairdoor_of_theirs=2"}
		w.Header().Set("Content-Type", "text/x-site")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	})
	v := f.visitor()
	a := v.get("/pot")
	assert.Equal(t, http.StatusTeapot, a.status)
	assert.Equal(t, "short and stout", a.body)
	assert.Equal(t, "text/x-site", a.header.Get("Content-Type"))
	assert.Equal(t, "7", a.header.Get("Retry-After"), "the origin's own")
	assert.Equal(t, []string{"theirs=1; Path=/", "fairdoor_of_theirs=2"}, a.header["Set-Cookie"][:2], "the origin's survive untouched")
	assert.Len(t, a.header["Set-Cookie"], 3, "and ours beside them")

	a = v.get("/pot")
	assert.Len(t, a.header["Set-Cookie"], 2, "the ticket has not changed")
	assert.NotContains(t, a.header, "Cache-Control")
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
			f := start(t)
			f.site.will(func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range c.origin {
					w.Header()[name] = values
				}
			})
			v := f.visitor()
			a := v.get("/")
			require.NotEmpty(t, a.setCookies())
			for name, values := range c.want {
				assert.Equal(t, values, []string(a.header[name]), name)
			}
			again := v.get("/")
			for name, values := range c.origin {
				assert.Equal(t, values, []string(again.header[name]), "without a ticket the origin's word stands: %s", name)
			}
		})
	}
}

func TestNothingOfOursReachesTheOrigin(t *testing.T) {
	f := start(t)
	v := f.visitor()
	v.get("/")
	f.site.requests()
	ticket := "fairdoor_shop=" + v.cookies["fairdoor_shop"]
	v.cookies = nil
	v.get("/?a=1;b=%zz", with("Cookie", `a=1; `+ticket+`;  b="two"; __Host-fairdoor_other=x; c`),
		with("Fairdoor-Visibility", "hidden"), with("Fairdoor-Command", "revoke"), with("Cf-Waiting-Room-Command", "revoke"),
		with("X-Of-Theirs", "y"))
	seen := f.site.requests()
	require.Len(t, seen, 1)
	assert.Equal(t, []string{`a=1;  b="two"; c`}, seen[0].Header["Cookie"])
	assert.Equal(t, "y", seen[0].Header.Get("X-Of-Theirs"))
	assert.Equal(t, "/?a=1;b=%zz", seen[0].RequestURI)
	for name := range seen[0].Header {
		assert.NotRegexp(t, "^(Fairdoor|Cf-Waiting-Room)-", name)
	}

	v.get("/", with("Cookie", ticket))
	assert.NotContains(t, f.site.requests()[0].Header, "Cookie")
}

func TestTicketsAreIssuedAnewWhenMoreThanAnEighthOfTheSessionHasPassed(t *testing.T) {
	f := start(t) // sessions of eight minutes
	v := f.visitor()
	require.NotEmpty(t, v.get("/").setCookies())
	f.pass(time.Minute)
	assert.Empty(t, v.get("/").setCookies(), "an eighth, and no more")
	f.pass(time.Second)
	assert.NotEmpty(t, v.get("/").setCookies(), "more than an eighth since the last")
	f.pass(time.Minute)
	assert.Empty(t, v.get("/").setCookies(), "counted from the last one")
}

func TestSessionLastsFromTheLastRequest(t *testing.T) {
	f := start(t)
	v, other := f.visitor(), f.visitor()
	v.get("/")
	for range 5 {
		f.pass(7 * time.Minute)
		require.True(t, v.get("/").in())
		require.False(t, other.get("/").in())
	}
	f.pass(8*time.Minute + 10*time.Second)
	assert.True(t, f.visitor().get("/").in(), "the session has ended, and nobody is present in line")
	assert.False(t, v.get("/").in())
}

func TestSessionWithoutRenewalLastsFromItsAdmission(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.DisableSessionRenewal = true }))
	v := f.visitor()
	v.get("/")
	for range 3 {
		f.pass(2 * time.Minute)
		a := v.get("/")
		require.True(t, a.in())
		assert.Empty(t, a.setCookies())
	}
	f.pass(2*time.Minute + time.Second)
	assert.True(t, f.visitor().get("/").in())
	assert.False(t, v.get("/").in())
}

func TestAcceptedPassWhateverBecomesOfTheLimits(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 5 }))
	in := f.full()
	for _, change := range []string{
		`{"total_active_users": 1, "new_users_per_minute": 1}`, `{"queue_all": true}`, `{"queueing_method": "reject", "queue_all": null}`,
		`{"queueing_method": "random"}`, `{"session_duration": "10s"}`, `{"session_duration": "1h"}`,
	} {
		require.Equal(t, http.StatusOK, f.patch(change).status, change)
		f.pass(time.Second)
		for _, v := range in {
			assert.True(t, v.get("/").in(), change)
		}
		assert.False(t, f.visitor().get("/").in(), change)
	}
}

func TestOneVisitorHoldsOneSlotWhateverIsAskedAtOnce(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 2 }))
	v := f.waiter()
	f.pass(8*time.Minute + time.Second)
	f.patch(`{"queue_ticket_ttl": "1h"}`)
	v.get("/")
	f.pass(interval + 5*time.Second)
	done := make(chan answer)
	for range 20 {
		go func() { done <- v.twin().get("/") }()
	}
	for range 20 {
		assert.True(t, (<-done).in())
	}
	assert.Equal(t, 1, f.status("shop").Active)
}

func TestPassthroughLetsEveryoneInAndCountsThem(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.Method, s.TotalActiveUsers = queue.Passthrough, 2 }))
	for range 5 {
		assert.True(t, f.visitor().get("/").in())
	}
	f.pass(time.Second)
	s := f.status("shop")
	assert.Equal(t, 5, s.Active)
	assert.Equal(t, "not_queueing", s.Status)
	for range 10 {
		v := f.visitor()
		assert.True(t, v.get("/").in())
		assert.True(t, v.get("/").in())
	}
	assert.Equal(t, 8, f.status("shop").Active, "counted up to a multiple of the limit")
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
			f := start(t, settings(func(s *queue.Settings) { s.Method, s.Shadow = queue.Passthrough, c.shadow }))
			f.site.will(func(w http.ResponseWriter, _ *http.Request) {
				if c.control != "" {
					w.Header().Set("Cache-Control", c.control)
				}
			})
			for range 20 { // more than are counted
				a := f.visitor().get("/")
				require.Equal(t, http.StatusOK, a.status)
				assert.Equal(t, c.ticket, len(a.setCookies()) > 0, "a ticket")
				if !c.shadow {
					assert.Equal(t, c.control, a.header.Get("Cache-Control"), "the origin's own")
				}
			}
		})
	}
}

func TestPassthroughCountsThoseWhoBringATicketOnce(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 5 }))
	v := f.visitor()
	v.get("/")
	f.patch(`{"queueing_method": "passthrough"}`)
	for range 4 {
		f.pass(2 * time.Minute)
		require.True(t, v.get("/").in())
		f.pass(time.Second)
		assert.Equal(t, 1, f.status("shop").Active)
	}
}

func TestSuspendedRoomLetsEveryonePassWithoutATicket(t *testing.T) {
	f := start(t, room(func(r *proxy.RoomConfig) { r.Settings.Suspended = true }))
	for range 3 {
		a := f.visitor().get("/")
		assert.True(t, a.in())
		assert.Empty(t, a.setCookies())
	}
	s := f.status("shop")
	assert.Equal(t, "suspended", s.Status)
	assert.Zero(t, s.Active)
	f.patch(`{"suspended": false}`)
	assert.NotEmpty(t, f.visitor().get("/").setCookies())
}
