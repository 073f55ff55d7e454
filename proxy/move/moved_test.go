package move_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/bind"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// letsIn raises the limit of the first room until somebody who waits is in.
func letsIn(f *gatetest.Fixture, v *gatetest.Visitor) {
	f.T.Helper()
	f.API(http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 2}`, nil)
	for range 60 {
		if v.Get("/").In() {
			return
		}
		f.Pass(time.Second)
	}
	f.T.Fatal("nobody was let in")
}

// The link is from before its visitor was let in, whose session outlasts all places.
func TestATicketThatHasMovedStaysVoidForItsSession(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.QueueTicketTTL, s.SessionDuration = 2*time.Minute, 30*time.Minute }))
	f.Full()
	laptop, phone := f.Waits(), f.Visitor()
	f.Pass(gatetest.Interval)
	laptop.Get("/")
	link := laptop.Link()
	letsIn(f, laptop)
	phone.Takes(link)
	require.True(t, phone.Get("/").In())
	for range 25 {
		f.Pass(time.Minute)
		require.True(t, phone.Get("/").In())
		require.Equal(t, http.StatusConflict, laptop.Get("/", gatetest.AsJSON).Status)
	}
}

func TestAConnectionEndsOnceItsVisitorHasMoved(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(gatetest.ByConnection(15*time.Second)))
	f.Site.Will(gatetest.Talking)
	first := f.Visitor()
	require.True(t, first.Get("/").In())
	laptop, phone := f.Waits(), f.Visitor()
	link := laptop.Link()
	letsIn(f, laptop)
	dial := func(v *gatetest.Visitor) *websocket.Conn {
		header := http.Header{}
		for name, value := range v.Cookies {
			header.Add("Cookie", name+"="+value)
		}
		conn, _, err := websocket.Dial(t.Context(), strings.Replace(v.Base, "http", "ws", 1)+"/stream", &websocket.DialOptions{HTTPHeader: header})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.CloseNow() })
		return conn
	}
	old := dial(laptop)
	phone.Takes(link)
	ctx, cancel := context.WithTimeout(t.Context(), gatetest.Patience)
	defer cancel()
	_, _, err := old.Read(ctx)
	require.Error(t, err)
	require.NoError(t, ctx.Err(), "the connection of the old device is cut")
	require.True(t, phone.Get("/").In())
	conn := dial(phone)
	require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte("hello")))
	_, text, err := conn.Read(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "hello", string(text))
}

func TestTheOldDeviceHasNothingLeft(t *testing.T) {
	f := gatetest.Start(t, gatetest.Signing, gatetest.AdmittingAtEdges)
	f.Full()
	laptop, phone := f.Waits(), f.Visitor()
	link := laptop.Link()
	letsIn(f, laptop)
	require.True(t, laptop.Get("/").In())
	require.Contains(t, laptop.Cookies, gatetest.AdmissionCookie)
	phone.Takes(link)
	for _, renew := range []string{"?renew=1", "?renew=0"} {
		list, a := laptop.Sessions(renew)
		require.Len(t, list, 1)
		assert.Equal(t, "none", list[0].Status, "the old device gets no new place")
		assert.Empty(t, a.SetCookies())
	}
	assert.Equal(t, -1, laptop.Twin().Get("/", gatetest.AsJSON).SetCookies()[gatetest.AdmissionCookie].MaxAge)
	laptop.Get("/")
	assert.Empty(t, laptop.Cookies)
}

func TestThePageThatIsLeftSaysNoGoodbyeForTheNewDevice(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	laptop, phone := f.Waits(), f.Visitor()
	phone.Takes(laptop.Link())
	require.False(t, phone.Get("/").In())
	laptop.Send(http.MethodPost, "/.fairdoor/leave", nil)
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Queued)
}

func TestAPlaceMovesAFewTimes(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	v := f.Waits()
	for range 5 {
		next := f.Visitor()
		next.Takes(v.Link())
		require.False(t, next.Get("/").In())
		v = next
	}
	assert.Equal(t, http.StatusConflict, v.Get(gatetest.MovePath).Status)
}

func TestANetworkMovesAFewPlacesAMinute(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback)
	f.Full()
	page := f.Visitor().Get(f.Waits().Link())
	action, fields := gatetest.FormOf(t, page.Body)
	take := func(addr string) int {
		return f.Visitor().Send(http.MethodPost, action, strings.NewReader(fields.Encode()),
			gatetest.With("Content-Type", "application/x-www-form-urlencoded"), gatetest.At(addr)).Status
	}
	require.Equal(t, http.StatusSeeOther, take("192.0.2.1"))
	for i := range 9 {
		require.Equal(t, http.StatusGone, take(fmt.Sprintf("192.0.2.%d", i+2)))
	}
	assert.Equal(t, http.StatusTooManyRequests, take("192.0.2.99"))
	assert.Equal(t, http.StatusGone, take("198.51.100.1"))
}

// Copies of tickets that have moved are void everywhere, and so many of them are known at a time.
func TestNoSiteUsesUpTheMovesOfTheOthers(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback)
	f.Full()
	moved := func(addr string, v *gatetest.Visitor) (*gatetest.Visitor, int) {
		page := f.Visitor().Get(v.Link())
		action, fields := gatetest.FormOf(t, page.Body)
		next := f.Visitor()
		return next, next.Send(http.MethodPost, action, strings.NewReader(fields.Encode()), gatetest.With("Content-Type", "application/x-www-form-urlencoded"), gatetest.At(addr)).Status
	}
	had := func(site string) (n int) { // five moves of each place, each from another network of the site, and slowly
		for place := range 60 {
			v, status := f.Waits(), 0
			for move := range 5 {
				f.Clock.Add(1600 * time.Millisecond) // the site has 40 attempts in a minute
				if v, status = moved(fmt.Sprintf("%s:%x%02x::1", site, place, move), v); status != http.StatusSeeOther {
					break
				}
				n++
			}
		}
		return n
	}
	n := had("2001:db8:1")
	assert.GreaterOrEqual(t, n, 200)
	assert.Less(t, n, 280, "so that seven sites cannot have all 2000 of half an hour")
	_, status := moved("2001:db8:2::1", f.Waits())
	assert.Equal(t, http.StatusSeeOther, status)
}

// To draw a code takes a tenth of a millisecond.
func TestALinkIsDrawnAFewTimesAMinute(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback)
	f.Full()
	v := f.Waits()
	drawn := func(addr string) (n int) {
		for range 200 {
			a := v.Get(gatetest.MovePath, gatetest.At(addr))
			require.Equal(t, http.StatusOK, a.Status)
			require.Contains(t, a.Body, `readonly dir="ltr" value="`)
			if strings.Contains(a.Body, `id="qr"`) {
				require.Less(t, len(a.Body), 24<<10)
				n++
			}
		}
		return n
	}
	assert.Equal(t, 30, drawn("192.0.2.1"))
	assert.Zero(t, drawn("192.0.2.2"), "of the same network")
	assert.Equal(t, 30, drawn("198.51.100.1"))
	f.Pass(time.Minute)
	assert.Equal(t, 30, drawn("192.0.2.1"))
}

