package proxy_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// breakOff ends the connection in the place of an answer.
func breakOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// quiet keeps the site's panics out of the tests' output.
func quiet(s *gatetest.Site) *gatetest.Site {
	s.Config.ErrorLog = gatetest.Silence
	return s
}

func TestTheOriginCannotSayThatItHasNotAnswered(t *testing.T) {
	f := gatetest.Start(t)
	f.Site.Will(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Fairdoor-Unanswered", "502")
		_, _ = io.WriteString(w, "the site's page")
	})
	answer := f.Visitor().Get("/")
	assert.Equal(t, http.StatusOK, answer.Status)
	assert.Equal(t, "the site's page", answer.Body)
	assert.Empty(t, answer.Header.Values("Fairdoor-Unanswered"))
}

func TestOriginThatDoesNotAnswerIsExplained(t *testing.T) {
	for name, c := range map[string]struct {
		fail   http.HandlerFunc
		status int
	}{
		"it breaks off":         {breakOff, http.StatusBadGateway},
		"it takes all too long": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, http.StatusGatewayTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) { c.OriginTimeout = 100 * time.Millisecond })
			quiet(f.Site).Will(c.fail)
			v := f.Visitor()
			a := v.Get("/", gatetest.With("Accept-Language", "de"))
			assert.Equal(t, c.status, a.Status)
			assert.Equal(t, "text/html; charset=utf-8", a.Header.Get("Content-Type"))
			assert.Contains(t, a.Header.Get("Cache-Control"), "no-store")
			assert.Contains(t, a.Body, `lang="de-DE"`)
			assert.NotEmpty(t, v.Cookies, "the slot is theirs")
			assert.Contains(t, a.Body, "Ihr Einlass bleibt bestehen")
			again, err := strconv.Atoi(a.Header.Get("Retry-After"))
			require.NoError(t, err)
			assert.True(t, 5 <= again && again < 10, again)
			a = v.Get("/a?b=c")
			assert.Equal(t, a.Header.Get("Retry-After")+"; url=/a?b=c", a.Header.Get("Refresh"), "also where the ticket has not changed")
			assert.Contains(t, a.Body, "You keep your slot")
			code := regexp.MustCompile(`[0-9A-Z]{4}-[0-9A-Z]{4}</code>`).FindString(a.Body)
			var found struct{ Visitors []struct{ Status string } }
			f.API(http.MethodGet, "/api/v1/visitors?q="+strings.TrimSuffix(code, "</code>"), "", &found)
			require.Len(t, found.Visitors, 1, "operators find them by the code of the page")
			a = v.Send(http.MethodPost, "/", nil)
			assert.Empty(t, a.Header.Get("Refresh"), "what was sent would be lost")
			a = v.Get("/", gatetest.AsJSON)
			assert.Contains(t, a.Body, "You keep your slot")
			assert.Equal(t, c.status, a.Status)
			assert.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
			assert.Contains(t, a.Body, `"supportCode":"`+strings.TrimSuffix(code, "</code>")+`"`)
			assert.NotContains(t, a.Body, "127.0.0.1", "what went wrong is not told to strangers")

			f.Site.Will(nil)
			f.Pass(time.Second)
			assert.Equal(t, 1, f.Status("shop").Active)
			assert.True(t, v.Get("/").In())
			assert.False(t, f.Visitor().Get("/").In())
		})
	}
}

func TestOnlyWhoIsInIsToldThatTheyKeepASlot(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{PathPrefix: "/free"}}}
	}))
	quiet(f.Site).Will(breakOff)
	a := f.Visitor().Get("/free")
	assert.Equal(t, http.StatusBadGateway, a.Status)
	assert.NotContains(t, a.Body, "slot")
	assert.Empty(t, a.Header.Get("Refresh"))
}

func TestOriginsOwnErrorsPassUntouched(t *testing.T) {
	f := gatetest.Start(t)
	f.Site.Will(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "maintenance")
	})
	v := f.Visitor()
	for range 5 {
		a := v.Get("/")
		assert.Equal(t, http.StatusServiceUnavailable, a.Status)
		assert.Equal(t, "maintenance", a.Body)
	}
	assert.Contains(t, f.API(http.MethodGet, "/metrics", "", nil).Body, `fairdoor_origin_failing{origin="`+f.Site.URL+`"} 0`)
}

