package proxy_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// breakOff ends the connection in the place of an answer.
func breakOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// quiet keeps the site's panics out of the tests' output.
func (s *site) quiet() *site {
	s.Config.ErrorLog = silence
	return s
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
			f := start(t, func(c *proxy.Config, _ *proxy.Options) { c.OriginTimeout = 100 * time.Millisecond })
			f.site.quiet().will(c.fail)
			v := f.visitor()
			a := v.get("/", with("Accept-Language", "de"))
			assert.Equal(t, c.status, a.status)
			assert.Equal(t, "text/html; charset=utf-8", a.header.Get("Content-Type"))
			assert.Contains(t, a.header.Get("Cache-Control"), "no-store")
			assert.Contains(t, a.body, `lang="de-DE"`)
			assert.NotEmpty(t, v.cookies, "the slot is theirs")
			assert.Contains(t, a.body, "Ihr Einlass bleibt bestehen")
			again, err := strconv.Atoi(a.header.Get("Retry-After"))
			require.NoError(t, err)
			assert.True(t, 5 <= again && again < 10, again)
			a = v.get("/a?b=c")
			assert.Equal(t, a.header.Get("Retry-After")+"; url=/a?b=c", a.header.Get("Refresh"), "also where the ticket has not changed")
			assert.Contains(t, a.body, "You keep your slot")
			a = v.send(http.MethodPost, "/", nil)
			assert.Empty(t, a.header.Get("Refresh"), "what was sent would be lost")
			a = v.get("/", asJSON)
			assert.Contains(t, a.body, "You keep your slot")
			assert.Equal(t, c.status, a.status)
			assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
			assert.NotContains(t, a.body, "127.0.0.1", "what went wrong is not told to strangers")

			f.site.will(nil)
			f.pass(time.Second)
			assert.Equal(t, 1, f.status("shop").Active)
			assert.True(t, v.get("/").in())
			assert.False(t, f.visitor().get("/").in())
		})
	}
}

func TestOnlyWhoIsInIsToldThatTheyKeepASlot(t *testing.T) {
	f := start(t, room(func(r *proxy.RoomConfig) {
		r.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{PathPrefix: "/free"}}}
	}))
	f.site.quiet().will(breakOff)
	a := f.visitor().get("/free")
	assert.Equal(t, http.StatusBadGateway, a.status)
	assert.NotContains(t, a.body, "slot")
	assert.Empty(t, a.header.Get("Refresh"))
}

func TestOriginsOwnErrorsPassUntouched(t *testing.T) {
	f := start(t)
	f.site.will(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "maintenance")
	})
	v := f.visitor()
	for range 5 {
		a := v.get("/")
		assert.Equal(t, http.StatusServiceUnavailable, a.status)
		assert.Equal(t, "maintenance", a.body)
	}
	assert.Contains(t, f.api(http.MethodGet, "/metrics", "", nil).body, `fairdoor_origin_failing{origin="`+f.site.URL+`"} 0`)
}

func TestAdmissionsPauseWhileTheOriginFailsAndResume(t *testing.T) {
	t.Parallel()
	f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 10 }))
	f.site.quiet().will(breakOff)
	in := f.visitor()
	assert.Equal(t, http.StatusBadGateway, in.get("/").status)
	f.originFails(1)
	f.pass(time.Second)
	waiting := f.visitor()
	a := waiting.get("/", asJSON)
	assert.Equal(t, true, a.told("inWaitingRoom"), "nobody new is let in")
	assert.Equal(t, false, waiting.get("/", asJSON).told("waitTimeKnown"))
	assert.Equal(t, true, waiting.get("/", asJSON).told("admissionsPaused"))
	assert.Contains(t, waiting.get("/").body, `<p id="wait">Admissions are paused at the moment.</p>`)
	assert.Contains(t, f.api(http.MethodGet, "/metrics", "", nil).body, `fairdoor_admissions_paused{room="shop"} 1`)
	assert.Equal(t, http.StatusBadGateway, in.get("/").status, "who is in gets the origin's fault")
	assert.Equal(t, http.StatusServiceUnavailable, f.visitor().get("/logo.png", with("Sec-Fetch-Dest", "image")).status)
	f.pass(time.Second)
	assert.Equal(t, "queueing", f.status("shop").Status)
	assert.Equal(t, 1, f.status("shop").Active)

	require.NoError(t, f.Configure(t.Context(), f.config))
	assert.False(t, f.visitor().get("/").in(), "a new configuration does not change what the origin is")

	f.site.will(nil)
	f.originFails(0) // it answers the gate's probes
	f.pass(25 * time.Second)
	assert.True(t, waiting.get("/").in())
	assert.True(t, in.get("/").in())
	assert.Contains(t, f.api(http.MethodGet, "/metrics", "", nil).body, `fairdoor_admissions_paused{room="shop"} 0`)
	assert.NotContains(t, f.api(http.MethodGet, "/api/v1/rooms/shop/status", "", nil).body, `"admissionsPaused":true`)
}

