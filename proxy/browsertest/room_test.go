package browsertest_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// browser is the one browser of all tests.
var browser *browsertest.Browser

// atATime is how many tests run at a time unless -parallel says so. They mostly wait.
const atATime = "2"

func TestMain(m *testing.M) {
	err := flag.Set("test.parallel", atATime)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Chromium all but stops the timers of a page that has been hidden for five
	// minutes. Here it does so after a second.
	browser, err = browsertest.Start(map[string]any{"enable-features": "IntensiveWakeUpThrottling:grace_period_seconds/1"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	browser.Stop()
	os.Exit(code)
}

// room is a gate with a room for one visitor, in front of a small site.
type room struct {
	t     *testing.T
	url   string
	admin string
	down  atomic.Bool // the gate cannot be reached
	deaf  atomic.Bool // it has no events

	broken atomic.Bool  // the site does not answer
	opened atomic.Int64 // how many streams have been asked for

	goodbyes sync.RWMutex // held while they are on their way
	left     atomic.Int64 // how many have come

	mu       sync.Mutex
	checkIns []checkIn
}

// checkIn is a request by which a page's script asked how things stand.
type checkIn struct {
	at         time.Time
	visibility string
}

// welcome is the page of the site.
const welcome = "<!doctype html><title>Shop</title><h1>Welcome</h1>"

// newRoom opens a room in which those who wait check in every so often. It has no
// events.
func newRoom(t *testing.T, interval time.Duration, changes ...func(*proxy.RoomConfig)) *room {
	t.Helper()
	r := newLiveRoom(t, queue.FIFO, interval, changes...)
	r.deaf.Store(true)
	return r
}

// newLiveRoom opens one with events.
func newLiveRoom(t *testing.T, method queue.Method, interval time.Duration, changes ...func(*proxy.RoomConfig)) *room {
	t.Helper()
	site := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, welcome) })
	return newRoomOf(t, site, func(c *proxy.RoomConfig) {
		c.Settings.RefreshInterval, c.Settings.Method = interval, method
		for _, change := range changes {
			change(c)
		}
	})
}

// newRoomOf opens one in front of another site, with a change to its configuration.
func newRoomOf(t *testing.T, of http.Handler, change func(*proxy.RoomConfig)) *room {
	t.Helper()
	r := &room{t: t}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch {
		case q.URL.Path == "/leave":
			w.Header().Set("Fairdoor-Command", "revoke")
		case r.broken.Load() && q.URL.Path != "/.fairdoor/probe":
			panic(http.ErrAbortHandler)
		}
		of.ServeHTTP(w, q)
	}))
	t.Cleanup(site.Close)
	origin, err := url.Parse(site.URL)
	require.NoError(t, err)
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	config := proxy.RoomConfig{
		Name: "shop", Routes: []route.Route{{Path: "/"}}, Origin: origin, Basics: config.Basics{JSON: true, Commands: config.Commands{config.Revoke}},
		Settings: queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 1000, SessionDuration: time.Hour, Bucket: time.Second},
	}
	change(&config)
	gate, err := proxy.New(t.Context(), proxy.Config{
		Keys: []cookie.Key{key}, Rooms: []proxy.RoomConfig{config}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}, proxy.Options{Store: memstore.New()})
	require.NoError(t, err)
	t.Cleanup(gate.Close)

	address, _ := listentest.Serve(t, listen.Config{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.down.Load() {
			panic(http.ErrAbortHandler) // as a connection that breaks
		}
		if r.deaf.Load() && q.URL.Path == "/.fairdoor/events" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if q.URL.Path == "/.fairdoor/leave" {
			r.goodbyes.RLock()
			defer r.goodbyes.RUnlock()
			r.left.Add(1)
		}
		r.note(q)
		if q.URL.Path == "/.fairdoor/events" {
			r.opened.Add(1)
		}
		gate.ServeHTTP(w, q)
	})})
	r.url = "http://" + address
	admin := httptest.NewServer(gate.Admin())
	t.Cleanup(admin.Close)
	r.admin = admin.URL
	return r
}

