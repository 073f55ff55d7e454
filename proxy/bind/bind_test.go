package bind_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/bind"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func using(agent string) func(*http.Request) { return gatetest.With("User-Agent", agent) }

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
			f := gatetest.Start(t, gatetest.Bound(tt.to))
			owner := f.Visitor()
			require.True(t, owner.Get("/", gatetest.At(home), using(browser)).In())
			f.Pass(2 * time.Second)
			thief := owner.Twin()
			assert.Equal(t, tt.theirs, thief.Get("/", gatetest.At(tt.addr), using(tt.agent)).In())
			assert.True(t, owner.Get("/", gatetest.At(home), using(browser)).In(), "the owner stays in")
			assert.Equal(t, 1, f.Status("shop").Active)
		})
	}
}

func TestAnIPv6TicketIsBoundToA64(t *testing.T) {
	f := gatetest.Start(t, gatetest.Bound(bind.ByNetwork))
	v := f.Visitor()
	require.True(t, v.Get("/", gatetest.At("2001:db8:1:2::1")).In())
	f.Pass(2 * time.Second)
	assert.True(t, v.Twin().Get("/", gatetest.At("2001:db8:1:2:ffff::1")).In())
	assert.False(t, v.Twin().Get("/", gatetest.At("2001:db8:1:3::1")).In())
}

// Nine clients share the ticket of a place that is first in line. They all get places at the end of
// it, and its owner gets in first.
func TestASharedPlaceGivesTheSharersNothing(t *testing.T) {
	f := gatetest.Start(t, gatetest.Bound(bind.ByNetwork), gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers, s.SessionDuration = 2, time.Minute }))
	in := f.Full()
	owner := f.Visitor()
	require.False(t, owner.Get("/", gatetest.At("192.0.2.7")).In())
	f.Pass(gatetest.Interval)
	require.False(t, owner.Get("/", gatetest.At("192.0.2.7")).In())
	polite := f.Visitor()
	require.False(t, polite.Get("/", gatetest.At("203.0.113.1")).In())
	f.Pass(time.Second)
	var sharers []*gatetest.Visitor
	for i := range 9 {
		sharer := owner.Twin()
		a := sharer.Get("/", gatetest.At(fmt.Sprintf("198.51.%d.1", i)), gatetest.AsJSON)
		require.Equal(t, http.StatusOK, a.Status, "it is no error")
		require.Equal(t, true, a.Told("inWaitingRoom"))
		sharers = append(sharers, sharer)
	}
	f.Site.Requests()
	_ = in // they do not come again
	order := map[*gatetest.Visitor]int{}
	for step := range 60 {
		f.Pass(3 * time.Second)
		for i, sharer := range sharers { // those who cheat ask first
			if order[sharer] == 0 && sharer.Get("/", gatetest.At(fmt.Sprintf("198.51.%d.1", i))).In() {
				order[sharer] = step + 1
			}
		}
		for v, addr := range map[*gatetest.Visitor]string{owner: "192.0.2.7", polite: "203.0.113.1"} {
			if order[v] == 0 && v.Get("/", gatetest.At(addr)).In() {
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
	assert.Len(t, f.Site.Requests(), 2, "the site has seen two people")
	assert.Contains(t, f.API(http.MethodGet, "/metrics", "", nil).Body, `fairdoor_tickets_elsewhere_total{room="shop"} 9`)
}

func TestATicketHoldsNothingOfWhomItIsBoundTo(t *testing.T) {
	f := gatetest.Start(t, gatetest.Bound(bind.ByBoth))
	a, b := f.Visitor(), f.Visitor()
	require.True(t, a.Get("/", gatetest.At("192.0.2.7"), using("Some Browser/1.0")).In())
	require.False(t, b.Get("/", gatetest.At("192.0.2.7"), using("Some Browser/1.0")).In())
	for _, ticket := range a.Cookies {
		assert.NotContains(t, ticket, "192.0.2")
		assert.NotContains(t, ticket, "Browser")
	}
}

func TestTicketsAreBoundAsTheConfigurationChanges(t *testing.T) {
	f := gatetest.Start(t, gatetest.Bound(bind.NotBound))
	v := f.Visitor()
	require.True(t, v.Get("/", gatetest.At("192.0.2.7")).In())
	f.Pass(2 * time.Second)

	f.Config.Rooms[0].BindTicket = bind.ByNetwork
	require.NoError(t, f.Configure(t.Context(), f.Config))
	a := v.Get("/", gatetest.At("192.0.2.7"))
	require.True(t, a.In(), "a ticket from before counts")
	require.NotEmpty(t, a.SetCookies(), "and is bound from now on")
	assert.False(t, v.Twin().Get("/", gatetest.At("198.51.100.1")).In())

	f.Config.Keys = append(f.Config.Keys[:0:0], gatetest.NewKey(t), f.Config.Keys[0])
	require.NoError(t, f.Configure(t.Context(), f.Config))
	assert.False(t, v.Twin().Get("/", gatetest.At("198.51.100.1")).In(), "an old key binds, too")
	assert.True(t, v.Get("/", gatetest.At("192.0.2.7")).In())
	assert.True(t, v.Get("/", gatetest.At("192.0.2.7")).In())

	f.Config.Rooms[0].BindTicket = bind.NotBound
	require.NoError(t, f.Configure(t.Context(), f.Config))
	assert.True(t, v.Twin().Get("/", gatetest.At("198.51.100.1")).In(), "a bound ticket counts everywhere once none is")
}

// An admission token is bound to nobody: an edge would let in whoever brings it.
func TestBoundTicketsDoNotGoWithAnEdgeThatAdmits(t *testing.T) {
	f := gatetest.Start(t, gatetest.Bound(bind.ByNetwork))
	const fault = "edge_admission is 30s, which does not go with bind_ticket network"
	a := f.Patch(`{"edge_admission": "30s"}`)
	assert.Equal(t, http.StatusUnprocessableEntity, a.Status)
	assert.Contains(t, a.Body, fault)
	f.Config.Rooms[0].Settings.EdgeAdmission = 30 * time.Second
	require.ErrorContains(t, f.Configure(t.Context(), f.Config), fault)

	f.Config.Rooms[0].Settings.EdgeAdmission, f.Config.Rooms[0].BindTicket = 0, bind.NotBound
	require.NoError(t, f.Configure(t.Context(), f.Config))
	require.Equal(t, http.StatusOK, f.Patch(`{"edge_admission": "30s"}`).Status)
	f.Config.Rooms[0].BindTicket = bind.ByNetwork
	require.ErrorContains(t, f.Configure(t.Context(), f.Config), fault, "operators take their change back first")
}
