package proxy_test

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
	*fixture
	service *webpushtest.Service
	dir     string
}

func calls(t testing.TB, changes ...func(*proxy.Config, *proxy.Options)) *caller {
	t.Helper()
	dir := t.TempDir()
	inDir := func(c *proxy.Config, o *proxy.Options) {
		o.StateDir, c.Rooms[0].Commands = dir, config.Commands{config.Revoke}
	}
	f := start(t, append([]func(*proxy.Config, *proxy.Options){callingBack(t), inDir}, changes...)...)
	return &caller{f, webpushtest.New(t, f.clock.Now), dir}
}

// asks has a visitor ask to be called.
func (v *visitor) asks(b *webpushtest.Browser, changes ...func(*http.Request)) answer {
	v.f.t.Helper()
	return v.send(http.MethodPost, callPath, strings.NewReader(b.Subscription), append([]func(*http.Request){with("Content-Type", "application/json")}, changes...)...)
}

// told is what a browser shows at a call.
type told struct {
	Title, Body, URL string
	Until            time.Time
	Last             bool
}

// until lets time pass until something is so.
func (c *caller) until(is func() bool) {
	c.t.Helper()
	last := time.Now()
	require.Eventually(c.t, func() bool {
		if time.Since(last) > 500*time.Millisecond {
			last = time.Now()
			c.pass(5 * time.Second)
		}
		return is()
	}, patience, 10*time.Millisecond)
}

// awaits lets time pass until the browser has got the last that there is to tell, and returns it.
func (c *caller) awaits(b *webpushtest.Browser) (m told) {
	c.t.Helper()
	c.until(func() bool {
		got := b.Messages()
		return len(got) > 0 && json.Unmarshal([]byte(got[len(got)-1].Text), &m) == nil && m.Last
	})
	return m
}

// files are the calls that the gate keeps, as they are written.
func (c *caller) files() string {
	c.t.Helper()
	var all strings.Builder
	names, err := filepath.Glob(filepath.Join(c.dir, "calls", "*.json"))
	require.NoError(c.t, err)
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
	c.t.Helper()
	for until := c.clock.Now().Add(d); c.clock.Now().Before(until); {
		before := c.files()
		c.pass(interval + 3*time.Second)
		require.Eventually(c.t, func() bool { return c.files() != before }, patience, 5*time.Millisecond)
	}
}

func TestWhoLeavesIsCalledAndGetsIn(t *testing.T) {
	t.Parallel()
	c := calls(t)
	in := c.full()[0]
	away, b := c.waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, away.asks(b, with("Referer", c.public.URL+"/tickets?day=1")).status)
	assert.Equal(t, http.StatusNoContent, away.send(http.MethodPost, "/.fairdoor/leave", nil).status, "a goodbye of somebody who is called is none")
	c.pass(time.Second)
	behind := c.waits()
	c.holds(time.Minute)
	behind.get("/")
	c.pass(time.Second)
	assert.Equal(t, 2, c.status("shop").Queued, "they count as present")
	c.revoke(in)
	m := c.awaits(b)
	assert.Equal(t, "Your slot is kept until {time}.", m.Body)
	assert.True(t, m.Last)
	assert.WithinDuration(t, c.clock.Now().Add(time.Minute), m.Until, 10*time.Second)
	assert.Equal(t, callPath+"&to="+url.QueryEscape("/tickets?day=1"), m.URL)
	got := b.Messages()[len(b.Messages())-1]
	assert.Equal(t, c.public.URL, got.Claims["sub"])
	assert.Equal(t, "high", got.Header.Get("Urgency"))
	assert.Regexp(t, `^[0-9a-f]{32}$`, got.Header.Get("Topic"))
	assert.Regexp(t, `^\d\d$`, got.Header.Get("Ttl"))
	assert.NotContains(t, got.Text, cookieOf(away))

	c.pass(30 * time.Second)
	assert.False(t, behind.get("/").in(), "the slot is kept")
	c.site.requests()
	back := away.get(m.URL)
	require.Equal(t, http.StatusSeeOther, back.status)
	require.Equal(t, "/tickets?day=1", back.header.Get("Location"))
	require.True(t, away.get("/tickets?day=1").in())
	assert.Len(t, c.site.requests(), 1)
	c.pass(2 * time.Minute)
	assert.True(t, away.get("/").in(), "the session is a whole one")
	assert.False(t, behind.get("/").in())
}

// cookieOf is the value of a visitor's ticket.
func cookieOf(v *visitor) string {
	for _, value := range v.cookies {
		return value
	}
	return "none"
}

