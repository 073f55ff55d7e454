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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

var (
	asCrawler = gatetest.With("User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")
	asUpgrade = func(r *http.Request) { r.Header.Set("Connection", "Upgrade"); r.Header.Set("Upgrade", "websocket") }
)

// assertWithheld wants the answer to be the gate's own, for now, and to have no part in
// the room.
func assertWithheld(t *testing.T, a gatetest.Answer, msg ...any) {
	t.Helper()
	assert.Equal(t, http.StatusServiceUnavailable, a.Status, msg...)
	assert.Equal(t, "no-store", a.Header.Get("Cache-Control"), msg...)
	assert.Empty(t, a.SetCookies(), msg...)
	assert.NotContains(t, a.Header, "X-Robots-Tag", msg...)
	assert.NotContains(t, a.Body, "noindex", msg...)
}

func TestPrefetchesOfThoseWhoAreNotInTakeNothing(t *testing.T) {
	for name, purpose := range map[string]func(*http.Request){
		"a prefetch":            gatetest.AsPrefetch,
		"a prerendering":        gatetest.With("Sec-Purpose", "prefetch;prerender"),
		"one through a proxy":   gatetest.With("Sec-Purpose", "prefetch;anonymous-client-ip"),
		"one by another name":   gatetest.With("Sec-Purpose", "prerender"),
		"an older browser's":    gatetest.With("Purpose", "prefetch"),
		"one in other letters":  gatetest.With("Sec-Purpose", " Prefetch ; x=y"),
		"one of several values": func(r *http.Request) { r.Header["Sec-Purpose"] = []string{"other", "prefetch"} },
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t)
			v := f.Visitor()
			a := v.Get("/", purpose)
			assertWithheld(t, a)
			assert.Equal(t, "20", a.Header.Get("Retry-After"))
			f.Pass(time.Second)
			assert.Zero(t, f.Status("shop").Active)
			assert.Empty(t, f.Site.Requests())
			assert.True(t, v.Get("/").In(), "the page is loaded when it is wanted")

			stranger := f.Visitor()
			assertWithheld(t, stranger.Get("/", purpose))
			f.Pass(time.Second)
			assert.Zero(t, f.Status("shop").Queued)
		})
	}
	f := gatetest.Start(t)
	assert.True(t, f.Visitor().Get("/", gatetest.With("Sec-Purpose", "prefetching")).In(), "what is not known is no prefetch")
}

func TestPrefetchesAreWithheldWhateverTheRoomDoes(t *testing.T) {
	for name, settings := range map[string]string{
		"queue_all": `{"queue_all": true}`, "reject": `{"queueing_method": "reject"}`, "random": `{"queueing_method": "random"}`,
		"line": `{"queueing_method": "line"}`, "passthrough": `{"queueing_method": "passthrough"}`,
	} {
		f := gatetest.Start(t)
		f.Patch(settings)
		assertWithheld(t, f.Visitor().Get("/", gatetest.AsPrefetch), name)
		assert.Empty(t, f.Site.Requests(), name)
	}
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Presets = []route.Preset{"health"} }))
	assert.True(t, f.Visitor().Get("/healthz", gatetest.AsPrefetch).In(), "a rule goes first")
	f.Patch(`{"suspended": true}`)
	assert.True(t, f.Visitor().Get("/", gatetest.AsPrefetch).In(), "there is no room to speak of")
}

// The browser shows the prefetched page without asking again: the prefetch is all that the
// gate sees of the visitor's click.
func TestPrefetchesOfThoseWhoAreInPassAndRenewTheSession(t *testing.T) {
	f := gatetest.Start(t)
	in := f.Full()[0]
	for range 3 {
		f.Pass(7 * time.Minute)
		assert.True(t, in.Get("/next", gatetest.AsPrefetch).In())
	}
	assert.Equal(t, 1, f.Status("shop").Active)
	f.Pass(9 * time.Minute)
	assertWithheld(t, in.Get("/next", gatetest.AsPrefetch), "the session is over")
	f.Pass(time.Second)
	assert.Zero(t, f.Status("shop").Active)
}

