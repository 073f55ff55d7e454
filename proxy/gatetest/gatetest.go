// Package gatetest runs gates for tests, with a site behind them and visitors in front.
package gatetest

import (
	"context"
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
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// How long things take.
const (
	Patience = time.Minute      // what a test waits for at most
	Interval = 20 * time.Second // the rooms' refresh interval
)

// Clock is the time that a gate goes by.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add lets time pass.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Site is an origin that keeps what it was asked, and answers "in".
type Site struct {
	*httptest.Server
	mu     sync.Mutex
	seen   []*http.Request
	answer http.HandlerFunc // instead of "in"
}

// NewSite starts a site, which ends with the test.
func NewSite(t testing.TB) *Site {
	t.Helper()
	s := &Site{}
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

// Will has the site answer with h from now on.
func (s *Site) Will(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = h
}

// Requests returns what the site was asked since the last call.
func (s *Site) Requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

// Address is where the site is.
func (s *Site) Address(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	return u
}

// Fixture is a gate with its two listeners, in front of a site.
type Fixture struct {
	*proxy.Gate
	T           testing.TB
	Config      proxy.Config
	Clock       *Clock
	Site        *Site
	Public      *httptest.Server
	AdminServer *httptest.Server
}

// Start starts a gate of one room called shop, on every host and path, with one
// slot. Its rooms sync when a test says so.
func Start(t testing.TB, changes ...func(*proxy.Config, *proxy.Options)) *Fixture {
	t.Helper()
	s := NewSite(t)
	f := &Fixture{T: t, Site: s, Clock: &Clock{now: time.Date(2021, 5, 27, 15, 54, 10, 0, time.UTC)}}
	f.Config = proxy.Config{Keys: []cookie.Key{NewKey(t)}, Rooms: []proxy.RoomConfig{f.Room("shop", "/")}}
	o := proxy.Options{Store: memstore.New(), Clock: f.Clock.Now, SyncInterval: time.Hour}
	for _, change := range changes {
		change(&f.Config, &o)
	}
	var err error
	f.Gate, err = proxy.New(t.Context(), f.Config, o)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	f.Public, f.AdminServer = httptest.NewUnstartedServer(f.Gate), httptest.NewServer(admintest.Conform(t, f.Admin()))
	f.Public.Config.DisableGeneralOptionsHandler = true
	f.Public.Start()
	f.Public.Client().Transport.(*http.Transport).DisableCompression = true // it costs more than all else; tests that are about it ask for it
	t.Cleanup(f.Public.Close)
	t.Cleanup(f.AdminServer.Close)
	return f
}

// Room is a room of the site with one slot.
func (f *Fixture) Room(name, path string) proxy.RoomConfig {
	return proxy.RoomConfig{
		Name: name, Routes: []route.Route{{Path: path}}, Origin: f.Site.Address(f.T), Basics: config.Basics{JSON: true},
		Settings: queue.Settings{
			TotalActiveUsers: 1, NewUsersPerMinute: 1000, SessionDuration: 8 * time.Minute,
			RefreshInterval: Interval, RefreshJitter: .15,
		},
	}
}

// Settings changes the first room's settings before the start.
func Settings(change func(*queue.Settings)) func(*proxy.Config, *proxy.Options) {
	return Room(func(r *proxy.RoomConfig) { change(&r.Settings) })
}

// Room changes the first room before the start.
func Room(change func(*proxy.RoomConfig)) func(*proxy.Config, *proxy.Options) {
	return func(c *proxy.Config, _ *proxy.Options) { change(&c.Rooms[0]) }
}

// TrustingLoopback believes what the tests say in forwarding headers.
func TrustingLoopback(c *proxy.Config, _ *proxy.Options) {
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// InRealTime lets a gate go by the real clock.
func InRealTime(_ *proxy.Config, o *proxy.Options) {
	o.Clock, o.SyncInterval = nil, 20*time.Millisecond
}

// NewKey makes a key of cookies.
func NewKey(t testing.TB) cookie.Key {
	t.Helper()
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	return key
}

// Pass lets time pass, and the rooms sync.
func (f *Fixture) Pass(d time.Duration) {
	f.T.Helper()
	f.Clock.Add(d)
	for _, r := range f.Config.Rooms {
		f.Status(r.Name)
	}
}

// Full fills the first room's slots and returns who has them.
func (f *Fixture) Full() []*Visitor {
	f.T.Helper()
	var in []*Visitor
	for range f.Config.Rooms[0].Settings.TotalActiveUsers {
		v := f.Visitor()
		require.True(f.T, v.Get("/").In())
		in = append(in, v)
	}
	f.Site.Requests()
	f.Pass(2 * time.Second)
	return in
}

// Waiter fills the first room and returns somebody who waits for it.
func (f *Fixture) Waiter() *Visitor {
	f.T.Helper()
	f.Full()
	return f.Waits()
}

// Waits returns somebody who has joined the line.
func (f *Fixture) Waits() *Visitor {
	f.T.Helper()
	v := f.Visitor()
	require.False(f.T, v.Get("/").In())
	return v
}

// Visitor is someone with a cookie jar. Their requests have a browser's Accept.
type Visitor struct {
	Fixture *Fixture
	Base    string // scheme and host of the gate
	Host    string // "" for that of base
	Cookies map[string]string
	Client  *http.Client
}

// Visitor is somebody new.
func (f *Fixture) Visitor() *Visitor {
	return &Visitor{Fixture: f, Base: f.Public.URL, Cookies: map[string]string{}, Client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     f.Public.Client().Transport,
		Timeout:       Patience,
	}}
}

// Twin is another client with the same cookies.
func (v *Visitor) Twin() *Visitor {
	twin := *v
	twin.Cookies = maps.Clone(v.Cookies)
	return &twin
}

// Answer is a response, read.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	Room   map[string]any // the JSON of a waiting room, if it is that
}

// In says whether it is what the site answers.
func (a Answer) In() bool { return a.Status == http.StatusOK && a.Body == "in" }

// Told is the value of a field of the JSON; it is as JSON has it.
func (a Answer) Told(name string) any { return a.Room[name] }

// SetCookies are the cookies of an answer by name.
func (a Answer) SetCookies() map[string]*http.Cookie {
	list := map[string]*http.Cookie{}
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		list[c.Name] = c
	}
	return list
}

