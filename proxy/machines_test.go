package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/crawler/dnstest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

var (
	asPrefetch = with("Sec-Purpose", "prefetch")
	asCrawler  = with("User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")
	asUpgrade  = func(r *http.Request) { r.Header.Set("Connection", "Upgrade"); r.Header.Set("Upgrade", "websocket") }
)

// assertWithheld wants the answer to be the gate's own, for now, and to have no part in
// the room.
func assertWithheld(t *testing.T, a answer, msg ...any) {
	t.Helper()
	assert.Equal(t, http.StatusServiceUnavailable, a.status, msg...)
	assert.Equal(t, "no-store", a.header.Get("Cache-Control"), msg...)
	assert.Empty(t, a.setCookies(), msg...)
	assert.NotContains(t, a.header, "X-Robots-Tag", msg...)
	assert.NotContains(t, a.body, "noindex", msg...)
}

func TestPrefetchesOfThoseWhoAreNotInTakeNothing(t *testing.T) {
	for name, purpose := range map[string]func(*http.Request){
		"a prefetch":            asPrefetch,
		"a prerendering":        with("Sec-Purpose", "prefetch;prerender"),
		"one through a proxy":   with("Sec-Purpose", "prefetch;anonymous-client-ip"),
		"one by another name":   with("Sec-Purpose", "prerender"),
		"an older browser's":    with("Purpose", "prefetch"),
		"one in other letters":  with("Sec-Purpose", " Prefetch ; x=y"),
		"one of several values": func(r *http.Request) { r.Header["Sec-Purpose"] = []string{"other", "prefetch"} },
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t)
			v := f.visitor()
			a := v.get("/", purpose)
			assertWithheld(t, a)
			assert.Equal(t, "20", a.header.Get("Retry-After"))
			f.pass(time.Second)
			assert.Zero(t, f.status("shop").Active)
			assert.Empty(t, f.site.requests())
			assert.True(t, v.get("/").in(), "the page is loaded when it is wanted")

			stranger := f.visitor()
			assertWithheld(t, stranger.get("/", purpose))
			f.pass(time.Second)
			assert.Zero(t, f.status("shop").Queued)
		})
	}
	f := start(t)
	assert.True(t, f.visitor().get("/", with("Sec-Purpose", "prefetching")).in(), "what is not known is no prefetch")
}

func TestPrefetchesAreWithheldWhateverTheRoomDoes(t *testing.T) {
	for name, settings := range map[string]string{
		"queue_all": `{"queue_all": true}`, "reject": `{"queueing_method": "reject"}`, "random": `{"queueing_method": "random"}`,
		"line": `{"queueing_method": "line"}`, "passthrough": `{"queueing_method": "passthrough"}`,
	} {
		f := start(t)
		f.patch(settings)
		assertWithheld(t, f.visitor().get("/", asPrefetch), name)
		assert.Empty(t, f.site.requests(), name)
	}
	f := start(t, room(func(r *proxy.RoomConfig) { r.Presets = []route.Preset{"health"} }))
	assert.True(t, f.visitor().get("/healthz", asPrefetch).in(), "a rule goes first")
	f.patch(`{"suspended": true}`)
	assert.True(t, f.visitor().get("/", asPrefetch).in(), "there is no room to speak of")
}

// The browser shows the prefetched page without asking again: the prefetch is all that the
// gate sees of the visitor's click.
func TestPrefetchesOfThoseWhoAreInPassAndRenewTheSession(t *testing.T) {
	f := start(t)
	in := f.full()[0]
	for range 3 {
		f.pass(7 * time.Minute)
		assert.True(t, in.get("/next", asPrefetch).in())
	}
	assert.Equal(t, 1, f.status("shop").Active)
	f.pass(9 * time.Minute)
	assertWithheld(t, in.get("/next", asPrefetch), "the session is over")
	f.pass(time.Second)
	assert.Zero(t, f.status("shop").Active)
}

