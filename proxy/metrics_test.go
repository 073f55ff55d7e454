package proxy_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

func TestMetricsTellWhatHappened(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Commands = config.Commands{config.Revoke}
		r.Settings.SessionDuration, r.Settings.RefreshJitter = 30*time.Second, 0
	}))
	f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/logout" {
			w.Header().Set("Fairdoor-Command", "revoke")
			w.WriteHeader(http.StatusFound)
		}
	})
	in := f.Visitor()
	in.Get("/")
	in.Get("/")
	f.Pass(time.Second)
	waiting, leaving := f.Visitor(), f.Visitor()
	waiting.Get("/")
	leaving.Get("/")
	leaving.Send(http.MethodPost, "/.fairdoor/leave", nil)
	f.Visitor().Send(http.MethodPost, "/", nil, byScript)
	f.Pass(time.Second)
	f.Visitor().Get("/", gatetest.With("Sec-Fetch-Dest", "image"))
	f.Visitor().Send(http.MethodOptions, "/", nil, gatetest.With("Origin", "https://a.test"), gatetest.With("Access-Control-Request-Method", "PUT"))
	before := f.Families()
	in.Get("/logout")
	f.Pass(20 * time.Second)
	require.Equal(t, http.StatusOK, waiting.Get("/").Status)
	f.Pass(time.Second)
	f.Patch(`{"queueing_method": "reject"}`)
	f.Visitor().Get("/")
	f.Patch(`{"queueing_method": null}`)

	m := f.Families()
	for outcome, want := range map[string]float64{
		"admitted": 2, "accepted": 2, "queued": 2, "rejected": 1, "busy": 1, "withheld": 1, "exempt": 1, "left": 1, "revoked": 1,
	} {
		assert.Equal(t, want, m["fairdoor_decisions_total "+outcome+" shop"].GetCounter().GetValue(), outcome)
	}
	assert.EqualValues(t, 1, before["fairdoor_queued_users shop"].GetGauge().GetValue())
	for name, want := range map[string]float64{
		"queued_users": 0, "active_users": 1, "open_slots": 0, "total_active_users_limit": 1, "new_users_per_minute_limit": 1000,
		"admitted_this_minute": 2, "store_failing": 0,
	} {
		assert.Equal(t, want, m["fairdoor_"+name+" shop"].GetGauge().GetValue(), name)
	}
	waits := m["fairdoor_wait_seconds shop"].GetHistogram()
	assert.EqualValues(t, 1, waits.GetSampleCount(), "of those admitted from the line")
	assert.InDelta(t, 21, waits.GetSampleSum(), .5)
	assert.EqualValues(t, 4, m["fairdoor_origin_response_seconds "+f.Site.URL+" 2xx"].GetHistogram().GetSampleCount())
	assert.EqualValues(t, 1, m["fairdoor_origin_response_seconds "+f.Site.URL+" 3xx"].GetHistogram().GetSampleCount())
	assert.Zero(t, m["fairdoor_origin_failing "+f.Site.URL].GetGauge().GetValue())
	assert.Contains(t, m, "go_goroutines")
}

func TestMetricsSayWhyNobodyIsLetIn(t *testing.T) {
	f := gatetest.Start(t)
	for _, c := range []struct{ patch, reason, told string }{
		{`{}`, "none", ""},
		{`{"queue_all": true}`, "queue_all", "fairdoor_queue_all shop"},
		{`{"queue_all": null, "hold_active": "now"}`, "held", "fairdoor_hold_active shop"},
		{`{"hold_active": null, "queueing_method": "reject"}`, "method_rejects", ""},
		{`{"queueing_method": null, "suspended": true}`, "none", "fairdoor_suspended shop"},
	} {
		f.Patch(c.patch)
		f.Pass(time.Second)
		m := f.Families()
		for _, why := range estimate.Reasons() {
			assert.Equal(t, why == estimate.Reason(c.reason), m["fairdoor_reason "+string(why)+" shop"].GetGauge().GetValue() == 1, "%s: %s", c.patch, why)
		}
		for _, name := range []string{"fairdoor_queue_all shop", "fairdoor_hold_active shop", "fairdoor_suspended shop", "fairdoor_sold_out shop"} {
			assert.Equal(t, name == c.told, m[name].GetGauge().GetValue() == 1, "%s: %s", c.patch, name)
		}
	}
	m := f.Families()
	assert.EqualValues(t, 1, m["fairdoor_gates shop"].GetGauge().GetValue())
	assert.Positive(t, m["fairdoor_store_seconds sync"].GetHistogram().GetSampleCount())
	assert.NotZero(t, m["fairdoor_store_seconds configure"].GetHistogram().GetSampleCount())
}

