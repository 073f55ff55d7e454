package callback_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/callback"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/webpush"
	"github.com/fairdoor-gate/fairdoor/proxy/webpush/webpushtest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

const callPath = "/.fairdoor/call-back?room=shop"

// callingBack has the room call its visitors back, and keep a slot for a minute.
func callingBack(t testing.TB) func(*proxy.Config, *proxy.Options) {
	hosts, err := outbound.ParseHosts([]string{"http://localhost"})
	require.NoError(t, err)
	return func(c *proxy.Config, _ *proxy.Options) {
		c.Parts = c.Parts.With(callback.Name, hosts)
		c.Rooms[0].Options = c.Rooms[0].Options.With(callback.RoomOptions{On: true})
		c.Rooms[0].Settings.ClaimWithin, c.Rooms[0].Settings.Bucket = time.Minute, time.Second
		c.Rooms[0].Settings.DisableSessionRenewal = true // so that waits are known from the start on
	}
}

// caller is a gate that calls back, with a push service.
type caller struct {
	*gatetest.Fixture
	service *webpushtest.Service
	dir     string
}

func calls(t testing.TB, changes ...func(*proxy.Config, *proxy.Options)) *caller {
	t.Helper()
	dir := t.TempDir()
	inDir := func(c *proxy.Config, o *proxy.Options) {
		o.StateDir, c.Rooms[0].Commands = dir, config.Commands{config.Revoke}
	}
	f := gatetest.Start(t, append([]func(*proxy.Config, *proxy.Options){callingBack(t), inDir}, changes...)...)
	return &caller{f, webpushtest.New(t, f.Clock.Now), dir}
}

// asks has a visitor ask to be called.
func asks(v *gatetest.Visitor, b *webpushtest.Browser, changes ...func(*http.Request)) gatetest.Answer {
	v.Fixture.T.Helper()
	return v.Send(http.MethodPost, callPath, strings.NewReader(b.Subscription), append([]func(*http.Request){gatetest.With("Content-Type", "application/json")}, changes...)...)
}

// told is what a browser shows at a call.
type told struct {
	Title, Body, URL string
	Until            time.Time
	Last             bool
}

// until lets time pass until something is so.
func (c *caller) until(is func() bool) {
	c.T.Helper()
	last := time.Now()
	require.Eventually(c.T, func() bool {
		if time.Since(last) > 500*time.Millisecond {
			last = time.Now()
			c.Pass(5 * time.Second)
		}
		return is()
	}, gatetest.Patience, 10*time.Millisecond)
}

// awaits lets time pass until the browser has got the last that there is to tell, and returns it.
func (c *caller) awaits(b *webpushtest.Browser) (m told) {
	c.T.Helper()
	c.until(func() bool {
		got := b.Messages()
		return len(got) > 0 && json.Unmarshal([]byte(got[len(got)-1].Text), &m) == nil && m.Last
	})
	return m
}

// files are the calls that the gate keeps, as they are written.
func (c *caller) files() string {
	c.T.Helper()
	var all strings.Builder
	names, err := filepath.Glob(filepath.Join(c.dir, "calls", "*.json"))
	require.NoError(c.T, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err == nil { // it may be gone by now
			all.Write(text)
		}
	}
	return all.String()
}

// holds lets time pass while the gate checks in for whoever is away.
func (c *caller) holds(d time.Duration) {
	c.T.Helper()
	for until := c.Clock.Now().Add(d); c.Clock.Now().Before(until); {
		before := c.files()
		c.Pass(gatetest.Interval + 3*time.Second)
		require.Eventually(c.T, func() bool { return c.files() != before }, gatetest.Patience, 5*time.Millisecond)
	}
}