// assertNoCheckIn wants a request not to count as a check-in of somebody who is due.
func assertNoCheckIn(t *testing.T, ask func(v *gatetest.Visitor)) {
	t.Helper()
	f := gatetest.Start(t)
	waiting := f.Waiter()
	f.Pass(gatetest.Interval * 5 / 4)
	ask(waiting)
	f.Clock.Add(time.Second)
	assert.Equal(t, f.Clock.Now().Format("2006-01-02T15:04:05.000Z"), waiting.Get("/", gatetest.AsJSON).Told("lastUpdated"), "the next request is the check-in")
	assert.Empty(t, f.Site.Requests())
}

func TestWhatNobodyLooksAtIsNoCheckIn(t *testing.T) {
	t.Run("a prefetch", func(t *testing.T) {
		assertNoCheckIn(t, func(v *gatetest.Visitor) { assertWithheld(t, v.Get("/", gatetest.AsPrefetch)) })
	})
	t.Run("a prefetched question about the session", func(t *testing.T) {
		assertNoCheckIn(t, func(v *gatetest.Visitor) {
			assert.Empty(t, v.Get("/.fairdoor/session?renew=1", gatetest.AsPrefetch).SetCookies())
		})
	})
	for _, method := range []string{http.MethodHead, http.MethodOptions} {
		t.Run(method, func(t *testing.T) {
			assertNoCheckIn(t, func(v *gatetest.Visitor) { assert.Empty(t, v.Send(method, "/", nil).SetCookies()) })
		})
	}
}

func TestProbesTakeNoPlace(t *testing.T) {
	for method, status := range map[string]int{http.MethodHead: http.StatusOK, http.MethodOptions: http.StatusTooManyRequests} {
		for _, queueing := range []string{"fifo", "random", "line"} {
			f := gatetest.Start(t)
			f.Patch(`{"queueing_method": "` + queueing + `"}`)
			v := f.Visitor()
			assert.True(t, v.Send(method, "/", nil).Status == http.StatusOK && len(f.Site.Requests()) == 1, "%s gets a slot that is open", method)
			assert.Contains(t, v.Cookies, "fairdoor_shop")
			stranger := f.Visitor()
			a := stranger.Send(method, "/", nil)
			assert.Equal(t, status, a.Status)
			assert.Equal(t, "20", a.Header.Get("Retry-After"))
			assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
			assert.Empty(t, stranger.Cookies)
			f.Pass(2 * time.Second)
			assert.Zero(t, f.Status("shop").Queued, "%s in %s", method, queueing)
			assert.Empty(t, f.Site.Requests())
		}
	}
}

func TestProbesTakeASlotProvisionally(t *testing.T) {
	for _, method := range []string{http.MethodHead, http.MethodOptions} {
		f := gatetest.Start(t) // without confirm_within
		monitor := f.Visitor()
		for range 3 { // with its cookie or without
			monitor.Send(method, "/", nil)
			f.Clock.Add(15 * time.Second)
		}
		assert.Len(t, f.Site.Requests(), 3)
		f.Pass(0)
		assert.Equal(t, 1, f.Status("shop").Active)
		f.Pass(18 * time.Second)
		assert.True(t, f.Visitor().Get("/").In(), "%s: the slot goes on a minute after it was given", method)
	}
}

func TestACrawlersSlotIsProvisional(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.ConfirmWithin = time.Minute }))
	assert.True(t, f.Visitor().Get("/", asCrawler).In())
	f.Pass(63 * time.Second)
	assert.True(t, f.Visitor().Get("/").In(), "the slot goes on a minute after it was given")
}