// A place is its owner's, who moves it on purpose.
func TestAPlaceThatMovesIsBoundToWhereItGoes(t *testing.T) {
	f := gatetest.Start(t, gatetest.Bound(bind.ByNetwork))
	f.Full()
	laptop, phone := f.Visitor(), f.Visitor()
	require.False(t, laptop.Get("/", gatetest.At("192.0.2.1")).In())
	a := laptop.Get(gatetest.MovePath, gatetest.At("192.0.2.1"))
	require.Equal(t, http.StatusOK, a.Status)
	_, link, _ := strings.Cut(a.Body, `readonly dir="ltr" value="`)
	link, _, _ = strings.Cut(strings.ReplaceAll(link, "&amp;", "&"), `"`)
	page := phone.Get(strings.TrimPrefix(link, f.Public.URL), gatetest.At("198.51.100.1"))
	action, fields := gatetest.FormOf(t, page.Body)
	require.Equal(t, http.StatusSeeOther, phone.Send(http.MethodPost, action, strings.NewReader(fields.Encode()),
		gatetest.With("Content-Type", "application/x-www-form-urlencoded"), gatetest.At("198.51.100.1")).Status)
	stands := func(v *gatetest.Visitor, addr string) string {
		list, _ := v.Sessions("", gatetest.At(addr))
		return list[0].Status
	}
	assert.Equal(t, "waiting", stands(phone, "198.51.100.1"))
	assert.Equal(t, "none", stands(phone.Twin(), "192.0.2.1"))
}
