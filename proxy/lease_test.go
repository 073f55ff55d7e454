package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// confirming has newcomers' slots wait for their tickets for a minute, and claiming has slots
// of hidden pages wait for a look for as long.
var (
	confirming = settings(func(s *queue.Settings) { s.ConfirmWithin, s.Bucket = time.Minute, time.Second })
	claiming   = settings(func(s *queue.Settings) { s.ClaimWithin, s.Bucket = time.Minute, time.Second })
	isHidden   = with("Fairdoor-Visibility", "hidden")
	isVisible  = with("Fairdoor-Visibility", "visible")
)

func TestClientWithoutCookiesHoldsASlotForAMinute(t *testing.T) {
	f := start(t, confirming)
	require.True(t, f.visitor().get("/").in())
	f.pass(59 * time.Second)
	late := f.visitor()
	require.False(t, late.get("/").in())
	f.pass(25 * time.Second)
	assert.True(t, late.get("/").in())
	f.pass(7 * time.Minute)
	assert.Equal(t, 1, f.status("shop").InRoom, "whose ticket came back has a whole session")
}

func TestVisitorWhoseTicketComesBackIsIn(t *testing.T) {
	f := start(t, confirming)
	v := f.visitor()
	require.True(t, v.get("/").in())
	f.pass(50 * time.Second)
	a := v.get("/next")
	require.True(t, a.in())
	assert.Len(t, a.setCookies(), 1, "with a ticket for the whole session")
	f.pass(7 * time.Minute)
	assert.True(t, v.get("/").in())
}

func TestANewcomerWhoComesBackAfterAMinuteIsLastInLine(t *testing.T) {
	f := start(t, confirming)
	late := f.visitor()
	require.True(t, late.get("/").in())
	f.pass(61 * time.Second)
	in := f.visitor()
	require.True(t, in.get("/").in())
	require.True(t, in.get("/").in())
	other := f.visitor()
	require.False(t, other.get("/").in())
	f.pass(5 * time.Second)
	a := late.get("/", asJSON)
	require.False(t, a.in())
	assert.Equal(t, 1., a.told("usersAhead"))
}

// TestSlotsThatWereGatheredWhileNobodyWaitedAreWorthNothingLater has one address take slot after slot while nobody waits, keep the
// tickets, and bring them when people wait.
func TestSlotsThatWereGatheredWhileNobodyWaitedAreWorthNothingLater(t *testing.T) {
	for name, limits := range map[string]func(*queue.Settings){
		"in fifo":                func(*queue.Settings) {},
		"in a line":              func(s *queue.Settings) { s.Method = queue.Line },
		"of a network in fifo":   func(s *queue.Settings) { s.MaxWaitingPerNetwork = 1 },
		"of a network in line":   func(s *queue.Settings) { s.MaxWaitingPerNetwork, s.Method = 1, queue.Line },
		"with sessions that end": func(s *queue.Settings) { s.DisableSessionRenewal = true },
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, trustingLoopback, confirming, settings(func(s *queue.Settings) { s.NewUsersPerMinute, s.SessionDuration, s.RefreshJitter = 100, time.Hour, .01 }), settings(limits))
			bot, from := with("X-Forwarded-For", "192.0.2.9"), func(i int) func(*http.Request) { return with("X-Forwarded-For", fmt.Sprintf("198.51.%d.1", i)) }
			var bots, people []*visitor
			for range 6 {
				v := f.visitor()
				require.True(t, v.get("/", bot).in())
				bots = append(bots, v)
				f.pass(61 * time.Second)
			}
			for _, v := range f.full() {
				require.True(t, v.get("/").in())
			}
			for i := range 3 {
				people = append(people, f.visitor())
				require.False(t, people[i].get("/", from(i)).in())
			}
			f.pass(time.Second)
			for range 2 {
				for _, v := range bots {
					require.False(t, v.get("/", bot).in())
				}
				f.pass(20*time.Second + 500*time.Millisecond)
				for i, v := range people {
					require.False(t, v.get("/", from(i)).in())
				}
				f.pass(time.Second)
			}
			f.free()
			f.pass(20 * time.Second)
			for _, v := range bots {
				assert.False(t, v.get("/", bot).in(), "the people are ahead")
			}
			assert.True(t, people[0].get("/", from(0)).in())
		})
	}
}

// free has an operator end the session of the visitor who is in.
func (f *fixture) free() {
	f.t.Helper()
	var list struct{ Active []struct{ ID string } }
	f.api(http.MethodGet, "/api/v1/rooms/shop/visitors", "", &list)
	require.Len(f.t, list.Active, 1)
	require.Equal(f.t, http.StatusNoContent, f.api(http.MethodDelete, "/api/v1/rooms/shop/visitors/"+list.Active[0].ID, "", nil).status)
}

func TestSlotIsKeptForAHiddenPageUntilItsVisitorLooks(t *testing.T) {
	f := start(t, claiming)
	v := f.waiter()
	f.pass(23 * time.Second)
	assert.Equal(t, false, v.get("/", asJSON, isHidden).told("claimRequired"))
	f.free()
	f.pass(23 * time.Second)
	a := v.get("/", asJSON, isHidden)
	require.Equal(t, http.StatusOK, a.status)
	assert.Equal(t, true, a.told("inWaitingRoom"))
	assert.Equal(t, true, a.told("claimRequired"))
	assert.Equal(t, f.clock.Now().Add(time.Minute).UTC().Format("2006-01-02T15:04:05.000Z"), a.told("claimUntil"))
	assert.Len(t, a.setCookies(), 1)
	assert.Empty(t, f.site.requests(), "the origin does not see the poll")
	var session struct {
		Rooms []struct{ Status string }
	}
	require.NoError(t, json.Unmarshal([]byte(v.get("/.fairdoor/session?room=shop").body), &session))
	assert.Equal(t, "active", session.Rooms[0].Status)
	f.pass(50 * time.Second)
	assert.Equal(t, true, v.get("/", asJSON, isHidden).told("claimRequired"))
	assert.True(t, v.get("/", asJSON, isVisible).in())
	f.pass(7 * time.Minute)
	assert.True(t, v.get("/").in(), "the session began when they looked")
}

func TestSlotThatNobodyLooksForGoesOnAfterASecondTurn(t *testing.T) {
	f := start(t, claiming)
	v := f.waiter()
	f.pass(2 * time.Second)
	next := f.visitor()
	require.False(t, next.get("/").in())
	f.free()
	f.pass(23 * time.Second)
	require.Equal(t, true, v.get("/", asJSON, isHidden).told("claimRequired"))
	f.pass(61 * time.Second)
	require.Equal(t, true, v.get("/", asJSON, isHidden).told("claimRequired"), "one more turn")
	f.pass(61 * time.Second)
	assert.True(t, next.get("/").in())
	assert.Equal(t, false, v.get("/", asJSON, isHidden).told("claimRequired"))
}