func TestRequestsUnderWayAreCounted(t *testing.T) {
	f := gatetest.Start(t)
	under := func() float64 { return f.Families()["fairdoor_requests"].GetGauge().GetValue() }
	inside := 0.
	f.Site.Will(func(http.ResponseWriter, *http.Request) { inside = under() })
	require.Equal(t, http.StatusOK, f.Visitor().Get("/").Status)
	assert.EqualValues(t, 1, inside)
	require.Eventually(t, func() bool { return under() == 0 }, gatetest.Patience, time.Millisecond)
}

func TestMetricsTellOfFailures(t *testing.T) {
	store := &gatetest.Fallible{}
	f := gatetest.Start(t, func(c *proxy.Config, o *proxy.Options) {
		c.Rooms[0].Settings.TotalActiveUsers = 10
		store.Store = o.Store
		o.Store, o.Clock, o.SyncInterval = store, nil, 10*time.Millisecond
	})
	quiet(f.Site).Will(breakOff)
	v := f.Visitor()
	for range 3 {
		v.Get("/")
	}
	m := f.Families()
	assert.EqualValues(t, 3, m["fairdoor_origin_failures_total broken "+f.Site.URL].GetCounter().GetValue())
	originFails(f, 1) // once the gate has asked it
	store.Failing.Store(true)
	require.Eventually(t, func() bool {
		m := f.Families()
		return m["fairdoor_store_errors_total shop"].GetCounter().GetValue() > 0 && m["fairdoor_store_failing shop"].GetGauge().GetValue() == 1
	}, gatetest.Patience, 10*time.Millisecond)
	store.Failing.Store(false)
}

func TestWaitsOfNewcomersAreNotInTheHistogram(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 3 }))
	f.Full()
	assert.Zero(t, f.Families()["fairdoor_wait_seconds shop"].GetHistogram().GetSampleCount())
}

// One visitor waits, who is told nothing while it is not known how many come; and then another, who
// is told a wait.
func TestStatusAndMetricsSayWhoWasInByTheTimeThatTheyWereTold(t *testing.T) {
	for name, c := range map[string]struct {
		held   time.Duration // queue_all is on until then, after the start
		inTime int
	}{
		"nothing comes between":        {0, 1},
		"admissions are held for long": {10 * time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) {
				s.TotalActiveUsers, s.SessionDuration, s.DisableSessionRenewal = 1, time.Minute, true
			}))
			began := f.Clock.Now()
			f.Full()
			line := []*gatetest.Visitor{f.Waits()}
			f.Pass(time.Second)
			f.Pass(5 * time.Second)
			line = append(line, f.Waits())
			f.Pass(time.Second)
			for len(line) > 0 {
				f.Pass(10 * time.Second)
				f.Patch(fmt.Sprintf(`{"queue_all": %t}`, f.Clock.Now().Sub(began) < c.held))
				line = slices.DeleteFunc(line, func(v *gatetest.Visitor) bool { return v.Get("/").In() })
			}
			var status struct {
				WaitsTold []struct{ Visitors, InTime int }
			}
			f.API(http.MethodGet, "/api/v1/rooms/shop/status", "", &status)
			assert.Equal(t, []struct{ Visitors, InTime int }{{1, c.inTime}}, status.WaitsTold)
			m := f.Families()
			assert.EqualValues(t, 1, m["fairdoor_waits_told_total shop"].GetCounter().GetValue())
			assert.EqualValues(t, c.inTime, m["fairdoor_waits_in_time_total shop"].GetCounter().GetValue())
		})
	}
}