// originFails waits until the gate says that its origin fails, 1, or does not, 0.
func (f *fixture) originFails(want int) {
	f.t.Helper()
	line := fmt.Sprintf("fairdoor_origin_failing{origin=%q} %d", f.site.URL, want)
	require.Eventually(f.t, func() bool { return strings.Contains(f.api(http.MethodGet, "/metrics", "", nil).body, line) },
		patience, 5*time.Millisecond)
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
	for name, attack := range map[string]func(v *visitor){
		"preflights that ask for an upgrade": func(v *visitor) { v.send(http.MethodOptions, "/drop", nil, preflight, upgrade) },
		"preflights":                         func(v *visitor) { v.send(http.MethodOptions, "/drop", nil, preflight) },
		"requests that a rule exempts":       func(v *visitor) { v.get("/open/drop") },
		"parts of pages":                     func(v *visitor) { v.get("/drop", with("Sec-Fetch-Dest", "image")) },
		"an admitted visitor's pages":        func(v *visitor) { v.get("/drop") },
		"an admitted visitor's websockets":   func(v *visitor) { v.get("/drop", upgrade) },
		"an admitted visitor's uploads":      func(v *visitor) { v.send(http.MethodPost, "/drop", strings.NewReader(strings.Repeat("x", 1<<20))) },
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, room(func(r *proxy.RoomConfig) {
				r.Settings.TotalActiveUsers = 30
				r.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Match: route.Conditions{PathPrefix: "/open/"}}}
			}))
			f.site.quiet().will(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/drop") {
					panic(http.ErrAbortHandler)
				}
				_, _ = io.WriteString(w, "in")
			})
			attacker, in := f.visitor(), 0
			if strings.HasPrefix(name, "an admitted") {
				attacker.get("/")
			}
			for range 20 {
				for range 5 {
					attack(attacker)
				}
				if f.visitor().get("/").in() {
					in++
				}
			}
			assert.Equal(t, 20, in, "the room is free")
		})
	}
}

func TestOriginThatDropsWhatItDoesNotKnowIsAlive(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(v *visitor){
		"a page that it drops": func(v *visitor) { v.get("/drop") },
		"a stranger's preflight for any host": func(v *visitor) {
			v.send(http.MethodOptions, "/", nil, func(r *http.Request) {
				r.Host = "nobody.test"
				r.Header.Set("Origin", "https://a.test")
				r.Header.Set("Access-Control-Request-Method", "GET")
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 30 }))
			f.site.quiet().will(func(w http.ResponseWriter, r *http.Request) {
				if r.Host != "shop.test" || r.Method == http.MethodHead || r.URL.Path == "/drop" {
					panic(http.ErrAbortHandler)
				}
				_, _ = io.WriteString(w, "in")
			})
			shop := func(r *http.Request) { r.Host = "shop.test" }
			first(f.visitor())
			f.originFails(1)
			v := f.visitor()
			assert.False(t, v.get("/", shop).in())
			f.originFails(0)
			f.pass(25 * time.Second)
			assert.True(t, v.get("/", shop).in(), "the gate has asked for the host that the visitor wants")
			for range 5 {
				first(f.visitor())
				assert.True(t, f.visitor().get("/", shop).in(), "its name is known now")
			}
		})
	}
}