func TestWhoLeavesIsCalledAndGetsIn(t *testing.T) {
	t.Parallel()
	c := calls(t)
	in := c.Full()[0]
	away, b := c.Waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, asks(away, b, gatetest.With("Referer", c.Public.URL+"/tickets?day=1")).Status)
	assert.Equal(t, http.StatusNoContent, away.Send(http.MethodPost, "/.fairdoor/leave", nil).Status, "a goodbye of somebody who is called is none")
	c.Pass(time.Second)
	behind := c.Waits()
	c.holds(time.Minute)
	behind.Get("/")
	c.Pass(time.Second)
	assert.Equal(t, 2, c.Status("shop").Queued, "they count as present")
	c.revoke(in)
	assert.EqualValues(t, 1, c.Families()["fairdoor_calls"].GetGauge().GetValue())
	m := c.awaits(b)
	require.Eventually(t, func() bool {
		return c.Families()["fairdoor_call_messages_total sent shop"].GetCounter().GetValue() > 0
	}, gatetest.Patience, time.Millisecond)
	assert.Equal(t, "Your slot is kept until {time}.", m.Body)
	assert.True(t, m.Last)
	assert.WithinDuration(t, c.Clock.Now().Add(time.Minute), m.Until, 10*time.Second)
	assert.Equal(t, callPath+"&to="+url.QueryEscape("/tickets?day=1"), m.URL)
	got := b.Messages()[len(b.Messages())-1]
	assert.Equal(t, c.Public.URL, got.Claims["sub"])
	assert.Equal(t, "high", got.Header.Get("Urgency"))
	assert.Regexp(t, `^[0-9a-f]{32}$`, got.Header.Get("Topic"))
	assert.Regexp(t, `^\d\d$`, got.Header.Get("Ttl"))
	assert.NotContains(t, got.Text, cookieOf(away))

	c.Pass(30 * time.Second)
	assert.False(t, behind.Get("/").In(), "the slot is kept")
	c.Site.Requests()
	back := away.Get(m.URL)
	require.Equal(t, http.StatusSeeOther, back.Status)
	require.Equal(t, "/tickets?day=1", back.Header.Get("Location"))
	require.True(t, away.Get("/tickets?day=1").In())
	assert.Len(t, c.Site.Requests(), 1)
	c.Pass(2 * time.Minute)
	assert.True(t, away.Get("/").In(), "the session is a whole one")
	assert.False(t, behind.Get("/").In())
}

// cookieOf is the value of a visitor's ticket.
func cookieOf(v *gatetest.Visitor) string {
	for _, value := range v.Cookies {
		return value
	}
	return "none"
}

// revoke ends the session of somebody who is in.
func (c *caller) revoke(in *gatetest.Visitor) {
	c.T.Helper()
	c.Site.Will(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Fairdoor-Command", "revoke") })
	in.Get("/")
	c.Site.Will(nil)
	c.Pass(0)
}

func TestTheSlotOfWhoDoesNotComeGoesOn(t *testing.T) {
	t.Parallel()
	c := calls(t)
	in := c.Full()[0]
	away, b := c.Waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, asks(away, b).Status)
	c.Pass(2 * time.Second)
	behind := c.Waits()
	c.revoke(in)
	m := c.awaits(b)
	c.Pass(50 * time.Second)
	require.False(t, behind.Get("/").In())
	c.Pass(gatetest.Interval + 5*time.Second)
	require.True(t, behind.Get("/").In())

	t.Log("who comes after all has their place, ahead of all who came later")
	last := c.Waits()
	require.Equal(t, http.StatusSeeOther, away.Get(m.URL).Status)
	require.False(t, away.Get("/").In())
	c.revoke(behind)
	for came := false; !came; came = away.Get("/").In() {
		c.Pass(time.Second)
		require.False(t, last.Get("/").In())
	}
}

// sameAs is a gate of the same cluster, or the same gate after a restart: with those keys, the
// store and the clock.
func (c *caller) sameAs(store queue.Store, dir string) *caller {
	c.T.Helper()
	f := gatetest.Start(c.T, callingBack(c.T), func(to *proxy.Config, o *proxy.Options) {
		to.Keys, to.Rooms[0].Commands, o.Store, o.Clock, o.StateDir = c.Config.Keys, config.Commands{config.Revoke}, store, c.Clock.Now, dir
	})
	f.Clock = c.Clock
	return &caller{f, c.service, dir}
}

// goesTo has a visitor go to another gate from now on.
func goesTo(v *gatetest.Visitor, c *caller) *gatetest.Visitor {
	other := c.Visitor()
	other.Cookies = v.Cookies
	return other
}