// assertNoCheckIn wants a request not to count as a check-in of somebody who is due.
func assertNoCheckIn(t *testing.T, ask func(v *visitor)) {
	t.Helper()
	f := start(t)
	waiting := f.waiter()
	f.pass(interval * 5 / 4)
	ask(waiting)
	f.clock.add(time.Second)
	assert.Equal(t, f.clock.Now().Format("2006-01-02T15:04:05.000Z"), waiting.get("/", asJSON).told("lastUpdated"), "the next request is the check-in")
	assert.Empty(t, f.site.requests())
}

func TestWhatNobodyLooksAtIsNoCheckIn(t *testing.T) {
	t.Run("a prefetch", func(t *testing.T) {
		assertNoCheckIn(t, func(v *visitor) { assertWithheld(t, v.get("/", asPrefetch)) })
	})
	t.Run("a prefetched question about the session", func(t *testing.T) {
		assertNoCheckIn(t, func(v *visitor) { assert.Empty(t, v.get("/.fairdoor/session?renew=1", asPrefetch).setCookies()) })
	})
	for _, method := range []string{http.MethodHead, http.MethodOptions} {
		t.Run(method, func(t *testing.T) {
			assertNoCheckIn(t, func(v *visitor) { assert.Empty(t, v.send(method, "/", nil).setCookies()) })
		})
	}
}

func TestProbesTakeNoPlace(t *testing.T) {
	for method, status := range map[string]int{http.MethodHead: http.StatusOK, http.MethodOptions: http.StatusTooManyRequests} {
		for _, queueing := range []string{"fifo", "random", "line"} {
			f := start(t)
			f.patch(`{"queueing_method": "` + queueing + `"}`)
			v := f.visitor()
			assert.True(t, v.send(method, "/", nil).status == http.StatusOK && len(f.site.requests()) == 1, "%s gets a slot that is open", method)
			assert.Contains(t, v.cookies, "fairdoor_shop")
			stranger := f.visitor()
			a := stranger.send(method, "/", nil)
			assert.Equal(t, status, a.status)
			assert.Equal(t, "20", a.header.Get("Retry-After"))
			assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
			assert.Empty(t, stranger.cookies)
			f.pass(2 * time.Second)
			assert.Zero(t, f.status("shop").Queued, "%s in %s", method, queueing)
			assert.Empty(t, f.site.requests())
		}
	}
}

func TestProbesTakeASlotProvisionally(t *testing.T) {
	for _, method := range []string{http.MethodHead, http.MethodOptions} {
		f := start(t) // without confirm_within
		monitor := f.visitor()
		for range 3 { // with its cookie or without
			monitor.send(method, "/", nil)
			f.clock.add(15 * time.Second)
		}
		assert.Len(t, f.site.requests(), 3)
		f.pass(0)
		assert.Equal(t, 1, f.status("shop").Active)
		f.pass(18 * time.Second)
		assert.True(t, f.visitor().get("/").in(), "%s: the slot goes on a minute after it was given", method)
	}
}

func TestACrawlersSlotIsProvisional(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.ConfirmWithin = time.Minute }))
	assert.True(t, f.visitor().get("/", asCrawler).in())
	f.pass(63 * time.Second)
	assert.True(t, f.visitor().get("/").in(), "the slot goes on a minute after it was given")
}