// revoke ends the session of somebody who is in.
func (c *caller) revoke(in *visitor) {
	c.t.Helper()
	c.site.will(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Fairdoor-Command", "revoke") })
	in.get("/")
	c.site.will(nil)
	c.pass(0)
}

func TestTheSlotOfWhoDoesNotComeGoesOn(t *testing.T) {
	t.Parallel()
	c := calls(t)
	in := c.full()[0]
	away, b := c.waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, away.asks(b).status)
	c.pass(2 * time.Second)
	behind := c.waits()
	c.revoke(in)
	m := c.awaits(b)
	c.pass(50 * time.Second)
	require.False(t, behind.get("/").in())
	c.pass(interval + 5*time.Second)
	require.True(t, behind.get("/").in())

	t.Log("who comes after all has their place, ahead of all who came later")
	last := c.waits()
	require.Equal(t, http.StatusSeeOther, away.get(m.URL).status)
	require.False(t, away.get("/").in())
	c.revoke(behind)
	for came := false; !came; came = away.get("/").in() {
		c.pass(time.Second)
		require.False(t, last.get("/").in())
	}
}

// sameAs is a gate of the same cluster, or the same gate after a restart: with those keys, the store and the clock.
func (c *caller) sameAs(store queue.Store, dir string) *caller {
	c.t.Helper()
	f := start(c.t, callingBack(c.t), func(to *proxy.Config, o *proxy.Options) {
		to.Keys, to.Rooms[0].Commands, o.Store, o.Clock, o.StateDir = c.config.Keys, config.Commands{config.Revoke}, store, c.clock.Now, dir
	})
	f.clock = c.clock
	return &caller{f, c.service, dir}
}

// at has a visitor go to another gate from now on.
func (v *visitor) at(c *caller) *visitor {
	other := c.visitor()
	other.cookies = v.cookies
	return other
}

func TestWhoIsAwayIsCalledAfterARestartAndComesBackToAnyGate(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	c := calls(t, func(_ *proxy.Config, o *proxy.Options) { o.Store = store })
	in := c.full()[0]
	away, b := c.waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, away.asks(b).status)
	c.holds(30 * time.Second)
	kept := c.files()
	assert.NotContains(t, kept, cookieOf(away))

	t.Log("the process is gone without a word: its files are all that is left of it")
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(c.dir)))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "calls", "cut.json"), []byte(`{"visitor":`), 0o600))
	c.Close()
	again, other := c.sameAs(store, dir), c.sameAs(store, t.TempDir())
	in = in.at(again)
	other.pass(time.Second)
	again.holds(30 * time.Second)
	again.until(func() bool { return len(b.Messages()) == 1 }) // else the second message may go in place of the first
	again.revoke(in)
	m := again.awaits(b)
	assert.Equal(t, "Your slot is kept until {time}.", m.Body)
	require.Len(t, b.Messages(), 2)
	assert.Contains(t, b.Messages()[0].Text, `"It is almost your turn."`)

	away = away.at(other)
	other.pass(time.Second)
	require.Equal(t, http.StatusSeeOther, away.get(m.URL).status)
	assert.True(t, away.get("/").in())
}

func TestASubscriptionHoldsOnePlace(t *testing.T) {
	t.Parallel()
	c := calls(t)
	c.full()
	away, thief, b := c.waits(), c.waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, away.asks(b).status)
	assert.Equal(t, http.StatusConflict, thief.asks(b).status)
	assert.Equal(t, http.StatusNoContent, away.asks(b).status, "who has asked may ask again")
	assert.Equal(t, http.StatusNoContent, thief.asks(c.service.Subscribe()).status)
	assert.Equal(t, http.StatusNoContent, away.asks(c.service.Subscribe()).status, "with another subscription")
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
	in := c.full()[0]
	v, b := c.waits(), c.service.Subscribe()
	post := func(body string, changes ...func(*http.Request)) int {
		return v.send(http.MethodPost, callPath, strings.NewReader(body), changes...).status
	}
	at := func(endpoint string) string {
		return regexp.MustCompile(`"endpoint":"[^"]*"`).ReplaceAllString(b.Subscription, `"endpoint":"`+endpoint+`"`)
	}
	for _, endpoint := range []string{"https://evil.example/", "http://127.0.0.1/", "https://10.0.0.1/", "http://fcm.googleapis.com/", "file:///etc/passwd", "https://u:p@localhost/", "http://localhost.evil.example/"} {
		assert.Equal(t, http.StatusBadRequest, post(at(endpoint)), endpoint)
	}
	assert.Equal(t, http.StatusBadRequest, post(at(c.service.URL+"/"+strings.Repeat("x", webpush.MaxSubscription))))
	assert.Equal(t, http.StatusBadRequest, post(`{"endpoint":"`+c.service.URL+`/","keys":{"p256dh":"AAAA","auth":"AAAA"}}`))
	assert.Equal(t, http.StatusBadRequest, post(b.Subscription, with("Sec-Fetch-Site", "cross-site")))
	assert.Equal(t, http.StatusConflict, in.asks(b).status, "they are in")
	assert.Equal(t, http.StatusConflict, c.visitor().asks(b).status)
	assert.Equal(t, http.StatusNotFound, v.send(http.MethodPost, "/.fairdoor/call-back?room=plain", strings.NewReader(b.Subscription)).status)
	assert.Equal(t, http.StatusMethodNotAllowed, v.send(http.MethodPut, callPath, nil).status)
	assert.Empty(t, c.files())
	assert.Equal(t, http.StatusNoContent, v.asks(b).status)
}

