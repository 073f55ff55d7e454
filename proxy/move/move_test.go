package move_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// sharing starts two gates that share a store.
func sharing(t *testing.T, m queue.Method) (*gatetest.Fixture, *gatetest.Fixture) {
	store := memstore.NewShared(time.Second)
	share := func(_ *proxy.Config, o *proxy.Options) { o.Store = store }
	method := gatetest.Settings(func(s *queue.Settings) { s.Method = m })
	f := gatetest.Start(t, share, method)
	other := gatetest.Start(t, share, method, func(c *proxy.Config, o *proxy.Options) { c.Keys, o.Clock = f.Config.Keys, f.Clock.Now })
	other.Clock = f.Clock
	return f, other
}

func TestAPlaceMovesToAnotherDeviceOnce(t *testing.T) {
	for _, m := range []queue.Method{queue.FIFO, queue.Line, queue.Random} {
		t.Run(m.String(), func(t *testing.T) {
			f, other := sharing(t, m)
			f.Full()
			laptop := f.Waits()
			f.Pass(2 * time.Second)
			behind := f.Waits()
			f.Pass(gatetest.Interval)
			placed := laptop.Get("/", gatetest.AsJSON).Told("placedAt")
			require.NotNil(t, placed)
			behind.Get("/")
			link := laptop.Link()
			phone, stranger := other.Visitor(), f.Visitor()
			for range 2 { // programs look at links, too
				require.Equal(t, http.StatusOK, phone.Get(link).Status)
			}
			require.NotEqual(t, http.StatusConflict, laptop.Get("/", gatetest.AsJSON).Status, "looking moves nothing")
			strangersPage := stranger.Get(link)

			a := phone.SendsForm(phone.Get(link))
			require.Equal(t, http.StatusSeeOther, a.Status)
			require.Equal(t, "/", a.Header.Get("Location"))
			require.False(t, phone.Get("/").In())
			assert.Equal(t, http.StatusGone, stranger.SendsForm(strangersPage).Status, "it works once, at any gate")
			assert.Empty(t, stranger.Cookies)

			f.Pass(time.Second)
			copied := laptop.Twin()
			assert.Equal(t, http.StatusConflict, laptop.Get("/", gatetest.AsJSON).Status)
			assert.Equal(t, http.StatusConflict, laptop.Get(gatetest.MovePath).Status, "who has no place can move none")
			gone := laptop.Get("/")
			assert.Equal(t, http.StatusConflict, gone.Status)
			assert.Contains(t, gone.Body, "Your place is on another device")
			assert.Empty(t, laptop.Cookies)
			assert.Equal(t, http.StatusConflict, copied.Get("/", gatetest.AsJSON).Status)
			f.Pass(0)
			assert.Equal(t, 2, f.Status("shop").Queued, "nobody is counted twice")
			assert.Equal(t, placed, phone.Get("/", gatetest.AsJSON).Told("placedAt"), "the place is as it was")

			f.API(http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 2}`, nil)
			for !phone.Get("/").In() {
				f.Pass(time.Second)
				other.Status("shop")
			}
			require.True(t, phone.Get("/").In(), "and so do the tickets that follow")
			assert.Equal(t, http.StatusConflict, copied.Get("/", gatetest.AsJSON).Status)
			assert.Equal(t, 2, f.Status("shop").InRoom)
		})
	}
}

func TestAPlaceMovesToThePageThatItsVisitorCameFor(t *testing.T) {
	f, _ := sharing(t, queue.FIFO)
	f.Full()
	for to, want := range map[string]string{
		"/sale?day=1&x=2#seats": "/sale?day=1&x=2#seats", "/": "/", "//evil.test/": "/", "https://evil.test/sale": "/", "/é#ü": "/%C3%A9#%C3%BC",
		"": "/tickets?day=2", // of the page before, which names no fragment
	} {
		v := f.Waits()
		query := ""
		if to != "" {
			query = "&to=" + url.QueryEscape(to)
		}
		link := v.LinkFrom(query, gatetest.With("Referer", f.Public.URL+"/tickets?day=2"))
		phone := f.Visitor()
		a := phone.SendsForm(phone.Get(link))
		require.Equal(t, http.StatusSeeOther, a.Status)
		assert.Equal(t, want, a.Header.Get("Location"), to)
	}
}

func TestALinkLastsTenMinutes(t *testing.T) {
	f, _ := sharing(t, queue.FIFO)
	f.Full()
	laptop := f.Waits()
	link := laptop.Link()
	page := f.Visitor().Get(link)
	f.Pass(10 * time.Minute)
	assert.Equal(t, http.StatusGone, f.Visitor().Get(link).Status)
	assert.Equal(t, http.StatusGone, f.Visitor().SendsForm(page).Status)
	assert.Equal(t, http.StatusGone, f.Visitor().Get(gatetest.MovePath+"&t=forged").Status)
	assert.Equal(t, http.StatusConflict, f.Visitor().Get(gatetest.MovePath).Status)
	assert.Equal(t, http.StatusBadRequest, f.Visitor().Send(http.MethodPost, link, nil, gatetest.With("Sec-Fetch-Site", "cross-site")).Status)
}

func TestTheLinkIsShortEnoughForACodeThatPhonesRead(t *testing.T) {
	for _, m := range []queue.Method{queue.FIFO, queue.Line, queue.Random} {
		f, _ := sharing(t, m)
		f.Full()
		v := f.Waits()
		f.Pass(gatetest.Interval)
		require.False(t, v.Get("/").In())
		_, sealed, found := strings.Cut(v.Link(), "&t=")
		require.True(t, found)
		assert.Regexp(t, `^[A-Z2-7]{80,150}$`, sealed, "%s: letters that are drawn small", m)
		changed := strings.Map(func(r rune) rune { return map[bool]rune{true: 'A', false: 'B'}[r == 'B'] }, sealed[:1]) + sealed[1:]
		assert.Equal(t, http.StatusGone, v.Get(gatetest.MovePath+"&t="+changed).Status)
	}
}