func TestWhoIsAwayIsCalledAfterARestartAndComesBackToAnyGate(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	c := calls(t, func(_ *proxy.Config, o *proxy.Options) { o.Store = store })
	in := c.Full()[0]
	away, b := c.Waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, asks(away, b).Status)
	c.holds(30 * time.Second)
	kept := c.files()
	assert.NotContains(t, kept, cookieOf(away))

	t.Log("the process is gone without a word: its files are all that is left of it")
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(c.dir)))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "calls", "cut.json"), []byte(`{"visitor":`), 0o600))
	c.Close()
	again, other := c.sameAs(store, dir), c.sameAs(store, t.TempDir())
	in = goesTo(in, again)
	other.Pass(time.Second)
	again.holds(30 * time.Second)
	again.until(func() bool { return len(b.Messages()) == 1 }) // else the second message may go in place of the first
	again.revoke(in)
	m := again.awaits(b)
	assert.Equal(t, "Your slot is kept until {time}.", m.Body)
	require.Len(t, b.Messages(), 2)
	assert.Contains(t, b.Messages()[0].Text, `"It is almost your turn."`)

	away = goesTo(away, other)
	other.Pass(time.Second)
	require.Equal(t, http.StatusSeeOther, away.Get(m.URL).Status)
	assert.True(t, away.Get("/").In())
}

func TestASubscriptionHoldsOnePlace(t *testing.T) {
	t.Parallel()
	c := calls(t)
	c.Full()
	away, thief, b := c.Waits(), c.Waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, asks(away, b).Status)
	assert.Equal(t, http.StatusConflict, asks(thief, b).Status)
	assert.Equal(t, http.StatusNoContent, asks(away, b).Status, "who has asked may ask again")
	assert.Equal(t, http.StatusNoContent, asks(thief, c.service.Subscribe()).Status)
	assert.Equal(t, http.StatusNoContent, asks(away, c.service.Subscribe()).Status, "with another subscription")
	names, err := filepath.Glob(filepath.Join(c.dir, "calls", "*"))
	require.NoError(t, err)
	assert.Len(t, names, 2)
}

func TestWhatIsNoSubscriptionOfAVisitorWhoWaitsIsRefused(t *testing.T) {
	t.Parallel()
	c := calls(t, func(to *proxy.Config, _ *proxy.Options) {
		plain := to.Rooms[0]
		plain.Name, plain.Routes, plain.Options = "plain", []route.Route{{Path: "/plain"}}, nil
		to.Rooms = append(to.Rooms, plain)
	})
	in := c.Full()[0]
	v, b := c.Waits(), c.service.Subscribe()
	post := func(body string, changes ...func(*http.Request)) int {
		return v.Send(http.MethodPost, callPath, strings.NewReader(body), changes...).Status
	}
	at := func(endpoint string) string {
		return regexp.MustCompile(`"endpoint":"[^"]*"`).ReplaceAllString(b.Subscription, `"endpoint":"`+endpoint+`"`)
	}
	for _, endpoint := range []string{"https://evil.example/", "http://127.0.0.1/", "https://10.0.0.1/", "http://fcm.googleapis.com/", "file:///etc/passwd", "https://u:p@localhost/", "http://localhost.evil.example/"} {
		assert.Equal(t, http.StatusBadRequest, post(at(endpoint)), endpoint)
	}
	assert.Equal(t, http.StatusBadRequest, post(at(c.service.URL+"/"+strings.Repeat("x", webpush.MaxSubscription))))
	assert.Equal(t, http.StatusBadRequest, post(`{"endpoint":"`+c.service.URL+`/","keys":{"p256dh":"AAAA","auth":"AAAA"}}`))
	assert.Equal(t, http.StatusBadRequest, post(b.Subscription, gatetest.With("Sec-Fetch-Site", "cross-site")))
	assert.Equal(t, http.StatusConflict, asks(in, b).Status, "they are in")
	assert.Equal(t, http.StatusConflict, asks(c.Visitor(), b).Status)
	assert.Equal(t, http.StatusNotFound, v.Send(http.MethodPost, "/.fairdoor/call-back?room=plain", strings.NewReader(b.Subscription)).Status)
	assert.Equal(t, http.StatusMethodNotAllowed, v.Send(http.MethodPut, callPath, nil).Status)
	assert.Empty(t, c.files())
	assert.Equal(t, http.StatusNoContent, asks(v, b).Status)
}

func TestAPlaceIsHeldForNoSubscriptionThatHasEnded(t *testing.T) {
	t.Parallel()
	c := calls(t)
	in := c.Full()[0]
	away, b := c.Waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, asks(away, b).Status)
	c.service.Answer(http.StatusServiceUnavailable)
	c.revoke(in)
	c.until(func() bool { return strings.Contains(c.files(), `"tries":1`) })
	c.service.Answer(0)
	c.awaits(b)
	c.until(func() bool { return !strings.Contains(c.files(), `"owed"`) })
	assert.Len(t, b.Messages(), 1, "once it has come it is not sent again")

	c.Pass(2 * time.Minute)
	in = c.Visitor()
	require.True(t, in.Get("/").In())
	next, b := c.Waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, asks(next, b).Status)
	c.service.Answer(http.StatusGone)
	c.revoke(in)
	c.until(func() bool { return !strings.Contains(c.files(), b.Endpoint()) })
}