func TestAPlaceIsHeldForNoSubscriptionThatHasEnded(t *testing.T) {
	t.Parallel()
	c := calls(t)
	in := c.full()[0]
	away, b := c.waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, away.asks(b).status)
	c.service.Answer(http.StatusServiceUnavailable)
	c.revoke(in)
	c.until(func() bool { return strings.Contains(c.files(), `"tries":1`) })
	c.service.Answer(0)
	c.awaits(b)
	c.until(func() bool { return !strings.Contains(c.files(), `"owed"`) })
	assert.Len(t, b.Messages(), 1, "once it has come it is not sent again")

	c.pass(2 * time.Minute)
	in = c.visitor()
	require.True(t, in.get("/").in())
	next, b := c.waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, next.asks(b).status)
	c.service.Answer(http.StatusGone)
	c.revoke(in)
	c.until(func() bool { return !strings.Contains(c.files(), b.Endpoint()) })
}

func TestAPlaceIsHeldForAsLongAsItCanBeLeft(t *testing.T) {
	t.Parallel()
	c := calls(t, settings(func(s *queue.Settings) { s.QueueTicketTTL = 2 * time.Minute }))
	c.full()
	away, b := c.waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, away.asks(b).status)
	c.holds(2 * time.Minute)
	m := c.awaits(b)
	assert.Equal(t, "You may be away for up to 2\u00a0min without losing your place.", m.Body)
	place := away.get("/", asJSON).told("arrivedAt")
	c.pass(time.Minute)
	away.get(m.URL)
	assert.Equal(t, place, away.get("/", asJSON).told("arrivedAt"))
}

func TestSoManyOfANetworkAreCalledAndNoMore(t *testing.T) {
	t.Parallel()
	c := calls(t)
	c.full()
	for i := range 201 {
		want := http.StatusNoContent
		if i == 200 {
			want = http.StatusServiceUnavailable
		}
		require.Equal(t, want, c.waits().asks(c.service.Subscribe()).status, i)
	}
}

func TestWhoIsInTheEndlessLineIsNotCalledAndNotToldSo(t *testing.T) {
	t.Parallel()
	c := calls(t, flagging)
	c.full()
	bot, b := c.visitor(), c.service.Subscribe()
	require.False(t, bot.get("/", asBot).in())
	assert.Equal(t, http.StatusNoContent, bot.asks(b, asBot).status)
	assert.Empty(t, c.files())
}

func TestARoomThatCallsNobodyAnyMoreForgetsWhoIsAway(t *testing.T) {
	t.Parallel()
	c := calls(t)
	c.full()
	v := c.waits()
	require.Equal(t, http.StatusNoContent, v.asks(c.service.Subscribe()).status)
	c.config.Rooms[0].Options = nil
	require.NoError(t, c.Configure(t.Context(), c.config))
	c.until(func() bool { return c.files() == "" })
	assert.Equal(t, http.StatusNotFound, v.asks(c.service.Subscribe()).status)
	assert.False(t, v.get(callPath).in())
}

// A browser leaves tabs and ends of lines out of an address, and reads backslashes as slashes.
func TestWhoComesBackStaysOnTheHost(t *testing.T) {
	t.Parallel()
	c := calls(t)
	own := []string{"//evil.test/", "https://evil.test/", "/\t/evil.test", "/\n/evil.test", "/\r\n/evil.test", "\t//evil.test", "javascript:alert(1)", "evil.test", "@evil.test", ":443/", ""}
	for _, to := range own {
		assert.Equal(t, "/", c.visitor().get(callPath+"&to="+url.QueryEscape(to)).header.Get("Location"), "%q", to)
	}
	for _, to := range []string{"/\\evil.test", "/\\/evil.test", "///evil.test", "/..//evil.test", "/.//evil.test", "/%09/evil.test", "/tickets?day=1&to=//evil.test", "/é?ü"} {
		at := c.visitor().get(callPath + "&to=" + url.QueryEscape(to)).header.Get("Location")
		assert.Regexp(t, `^/($|[^/\\])`, at, "%q", to)
		assert.NotRegexp(t, `[\x00-\x20\x7f-\xff]`, at, "%q", to)
	}
	assert.Equal(t, "/tickets?day=1", c.visitor().get(callPath+"&to="+url.QueryEscape("/tickets?day=1")).header.Get("Location"))
}

