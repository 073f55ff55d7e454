package proxy_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/bind"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// bound binds the first room's tickets. The tests say in a header where they come from.
func bound(to bind.Mode) func(*proxy.Config, *proxy.Options) {
	return func(c *proxy.Config, o *proxy.Options) {
		trustingLoopback(c, o)
		c.Rooms[0].BindTicket = to
	}
}

func at(addr string) func(*http.Request)     { return with("X-Forwarded-For", addr) }
func using(agent string) func(*http.Request) { return with("User-Agent", agent) }

func TestATicketCountsWhereItIsBoundTo(t *testing.T) {
	const home, browser = "192.0.2.7", "Mozilla/5.0 (X11; Linux x86_64)"
	for name, tt := range map[string]struct {
		to          bind.Mode
		addr, agent string
		theirs      bool
	}{
		"off":                            {bind.NotBound, "198.51.100.1", "other", true},
		"network: the same":              {bind.ByNetwork, home, "other", true},
		"network: another address of it": {bind.ByNetwork, "192.0.2.250", "other", true},
		"network: another":               {bind.ByNetwork, "192.0.3.7", browser, false},
		"network: of the other protocol": {bind.ByNetwork, "2001:db8::1", browser, false},
		"user agent: the same":           {bind.ByUserAgent, "198.51.100.1", browser, true},
		"user agent: another":            {bind.ByUserAgent, home, browser + ".", false},
		"both: the same":                 {bind.ByBoth, "192.0.2.8", browser, true},
		"both: another network":          {bind.ByBoth, "198.51.100.1", browser, false},
		"both: another user agent":       {bind.ByBoth, home, "other", false},
		"both: neither":                  {bind.ByBoth, "198.51.100.1", "other", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, bound(tt.to))
			owner := f.visitor()
			require.True(t, owner.get("/", at(home), using(browser)).in())
			f.pass(2 * time.Second)
			thief := owner.twin()
			assert.Equal(t, tt.theirs, thief.get("/", at(tt.addr), using(tt.agent)).in())
			assert.True(t, owner.get("/", at(home), using(browser)).in(), "the owner stays in")
			assert.Equal(t, 1, f.status("shop").Active)
		})
	}
}

func TestAnIPv6TicketIsBoundToA64(t *testing.T) {
	f := start(t, bound(bind.ByNetwork))
	v := f.visitor()
	require.True(t, v.get("/", at("2001:db8:1:2::1")).in())
	f.pass(2 * time.Second)
	assert.True(t, v.twin().get("/", at("2001:db8:1:2:ffff::1")).in())
	assert.False(t, v.twin().get("/", at("2001:db8:1:3::1")).in())
}

// Nine clients share the ticket of a place that is first in line. They all get places at the end of it, and its owner
// gets in first.
func TestASharedPlaceGivesTheSharersNothing(t *testing.T) {
	f := start(t, bound(bind.ByNetwork), settings(func(s *queue.Settings) { s.TotalActiveUsers, s.SessionDuration = 2, time.Minute }))
	in := f.full()
	owner := f.visitor()
	require.False(t, owner.get("/", at("192.0.2.7")).in())
	f.pass(interval)
	require.False(t, owner.get("/", at("192.0.2.7")).in())
	polite := f.visitor()
	require.False(t, polite.get("/", at("203.0.113.1")).in())
	f.pass(time.Second)
	var sharers []*visitor
	for i := range 9 {
		sharer := owner.twin()
		a := sharer.get("/", at(fmt.Sprintf("198.51.%d.1", i)), asJSON)
		require.Equal(t, http.StatusOK, a.status, "it is no error")
		require.Equal(t, true, a.told("inWaitingRoom"))
		sharers = append(sharers, sharer)
	}
	f.site.requests()
	_ = in // they do not come again
	order := map[*visitor]int{}
	for step := range 60 {
		f.pass(3 * time.Second)
		for i, sharer := range sharers { // those who cheat ask first
			if order[sharer] == 0 && sharer.get("/", at(fmt.Sprintf("198.51.%d.1", i))).in() {
				order[sharer] = step + 1
			}
		}
		for v, addr := range map[*visitor]string{owner: "192.0.2.7", polite: "203.0.113.1"} {
			if order[v] == 0 && v.get("/", at(addr)).in() {
				order[v] = step + 1
			}
		}
		if order[owner] > 0 && order[polite] > 0 {
			break
		}
	}
	require.Positive(t, order[owner])
	require.Positive(t, order[polite], "the polite visitor behind the owner gets in before all who share")
	for _, sharer := range sharers {
		assert.Zero(t, order[sharer])
	}
	assert.Len(t, f.site.requests(), 2, "the site has seen two people")
	assert.Contains(t, f.api(http.MethodGet, "/metrics", "", nil).body, `fairdoor_tickets_elsewhere_total{room="shop"} 9`)
}