func TestCrawlersTakeNoPlace(t *testing.T) {
	for name, change := range map[string]string{
		"fifo": `{"queueing_method": "fifo"}`, "random": `{"queueing_method": "random"}`, "line": `{"queueing_method": "line"}`,
		"queue_all": `{"queue_all": true}`, "reject": `{"queueing_method": "reject"}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t)
			f.Full()
			f.Patch(change)
			for request, ask := range map[string]func(v *gatetest.Visitor) gatetest.Answer{
				"a page": func(v *gatetest.Visitor) gatetest.Answer { return v.Get("/", asCrawler) },
				"JSON":   func(v *gatetest.Visitor) gatetest.Answer { return v.Get("/", asCrawler, gatetest.AsJSON) },
				"HEAD":   func(v *gatetest.Visitor) gatetest.Answer { return v.Send(http.MethodHead, "/", nil, asCrawler) },
				"a form": func(v *gatetest.Visitor) gatetest.Answer {
					return v.Send(http.MethodPost, "/", strings.NewReader("a=1"), asCrawler)
				},
				"an image":    func(v *gatetest.Visitor) gatetest.Answer { return v.Get("/", asCrawler, asImage) },
				"a prefetch":  func(v *gatetest.Visitor) gatetest.Answer { return v.Get("/", asCrawler, gatetest.AsPrefetch) },
				"a websocket": func(v *gatetest.Visitor) gatetest.Answer { return v.Get("/", asCrawler, asUpgrade) },
			} {
				a := ask(f.Visitor())
				if name == "queue_all" || name == "reject" || request != "an image" {
					assertWithheld(t, a, request)
				}
				if name != "reject" && a.Status != http.StatusOK {
					assert.Equal(t, "20", a.Header.Get("Retry-After"), request)
				}
			}
			assert.Empty(t, f.Visitor().Get("/.fairdoor/session?renew=1", asCrawler).SetCookies())
			f.Pass(2 * time.Second)
			assert.Zero(t, f.Status("shop").Queued)
			assert.Zero(t, ofMethod(f.Site.Requests(), http.MethodPost))
		})
	}
}

func TestCrawlersAreLetInWhileNobodyHasToWait(t *testing.T) {
	f := gatetest.Start(t)
	a := f.Visitor().Get("/", asCrawler)
	assert.True(t, a.In())
	assert.NotContains(t, a.Header, "X-Robots-Tag")
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Active, "it is counted like any newcomer")
}

func TestWhoHasATicketIsNoCrawler(t *testing.T) {
	f := gatetest.Start(t)
	waiting := f.Waiter()
	f.Pass(gatetest.Interval * 5 / 4)
	a := waiting.Get("/", gatetest.AsJSON, asCrawler)
	assert.Equal(t, f.Clock.Now().Format("2006-01-02T15:04:05.000Z"), a.Told("lastUpdated"))
}

func TestVerifiedCrawlersPassUncounted(t *testing.T) {
	dns := dnstest.Start(t)
	dns.Machine("crawl-66-249-66-1.googlebot.com", "66.249.66.1")
	dns.Name("192.0.2.1", "crawl-192-0-2-1.googlebot.com")
	f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{VerifiedBot: true}}}
	}), func(_ *proxy.Config, o *proxy.Options) { o.Resolver = dns.Resolver() })
	f.Full()
	from := func(addr string, as func(*http.Request)) gatetest.Answer {
		return f.Visitor().Get("/", as, gatetest.With("X-Forwarded-For", addr))
	}
	assertWithheld(t, from("192.0.2.1", asCrawler))
	assertWithheld(t, from("66.249.66.1", asCrawler), "it is not known yet")
	require.Eventually(t, func() bool { return from("66.249.66.1", asCrawler).In() }, gatetest.Patience, time.Millisecond)
	for range 20 {
		require.True(t, from("66.249.66.1", asCrawler).In())
		require.False(t, from("192.0.2.1", asCrawler).In(), "the name does not know the address")
		require.False(t, from("66.249.66.1", gatetest.With("User-Agent", "Mozilla/5.0")).In(), "people may come from there, too")
	}
	assert.Equal(t, 2, dns.Asked())
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Active)
	assert.Zero(t, f.Status("shop").InRoom-1)
}

func TestPresetsAreExempt(t *testing.T) {
	paths := map[route.Preset]string{"well_known": "/.well-known/acme-challenge/x", "robots": "/sitemap-1.xml", "health": "/readyz"}
	for preset, path := range paths {
		f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Presets = []route.Preset{preset} }))
		f.Full()
		f.Patch(`{"queue_all": true}`)
		for other, path := range paths {
			assert.Equal(t, other == preset, f.Visitor().Get(path, asCrawler).In(), "%s with the preset %s", path, preset)
		}
		assert.True(t, f.Visitor().Get(path).In())
		assert.Empty(t, f.Visitor().Get(path).SetCookies())
		f.Site.Requests()
		for _, spelled := range []string{path + "/../../../tickets", "/x/.." + path, "/" + path, strings.ToUpper(path)} {
			assert.False(t, f.Visitor().Get("", func(r *http.Request) { r.URL.Opaque = spelled }).In(), spelled)
		}
		assert.Empty(t, f.Site.Requests())
	}
	f := gatetest.Start(t)
	f.Full()
	assert.False(t, f.Visitor().Get("/robots.txt").In(), "without presets the room guards everything")
}

// TestCombinations sends newcomers with every combination of what machines send to rooms in
// every state.
func TestCombinations(t *testing.T) {
	type option struct {
		name   string
		change func(*http.Request)
	}
	nothing := option{"", func(*http.Request) {}}
	for state, prepare := range map[string]func(f *gatetest.Fixture){
		"open":        func(*gatetest.Fixture) {},
		"full":        func(f *gatetest.Fixture) { f.Full() },
		"queueing":    func(f *gatetest.Fixture) { f.Waiter() },
		"queue_all":   func(f *gatetest.Fixture) { f.Patch(`{"queue_all": true}`) },
		"reject":      func(f *gatetest.Fixture) { f.Patch(`{"queueing_method": "reject"}`) },
		"line":        func(f *gatetest.Fixture) { f.Patch(`{"queueing_method": "line"}`); f.Waiter() },
		"passthrough": func(f *gatetest.Fixture) { f.Patch(`{"queueing_method": "passthrough"}`) },
		"suspended":   func(f *gatetest.Fixture) { f.Patch(`{"suspended": true}`) },
	} {
		t.Run(state, func(t *testing.T) {
			f := gatetest.Start(t)
			prepare(f)
			f.Pass(2 * time.Second)
			before := f.Status("shop")
			f.Site.Requests()
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost} {
				for _, purpose := range []option{nothing, {"prefetched ", gatetest.AsPrefetch}} {
					for _, agent := range []option{nothing, {"by a crawler ", asCrawler}} {
						for _, dest := range []option{nothing, {"of an image", asImage}, {"of a websocket", asUpgrade}} {
							name := fmt.Sprint(method, " ", purpose.name, agent.name, dest.name)
							if purpose.name+agent.name+dest.name == "" && (method == http.MethodGet || method == http.MethodPost) || state == "open" && purpose.name == "" {
								continue // a person's, or the one who takes the slot
							}
							v := f.Visitor()
							a := v.Send(method, "/", nil, purpose.change, agent.change, dest.change)
							reached := len(f.Site.Requests()) > 0
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
								assert.Empty(t, v.Cookies, name)
							}
						}
					}
				}
			}
			f.Pass(2 * time.Second)
			persons := 0
			if state == "full" || state == "queueing" || state == "queue_all" || state == "line" {
				persons = 3 // with the websocket and two forms
			}
			assert.Equal(t, before.Queued+persons, f.Status("shop").Queued)
		})
	}
}

func TestMachinesInRoomsByTheDozen(t *testing.T) {
	f := gatetest.Start(t, gatetest.Family())
	require.True(t, f.Visitor().Get("/room/a").In())
	f.Status("chat.a")
	assertWithheld(t, f.Visitor().Get("/room/a", gatetest.AsPrefetch))
	assertWithheld(t, f.Visitor().Get("/room/a", asCrawler))
	assert.Empty(t, f.Visitor().Send(http.MethodHead, "/room/a", nil).SetCookies())
	f.Clock.Add(2 * time.Second)
	assert.Zero(t, f.Status("chat.a").Queued)
	assert.True(t, f.Visitor().Get("/room/b", asCrawler).In(), "nobody waits there")
}
