package proxy_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// metrics are the exposition, parsed; the labels of a metric are in the order of
// their names.
func (f *fixture) metrics() map[string]*dto.Metric {
	f.t.Helper()
	a := f.api(http.MethodGet, "/metrics", "", nil)
	require.Equal(f.t, http.StatusOK, a.status)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(a.body))
	require.NoError(f.t, err)
	all := map[string]*dto.Metric{}
	for name, family := range families {
		assert.NotEmpty(f.t, family.GetHelp(), name)
		for _, m := range family.GetMetric() {
			key := name
			for _, label := range m.GetLabel() {
				key += " " + label.GetValue()
			}
			all[key] = m
		}
	}
	return all
}

func TestMetricsTellWhatHappened(t *testing.T) {
	f := start(t, room(func(r *proxy.RoomConfig) {
		r.Commands = config.Commands{config.Revoke}
		r.Settings.SessionDuration, r.Settings.RefreshJitter = 30*time.Second, 0
	}))
	f.site.will(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/logout" {
			w.Header().Set("Fairdoor-Command", "revoke")
			w.WriteHeader(http.StatusFound)
		}
	})
	in := f.visitor()
	in.get("/")
	in.get("/")
	f.pass(time.Second)
	waiting, leaving := f.visitor(), f.visitor()
	waiting.get("/")
	leaving.get("/")
	leaving.send(http.MethodPost, "/.fairdoor/leave", nil)
	f.visitor().send(http.MethodPost, "/", nil, byScript)
	f.pass(time.Second)
	f.visitor().get("/", with("Sec-Fetch-Dest", "image"))
	f.visitor().send(http.MethodOptions, "/", nil, with("Origin", "https://a.test"), with("Access-Control-Request-Method", "PUT"))
	before := f.metrics()
	in.get("/logout")
	f.pass(20 * time.Second)
	require.Equal(t, http.StatusOK, waiting.get("/").status)
	f.pass(time.Second)
	f.patch(`{"queueing_method": "reject"}`)
	f.visitor().get("/")
	f.patch(`{"queueing_method": null}`)

	m := f.metrics()
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
	assert.EqualValues(t, 4, m["fairdoor_origin_response_seconds "+f.site.URL+" 2xx"].GetHistogram().GetSampleCount())
	assert.EqualValues(t, 1, m["fairdoor_origin_response_seconds "+f.site.URL+" 3xx"].GetHistogram().GetSampleCount())
	assert.Zero(t, m["fairdoor_origin_failing "+f.site.URL].GetGauge().GetValue())
	assert.Contains(t, m, "go_goroutines")
}

func TestMetricsTellOfFailures(t *testing.T) {
	store := &fallible{}
	f := start(t, func(c *proxy.Config, o *proxy.Options) {
		c.Rooms[0].Settings.TotalActiveUsers = 10
		store.Store = o.Store
		o.Store, o.Clock, o.SyncInterval = store, nil, 10*time.Millisecond
	})
	f.site.quiet().will(breakOff)
	v := f.visitor()
	for range 3 {
		v.get("/")
	}
	m := f.metrics()
	assert.EqualValues(t, 3, m["fairdoor_origin_failures_total broken "+f.site.URL].GetCounter().GetValue())
	f.originFails(1) // once the gate has asked it
	store.failing.Store(true)
	require.Eventually(t, func() bool {
		m := f.metrics()
		return m["fairdoor_store_errors_total shop"].GetCounter().GetValue() > 0 && m["fairdoor_store_failing shop"].GetGauge().GetValue() == 1
	}, patience, 10*time.Millisecond)
	store.failing.Store(false)
}

func TestWaitsOfNewcomersAreNotInTheHistogram(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 3 }))
	f.full()
	assert.Zero(t, f.metrics()["fairdoor_wait_seconds shop"].GetHistogram().GetSampleCount())
}

// One visitor waits, who is told nothing while it is not known how many come; and then another, who is told a wait.
func TestStatusAndMetricsSayWhoWasInByTheTimeThatTheyWereTold(t *testing.T) {
	for name, c := range map[string]struct {
		held   time.Duration // queue_all is on until then, after the start
		inTime int
	}{
		"nothing comes between":        {0, 1},
		"admissions are held for long": {10 * time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, settings(func(s *queue.Settings) {
				s.TotalActiveUsers, s.SessionDuration, s.DisableSessionRenewal = 1, time.Minute, true
			}))
			began := f.clock.Now()
			f.full()
			line := []*visitor{f.waits()}
			f.pass(time.Second)
			f.pass(5 * time.Second)
			line = append(line, f.waits())
			f.pass(time.Second)
			for len(line) > 0 {
				f.pass(10 * time.Second)
				f.patch(fmt.Sprintf(`{"queue_all": %t}`, f.clock.Now().Sub(began) < c.held))
				line = slices.DeleteFunc(line, func(v *visitor) bool { return v.get("/").in() })
			}
			var status struct {
				WaitsTold []struct{ Visitors, InTime int }
			}
			f.api(http.MethodGet, "/api/v1/rooms/shop/status", "", &status)
			assert.Equal(t, []struct{ Visitors, InTime int }{{1, c.inTime}}, status.WaitsTold)
			m := f.metrics()
			assert.EqualValues(t, 1, m["fairdoor_waits_told_total shop"].GetCounter().GetValue())
			assert.EqualValues(t, c.inTime, m["fairdoor_waits_in_time_total shop"].GetCounter().GetValue())
		})
	}
}