func TestATicketHoldsNothingOfWhomItIsBoundTo(t *testing.T) {
	f := start(t, bound(bind.ByBoth))
	a, b := f.visitor(), f.visitor()
	require.True(t, a.get("/", at("192.0.2.7"), using("Some Browser/1.0")).in())
	require.False(t, b.get("/", at("192.0.2.7"), using("Some Browser/1.0")).in())
	for _, ticket := range a.cookies {
		assert.NotContains(t, ticket, "192.0.2")
		assert.NotContains(t, ticket, "Browser")
	}
}

func TestTicketsAreBoundAsTheConfigurationChanges(t *testing.T) {
	f := start(t, bound(bind.NotBound))
	v := f.visitor()
	require.True(t, v.get("/", at("192.0.2.7")).in())
	f.pass(2 * time.Second)

	f.config.Rooms[0].BindTicket = bind.ByNetwork
	require.NoError(t, f.Configure(t.Context(), f.config))
	a := v.get("/", at("192.0.2.7"))
	require.True(t, a.in(), "a ticket from before counts")
	require.NotEmpty(t, a.setCookies(), "and is bound from now on")
	assert.False(t, v.twin().get("/", at("198.51.100.1")).in())

	f.config.Keys = append(f.config.Keys[:0:0], newKey(t), f.config.Keys[0])
	require.NoError(t, f.Configure(t.Context(), f.config))
	assert.False(t, v.twin().get("/", at("198.51.100.1")).in(), "an old key binds, too")
	assert.True(t, v.get("/", at("192.0.2.7")).in())
	assert.True(t, v.get("/", at("192.0.2.7")).in())

	f.config.Rooms[0].BindTicket = bind.NotBound
	require.NoError(t, f.Configure(t.Context(), f.config))
	assert.True(t, v.twin().get("/", at("198.51.100.1")).in(), "a bound ticket counts everywhere once none is")
}

// An admission token is bound to nobody: an edge would let in whoever brings it.
func TestBoundTicketsDoNotGoWithAnEdgeThatAdmits(t *testing.T) {
	f := start(t, bound(bind.ByNetwork))
	const fault = "edge_admission is 30s, which does not go with bind_ticket network"
	a := f.patch(`{"edge_admission": "30s"}`)
	assert.Equal(t, http.StatusUnprocessableEntity, a.status)
	assert.Contains(t, a.body, fault)
	f.config.Rooms[0].Settings.EdgeAdmission = 30 * time.Second
	require.ErrorContains(t, f.Configure(t.Context(), f.config), fault)

	f.config.Rooms[0].Settings.EdgeAdmission, f.config.Rooms[0].BindTicket = 0, bind.NotBound
	require.NoError(t, f.Configure(t.Context(), f.config))
	require.Equal(t, http.StatusOK, f.patch(`{"edge_admission": "30s"}`).status)
	f.config.Rooms[0].BindTicket = bind.ByNetwork
	require.ErrorContains(t, f.Configure(t.Context(), f.config), fault, "operators take their change back first")
}
