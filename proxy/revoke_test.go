package proxy_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
)

func TestOriginEndsASession(t *testing.T) {
	for header, command := range map[string]string{"Fairdoor-Command": "revoke", "Cf-Waiting-Room-Command": " Revoke "} {
		t.Run(header, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Room(gatetest.RevokeEnabled))
			gatetest.Revokes(f.Site, header, command)
			v := f.Visitor()
			v.Get("/")
			first := v.Twin()
			f.Pass(time.Minute + 2*time.Second)
			require.NotEmpty(t, v.Get("/").SetCookies(), "a second ticket of the same session")
			second := v.Twin()

			bye := v.Get("/logout")
			assert.True(t, bye.In(), "the answer is the origin's")
			assert.NotContains(t, bye.Header, header)
			assert.Equal(t, -1, bye.SetCookies()["fairdoor_shop"].MaxAge, "the cookie is deleted")
			assert.Equal(t, "private, no-store", bye.Header.Get("Cache-Control"))
			assert.Empty(t, v.Cookies)

			f.Pass(time.Second)
			assert.Zero(t, f.Status("shop").Active, "the slot is free at once")
			f.Site.Requests()
			for range 3 {
				for name, replayed := range map[string]*gatetest.Visitor{"first": first.Twin(), "second": second.Twin()} {
					a := replayed.Get("/", gatetest.AsJSON)
					if a.In() { // as a newcomer, with a slot of their own
						assert.NotEmpty(t, a.SetCookies(), name)
					}
				}
			}
			f.Pass(time.Second)
			assert.Equal(t, 1, f.Status("shop").Active, "earlier tickets are worth nothing: their owners are newcomers")
		})
	}
}

func TestRevokedTicketsWaitWhenTheRoomIsFull(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(gatetest.RevokeEnabled))
	gatetest.Revokes(f.Site, "Fairdoor-Command", "revoke")
	v := f.Visitor()
	v.Get("/")
	old := v.Twin()
	v.Get("/logout")
	f.Pass(time.Second)
	require.True(t, f.Visitor().Get("/").In(), "someone else takes the slot")
	f.Pass(2 * time.Second)
	for range 4 {
		assert.False(t, old.Twin().Get("/").In())
		f.Pass(time.Minute)
	}
}

func TestRevokeIsForRoomsThatEnableIt(t *testing.T) {
	f := gatetest.Start(t)
	gatetest.Revokes(f.Site, "Fairdoor-Command", "revoke")
	v := f.Visitor()
	v.Get("/")
	a := v.Get("/logout")
	assert.NotContains(t, a.Header, "Fairdoor-Command", "it goes no further all the same")
	assert.Empty(t, a.SetCookies())
	assert.True(t, v.Get("/").In())
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Active)
}

func TestOtherCommandsDoNothing(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(gatetest.RevokeEnabled))
	gatetest.Revokes(f.Site, "Fairdoor-Command", "admit-everyone")
	v := f.Visitor()
	v.Get("/")
	a := v.Get("/logout")
	assert.NotContains(t, a.Header, "Fairdoor-Command")
	assert.True(t, v.Get("/").In())
}

func TestGoodbyeOfThePage(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	leaving, staying := f.Visitor(), f.Visitor()
	before := leaving.Get("/", gatetest.AsJSON)
	staying.Get("/")
	f.Pass(time.Second)
	require.Equal(t, 2, f.Status("shop").Queued)

	same := gatetest.With("Sec-Fetch-Site", "same-origin")
	for _, foreign := range []func(*http.Request){gatetest.With("Sec-Fetch-Site", "cross-site"), gatetest.With("Sec-Fetch-Site", "same-site"), gatetest.With("Origin", "https://evil.test")} {
		assert.Equal(t, http.StatusBadRequest, leaving.Send(http.MethodPost, "/.fairdoor/leave", nil, foreign).Status, "another site's page")
	}
	assert.Equal(t, http.StatusMethodNotAllowed, leaving.Get("/.fairdoor/leave", same).Status)
	assert.Equal(t, http.StatusNotFound, leaving.Get("/.fairdoor/x", same).Status)
	assert.Equal(t, http.StatusNotFound, leaving.Get("/.fairdoor/../x", same).Status)
	f.Pass(time.Second)
	require.Equal(t, 2, f.Status("shop").Queued, "nobody has left")

	bye := leaving.Send(http.MethodPost, "/.fairdoor/leave", nil, same)
	assert.Equal(t, http.StatusNoContent, bye.Status)
	assert.Equal(t, "no-store", bye.Header.Get("Cache-Control"))
	assert.Empty(t, bye.Header["Set-Cookie"])
	leaving.Send(http.MethodPost, "/.fairdoor/leave", nil, same)
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Queued, "once")

	again := leaving.Get("/", gatetest.AsJSON)
	assert.Equal(t, before.Told("lastUpdated"), again.Told("lastUpdated"), "the place is the same")
	f.Pass(time.Second)
	assert.Equal(t, 2, f.Status("shop").Queued, "and they are counted again")
	assert.Empty(t, f.Site.Requests())
}

func TestGoodbyeIsSaidToTheRoomOfThePage(t *testing.T) {
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) {
		tickets := c.Rooms[0]
		tickets.Name, tickets.Routes = "tickets", c.Rooms[0].Routes[:0:0]
		tickets.Routes = append(tickets.Routes, c.Rooms[0].Routes...)
		tickets.Routes[0].Path = "/tickets"
		c.Rooms = append(c.Rooms, tickets)
	})
	for _, path := range []string{"/", "/tickets"} {
		f.Visitor().Get(path)
	}
	v := f.Visitor()
	v.Get("/")
	v.Get("/tickets")
	queued := func() [2]int {
		f.Pass(time.Second)
		return [2]int{f.Status("shop").Queued, f.Status("tickets").Queued}
	}
	require.Equal(t, [2]int{1, 1}, queued())
	v.Send(http.MethodPost, "/.fairdoor/leave", nil, gatetest.With("Referer", f.Public.URL+"/tickets/1"))
	require.Equal(t, [2]int{1, 0}, queued())
	v.Send(http.MethodPost, "/.fairdoor/leave", nil, gatetest.With("Referer", "https://elsewhere.test/tickets"))
	require.Equal(t, [2]int{0, 0}, queued(), "to all rooms if it is not known which")
}
