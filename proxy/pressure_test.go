package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
)

// pressed is what the API says of the origin of the room shop.
type pressed struct {
	AdmissionFactor float64
	OpenToAll       bool
	Explanation     string
	Reason          string
	ReasonText      string
	Origin          *struct {
		Requests                             int
		LatencyP50Seconds, LatencyP95Seconds float64
		Errors                               float64
		OverItsBounds                        bool
	}
}

func (f *fixture) pressed() (p pressed) {
	f.t.Helper()
	f.ask("/api/v1/rooms/shop/status", http.StatusOK, &p)
	return p
}

// ask asks the admin API.
func (f *fixture) ask(path string, status int, into any) {
	f.t.Helper()
	resp, err := http.Get(f.admin.URL + path)
	require.NoError(f.t, err)
	defer resp.Body.Close()
	require.Equal(f.t, status, resp.StatusCode)
	require.NoError(f.t, json.NewDecoder(resp.Body).Decode(into))
}

func (f *fixture) exposition() string {
	f.t.Helper()
	resp, err := http.Get(f.admin.URL + "/metrics")
	require.NoError(f.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(f.t, err)
	return string(text)
}

// asks has so many accepted visitors send a request, for which the origin takes a while.
func (f *fixture) asks(n int, path string, takes time.Duration, status int, change func(*http.Request)) {
	f.t.Helper()
	f.site.will(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			f.clock.add(takes)
			w.WriteHeader(status)
		}
	})
	var in []*http.Response
	for range n {
		resp, err := http.Get(f.public.URL + "/in")
		require.NoError(f.t, err)
		resp.Body.Close()
		in = append(in, resp)
	}
	for _, first := range in {
		r, err := http.NewRequest(http.MethodGet, f.public.URL+path, http.NoBody)
		require.NoError(f.t, err)
		for _, c := range first.Cookies() {
			r.AddCookie(c)
		}
		if change != nil {
			change(r)
		}
		resp, err := http.DefaultClient.Do(r)
		require.NoError(f.t, err)
		resp.Body.Close()
	}
	f.clock.add(pressure.Every)
}

func controlled(s *queue.Settings) {
	s.TotalActiveUsers, s.AdmissionControlLatency, s.AdmissionControlErrors = 100, time.Second, .1
}

func TestRequestsOfThoseWhoAreInAreMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		takes    time.Duration
		status   int
		change   func(*http.Request)
		measured int
		slowed   bool
	}{
		"slow":                 {takes: 2 * time.Second, status: 200, measured: 40, slowed: true},
		"fast":                 {takes: 2 * time.Millisecond, status: 200, measured: 40},
		"not found":            {status: 404, measured: 40},
		"failing":              {status: 500, measured: 40, slowed: true},
		"an event stream":      {takes: 2 * time.Second, status: 200, change: func(r *http.Request) { r.Header.Set("Accept", "text/event-stream") }, measured: 20},
		"an upgrade":           {takes: 2 * time.Second, status: 200, change: func(r *http.Request) { r.Header.Set("Upgrade", "websocket") }, measured: 20},
		"without being let in": {takes: 2 * time.Second, status: 200, change: func(r *http.Request) { r.Header.Del("Cookie"); r.Header.Set("Sec-Fetch-Dest", "image") }, measured: 20},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, settings(controlled))
			f.pressed()
			f.asks(20, "/page", c.takes, c.status, c.change)
			p := f.pressed()
			assert.Equal(t, c.measured, p.Origin.Requests)
			assert.Equal(t, c.slowed, p.Origin.OverItsBounds)
			if !c.slowed {
				assert.InDelta(t, 1, p.AdmissionFactor, 0)
				assert.Empty(t, p.Explanation)
				return
			}
			assert.InDelta(t, .5, p.AdmissionFactor, 0)
			assert.Equal(t, "Admissions are slowed to 500 of 1000 a minute, because the origin is slow or fails. They recover by themselves.", p.Explanation)
			assert.Contains(t, f.exposition(), `fairdoor_admission_factor{room="shop"} 0.5`)
			assert.Contains(t, f.exposition(), `fairdoor_origin_latency_seconds{room="shop"} `)
		})
	}
}

