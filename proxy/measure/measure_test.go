package measure_test

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

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
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

func pressedOf(f *gatetest.Fixture) (p pressed) {
	f.T.Helper()
	ask(f, "/api/v1/rooms/shop/status", http.StatusOK, &p)
	return p
}

// ask asks the admin API.
func ask(f *gatetest.Fixture, path string, status int, into any) {
	f.T.Helper()
	resp, err := http.Get(f.AdminServer.URL + path)
	require.NoError(f.T, err)
	defer resp.Body.Close()
	require.Equal(f.T, status, resp.StatusCode)
	require.NoError(f.T, json.NewDecoder(resp.Body).Decode(into))
}

func exposition(f *gatetest.Fixture) string {
	f.T.Helper()
	resp, err := http.Get(f.AdminServer.URL + "/metrics")
	require.NoError(f.T, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(f.T, err)
	return string(text)
}

// asks has so many accepted visitors send a request, for which the origin takes a while.
func asks(f *gatetest.Fixture, n int, path string, takes time.Duration, status int, change func(*http.Request)) {
	f.T.Helper()
	f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			f.Clock.Add(takes)
			w.WriteHeader(status)
		}
	})
	var in []*http.Response
	for range n {
		resp, err := http.Get(f.Public.URL + "/in")
		require.NoError(f.T, err)
		resp.Body.Close()
		in = append(in, resp)
	}
	for _, first := range in {
		r, err := http.NewRequest(http.MethodGet, f.Public.URL+path, http.NoBody)
		require.NoError(f.T, err)
		for _, c := range first.Cookies() {
			r.AddCookie(c)
		}
		if change != nil {
			change(r)
		}
		resp, err := http.DefaultClient.Do(r)
		require.NoError(f.T, err)
		resp.Body.Close()
	}
	f.Clock.Add(pressure.Every)
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
			f := gatetest.Start(t, gatetest.Settings(controlled))
			pressedOf(f)
			asks(f, 20, "/page", c.takes, c.status, c.change)
			p := pressedOf(f)
			assert.Equal(t, c.measured, p.Origin.Requests)
			assert.Equal(t, c.slowed, p.Origin.OverItsBounds)
			if !c.slowed {
				assert.InDelta(t, 1, p.AdmissionFactor, 0)
				assert.Empty(t, p.Explanation)
				return
			}
			assert.InDelta(t, .5, p.AdmissionFactor, 0)
			assert.Equal(t, "Admissions are slowed to 500 of 1000 a minute, because the origin is slow or fails. They recover by themselves.", p.Explanation)
			assert.Contains(t, exposition(f), `fairdoor_admission_factor{room="shop"} 0.5`)
			assert.Contains(t, exposition(f), `fairdoor_origin_latency_seconds{room="shop"} `)
		})
	}
}

// Some visitors ask again and again for what is slow, or fails, while 20 others find the site well.
// Then 50 more come.
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
			f := gatetest.Start(t, gatetest.Settings(controlled), gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers, s.SessionDuration = 500, time.Hour }))
			f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/bad/") {
					f.Clock.Add(c.takes)
					w.WriteHeader(c.status)
				}
			})
			var few, others []*gatetest.Visitor
			for range c.few {
				few = append(few, f.Visitor())
			}
			for range 20 {
				others = append(others, f.Visitor())
			}
			for range 8 {
				for _, v := range others {
					v.Get("/")
				}
				for _, v := range few {
					v.Get("/")
					for path := range 12 {
						v.Get(fmt.Sprint("/bad/", path), func(r *http.Request) {
							if c.change != nil {
								c.change(r)
							}
						})
					}
				}
				f.Clock.Add(pressure.Every)
				pressedOf(f)
			}
			f.Site.Requests()
			for range 50 {
				f.Visitor().Get("/")
			}
			assert.Len(t, f.Site.Requests(), 50, "who reach the site")
		})
	}
}