func TestACallFollowsThePlaceThatMoves(t *testing.T) {
	for name, subscribes := range map[string]bool{"whose new device asks to be called, too": true, "whose new device does not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := calls(t)
			in := c.full()[0]
			seller, buyer, b := c.waits(), c.visitor(), c.service.Subscribe()
			require.Equal(t, http.StatusNoContent, seller.asks(b).status)
			buyer.takes(seller.link())
			if subscribes {
				b = c.service.Subscribe()
				require.Equal(t, http.StatusNoContent, buyer.asks(b).status)
			}
			c.holds(time.Minute)
			assert.Equal(t, http.StatusConflict, seller.asks(c.service.Subscribe()).status, "they have no place")
			c.revoke(in)
			m := c.awaits(b)
			assert.Equal(t, "Your slot is kept until {time}.", m.Body)

			seller.get(m.URL)
			assert.Equal(t, http.StatusConflict, seller.get("/", asJSON).status, "the slot is the other device's")
			require.Equal(t, http.StatusSeeOther, buyer.get(m.URL).status)
			assert.True(t, buyer.get("/").in())
		})
	}
}

// The seller comes before the buyer does, and may come at any time.
func TestAPlaceThatHasMovedDoesNotComeBackByItsCall(t *testing.T) {
	t.Parallel()
	c := calls(t)
	c.full()
	seller, buyer, b := c.waits(), c.visitor(), c.service.Subscribe()
	buyer.takes(seller.link())
	require.Equal(t, http.StatusNoContent, buyer.asks(b).status)
	for range 2 {
		assert.Empty(t, seller.get(callPath+"&to=/").setCookies())
		assert.Equal(t, http.StatusConflict, seller.get("/", asJSON).status)
		c.holds(interval)
	}
	require.Equal(t, http.StatusSeeOther, buyer.get(callPath+"&to=/").status)
	assert.NotEqual(t, http.StatusConflict, buyer.get("/", asJSON).status)
}

// silent is a push service that takes connections and never answers. It returns its address, and how many were open at once at most.
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
	c := calls(t, trustingLoopback)
	c.full()
	address, most := silent(t)
	for i := range 40 {
		b := c.service.Subscribe()
		b.Subscription = strings.Replace(b.Subscription, c.service.URL, address, 1)
		require.Equal(t, http.StatusNoContent, c.waits().asks(b, at(fmt.Sprintf("192.0.2.%d", i))).status)
	}
	c.pass(2 * time.Second)
	away, b := c.waits(), c.service.Subscribe()
	require.Equal(t, http.StatusNoContent, away.asks(b, at("198.51.100.1")).status)
	c.api(http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 100, "new_users_per_minute": 1000}`, nil)
	m := c.awaits(b)
	assert.Equal(t, "Your slot is kept until {time}.", m.Body)
	assert.Positive(t, most())
	assert.LessOrEqual(t, most(), int64(2), "of one network")
	away.get(m.URL)
	assert.True(t, away.get("/").in())
}

func TestAnEndpointIsAtThePortOfHTTPSOrOneOfTheList(t *testing.T) {
	t.Parallel()
	hosts, err := outbound.ParseHosts([]string{"push.test", "*.push.test", "other.test:8443", "10.0.0.0/8"})
	require.NoError(t, err)
	c := calls(t, func(to *proxy.Config, _ *proxy.Options) { to.Parts = to.Parts.With(callback.Name, hosts) })
	c.full()
	for endpoint, want := range map[string]int{
		"https://push.test/": http.StatusNoContent, "https://push.test:443/": http.StatusNoContent, "https://push.test:444/": http.StatusBadRequest,
		"https://push.test:22/": http.StatusBadRequest, "https://db5.push.test:8443/": http.StatusBadRequest, "https://db5.push.test/": http.StatusNoContent,
		"https://other.test:8443/": http.StatusNoContent, "https://other.test/": http.StatusBadRequest, "https://10.1.2.3:6379/": http.StatusBadRequest,
	} {
		b := c.service.Subscribe()
		b.Subscription = strings.Replace(b.Subscription, c.service.URL+"/", endpoint, 1)
		assert.Equal(t, want, c.waits().asks(b).status, endpoint)
	}
}