func TestEarlyAnswerToABodyIsNoFailure(t *testing.T) {
	t.Parallel()
	f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 30 }))
	f.site.quiet().will(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		_, _ = io.WriteString(w, "in")
	})
	v := f.visitor()
	v.get("/")
	for range 5 {
		a := v.send(http.MethodPost, "/", io.LimitReader(rand.Reader, 1<<20))
		assert.Contains(t, []int{http.StatusRequestEntityTooLarge, http.StatusBadGateway}, a.status, "or what is left of it by the origin's closing")
		assert.True(t, f.visitor().get("/").in())
	}
}

func TestDeadOriginPausesAdmissionsAfterOneRequest(t *testing.T) {
	hangs := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, dies := range map[string]func(*fixture){
		"it is gone":           func(f *fixture) { f.site.Close() },
		"it answers nobody":    func(f *fixture) { f.site.will(hangs) },
		"it breaks off always": func(f *fixture) { f.site.quiet().will(breakOff) },
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 30 }), func(c *proxy.Config, _ *proxy.Options) {
				c.OriginTimeout = 50 * time.Millisecond
			})
			dies(f)
			assert.GreaterOrEqual(t, f.visitor().get("/").status, http.StatusBadGateway)
			f.originFails(1)
			assert.Equal(t, http.StatusOK, f.visitor().get("/").status, "queued")
		})
	}
}

func TestOriginThatIsGoneIsABadGateway(t *testing.T) {
	f := start(t)
	f.site.Close()
	v := f.visitor()
	assert.Equal(t, http.StatusBadGateway, v.get("/").status)
	assert.Equal(t, http.StatusBadGateway, v.send(http.MethodHead, "/", nil).status)
	assert.Equal(t, http.StatusBadGateway, v.send(http.MethodPost, "/", strings.NewReader("a=1")).status)
}

func TestRequestsOfWhoLeavesCountAgainstNobody(t *testing.T) {
	f := start(t)
	arrived := make(chan struct{}, 5)
	f.site.will(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	for range 5 {
		conn := f.dial()
		_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n")
		require.NoError(t, err)
		f.patch(`{"total_active_users": 100}`)
		<-arrived
		conn.Close()
	}
	assert.Contains(t, f.api(http.MethodGet, "/metrics", "", nil).body, `fairdoor_origin_failing{origin="`+f.site.URL+`"} 0`)
}

func TestWhoIsCutOffAsTheyAreLetInFindsTheirSlotAgain(t *testing.T) {
	f := start(t)
	f.full()
	waiting := f.visitor()
	require.False(t, waiting.get("/").in())
	f.patch(`{"total_active_users": 3}`)
	f.pass(25 * time.Second)
	arrived := make(chan struct{}, 1)
	f.site.will(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	conn := f.dial()
	_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: shop.test\r\nCookie: fairdoor_shop="+waiting.cookies["fairdoor_shop"]+"\r\n\r\n")
	require.NoError(t, err)
	<-arrived
	conn.Close()
	f.site.will(nil)
	for range 20 {
		assert.True(t, waiting.twin().get("/").in(), "with the ticket of who waits, as the other never arrived")
	}
	f.pass(2 * time.Second)
	assert.Equal(t, 2, f.status("shop").Active)
}

func TestRoomsOfOneOriginPauseTogether(t *testing.T) {
	healthy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") }))
	t.Cleanup(healthy.Close)
	f := start(t, func(c *proxy.Config, _ *proxy.Options) {
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
	f.site.quiet().will(breakOff)
	f.visitor().get("/")
	f.originFails(1)
	assert.Equal(t, http.StatusOK, f.visitor().get("/a").status, "queued")
	assert.False(t, f.visitor().get("/a").in())
	assert.True(t, f.visitor().get("/b").in(), "another origin's room goes on")
}

func TestGateNeedsNoOriginToStart(t *testing.T) {
	f := start(t, room(func(r *proxy.RoomConfig) {
		gone := *r.Origin
		gone.Host = porttest.Address(t)
		r.Origin = &gone
	}))
	assert.Equal(t, http.StatusBadGateway, f.visitor().get("/").status)
}