func TestAPlaceIsHeldForAsLongAsItCanBeLeft(t *testing.T) {
	t.Parallel()
	c := calls(t, gatetest.Settings(func(s *queue.Settings) { s.QueueTicketTTL = 2 * time.Minute }))
	c.Full()
	away, b := c.Waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, asks(away, b).Status)
	c.holds(2 * time.Minute)
	m := c.awaits(b)
	assert.Equal(t, "You may be away for up to 2\u00a0min without losing your place.", m.Body)
	place := away.Get("/", gatetest.AsJSON).Told("arrivedAt")
	c.Pass(time.Minute)
	away.Get(m.URL)
	assert.Equal(t, place, away.Get("/", gatetest.AsJSON).Told("arrivedAt"))
}

func TestSoManyOfANetworkAreCalledAndNoMore(t *testing.T) {
	t.Parallel()
	c := calls(t)
	c.Full()
	for i := range 201 {
		want := http.StatusNoContent
		if i == 200 {
			want = http.StatusServiceUnavailable
		}
		require.Equal(t, want, asks(c.Waits(), c.service.Subscribe()).Status, i)
	}
}

func TestWhoIsInTheEndlessLineIsNotCalledAndNotToldSo(t *testing.T) {
	t.Parallel()
	c := calls(t, gatetest.Flagging)
	c.Full()
	bot, b := c.Visitor(), c.service.Subscribe()
	require.False(t, bot.Get("/", gatetest.AsBot).In())
	assert.Equal(t, http.StatusNoContent, asks(bot, b, gatetest.AsBot).Status)
	assert.Empty(t, c.files())
}

func TestARoomThatCallsNobodyAnyMoreForgetsWhoIsAway(t *testing.T) {
	t.Parallel()
	c := calls(t)
	c.Full()
	v := c.Waits()
	require.Equal(t, http.StatusNoContent, asks(v, c.service.Subscribe()).Status)
	c.Config.Rooms[0].Options = nil
	require.NoError(t, c.Configure(t.Context(), c.Config))
	c.until(func() bool { return c.files() == "" })
	assert.Equal(t, http.StatusNotFound, asks(v, c.service.Subscribe()).Status)
	assert.False(t, v.Get(callPath).In())
}

// A browser leaves tabs and ends of lines out of an address, and reads backslashes as slashes.
func TestWhoComesBackStaysOnTheHost(t *testing.T) {
	t.Parallel()
	c := calls(t)
	own := []string{"//evil.test/", "https://evil.test/", "/\t/evil.test", "/\n/evil.test", "/\r\n/evil.test", "\t//evil.test", "javascript:alert(1)", "evil.test", "@evil.test", ":443/", ""}
	for _, to := range own {
		assert.Equal(t, "/", c.Visitor().Get(callPath+"&to="+url.QueryEscape(to)).Header.Get("Location"), "%q", to)
	}
	for _, to := range []string{"/\\evil.test", "/\\/evil.test", "///evil.test", "/..//evil.test", "/.//evil.test", "/%09/evil.test", "/tickets?day=1&to=//evil.test", "/é?ü"} {
		at := c.Visitor().Get(callPath + "&to=" + url.QueryEscape(to)).Header.Get("Location")
		assert.Regexp(t, `^/($|[^/\\])`, at, "%q", to)
		assert.NotRegexp(t, `[\x00-\x20\x7f-\xff]`, at, "%q", to)
	}
	assert.Equal(t, "/tickets?day=1", c.Visitor().Get(callPath+"&to="+url.QueryEscape("/tickets?day=1")).Header.Get("Location"))
}