func TestAdmissionsPauseWhileTheOriginFailsAndResume(t *testing.T) {
	t.Parallel()
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 10 }))
	quiet(f.Site).Will(breakOff)
	in := f.Visitor()
	assert.Equal(t, http.StatusBadGateway, in.Get("/").Status)
	originFails(f, 1)
	f.Pass(time.Second)
	waiting := f.Visitor()
	a := waiting.Get("/", gatetest.AsJSON)
	assert.Equal(t, true, a.Told("inWaitingRoom"), "nobody new is let in")
	assert.Equal(t, false, waiting.Get("/", gatetest.AsJSON).Told("waitTimeKnown"))
	assert.Equal(t, true, waiting.Get("/", gatetest.AsJSON).Told("admissionsPaused"))
	assert.Contains(t, waiting.Get("/").Body, `<p id="wait">The site is not answering</p>`)
	assert.Contains(t, f.API(http.MethodGet, "/metrics", "", nil).Body, `fairdoor_admissions_paused{room="shop"} 1`)
	assert.Equal(t, http.StatusBadGateway, in.Get("/").Status, "who is in gets the origin's fault")
	assert.Equal(t, http.StatusServiceUnavailable, f.Visitor().Get("/logo.png", gatetest.With("Sec-Fetch-Dest", "image")).Status)
	f.Pass(time.Second)
	assert.Equal(t, "queueing", f.Status("shop").Status)
	assert.Equal(t, 1, f.Status("shop").Active)

	require.NoError(t, f.Configure(t.Context(), f.Config))
	assert.False(t, f.Visitor().Get("/").In(), "a new configuration does not change what the origin is")

	f.Site.Will(nil)
	originFails(f, 0) // it answers the gate's probes
	f.Pass(25 * time.Second)
	assert.True(t, waiting.Get("/").In())
	assert.True(t, in.Get("/").In())
	assert.Contains(t, f.API(http.MethodGet, "/metrics", "", nil).Body, `fairdoor_admissions_paused{room="shop"} 0`)
	assert.NotContains(t, f.API(http.MethodGet, "/api/v1/rooms/shop/status", "", nil).Body, `"admissionsPaused":true`)
}

// originFails waits until the gate says that its origin fails, 1, or does not, 0.
func originFails(f *gatetest.Fixture, want int) {
	f.T.Helper()
	line := fmt.Sprintf("fairdoor_origin_failing{origin=%q} %d", f.Site.URL, want)
	require.Eventually(f.T, func() bool { return strings.Contains(f.API(http.MethodGet, "/metrics", "", nil).Body, line) },
		gatetest.Patience, 5*time.Millisecond)
}

// What anybody can bring about with an origin that is well holds nobody up.
func TestStrangersDoNotPauseAdmissions(t *testing.T) {
	t.Parallel()
	upgrade := func(r *http.Request) {
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
	}
	preflight := func(r *http.Request) {
		r.Header.Set("Origin", "https://a.test")
		r.Header.Set("Access-Control-Request-Method", "GET")
	}
	for name, attack := range map[string]func(v *gatetest.Visitor){
		"preflights that ask for an upgrade": func(v *gatetest.Visitor) { v.Send(http.MethodOptions, "/drop", nil, preflight, upgrade) },
		"preflights":                         func(v *gatetest.Visitor) { v.Send(http.MethodOptions, "/drop", nil, preflight) },
		"requests that a rule exempts":       func(v *gatetest.Visitor) { v.Get("/open/drop") },
		"parts of pages":                     func(v *gatetest.Visitor) { v.Get("/drop", gatetest.With("Sec-Fetch-Dest", "image")) },
		"an admitted visitor's pages":        func(v *gatetest.Visitor) { v.Get("/drop") },
		"an admitted visitor's websockets":   func(v *gatetest.Visitor) { v.Get("/drop", upgrade) },
		"an admitted visitor's uploads": func(v *gatetest.Visitor) {
			v.Send(http.MethodPost, "/drop", strings.NewReader(strings.Repeat("x", 1<<20)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) {
				r.Settings.TotalActiveUsers = 30
				r.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{PathPrefix: "/open/"}}}
			}))
			quiet(f.Site).Will(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/drop") {
					panic(http.ErrAbortHandler)
				}
				_, _ = io.WriteString(w, "in")
			})
			attacker, in := f.Visitor(), 0
			if strings.HasPrefix(name, "an admitted") {
				attacker.Get("/")
			}
			for range 20 {
				for range 5 {
					attack(attacker)
				}
				if f.Visitor().Get("/").In() {
					in++
				}
			}
			assert.Equal(t, 20, in, "the room is free")
		})
	}
}

func TestOriginThatDropsWhatItDoesNotKnowIsAlive(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(v *gatetest.Visitor){
		"a page that it drops": func(v *gatetest.Visitor) { v.Get("/drop") },
		"a stranger's preflight for any host": func(v *gatetest.Visitor) {
			v.Send(http.MethodOptions, "/", nil, func(r *http.Request) {
				r.Host = "nobody.test"
				r.Header.Set("Origin", "https://a.test")
				r.Header.Set("Access-Control-Request-Method", "GET")
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 30 }))
			quiet(f.Site).Will(func(w http.ResponseWriter, r *http.Request) {
				if r.Host != "shop.test" || r.Method == http.MethodHead || r.URL.Path == "/drop" {
					panic(http.ErrAbortHandler)
				}
				_, _ = io.WriteString(w, "in")
			})
			shop := func(r *http.Request) { r.Host = "shop.test" }
			first(f.Visitor())
			originFails(f, 1)
			v := f.Visitor()
			assert.False(t, v.Get("/", shop).In())
			originFails(f, 0)
			f.Pass(25 * time.Second)
			assert.True(t, v.Get("/", shop).In(), "the gate has asked for the host that the visitor wants")
			for range 5 {
				first(f.Visitor())
				assert.True(t, f.Visitor().Get("/", shop).In(), "its name is known now")
			}
		})
	}
}

