package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// confirming has newcomers' slots wait for their tickets for a minute, and claiming has slots
// of hidden pages wait for a look for as long.
var (
	confirming = gatetest.Settings(func(s *queue.Settings) { s.ConfirmWithin, s.Bucket = time.Minute, time.Second })
	claiming   = gatetest.Settings(func(s *queue.Settings) { s.ClaimWithin, s.Bucket = time.Minute, time.Second })
	isHidden   = gatetest.With("Fairdoor-Visibility", "hidden")
	isVisible  = gatetest.With("Fairdoor-Visibility", "visible")
)

func TestClientWithoutCookiesHoldsASlotForAMinute(t *testing.T) {
	f := gatetest.Start(t, confirming)
	require.True(t, f.Visitor().Get("/").In())
	f.Pass(59 * time.Second)
	late := f.Visitor()
	require.False(t, late.Get("/").In())
	f.Pass(25 * time.Second)
	assert.True(t, late.Get("/").In())
	f.Pass(7 * time.Minute)
	assert.Equal(t, 1, f.Status("shop").InRoom, "whose ticket came back has a whole session")
}

func TestVisitorWhoseTicketComesBackIsIn(t *testing.T) {
	f := gatetest.Start(t, confirming)
	v := f.Visitor()
	require.True(t, v.Get("/").In())
	f.Pass(50 * time.Second)
	a := v.Get("/next")
	require.True(t, a.In())
	assert.Len(t, a.SetCookies(), 1, "with a ticket for the whole session")
	f.Pass(7 * time.Minute)
	assert.True(t, v.Get("/").In())
}

func TestANewcomerWhoComesBackAfterAMinuteIsLastInLine(t *testing.T) {
	f := gatetest.Start(t, confirming)
	late := f.Visitor()
	require.True(t, late.Get("/").In())
	f.Pass(61 * time.Second)
	in := f.Visitor()
	require.True(t, in.Get("/").In())
	require.True(t, in.Get("/").In())
	other := f.Visitor()
	require.False(t, other.Get("/").In())
	f.Pass(5 * time.Second)
	a := late.Get("/", gatetest.AsJSON)
	require.False(t, a.In())
	assert.Equal(t, 1., a.Told("usersAhead"))
}

// TestSlotsThatWereGatheredWhileNobodyWaitedAreWorthNothingLater has one address take slot after
// slot while nobody waits, keep the tickets, and bring them when people wait.
func TestSlotsThatWereGatheredWhileNobodyWaitedAreWorthNothingLater(t *testing.T) {
	for name, limits := range map[string]func(*queue.Settings){
		"in fifo":                func(*queue.Settings) {},
		"in a line":              func(s *queue.Settings) { s.Method = queue.Line },
		"of a network in fifo":   func(s *queue.Settings) { s.MaxWaitingPerNetwork = 1 },
		"of a network in line":   func(s *queue.Settings) { s.MaxWaitingPerNetwork, s.Method = 1, queue.Line },
		"with sessions that end": func(s *queue.Settings) { s.DisableSessionRenewal = true },
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.TrustingLoopback, confirming, gatetest.Settings(func(s *queue.Settings) { s.NewUsersPerMinute, s.SessionDuration, s.RefreshJitter = 100, time.Hour, .01 }), gatetest.Settings(limits))
			bot, from := gatetest.With("X-Forwarded-For", "192.0.2.9"), func(i int) func(*http.Request) {
				return gatetest.With("X-Forwarded-For", fmt.Sprintf("198.51.%d.1", i))
			}
			var bots, people []*gatetest.Visitor
			for range 6 {
				v := f.Visitor()
				require.True(t, v.Get("/", bot).In())
				bots = append(bots, v)
				f.Pass(61 * time.Second)
			}
			for _, v := range f.Full() {
				require.True(t, v.Get("/").In())
			}
			for i := range 3 {
				people = append(people, f.Visitor())
				require.False(t, people[i].Get("/", from(i)).In())
			}
			f.Pass(time.Second)
			for range 2 {
				for _, v := range bots {
					require.False(t, v.Get("/", bot).In())
				}
				f.Pass(20*time.Second + 500*time.Millisecond)
				for i, v := range people {
					require.False(t, v.Get("/", from(i)).In())
				}
				f.Pass(time.Second)
			}
			free(f)
			f.Pass(20 * time.Second)
			for _, v := range bots {
				assert.False(t, v.Get("/", bot).In(), "the people are ahead")
			}
			assert.True(t, people[0].Get("/", from(0)).In())
		})
	}
}

// free has an operator end the session of the visitor who is in.
func free(f *gatetest.Fixture) {
	f.T.Helper()
	var list struct{ Active []struct{ ID string } }
	f.API(http.MethodGet, "/api/v1/rooms/shop/visitors", "", &list)
	require.Len(f.T, list.Active, 1)
	require.Equal(f.T, http.StatusNoContent, f.API(http.MethodDelete, "/api/v1/rooms/shop/visitors/"+list.Active[0].ID, "", nil).Status)
}

func TestSlotIsKeptForAHiddenPageUntilItsVisitorLooks(t *testing.T) {
	f := gatetest.Start(t, claiming)
	v := f.Waiter()
	f.Pass(23 * time.Second)
	assert.Equal(t, false, v.Get("/", gatetest.AsJSON, isHidden).Told("claimRequired"))
	free(f)
	f.Pass(23 * time.Second)
	a := v.Get("/", gatetest.AsJSON, isHidden)
	require.Equal(t, http.StatusOK, a.Status)
	assert.Equal(t, true, a.Told("inWaitingRoom"))
	assert.Equal(t, true, a.Told("claimRequired"))
	assert.Equal(t, f.Clock.Now().Add(time.Minute).UTC().Format("2006-01-02T15:04:05.000Z"), a.Told("claimUntil"))
	assert.Len(t, a.SetCookies(), 1)
	assert.Empty(t, f.Site.Requests(), "the origin does not see the poll")
	var session struct {
		Rooms []struct{ Status string }
	}
	require.NoError(t, json.Unmarshal([]byte(v.Get("/.fairdoor/session?room=shop").Body), &session))
	assert.Equal(t, "active", session.Rooms[0].Status)
	f.Pass(50 * time.Second)
	assert.Equal(t, true, v.Get("/", gatetest.AsJSON, isHidden).Told("claimRequired"))
	assert.True(t, v.Get("/", gatetest.AsJSON, isVisible).In())
	f.Pass(7 * time.Minute)
	assert.True(t, v.Get("/").In(), "the session began when they looked")
}

func TestSlotThatNobodyLooksForGoesOnAfterASecondTurn(t *testing.T) {
	f := gatetest.Start(t, claiming)
	v := f.Waiter()
	f.Pass(2 * time.Second)
	next := f.Visitor()
	require.False(t, next.Get("/").In())
	free(f)
	f.Pass(23 * time.Second)
	require.Equal(t, true, v.Get("/", gatetest.AsJSON, isHidden).Told("claimRequired"))
	f.Pass(61 * time.Second)
	require.Equal(t, true, v.Get("/", gatetest.AsJSON, isHidden).Told("claimRequired"), "one more turn")
	f.Pass(61 * time.Second)
	assert.True(t, next.Get("/").In())
	assert.Equal(t, false, v.Get("/", gatetest.AsJSON, isHidden).Told("claimRequired"))
}