func TestACallFollowsThePlaceThatMoves(t *testing.T) {
	for name, subscribes := range map[string]bool{"whose new device asks to be called, too": true, "whose new device does not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := calls(t)
			in := c.Full()[0]
			seller, buyer, b := c.Waits(), c.Visitor(), c.service.Subscribe()
			require.Equal(t, http.StatusNoContent, asks(seller, b).Status)
			buyer.Takes(seller.Link())
			if subscribes {
				b = c.service.Subscribe()
				require.Equal(t, http.StatusNoContent, asks(buyer, b).Status)
			}
			c.holds(time.Minute)
			assert.Equal(t, http.StatusConflict, asks(seller, c.service.Subscribe()).Status, "they have no place")
			c.revoke(in)
			m := c.awaits(b)
			assert.Equal(t, "Your slot is kept until {time}.", m.Body)

			seller.Get(m.URL)
			assert.Equal(t, http.StatusConflict, seller.Get("/", gatetest.AsJSON).Status, "the slot is the other device's")
			require.Equal(t, http.StatusSeeOther, buyer.Get(m.URL).Status)
			assert.True(t, buyer.Get("/").In())
		})
	}
}

// The seller comes before the buyer does, and may come at any time.
func TestAPlaceThatHasMovedDoesNotComeBackByItsCall(t *testing.T) {
	t.Parallel()
	c := calls(t)
	c.Full()
	seller, buyer, b := c.Waits(), c.Visitor(), c.service.Subscribe()
	buyer.Takes(seller.Link())
	require.Equal(t, http.StatusNoContent, asks(buyer, b).Status)
	for range 2 {
		assert.Empty(t, seller.Get(callPath+"&to=/").SetCookies())
		assert.Equal(t, http.StatusConflict, seller.Get("/", gatetest.AsJSON).Status)
		c.holds(gatetest.Interval)
	}
	require.Equal(t, http.StatusSeeOther, buyer.Get(callPath+"&to=/").Status)
	assert.NotEqual(t, http.StatusConflict, buyer.Get("/", gatetest.AsJSON).Status)
}

// silent is a push service that takes connections and never answers. It returns its address, and
// how many were open at once at most.
func silent(t *testing.T) (address string, most func() int64) {
	t.Helper()
	var open, peak atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if n := open.Add(1); n > peak.Load() {
			peak.Store(n)
		}
		defer open.Add(-1)
		select {
		case <-r.Context().Done():
		case <-ctx.Done():
		}
	}))
	t.Cleanup(func() {
		stop()
		server.Close()
	})
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1), peak.Load
}

func TestMadeUpSubscriptionsAtASilentServiceHoldUpNobodysCall(t *testing.T) {
	t.Parallel()
	c := calls(t, gatetest.TrustingLoopback)
	c.Full()
	address, most := silent(t)
	for i := range 40 {
		b := c.service.Subscribe()
		b.Subscription = strings.Replace(b.Subscription, c.service.URL, address, 1)
		require.Equal(t, http.StatusNoContent, asks(c.Waits(), b, gatetest.At(fmt.Sprintf("192.0.2.%d", i))).Status)
	}
	c.Pass(2 * time.Second)
	away, b := c.Waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, asks(away, b, gatetest.At("198.51.100.1")).Status)
	c.API(http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 100, "new_users_per_minute": 1000}`, nil)
	m := c.awaits(b)
	assert.Equal(t, "Your slot is kept until {time}.", m.Body)
	assert.Positive(t, most())
	assert.LessOrEqual(t, most(), int64(2), "of one network")
	away.Get(m.URL)
	assert.True(t, away.Get("/").In())
}

func TestAnEndpointIsAtThePortOfHTTPSOrOneOfTheList(t *testing.T) {
	t.Parallel()
	hosts, err := outbound.ParseHosts([]string{"push.test", "*.push.test", "other.test:8443", "10.0.0.0/8"})
	require.NoError(t, err)
	c := calls(t, func(to *proxy.Config, _ *proxy.Options) { to.Parts = to.Parts.With(callback.Name, hosts) })
	c.Full()
	for endpoint, want := range map[string]int{
		"https://push.test/": http.StatusNoContent, "https://push.test:443/": http.StatusNoContent, "https://push.test:444/": http.StatusBadRequest,
		"https://push.test:22/": http.StatusBadRequest, "https://db5.push.test:8443/": http.StatusBadRequest, "https://db5.push.test/": http.StatusNoContent,
		"https://other.test:8443/": http.StatusNoContent, "https://other.test/": http.StatusBadRequest, "https://10.1.2.3:6379/": http.StatusBadRequest,
	} {
		b := c.service.Subscribe()
		b.Subscription = strings.Replace(b.Subscription, c.service.URL+"/", endpoint, 1)
		assert.Equal(t, want, asks(c.Waits(), b).Status, endpoint)
	}
}
