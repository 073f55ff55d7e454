package proxy_test

import (
	"html"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

const movePath = "/.fairdoor/move?room=shop"

// link is the path and query of the link by which the visitor's place moves.
func (v *visitor) link() string {
	v.f.t.Helper()
	page := v.get(movePath)
	require.Equal(v.f.t, http.StatusOK, page.status, page.body)
	assert.Contains(v.f.t, page.body, `src="data:image/svg+xml;base64,`)
	assert.Equal(v.f.t, "strict-origin", page.header.Get("Referrer-Policy"))
	_, link, found := strings.Cut(page.body, `readonly dir="ltr" value="`)
	require.True(v.f.t, found)
	link, _, _ = strings.Cut(link, `"`)
	_, link, found = strings.Cut(html.UnescapeString(link), v.f.public.URL)
	require.True(v.f.t, found)
	return link
}

// sharing starts two gates that share a store.
func sharing(t *testing.T, m queue.Method) (*fixture, *fixture) {
	store := memstore.NewShared(time.Second)
	share := func(_ *proxy.Config, o *proxy.Options) { o.Store = store }
	method := settings(func(s *queue.Settings) { s.Method = m })
	f := start(t, share, method)
	other := start(t, share, method, func(c *proxy.Config, o *proxy.Options) { c.Keys, o.Clock = f.config.Keys, f.clock.Now })
	other.clock = f.clock
	return f, other
}

func TestAPlaceMovesToAnotherDeviceOnce(t *testing.T) {
	for _, m := range []queue.Method{queue.FIFO, queue.Line, queue.Random} {
		t.Run(m.String(), func(t *testing.T) {
			f, other := sharing(t, m)
			f.full()
			laptop := f.waits()
			f.pass(2 * time.Second)
			behind := f.waits()
			f.pass(interval)
			placed := laptop.get("/", asJSON).told("placedAt")
			require.NotNil(t, placed)
			behind.get("/")
			link := laptop.link()
			phone, stranger := other.visitor(), f.visitor()
			for range 2 { // programs look at links, too
				require.Equal(t, http.StatusOK, phone.get(link).status)
			}
			require.NotEqual(t, http.StatusConflict, laptop.get("/", asJSON).status, "looking moves nothing")
			strangersPage := stranger.get(link)

			a := phone.sendsForm(phone.get(link))
			require.Equal(t, http.StatusSeeOther, a.status)
			require.Equal(t, "/", a.header.Get("Location"))
			require.False(t, phone.get("/").in())
			assert.Equal(t, http.StatusGone, stranger.sendsForm(strangersPage).status, "it works once, at any gate")
			assert.Empty(t, stranger.cookies)

			f.pass(time.Second)
			copied := laptop.twin()
			assert.Equal(t, http.StatusConflict, laptop.get("/", asJSON).status)
			assert.Equal(t, http.StatusConflict, laptop.get(movePath).status, "who has no place can move none")
			gone := laptop.get("/")
			assert.Equal(t, http.StatusConflict, gone.status)
			assert.Contains(t, gone.body, "Your place is on another device")
			assert.Empty(t, laptop.cookies)
			assert.Equal(t, http.StatusConflict, copied.get("/", asJSON).status)
			f.pass(0)
			assert.Equal(t, 2, f.status("shop").Queued, "nobody is counted twice")
			assert.Equal(t, placed, phone.get("/", asJSON).told("placedAt"), "the place is as it was")

			f.api(http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 2}`, nil)
			for !phone.get("/").in() {
				f.pass(time.Second)
				other.status("shop")
			}
			require.True(t, phone.get("/").in(), "and so do the tickets that follow")
			assert.Equal(t, http.StatusConflict, copied.get("/", asJSON).status)
			assert.Equal(t, 2, f.status("shop").InRoom)
		})
	}
}

func TestALinkLastsTenMinutes(t *testing.T) {
	f, _ := sharing(t, queue.FIFO)
	f.full()
	laptop := f.waits()
	link := laptop.link()
	page := f.visitor().get(link)
	f.pass(10 * time.Minute)
	assert.Equal(t, http.StatusGone, f.visitor().get(link).status)
	assert.Equal(t, http.StatusGone, f.visitor().sendsForm(page).status)
	assert.Equal(t, http.StatusGone, f.visitor().get(movePath+"&t=forged").status)
	assert.Equal(t, http.StatusConflict, f.visitor().get(movePath).status)
	assert.Equal(t, http.StatusBadRequest, f.visitor().send(http.MethodPost, link, nil, with("Sec-Fetch-Site", "cross-site")).status)
}