func TestWithoutAdmissionControlNothingIsMeasured(t *testing.T) {
	f := gatetest.Start(t)
	asks(f, 20, "/page", time.Minute, 500, nil)
	p := pressedOf(f)
	assert.Nil(t, p.Origin)
	assert.InDelta(t, 1, p.AdmissionFactor, 0)
	assert.NotContains(t, exposition(f), "fairdoor_origin_latency_seconds{")
}

func TestStatusSaysThatTheRoomIsOpenToAll(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.QueueWhen, s.QueueUntil = 20, 10 }))
	p := pressedOf(f)
	assert.Equal(t, "Counting, because many come or people wait. The room is open to everybody again once nobody has waited, and fewer than 10 newcomers a minute have come, for 5m0s.", p.Explanation)
	f.Clock.Add(queue.CalmTime)
	p = pressedOf(f)
	assert.True(t, p.OpenToAll)
	assert.Equal(t, "Open to everybody, and nobody is counted: fewer than 20 newcomers a minute come. From then on the room counts and queues.", p.Explanation)
	assert.Equal(t, "none", p.Reason)
	assert.Equal(t, p.Explanation, p.ReasonText)
	assert.Contains(t, exposition(f), `fairdoor_open_to_all{room="shop"} 1`)
	for range 20 {
		resp, err := http.Get(f.Public.URL)
		require.NoError(t, err)
		resp.Body.Close()
	}
	assert.False(t, pressedOf(f).OpenToAll)
}

// A site answers in 40 ms as long as no more than 24 people use it. From then on each further one
// has all wait for 20 ms more.
func TestShadowModeProposesTheKneeOfASiteThatGetsSlow(t *testing.T) {
	t.Parallel()
	const knee = 24
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) {
		s.TotalActiveUsers, s.Method, s.Shadow, s.SessionDuration = 1, queue.Passthrough, true, time.Hour
	}))
	var crowd []*gatetest.Visitor
	f.Site.Will(func(w http.ResponseWriter, _ *http.Request) {
		f.Clock.Add(time.Duration(40+20*max(0, len(crowd)-knee)) * time.Millisecond)
		w.WriteHeader(http.StatusOK)
	})
	for len(crowd) < 2*knee {
		crowd = append(crowd, f.Visitor())
		crowd[len(crowd)-1].Get("/")
		f.Pass(0)
		for i := range 20 {
			crowd[i%len(crowd)].Get("/")
		}
		f.Pass(pressure.Every)
	}
	var p struct {
		KneeSeen         bool
		KneeActiveUsers  int
		PeakActiveUsers  int
		TotalActiveUsers int `json:"total_active_users"`
		Explanation      string
	}
	ask(f, "/api/v1/rooms/shop/proposal", http.StatusOK, &p)
	t.Logf("%+v", p)
	assert.True(t, p.KneeSeen)
	assert.Equal(t, 2*knee, p.PeakActiveUsers)
	assert.InDelta(t, knee, p.TotalActiveUsers, 1)
	assert.Contains(t, p.Explanation, "the origin gets slower")
}

func TestProposalNeedsShadowMode(t *testing.T) {
	f := gatetest.Start(t)
	var problem struct{ Detail string }
	ask(f, "/api/v1/rooms/shop/proposal", http.StatusNotFound, &problem)
	assert.Contains(t, problem.Detail, "shadow")
}

func TestNothingIsProposedBeforeAnybodyHasCome(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Method, s.Shadow = queue.Passthrough, true }))
	f.Pass(time.Minute)
	var problem struct{ Detail string }
	ask(f, "/api/v1/rooms/shop/proposal", http.StatusNotFound, &problem)
	assert.Contains(t, problem.Detail, "Nobody has come")
	f.Visitor().Get("/")
	f.Pass(time.Second)
	ask(f, "/api/v1/rooms/shop/proposal", http.StatusOK, &struct{}{})
}
