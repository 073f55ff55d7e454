package proxy_test

import (
	"encoding/json"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/admintest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

const (
	patience = time.Minute      // what a test waits for at most
	interval = 20 * time.Second // the rooms' refresh interval
)

// clock is the time that a gate goes by.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// site is an origin that keeps what it was asked, and answers "in".
type site struct {
	*httptest.Server
	mu     sync.Mutex
	seen   []*http.Request
	answer http.HandlerFunc // instead of "in"
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r)
		answer := s.answer
		s.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
		_, _ = io.WriteString(w, "in")
	}))
	t.Cleanup(s.Close)
	return s
}

// will has the site answer with h from now on.
func (s *site) will(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = h
}

// requests returns what the site was asked since the last call.
func (s *site) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

func (s *site) url(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	return u
}

// fixture is a gate with its two listeners, in front of a site.
type fixture struct {
	*proxy.Gate
	t      testing.TB
	config proxy.Config
	clock  *clock
	site   *site
	public *httptest.Server
	admin  *httptest.Server
}

// start starts a gate of one room called shop, on every host and path, with one
// slot. Its rooms sync when a test says so.
func start(t testing.TB, changes ...func(*proxy.Config, *proxy.Options)) *fixture {
	t.Helper()
	s := newSite(t)
	f := &fixture{t: t, site: s, clock: &clock{now: time.Date(2021, 5, 27, 15, 54, 10, 0, time.UTC)}}
	f.config = proxy.Config{Keys: []cookie.Key{newKey(t)}, Rooms: []proxy.RoomConfig{f.room("shop", "/")}}
	o := proxy.Options{Store: memstore.New(), Clock: f.clock.Now, SyncInterval: time.Hour}
	for _, change := range changes {
		change(&f.config, &o)
	}
	var err error
	f.Gate, err = proxy.New(t.Context(), f.config, o)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	f.public, f.admin = httptest.NewUnstartedServer(f.Gate), httptest.NewServer(admintest.Conform(t, f.Admin()))
	f.public.Config.DisableGeneralOptionsHandler = true
	f.public.Start()
	f.public.Client().Transport.(*http.Transport).DisableCompression = true // it costs more than all else; tests that are about it ask for it
	t.Cleanup(f.public.Close)
	t.Cleanup(f.admin.Close)
	return f
}

func (f *fixture) room(name, path string) proxy.RoomConfig {
	return proxy.RoomConfig{
		Name: name, Routes: []route.Route{{Path: path}}, Origin: f.site.url(f.t), JSON: true,
		Settings: queue.Settings{
			TotalActiveUsers: 1, NewUsersPerMinute: 1000, SessionDuration: 8 * time.Minute,
			RefreshInterval: interval, RefreshJitter: .15,
		},
	}
}

// settings changes the first room's settings before the start.
func settings(change func(*queue.Settings)) func(*proxy.Config, *proxy.Options) {
	return room(func(r *proxy.RoomConfig) { change(&r.Settings) })
}

// room changes the first room before the start.
func room(change func(*proxy.RoomConfig)) func(*proxy.Config, *proxy.Options) {
	return func(c *proxy.Config, _ *proxy.Options) { change(&c.Rooms[0]) }
}

// trustingLoopback believes what the tests say in forwarding headers.
func trustingLoopback(c *proxy.Config, _ *proxy.Options) {
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// inRealTime lets a gate go by the real clock.
func inRealTime(_ *proxy.Config, o *proxy.Options) {
	o.Clock, o.SyncInterval = nil, 20*time.Millisecond
}

func newKey(t testing.TB) cookie.Key {
	t.Helper()
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	return key
}

// pass lets time pass, and the rooms sync.
func (f *fixture) pass(d time.Duration) {
	f.t.Helper()
	f.clock.add(d)
	for _, r := range f.config.Rooms {
		f.status(r.Name)
	}
}

// full fills the first room's slots and returns who has them.
func (f *fixture) full() []*visitor {
	f.t.Helper()
	var in []*visitor
	for range f.config.Rooms[0].Settings.TotalActiveUsers {
		v := f.visitor()
		require.True(f.t, v.get("/").in())
		in = append(in, v)
	}
	f.site.requests()
	f.pass(2 * time.Second)
	return in
}

// waiter fills the first room and returns somebody who waits for it.
func (f *fixture) waiter() *visitor {
	f.t.Helper()
	f.full()
	return f.waits()
}

// waits returns somebody who has joined the line.
func (f *fixture) waits() *visitor {
	f.t.Helper()
	v := f.visitor()
	require.False(f.t, v.get("/").in())
	return v
}

// visitor is someone with a cookie jar. Their requests have a browser's Accept.
type visitor struct {
	f       *fixture
	base    string // scheme and host of the gate
	host    string // "" for that of base
	cookies map[string]string
	client  *http.Client
}

func (f *fixture) visitor() *visitor {
	return &visitor{f: f, base: f.public.URL, cookies: map[string]string{}, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     f.public.Client().Transport,
		Timeout:       patience,
	}}
}