func TestCrawlersTakeNoPlace(t *testing.T) {
	for name, change := range map[string]string{
		"fifo": `{"queueing_method": "fifo"}`, "random": `{"queueing_method": "random"}`, "line": `{"queueing_method": "line"}`,
		"queue_all": `{"queue_all": true}`, "reject": `{"queueing_method": "reject"}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t)
			f.full()
			f.patch(change)
			for request, ask := range map[string]func(v *visitor) answer{
				"a page":      func(v *visitor) answer { return v.get("/", asCrawler) },
				"JSON":        func(v *visitor) answer { return v.get("/", asCrawler, asJSON) },
				"HEAD":        func(v *visitor) answer { return v.send(http.MethodHead, "/", nil, asCrawler) },
				"a form":      func(v *visitor) answer { return v.send(http.MethodPost, "/", strings.NewReader("a=1"), asCrawler) },
				"an image":    func(v *visitor) answer { return v.get("/", asCrawler, asImage) },
				"a prefetch":  func(v *visitor) answer { return v.get("/", asCrawler, asPrefetch) },
				"a websocket": func(v *visitor) answer { return v.get("/", asCrawler, asUpgrade) },
			} {
				a := ask(f.visitor())
				if name == "queue_all" || name == "reject" || request != "an image" {
					assertWithheld(t, a, request)
				}
				if name != "reject" && a.status != http.StatusOK {
					assert.Equal(t, "20", a.header.Get("Retry-After"), request)
				}
			}
			assert.Empty(t, f.visitor().get("/.fairdoor/session?renew=1", asCrawler).setCookies())
			f.pass(2 * time.Second)
			assert.Zero(t, f.status("shop").Queued)
			assert.Zero(t, ofMethod(f.site.requests(), http.MethodPost))
		})
	}
}

func TestCrawlersAreLetInWhileNobodyHasToWait(t *testing.T) {
	f := start(t)
	a := f.visitor().get("/", asCrawler)
	assert.True(t, a.in())
	assert.NotContains(t, a.header, "X-Robots-Tag")
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Active, "it is counted like any newcomer")
}

func TestWhoHasATicketIsNoCrawler(t *testing.T) {
	f := start(t)
	waiting := f.waiter()
	f.pass(interval * 5 / 4)
	a := waiting.get("/", asJSON, asCrawler)
	assert.Equal(t, f.clock.Now().Format("2006-01-02T15:04:05.000Z"), a.told("lastUpdated"))
}

func TestVerifiedCrawlersPassUncounted(t *testing.T) {
	dns := dnstest.Start(t)
	dns.Machine("crawl-66-249-66-1.googlebot.com", "66.249.66.1")
	dns.Name("192.0.2.1", "crawl-192-0-2-1.googlebot.com")
	f := start(t, trustingLoopback, room(func(r *proxy.RoomConfig) {
		r.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{VerifiedBot: true}}}
	}), func(_ *proxy.Config, o *proxy.Options) { o.Resolver = dns.Resolver() })
	f.full()
	from := func(addr string, as func(*http.Request)) answer {
		return f.visitor().get("/", as, with("X-Forwarded-For", addr))
	}
	assertWithheld(t, from("192.0.2.1", asCrawler))
	assertWithheld(t, from("66.249.66.1", asCrawler), "it is not known yet")
	require.Eventually(t, func() bool { return from("66.249.66.1", asCrawler).in() }, patience, time.Millisecond)
	for range 20 {
		require.True(t, from("66.249.66.1", asCrawler).in())
		require.False(t, from("192.0.2.1", asCrawler).in(), "the name does not know the address")
		require.False(t, from("66.249.66.1", with("User-Agent", "Mozilla/5.0")).in(), "people may come from there, too")
	}
	assert.Equal(t, 2, dns.Asked())
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Active)
	assert.Zero(t, f.status("shop").InRoom-1)
}

func TestPresetsAreExempt(t *testing.T) {
	paths := map[route.Preset]string{"well_known": "/.well-known/acme-challenge/x", "robots": "/sitemap-1.xml", "health": "/readyz"}
	for preset, path := range paths {
		f := start(t, room(func(r *proxy.RoomConfig) { r.Presets = []route.Preset{preset} }))
		f.full()
		f.patch(`{"queue_all": true}`)
		for other, path := range paths {
			assert.Equal(t, other == preset, f.visitor().get(path, asCrawler).in(), "%s with the preset %s", path, preset)
		}
		assert.True(t, f.visitor().get(path).in())
		assert.Empty(t, f.visitor().get(path).setCookies())
		f.site.requests()
		for _, spelled := range []string{path + "/../../../tickets", "/x/.." + path, "/" + path, strings.ToUpper(path)} {
			assert.False(t, f.visitor().get("", func(r *http.Request) { r.URL.Opaque = spelled }).in(), spelled)
		}
		assert.Empty(t, f.site.requests())
	}
	f := start(t)
	f.full()
	assert.False(t, f.visitor().get("/robots.txt").in(), "without presets the room guards everything")
}

// TestCombinations sends newcomers with every combination of what machines send to rooms in
// every state.
func TestCombinations(t *testing.T) {
	type option struct {
		name   string
		change func(*http.Request)
	}
	nothing := option{"", func(*http.Request) {}}
	for state, prepare := range map[string]func(f *fixture){
		"open":        func(*fixture) {},
		"full":        func(f *fixture) { f.full() },
		"queueing":    func(f *fixture) { f.waiter() },
		"queue_all":   func(f *fixture) { f.patch(`{"queue_all": true}`) },
		"reject":      func(f *fixture) { f.patch(`{"queueing_method": "reject"}`) },
		"line":        func(f *fixture) { f.patch(`{"queueing_method": "line"}`); f.waiter() },
		"passthrough": func(f *fixture) { f.patch(`{"queueing_method": "passthrough"}`) },
		"suspended":   func(f *fixture) { f.patch(`{"suspended": true}`) },
	} {
		t.Run(state, func(t *testing.T) {
			f := start(t)
			prepare(f)
			f.pass(2 * time.Second)
			before := f.status("shop")
			f.site.requests()
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost} {
				for _, purpose := range []option{nothing, {"prefetched ", asPrefetch}} {
					for _, agent := range []option{nothing, {"by a crawler ", asCrawler}} {
						for _, dest := range []option{nothing, {"of an image", asImage}, {"of a websocket", asUpgrade}} {
							name := fmt.Sprint(method, " ", purpose.name, agent.name, dest.name)
							if purpose.name+agent.name+dest.name == "" && (method == http.MethodGet || method == http.MethodPost) || state == "open" && purpose.name == "" {
								continue // a person's, or the one who takes the slot
							}
							v := f.visitor()
							a := v.send(method, "/", nil, purpose.change, agent.change, dest.change)
							reached := len(f.site.requests()) > 0
							switch {
							case state == "suspended":
								assert.True(t, reached, name)
							case purpose.name != "":
								assert.False(t, reached, name)
								assertWithheld(t, a, name)
							case state == "passthrough":
								assert.True(t, reached, name)
							case dest.name == "of an image" && method == http.MethodGet && state == "full": // it passes while nobody waits
							case agent.name != "":
								assert.False(t, reached, name)
								assertWithheld(t, a, name)
							case method == http.MethodGet && dest.name == "of a websocket": // a person's
							case method == http.MethodPost: // a form's
								assert.False(t, reached, name)
							default:
								assert.False(t, reached, name)
								assert.Empty(t, v.cookies, name)
							}
						}
					}
				}
			}
			f.pass(2 * time.Second)
			persons := 0
			if state == "full" || state == "queueing" || state == "queue_all" || state == "line" {
				persons = 3 // with the websocket and two forms
			}
			assert.Equal(t, before.Queued+persons, f.status("shop").Queued)
		})
	}
}

func TestMachinesInRoomsByTheDozen(t *testing.T) {
	f := start(t, family())
	require.True(t, f.visitor().get("/room/a").in())
	f.status("chat.a")
	assertWithheld(t, f.visitor().get("/room/a", asPrefetch))
	assertWithheld(t, f.visitor().get("/room/a", asCrawler))
	assert.Empty(t, f.visitor().send(http.MethodHead, "/room/a", nil).setCookies())
	f.clock.add(2 * time.Second)
	assert.Zero(t, f.status("chat.a").Queued)
	assert.True(t, f.visitor().get("/room/b", asCrawler).in(), "nobody waits there")
}