func TestEarlyAnswerToABodyIsNoFailure(t *testing.T) {
	t.Parallel()
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 30 }))
	quiet(f.Site).Will(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		_, _ = io.WriteString(w, "in")
	})
	v := f.Visitor()
	v.Get("/")
	for range 5 {
		a := v.Send(http.MethodPost, "/", io.LimitReader(rand.Reader, 1<<20))
		assert.Contains(t, []int{http.StatusRequestEntityTooLarge, http.StatusBadGateway}, a.Status, "or what is left of it by the origin's closing")
		assert.True(t, f.Visitor().Get("/").In())
	}
}

func TestDeadOriginPausesAdmissionsAfterOneRequest(t *testing.T) {
	hangs := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, dies := range map[string]func(*gatetest.Fixture){
		"it is gone":           func(f *gatetest.Fixture) { f.Site.Close() },
		"it answers nobody":    func(f *gatetest.Fixture) { f.Site.Will(hangs) },
		"it breaks off always": func(f *gatetest.Fixture) { quiet(f.Site).Will(breakOff) },
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 30 }), func(c *proxy.Config, _ *proxy.Options) {
				c.OriginTimeout = 50 * time.Millisecond
			})
			dies(f)
			assert.GreaterOrEqual(t, f.Visitor().Get("/").Status, http.StatusBadGateway)
			originFails(f, 1)
			assert.Equal(t, http.StatusOK, f.Visitor().Get("/").Status, "queued")
		})
	}
}

func TestOriginThatIsGoneIsABadGateway(t *testing.T) {
	f := gatetest.Start(t)
	f.Site.Close()
	v := f.Visitor()
	assert.Equal(t, http.StatusBadGateway, v.Get("/").Status)
	assert.Equal(t, http.StatusBadGateway, v.Send(http.MethodHead, "/", nil).Status)
	assert.Equal(t, http.StatusBadGateway, v.Send(http.MethodPost, "/", strings.NewReader("a=1")).Status)
}

func TestRequestsOfWhoLeavesCountAgainstNobody(t *testing.T) {
	f := gatetest.Start(t)
	arrived := make(chan struct{}, 5)
	f.Site.Will(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	for range 5 {
		conn := dial(f)
		_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n")
		require.NoError(t, err)
		f.Patch(`{"total_active_users": 100}`)
		<-arrived
		conn.Close()
	}
	assert.Contains(t, f.API(http.MethodGet, "/metrics", "", nil).Body, `fairdoor_origin_failing{origin="`+f.Site.URL+`"} 0`)
}

func TestWhoIsCutOffAsTheyAreLetInFindsTheirSlotAgain(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	waiting := f.Visitor()
	require.False(t, waiting.Get("/").In())
	f.Patch(`{"total_active_users": 3}`)
	f.Pass(25 * time.Second)
	arrived := make(chan struct{}, 1)
	f.Site.Will(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	conn := dial(f)
	_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: shop.test\r\nCookie: fairdoor_shop="+waiting.Cookies["fairdoor_shop"]+"\r\n\r\n")
	require.NoError(t, err)
	<-arrived
	conn.Close()
	f.Site.Will(nil)
	for range 20 {
		assert.True(t, waiting.Twin().Get("/").In(), "with the ticket of who waits, as the other never arrived")
	}
	f.Pass(2 * time.Second)
	assert.Equal(t, 2, f.Status("shop").Active)
}

func TestRoomsOfOneOriginPauseTogether(t *testing.T) {
	healthy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") }))
	t.Cleanup(healthy.Close)
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) {
		c.Rooms[0].Settings.TotalActiveUsers = 10
		for _, name := range []string{"a", "b"} {
			r := c.Rooms[0]
			r.Name, r.Routes = name, append(r.Routes[:0:0], r.Routes...)
			r.Routes[0].Path = "/" + name
			if name == "b" {
				address := *r.Origin
				address.Host = strings.TrimPrefix(healthy.URL, "http://")
				r.Origin = &address
			}
			c.Rooms = append(c.Rooms, r)
		}
	})
	quiet(f.Site).Will(breakOff)
	f.Visitor().Get("/")
	originFails(f, 1)
	assert.Equal(t, http.StatusOK, f.Visitor().Get("/a").Status, "queued")
	assert.False(t, f.Visitor().Get("/a").In())
	assert.True(t, f.Visitor().Get("/b").In(), "another origin's room goes on")
}

func TestGateNeedsNoOriginToStart(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) {
		gone := *r.Origin
		gone.Host = porttest.Address(t)
		r.Origin = &gone
	}))
	assert.Equal(t, http.StatusBadGateway, f.Visitor().Get("/").Status)
}