// twin is another client with the same cookies.
func (v *visitor) twin() *visitor {
	twin := *v
	twin.cookies = maps.Clone(v.cookies)
	return &twin
}

// answer is a response, read.
type answer struct {
	status int
	header http.Header
	body   string
	room   map[string]any // the JSON of a waiting room, if it is that
}

// in says whether it is what the site answers.
func (a answer) in() bool { return a.status == http.StatusOK && a.body == "in" }

// told is the value of a field of the JSON; it is as JSON has it.
func (a answer) told(name string) any { return a.room[name] }

// setCookies are the cookies of an answer by name.
func (a answer) setCookies() map[string]*http.Cookie {
	list := map[string]*http.Cookie{}
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		list[c.Name] = c
	}
	return list
}

// with sets a header.
func with(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// asJSON asks for JSON.
var asJSON = with("Accept", "application/json")

func (v *visitor) get(target string, changes ...func(*http.Request)) answer {
	v.f.t.Helper()
	return v.send(http.MethodGet, target, nil, changes...)
}

func (v *visitor) send(method, target string, body io.Reader, changes ...func(*http.Request)) answer {
	v.f.t.Helper()
	req, err := http.NewRequestWithContext(v.f.t.Context(), method, v.base+target, body)
	require.NoError(v.f.t, err)
	req.Host = v.host
	req.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	for name, value := range v.cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for _, change := range changes {
		change(req)
	}
	resp, err := v.client.Do(req)
	require.NoError(v.f.t, err)
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	require.NoError(v.f.t, err)
	a := answer{status: resp.StatusCode, header: resp.Header, body: string(read)}
	if resp.Header.Get("Content-Type") == "application/json" {
		var whole struct {
			Room map[string]any `json:"cfWaitingRoom"`
		}
		if json.Unmarshal(read, &whole) == nil {
			a.room = whole.Room
		}
	}
	for _, c := range resp.Cookies() {
		if c.MaxAge < 0 {
			delete(v.cookies, c.Name)
		} else {
			v.cookies[c.Name] = c.Value
		}
	}
	return a
}

// api asks the admin API; its answer is decoded into a value where one is given.
func (f *fixture) api(method, path, body string, into any, changes ...func(*http.Request)) answer {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.admin.URL+path, strings.NewReader(body))
	require.NoError(f.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, change := range changes {
		change(req)
	}
	resp, err := f.admin.Client().Do(req)
	require.NoError(f.t, err)
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	require.NoError(f.t, err)
	if into != nil {
		require.NoError(f.t, json.Unmarshal(read, into), "%s %s: %d %s", method, path, resp.StatusCode, read)
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: string(read)}
}

// standing is what the status API tells of a room.
type standing struct {
	Status    string `json:"status"`
	Reason    string `json:"reason"`
	EventID   string `json:"event_id"`
	Queued    int    `json:"estimated_queued_users"`
	Active    int    `json:"estimated_total_active_users"`
	Minutes   int    `json:"max_estimated_time_minutes"`
	InRoom    int    `json:"activeUsers"`
	OpenSlots int    `json:"openSlots"`
	Buckets   []struct {
		Key  string `json:"key"`
		Data struct {
			Waiting  int `json:"waiting"`
			Reserved int `json:"reservedSlots"`
		} `json:"data"`
	} `json:"buckets"`
}

func (f *fixture) status(name string) (s standing) {
	f.t.Helper()
	f.api(http.MethodGet, "/api/v1/rooms/"+name+"/status", "", &s)
	return s
}

// patch changes the room called shop while the gate runs.
func (f *fixture) patch(body string) answer {
	f.t.Helper()
	return f.api(http.MethodPatch, "/api/v1/rooms/shop", body, nil)
}

// silence is a log that nobody reads.
var silence = log.New(io.Discard, "", 0)
