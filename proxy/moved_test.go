package proxy_test

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
	"github.com/fairdoor-gate/fairdoor/queue"
)

// takes has another device take the place of a link.
func (v *visitor) takes(link string) {
	v.f.t.Helper()
	require.Equal(v.f.t, http.StatusSeeOther, v.sendsForm(v.get(link)).status)
}

// letsIn raises the limit of the first room until somebody who waits is in.
func (f *fixture) letsIn(v *visitor) {
	f.t.Helper()
	f.api(http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 2}`, nil)
	for range 60 {
		if v.get("/").in() {
			return
		}
		f.pass(time.Second)
	}
	f.t.Fatal("nobody was let in")
}

// The link is from before its visitor was let in, whose session outlasts all places.
func TestATicketThatHasMovedStaysVoidForItsSession(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.QueueTicketTTL, s.SessionDuration = 2*time.Minute, 30*time.Minute }))
	f.full()
	laptop, phone := f.waits(), f.visitor()
	f.pass(interval)
	laptop.get("/")
	link := laptop.link()
	f.letsIn(laptop)
	phone.takes(link)
	require.True(t, phone.get("/").in())
	for range 25 {
		f.pass(time.Minute)
		require.True(t, phone.get("/").in())
		require.Equal(t, http.StatusConflict, laptop.get("/", asJSON).status)
	}
}

func TestAConnectionEndsOnceItsVisitorHasMoved(t *testing.T) {
	f := start(t, room(byConnection(15*time.Second)))
	f.site.will(talking)
	first := f.visitor()
	require.True(t, first.get("/").in())
	laptop, phone := f.waits(), f.visitor()
	link := laptop.link()
	f.letsIn(laptop)
	dial := func(v *visitor) *websocket.Conn {
		header := http.Header{}
		for name, value := range v.cookies {
			header.Add("Cookie", name+"="+value)
		}
		conn, _, err := websocket.Dial(t.Context(), strings.Replace(v.base, "http", "ws", 1)+"/stream", &websocket.DialOptions{HTTPHeader: header})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.CloseNow() })
		return conn
	}
	old := dial(laptop)
	phone.takes(link)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, _, err := old.Read(ctx)
	require.Error(t, err)
	require.NoError(t, ctx.Err(), "the connection of the old device is cut")
	require.True(t, phone.get("/").in())
	conn := dial(phone)
	require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte("hello")))
	_, text, err := conn.Read(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "hello", string(text))
}

func TestTheOldDeviceHasNothingLeft(t *testing.T) {
	f := start(t, signing, admittingAtEdges)
	f.full()
	laptop, phone := f.waits(), f.visitor()
	link := laptop.link()
	f.letsIn(laptop)
	require.True(t, laptop.get("/").in())
	require.Contains(t, laptop.cookies, admissionCookie)
	phone.takes(link)
	for _, renew := range []string{"?renew=1", "?renew=0"} {
		list, a := laptop.sessions(renew)
		require.Len(t, list, 1)
		assert.Equal(t, "none", list[0].Status, "the old device gets no new place")
		assert.Empty(t, a.setCookies())
	}
	assert.Equal(t, -1, laptop.twin().get("/", asJSON).setCookies()[admissionCookie].MaxAge)
	laptop.get("/")
	assert.Empty(t, laptop.cookies)
}

func TestThePageThatIsLeftSaysNoGoodbyeForTheNewDevice(t *testing.T) {
	f := start(t)
	f.full()
	laptop, phone := f.waits(), f.visitor()
	phone.takes(laptop.link())
	require.False(t, phone.get("/").in())
	laptop.send(http.MethodPost, "/.fairdoor/leave", nil)
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Queued)
}

func TestAPlaceMovesAFewTimes(t *testing.T) {
	f := start(t)
	f.full()
	v := f.waits()
	for range 5 {
		next := f.visitor()
		next.takes(v.link())
		require.False(t, next.get("/").in())
		v = next
	}
	assert.Equal(t, http.StatusConflict, v.get(movePath).status)
}

func TestANetworkMovesAFewPlacesAMinute(t *testing.T) {
	f := start(t, trustingLoopback)
	f.full()
	page := f.visitor().get(f.waits().link())
	action, fields := formOf(t, page.body)
	take := func(addr string) int {
		return f.visitor().send(http.MethodPost, action, strings.NewReader(fields.Encode()),
			with("Content-Type", "application/x-www-form-urlencoded"), at(addr)).status
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
	f := start(t, trustingLoopback)
	f.full()
	moved := func(addr string, v *visitor) (*visitor, int) {
		page := f.visitor().get(v.link())
		action, fields := formOf(t, page.body)
		next := f.visitor()
		return next, next.send(http.MethodPost, action, strings.NewReader(fields.Encode()), with("Content-Type", "application/x-www-form-urlencoded"), at(addr)).status
	}
	had := func(site string) (n int) { // five moves of each place, each from another network of the site, and slowly
		for place := range 60 {
			v, status := f.waits(), 0
			for move := range 5 {
				f.clock.add(1600 * time.Millisecond) // the site has 40 attempts in a minute
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
	_, status := moved("2001:db8:2::1", f.waits())
	assert.Equal(t, http.StatusSeeOther, status)
}

// To draw a code takes a tenth of a millisecond.
func TestALinkIsDrawnAFewTimesAMinute(t *testing.T) {
	f := start(t, trustingLoopback)
	f.full()
	v := f.waits()
	drawn := func(addr string) (n int) {
		for range 200 {
			a := v.get(movePath, at(addr))
			require.Equal(t, http.StatusOK, a.status)
			require.Contains(t, a.body, `readonly dir="ltr" value="`)
			if strings.Contains(a.body, `id="qr"`) {
				require.Less(t, len(a.body), 24<<10)
				n++
			}
		}
		return n
	}
	assert.Equal(t, 30, drawn("192.0.2.1"))
	assert.Zero(t, drawn("192.0.2.2"), "of the same network")
	assert.Equal(t, 30, drawn("198.51.100.1"))
	f.pass(time.Minute)
	assert.Equal(t, 30, drawn("192.0.2.1"))
}

// A place is its owner's, who moves it on purpose.
func TestAPlaceThatMovesIsBoundToWhereItGoes(t *testing.T) {
	f := start(t, bound(bind.ByNetwork))
	f.full()
	laptop, phone := f.visitor(), f.visitor()
	require.False(t, laptop.get("/", at("192.0.2.1")).in())
	a := laptop.get(movePath, at("192.0.2.1"))
	require.Equal(t, http.StatusOK, a.status)
	_, link, _ := strings.Cut(a.body, `readonly dir="ltr" value="`)
	link, _, _ = strings.Cut(strings.ReplaceAll(link, "&amp;", "&"), `"`)
	page := phone.get(strings.TrimPrefix(link, f.public.URL), at("198.51.100.1"))
	action, fields := formOf(t, page.body)
	require.Equal(t, http.StatusSeeOther, phone.send(http.MethodPost, action, strings.NewReader(fields.Encode()),
		with("Content-Type", "application/x-www-form-urlencoded"), at("198.51.100.1")).status)
	stands := func(v *visitor, addr string) string {
		list, _ := v.sessions("", at(addr))
		return list[0].Status
	}
	assert.Equal(t, "waiting", stands(phone, "198.51.100.1"))
	assert.Equal(t, "none", stands(phone.twin(), "192.0.2.1"))
}