// streams is how many event streams the gate has open; -1 if it does not say.
func (r *room) streams() int {
	answer, err := http.Get(r.admin + "/metrics")
	if err != nil {
		return -1
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return -1
	}
	_, rest, _ := strings.Cut(string(text), "\nfairdoor_event_streams{room=\"shop\"} ")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(line)
	if err != nil {
		return -1
	}
	return n
}

// beside opens a proxy that has the gate check each request, as Caddy, Traefik and Envoy do, and
// returns its address. It shows the gate's answer, or the site to those who may pass.
func (r *room) beside() string {
	gate, err := url.Parse(r.url)
	require.NoError(r.t, err)
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(gate)
			if p.Out.Host = p.In.Host; strings.HasPrefix(p.In.URL.Path, "/.fairdoor/") {
				return
			}
			p.Out.URL.Path, p.Out.URL.RawQuery = "/.fairdoor/check", ""
			p.Out.Header.Set("X-Forwarded-Method", p.In.Method)
			p.Out.Header.Set("X-Forwarded-Host", p.In.Host)
			p.Out.Header.Set("X-Forwarded-Uri", p.In.RequestURI)
		},
		ModifyResponse: func(a *http.Response) error {
			if a.Request.URL.Path == "/.fairdoor/check" && a.StatusCode == http.StatusOK {
				a.Header.Set("Content-Type", "text/html")
				a.Header.Del("Content-Length")
				a.Body = io.NopCloser(strings.NewReader(welcome))
			}
			return nil
		},
	})
	r.t.Cleanup(front.Close)
	return front.URL
}

func (r *room) note(q *http.Request) {
	if visibility := q.Header.Get("Fairdoor-Visibility"); visibility != "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.checkIns = append(r.checkIns, checkIn{time.Now(), visibility})
	}
}

// seen returns the check-ins of scripts from a number on.
func (r *room) seen(from int) []checkIn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]checkIn(nil), r.checkIns[from:]...)
}

// count is how many check-ins of scripts there were.
func (r *room) count() int { return len(r.seen(0)) }

// until waits until something is so.
func (r *room) until(is func() bool, what string) {
	r.t.Helper()
	require.Eventually(r.t, is, 30*time.Second, 20*time.Millisecond, what)
}

// queued is how many people the gate counts in line.
func (r *room) queued() int {
	r.t.Helper()
	answer, err := http.Get(r.admin + "/api/v1/rooms/shop/status")
	require.NoError(r.t, err)
	defer answer.Body.Close()
	var status struct {
		Queued int `json:"estimated_queued_users"`
	}
	require.NoError(r.t, json.NewDecoder(answer.Body).Decode(&status))
	return status.Queued
}

// person is a visitor without a browser.
type person struct {
	room *room
	http http.Client
}

func (r *room) person() *person {
	r.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(r.t, err)
	p := &person{room: r, http: http.Client{Jar: jar, Timeout: 30 * time.Second}}
	p.ask(http.MethodGet, "/")
	return p
}

func (p *person) ask(method, path string) {
	req, err := http.NewRequestWithContext(p.room.t.Context(), method, p.room.url+path, nil)
	if !assert.NoError(p.room.t, err) {
		return
	}
	answer, err := p.http.Do(req)
	if !assert.NoError(p.room.t, err) {
		return
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	assert.NoError(p.room.t, err)
}

// leave gives back the place in the site.
func (p *person) leave() { p.ask(http.MethodPost, "/leave") }

// queue keeps the place in line until goodbye is called.
func (p *person) queue() (goodbye func()) {
	stop := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		again := time.NewTicker(500 * time.Millisecond)
		defer again.Stop()
		for {
			select {
			case <-again.C:
				p.ask(http.MethodGet, "/")
			case <-stop:
				p.ask(http.MethodPost, "/.fairdoor/leave")
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(stop)
		asking.Wait()
	})
}

// nextBucket waits until the next second, as whoever comes then is behind
// whoever has come before.
func nextBucket(t *testing.T) {
	t.Helper()
	now := time.Now()
	select {
	case <-time.After(now.Truncate(time.Second).Add(time.Second).Sub(now)):
	case <-t.Context().Done():
	}
}
