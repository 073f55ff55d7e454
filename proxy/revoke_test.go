package proxy_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
)

// revokes has the site end the session of whoever asks for /logout.
func revokes(s *site, header, command string) {
	s.will(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/logout" {
			w.Header().Set(header, command)
		}
		_, _ = io.WriteString(w, "in")
	})
}

func revokeEnabled(r *proxy.RoomConfig) { r.Commands = config.Commands{config.Revoke} }

func TestOriginEndsASession(t *testing.T) {
	for header, command := range map[string]string{"Fairdoor-Command": "revoke", "Cf-Waiting-Room-Command": " Revoke "} {
		t.Run(header, func(t *testing.T) {
			f := start(t, room(revokeEnabled))
			revokes(f.site, header, command)
			v := f.visitor()
			v.get("/")
			first := v.twin()
			f.pass(time.Minute + 2*time.Second)
			require.NotEmpty(t, v.get("/").setCookies(), "a second ticket of the same session")
			second := v.twin()

			bye := v.get("/logout")
			assert.True(t, bye.in(), "the answer is the origin's")
			assert.NotContains(t, bye.header, header)
			assert.Equal(t, -1, bye.setCookies()["fairdoor_shop"].MaxAge, "the cookie is deleted")
			assert.Equal(t, "private, no-store", bye.header.Get("Cache-Control"))
			assert.Empty(t, v.cookies)

			f.pass(time.Second)
			assert.Zero(t, f.status("shop").Active, "the slot is free at once")
			f.site.requests()
			for range 3 {
				for name, replayed := range map[string]*visitor{"first": first.twin(), "second": second.twin()} {
					a := replayed.get("/", asJSON)
					if a.in() { // as a newcomer, with a slot of their own
						assert.NotEmpty(t, a.setCookies(), name)
					}
				}
			}
			f.pass(time.Second)
			assert.Equal(t, 1, f.status("shop").Active, "earlier tickets are worth nothing: their owners are newcomers")
		})
	}
}

func TestRevokedTicketsWaitWhenTheRoomIsFull(t *testing.T) {
	f := start(t, room(revokeEnabled))
	revokes(f.site, "Fairdoor-Command", "revoke")
	v := f.visitor()
	v.get("/")
	old := v.twin()
	v.get("/logout")
	f.pass(time.Second)
	require.True(t, f.visitor().get("/").in(), "someone else takes the slot")
	f.pass(2 * time.Second)
	for range 4 {
		assert.False(t, old.twin().get("/").in())
		f.pass(time.Minute)
	}
}

func TestRevokeIsForRoomsThatEnableIt(t *testing.T) {
	f := start(t)
	revokes(f.site, "Fairdoor-Command", "revoke")
	v := f.visitor()
	v.get("/")
	a := v.get("/logout")
	assert.NotContains(t, a.header, "Fairdoor-Command", "it goes no further all the same")
	assert.Empty(t, a.setCookies())
	assert.True(t, v.get("/").in())
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Active)
}

func TestOtherCommandsDoNothing(t *testing.T) {
	f := start(t, room(revokeEnabled))
	revokes(f.site, "Fairdoor-Command", "admit-everyone")
	v := f.visitor()
	v.get("/")
	a := v.get("/logout")
	assert.NotContains(t, a.header, "Fairdoor-Command")
	assert.True(t, v.get("/").in())
}

func TestGoodbyeOfThePage(t *testing.T) {
	f := start(t)
	f.full()
	leaving, staying := f.visitor(), f.visitor()
	before := leaving.get("/", asJSON)
	staying.get("/")
	f.pass(time.Second)
	require.Equal(t, 2, f.status("shop").Queued)

	same := with("Sec-Fetch-Site", "same-origin")
	for _, foreign := range []func(*http.Request){with("Sec-Fetch-Site", "cross-site"), with("Sec-Fetch-Site", "same-site"), with("Origin", "https://evil.test")} {
		assert.Equal(t, http.StatusBadRequest, leaving.send(http.MethodPost, "/.fairdoor/leave", nil, foreign).status, "another site's page")
	}
	assert.Equal(t, http.StatusMethodNotAllowed, leaving.get("/.fairdoor/leave", same).status)
	assert.Equal(t, http.StatusNotFound, leaving.get("/.fairdoor/x", same).status)
	assert.Equal(t, http.StatusNotFound, leaving.get("/.fairdoor/../x", same).status)
	f.pass(time.Second)
	require.Equal(t, 2, f.status("shop").Queued, "nobody has left")

	bye := leaving.send(http.MethodPost, "/.fairdoor/leave", nil, same)
	assert.Equal(t, http.StatusNoContent, bye.status)
	assert.Equal(t, "no-store", bye.header.Get("Cache-Control"))
	assert.Empty(t, bye.header["Set-Cookie"])
	leaving.send(http.MethodPost, "/.fairdoor/leave", nil, same)
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Queued, "once")

	again := leaving.get("/", asJSON)
	assert.Equal(t, before.told("lastUpdated"), again.told("lastUpdated"), "the place is the same")
	f.pass(time.Second)
	assert.Equal(t, 2, f.status("shop").Queued, "and they are counted again")
	assert.Empty(t, f.site.requests())
}

func TestGoodbyeIsSaidToTheRoomOfThePage(t *testing.T) {
	f := start(t, func(c *proxy.Config, _ *proxy.Options) {
		tickets := c.Rooms[0]
		tickets.Name, tickets.Routes = "tickets", c.Rooms[0].Routes[:0:0]
		tickets.Routes = append(tickets.Routes, c.Rooms[0].Routes...)
		tickets.Routes[0].Path = "/tickets"
		c.Rooms = append(c.Rooms, tickets)
	})
	for _, path := range []string{"/", "/tickets"} {
		f.visitor().get(path)
	}
	v := f.visitor()
	v.get("/")
	v.get("/tickets")
	queued := func() [2]int {
		f.pass(time.Second)
		return [2]int{f.status("shop").Queued, f.status("tickets").Queued}
	}
	require.Equal(t, [2]int{1, 1}, queued())
	v.send(http.MethodPost, "/.fairdoor/leave", nil, with("Referer", f.public.URL+"/tickets/1"))
	require.Equal(t, [2]int{1, 0}, queued())
	v.send(http.MethodPost, "/.fairdoor/leave", nil, with("Referer", "https://elsewhere.test/tickets"))
	require.Equal(t, [2]int{0, 0}, queued(), "to all rooms if it is not known which")
}