// Some visitors ask again and again for what is slow, or fails, while 20 others find the site well. Then 50 more come.
func TestAFewVisitorsKeepNobodyOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes  time.Duration
		status int
		few    int
		change func(*http.Request)
	}{
		"one, slow":               {takes: 2 * time.Second, status: 200, few: 1},
		"one, failing":            {status: 500, few: 1},
		"four, slow":              {takes: 2 * time.Second, status: 200, few: 4},
		"four, failing":           {status: 500, few: 4},
		"without cookies":         {status: 500, few: 1, change: func(r *http.Request) { r.Header.Del("Cookie") }},
		"without cookies, slowly": {takes: 2 * time.Second, status: 200, few: 1, change: func(r *http.Request) { r.Header.Del("Cookie") }},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, settings(controlled), settings(func(s *queue.Settings) { s.TotalActiveUsers, s.SessionDuration = 500, time.Hour }))
			f.site.will(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/bad/") {
					f.clock.add(c.takes)
					w.WriteHeader(c.status)
				}
			})
			var few, others []*visitor
			for range c.few {
				few = append(few, f.visitor())
			}
			for range 20 {
				others = append(others, f.visitor())
			}
			for range 8 {
				for _, v := range others {
					v.get("/")
				}
				for _, v := range few {
					v.get("/")
					for path := range 12 {
						v.get(fmt.Sprint("/bad/", path), func(r *http.Request) {
							if c.change != nil {
								c.change(r)
							}
						})
					}
				}
				f.clock.add(pressure.Every)
				f.pressed()
			}
			f.site.requests()
			for range 50 {
				f.visitor().get("/")
			}
			assert.Len(t, f.site.requests(), 50, "who reach the site")
		})
	}
}

func TestWithoutAdmissionControlNothingIsMeasured(t *testing.T) {
	f := start(t)
	f.asks(20, "/page", time.Minute, 500, nil)
	p := f.pressed()
	assert.Nil(t, p.Origin)
	assert.InDelta(t, 1, p.AdmissionFactor, 0)
	assert.NotContains(t, f.exposition(), "fairdoor_origin_latency_seconds{")
}

func TestStatusSaysThatTheRoomIsOpenToAll(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.QueueWhen, s.QueueUntil = 20, 10 }))
	p := f.pressed()
	assert.Equal(t, "Counting, because many come or people wait. The room is open to everybody again once nobody has waited, and fewer than 10 newcomers a minute have come, for 5m0s.", p.Explanation)
	f.clock.add(queue.CalmTime)
	p = f.pressed()
	assert.True(t, p.OpenToAll)
	assert.Equal(t, "Open to everybody, and nobody is counted: fewer than 20 newcomers a minute come. From then on the room counts and queues.", p.Explanation)
	assert.Equal(t, "none", p.Reason)
	assert.Equal(t, p.Explanation, p.ReasonText)
	assert.Contains(t, f.exposition(), `fairdoor_open_to_all{room="shop"} 1`)
	for range 20 {
		resp, err := http.Get(f.public.URL)
		require.NoError(t, err)
		resp.Body.Close()
	}
	assert.False(t, f.pressed().OpenToAll)
}

// A site answers in 40 ms as long as no more than 24 people use it. From then on each further one has all wait for 20 ms more.
func TestShadowModeProposesTheKneeOfASiteThatGetsSlow(t *testing.T) {
	t.Parallel()
	const knee = 24
	f := start(t, settings(func(s *queue.Settings) {
		s.TotalActiveUsers, s.Method, s.Shadow, s.SessionDuration = 1, queue.Passthrough, true, time.Hour
	}))
	var crowd []*visitor
	f.site.will(func(w http.ResponseWriter, _ *http.Request) {
		f.clock.add(time.Duration(40+20*max(0, len(crowd)-knee)) * time.Millisecond)
		w.WriteHeader(http.StatusOK)
	})
	for len(crowd) < 2*knee {
		crowd = append(crowd, f.visitor())
		crowd[len(crowd)-1].get("/")
		f.pass(0)
		for i := range 20 {
			crowd[i%len(crowd)].get("/")
		}
		f.pass(pressure.Every)
	}
	var p struct {
		KneeSeen         bool
		KneeActiveUsers  int
		PeakActiveUsers  int
		TotalActiveUsers int `json:"total_active_users"`
		Explanation      string
	}
	f.ask("/api/v1/rooms/shop/proposal", http.StatusOK, &p)
	t.Logf("%+v", p)
	assert.True(t, p.KneeSeen)
	assert.Equal(t, 2*knee, p.PeakActiveUsers)
	assert.InDelta(t, knee, p.TotalActiveUsers, 1)
	assert.Contains(t, p.Explanation, "the origin gets slower")
}

func TestProposalNeedsShadowMode(t *testing.T) {
	f := start(t)
	var problem struct{ Detail string }
	f.ask("/api/v1/rooms/shop/proposal", http.StatusNotFound, &problem)
	assert.Contains(t, problem.Detail, "shadow")
}

func TestNothingIsProposedBeforeAnybodyHasCome(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.Method, s.Shadow = queue.Passthrough, true }))
	f.pass(time.Minute)
	var problem struct{ Detail string }
	f.ask("/api/v1/rooms/shop/proposal", http.StatusNotFound, &problem)
	assert.Contains(t, problem.Detail, "Nobody has come")
	f.visitor().get("/")
	f.pass(time.Second)
	f.ask("/api/v1/rooms/shop/proposal", http.StatusOK, &struct{}{})
}