// With sets a header.
func With(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// AsJSON asks for JSON.
var AsJSON = With("Accept", "application/json")

// Get asks for a page.
func (v *Visitor) Get(target string, changes ...func(*http.Request)) Answer {
	v.Fixture.T.Helper()
	return v.Send(http.MethodGet, target, nil, changes...)
}

// request is one with the visitor's cookies, changed.
func (v *Visitor) request(ctx context.Context, method, target, accept string, body io.Reader, changes []func(*http.Request)) *http.Request {
	v.Fixture.T.Helper()
	req, err := http.NewRequestWithContext(ctx, method, v.Base+target, body)
	require.NoError(v.Fixture.T, err)
	req.Host = v.Host
	req.Header.Set("Accept", accept)
	for name, value := range v.Cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for _, change := range changes {
		change(req)
	}
	return req
}

// Send sends a request, and keeps the cookies of its answer.
func (v *Visitor) Send(method, target string, body io.Reader, changes ...func(*http.Request)) Answer {
	v.Fixture.T.Helper()
	resp, err := v.Client.Do(v.request(v.Fixture.T.Context(), method, target, "text/html,application/xhtml+xml,*/*;q=0.8", body, changes))
	require.NoError(v.Fixture.T, err)
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	require.NoError(v.Fixture.T, err)
	a := Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(read)}
	if resp.Header.Get("Content-Type") == "application/json" {
		var whole struct {
			Room map[string]any `json:"cfWaitingRoom"`
		}
		if json.Unmarshal(read, &whole) == nil {
			a.Room = whole.Room
		}
	}
	for _, c := range resp.Cookies() {
		if c.MaxAge < 0 {
			delete(v.Cookies, c.Name)
		} else {
			v.Cookies[c.Name] = c.Value
		}
	}
	return a
}

// API asks the admin API; its answer is decoded into a value where one is given.
func (f *Fixture) API(method, path, body string, into any, changes ...func(*http.Request)) Answer {
	f.T.Helper()
	req, err := http.NewRequestWithContext(f.T.Context(), method, f.AdminServer.URL+path, strings.NewReader(body))
	require.NoError(f.T, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, change := range changes {
		change(req)
	}
	resp, err := f.AdminServer.Client().Do(req)
	require.NoError(f.T, err)
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	require.NoError(f.T, err)
	if into != nil {
		require.NoError(f.T, json.Unmarshal(read, into), "%s %s: %d %s", method, path, resp.StatusCode, read)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(read)}
}

// Standing is what the status API tells of a room.
type Standing struct {
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

// Status asks how a room stands.
func (f *Fixture) Status(name string) (s Standing) {
	f.T.Helper()
	f.API(http.MethodGet, "/api/v1/rooms/"+name+"/status", "", &s)
	return s
}

// Patch changes the room called shop while the gate runs.
func (f *Fixture) Patch(body string) Answer {
	f.T.Helper()
	return f.API(http.MethodPatch, "/api/v1/rooms/shop", body, nil)
}

// Silence is a log that nobody reads.
var Silence = log.New(io.Discard, "", 0)
